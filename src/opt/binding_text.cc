// A line for each node, values numbered as they come.
#include "opt/binding_text.h"

#include <fmt/format.h>

#include <unordered_map>

namespace axon::opt {
namespace {

using graph::Operand;
using graph::OperandKind;
using graph::ValueId;

class Writer {
 public:
  Writer(const Specialised& flat, TypeTable& types)
      : flat_(flat), module_(flat.module()), types_(types), dims_(types.dims()) {}

  std::string run(const std::vector<ValueId>& results) {
    for (const FlatInput& input : flat_.inputs) {
      out_ += fmt::format("input {} ", input.name.index);
      define(input.value);
    }
    for (graph::NodeId id : module_.order) node(module_.nodes[id]);
    for (const FlatLoop& loop : flat_.loops) rounds(loop);
    for (ValueId v : results) {
      out_ += "result ";
      value(v);
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  // Loop variables are new symbols in every module.
  DimId plain(DimId dim) {
    return dims_.substitute(dim, [&](SymbolId s) -> DimId {
      for (size_t l = 0; l < flat_.loops.size(); ++l) {
        if (flat_.loops[l].var != s) continue;
        NameId name = dims_.names().intern(fmt::format("loop {}", l));
        return dims_.of(dims_.symbol(name, SymbolKind::Param));
      }
      return {};
    });
  }

  void define(ValueId v) {
    value(v);
    const graph::Value& facts = module_.values[v];
    out_ += fmt::format(" {}[", static_cast<int>(facts.dtype));
    if (types_.kind(facts.type) == TypeKind::Tensor) {
      for (DimId dim : types_.dims_of(facts.type)) out_ += fmt::format("{},", plain(dim).index);
    }
    out_ += "]\n";
  }

  void value(ValueId v) {
    auto [it, fresh] = numbers_.emplace(v, numbers_.size());
    out_ += fmt::format("%{}", it->second);
  }

  void path(const graph::Path& path) {
    for (const graph::PathPiece& piece : path.pieces) {
      out_ += piece.joined ? '+' : '.';
      if (piece.placeholder)
        out_ += fmt::format("{{{}}}", piece.dim.valid() ? plain(piece.dim).index : -1);
      else
        out_ += dims_.names().text(piece.text);
    }
  }

  void operand(const Operand& operand) {
    out_ += fmt::format(" {}:", static_cast<int>(operand.kind()));
    switch (operand.kind()) {
      case OperandKind::Ref:
        return value(operand.as<graph::Ref>().value);
      case OperandKind::Global:
        out_ += fmt::format("{}", operand.as<graph::GlobalRef>().module.index);
        return;
      case OperandKind::Dim:
        out_ += fmt::format("{}", plain(operand.as<graph::DimRef>().dim).index);
        return;
      case OperandKind::Bool:
        out_ += operand.as<graph::LitBool>().value ? '1' : '0';
        return;
      case OperandKind::Int:
        out_ += fmt::format("{}", operand.as<graph::LitInt>().value);
        return;
      case OperandKind::Float:
        out_ += fmt::format("{}", operand.as<graph::LitFloat>().value);
        return;
      case OperandKind::String:
        out_ += fmt::format("{}", operand.as<graph::LitString>().value.index);
        return;
      case OperandKind::Path:
        return path(operand.as<graph::Path>());
      case OperandKind::Null:
      case OperandKind::Nested:
        return;
    }
  }

  void node(const graph::Node& node) {
    out_ += spelling(node.op);
    for (const Operand& input : node.inputs) operand(input);
    for (const graph::Attr& attr : node.attrs) {
      out_ += fmt::format(" {}=", attr.name.index);
      operand(attr.value);
    }
    out_ += " -> ";
    for (ValueId v : node.outputs) define(v);
  }

  // Pairs of values that the module does not have say nothing.
  void pairs(const std::vector<std::pair<ValueId, ValueId>>& pairs) {
    for (auto [from, to] : pairs) {
      if (!numbers_.count(from)) continue;
      value(from);
      out_ += '=';
      value(to);
      out_ += ' ';
    }
  }

  void rounds(const FlatLoop& loop) {
    for (const LoopRound& round : loop.rounds) {
      out_ += fmt::format("round {} {} {}: ", round.round, round.cls, round.written);
      pairs(round.replaced);
      out_ += "; ";
      pairs(round.produced);
      out_ += '\n';
    }
  }

  const Specialised& flat_;
  const graph::Module& module_;
  TypeTable& types_;
  DimTable& dims_;
  std::unordered_map<ValueId, size_t, IdHash> numbers_;
  std::string out_;
};

}  // namespace

std::string binding_text(const Specialised& flat, TypeTable& types,
                         const std::vector<ValueId>& results) {
  return Writer(flat, types).run(results);
}

}  // namespace axon::opt
