// Structural equality of graphs.
#include <cmath>

#include "graph/text.h"

namespace axon::graph {
namespace {

// Compares two modules; values correspond by where they are defined.
class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b, const TypeTable& types)
      : a_(a), b_(b), names_(types.dims().names()) {}

  std::optional<std::string> run() {
    if (a_.main != b_.main) return "main";
    if (a_.pragmas.size() != b_.pragmas.size()) return "number of pragmas";
    for (size_t i = 0; i < a_.pragmas.size(); ++i) {
      if (a_.pragmas[i].name != b_.pragmas[i].name || a_.pragmas[i].value != b_.pragmas[i].value) {
        return "pragma " + text(a_.pragmas[i].name);
      }
    }
    if (a_.modules.size() != b_.modules.size()) return "number of modules";
    for (size_t i = 0; i < a_.modules.size(); ++i) {
      ma_ = &a_.modules[i];
      mb_ = &b_.modules[i];
      if (auto found = module()) return text(ma_->name) + ": " + *found;
    }
    return {};
  }

 private:
  std::string text(NameId name) const {
    return name.valid() ? std::string(names_.text(name)) : "_";
  }
  std::optional<std::string> module();
  bool node(const Node& x, const Node& y);
  bool define(ValueId x, ValueId y);
  bool same(ValueId x, ValueId y) const;
  bool operand(const Operand& x, const Operand& y) const;
  bool operands(const std::vector<Operand>& x, const std::vector<Operand>& y) const;
  bool attrs(const std::vector<Attr>& x, const std::vector<Attr>& y) const;
  bool path(const Path& x, const Path& y) const;
  bool nested(const NestedExpr& x, const NestedExpr& y) const;
  bool fact(const Fact& x, const Fact& y) const;
  bool repeat(const RepeatInfo& x, const RepeatInfo& y) const;

  const Graph& a_;
  const Graph& b_;
  const Interner& names_;
  const Module* ma_ = nullptr;
  const Module* mb_ = nullptr;
  std::vector<ValueId> partner_;  // of values of a
};

std::optional<std::string> Comparison::module() {
  partner_.assign(ma_->values.size(), {});
  if (ma_->name != mb_->name) return "name";
  if (ma_->is_global != mb_->is_global) return "kind of module";
  if (ma_->inputs.size() != mb_->inputs.size()) return "number of inputs";
  for (size_t i = 0; i < ma_->inputs.size(); ++i) {
    if (!define(ma_->inputs[i], mb_->inputs[i])) return "input " + std::to_string(i);
  }
  if (ma_->order.size() != mb_->order.size()) return "number of nodes";
  for (size_t i = 0; i < ma_->order.size(); ++i) {
    if (!node(ma_->nodes[ma_->order[i]], mb_->nodes[mb_->order[i]])) {
      return "node " + std::to_string(i + 1);
    }
  }
  if (!operands(ma_->outputs, mb_->outputs)) return "outputs";
  if (ma_->output_names != mb_->output_names) return "output names";
  if (ma_->return_type != mb_->return_type) return "return type";
  if (ma_->defaults.size() != mb_->defaults.size()) return "number of defaults";
  for (size_t i = 0; i < ma_->defaults.size(); ++i) {
    const InputDefault &x = ma_->defaults[i], &y = mb_->defaults[i];
    if (x.input != y.input || !operand(x.value, y.value)) return "default " + std::to_string(i);
  }
  if (ma_->constraints.size() != mb_->constraints.size()) return "number of constraints";
  for (size_t i = 0; i < ma_->constraints.size(); ++i) {
    const Constraint &x = ma_->constraints[i], &y = mb_->constraints[i];
    bool equal = fact(x.fact, y.fact) && x.guards.size() == y.guards.size();
    for (size_t g = 0; equal && g < x.guards.size(); ++g) equal = fact(x.guards[g], y.guards[g]);
    if (!equal) return "constraint " + std::to_string(i);
  }
  return {};
}

bool Comparison::define(ValueId x, ValueId y) {
  const Value &vx = ma_->values[x], &vy = mb_->values[y];
  partner_[static_cast<size_t>(x.index)] = y;
  return vx.name == vy.name && vx.type == vy.type && vx.dtype == vy.dtype &&
         vx.optional == vy.optional && vx.output_index == vy.output_index;
}

bool Comparison::same(ValueId x, ValueId y) const {
  if (!x.valid() || !y.valid()) return x.valid() == y.valid();
  return partner_[static_cast<size_t>(x.index)] == y;
}

bool Comparison::node(const Node& x, const Node& y) {
  bool equal = x.op == y.op && x.callee == y.callee && x.source == y.source && x.type == y.type &&
               operands(x.inputs, y.inputs) && attrs(x.attrs, y.attrs) && path(x.scope, y.scope) &&
               x.outputs.size() == y.outputs.size() && (x.repeat < 0) == (y.repeat < 0);
  if (equal && x.repeat >= 0) {
    equal = repeat(ma_->repeats[static_cast<size_t>(x.repeat)],
                   mb_->repeats[static_cast<size_t>(y.repeat)]);
  }
  for (size_t i = 0; equal && i < x.outputs.size(); ++i) equal = define(x.outputs[i], y.outputs[i]);
  return equal;
}

bool Comparison::repeat(const RepeatInfo& x, const RepeatInfo& y) const {
  if (x.args.size() != y.args.size()) return false;
  for (size_t i = 0; i < x.args.size(); ++i) {
    if (x.args[i].kind != y.args[i].kind || x.args[i].index != y.args[i].index) return false;
  }
  return x.callee == y.callee && x.var == y.var && x.carry_names == y.carry_names &&
         x.scan_inputs == y.scan_inputs && x.stack_carries == y.stack_carries;
}

bool Comparison::fact(const Fact& x, const Fact& y) const {
  if (x.relation != y.relation || !operand(x.left, y.left)) return false;
  return x.relation >= Relation::IsTrue || operand(x.right, y.right);
}

bool Comparison::operands(const std::vector<Operand>& x, const std::vector<Operand>& y) const {
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!operand(x[i], y[i])) return false;
  }
  return true;
}

bool Comparison::attrs(const std::vector<Attr>& x, const std::vector<Attr>& y) const {
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].name != y[i].name || !operand(x[i].value, y[i].value)) return false;
  }
  return true;
}

bool Comparison::operand(const Operand& x, const Operand& y) const {
  if (x.kind() != y.kind() || x.type != y.type) return false;
  switch (x.kind()) {
    case OperandKind::Ref:
      return same(x.as<Ref>().value, y.as<Ref>().value);
    case OperandKind::Global:
      return x.as<GlobalRef>().module == y.as<GlobalRef>().module;
    case OperandKind::Dim:
      return x.as<DimRef>().dim == y.as<DimRef>().dim;
    case OperandKind::Null:
      return true;
    case OperandKind::Bool:
      return x.as<LitBool>().value == y.as<LitBool>().value;
    case OperandKind::Int:
      return x.as<LitInt>().value == y.as<LitInt>().value;
    case OperandKind::Float: {
      double p = x.as<LitFloat>().value, q = y.as<LitFloat>().value;
      return (p == q && std::signbit(p) == std::signbit(q)) || (std::isnan(p) && std::isnan(q));
    }
    case OperandKind::String:
      return x.as<LitString>().value == y.as<LitString>().value;
    case OperandKind::Path:
      return path(x.as<Path>(), y.as<Path>());
    case OperandKind::Nested:
      return nested(ma_->nested[x.as<Nested>().expr], mb_->nested[y.as<Nested>().expr]);
  }
  AXON_UNREACHABLE("operand kind");
}

bool Comparison::nested(const NestedExpr& x, const NestedExpr& y) const {
  return x.op == y.op && x.callee == y.callee && x.type == y.type && operands(x.inputs, y.inputs) &&
         attrs(x.attrs, y.attrs);
}

bool Comparison::path(const Path& x, const Path& y) const {
  if (x.absolute != y.absolute || x.pieces.size() != y.pieces.size()) return false;
  for (size_t i = 0; i < x.pieces.size(); ++i) {
    const PathPiece &p = x.pieces[i], &q = y.pieces[i];
    if (p.text != q.text || p.placeholder != q.placeholder || p.joined != q.joined ||
        p.dim != q.dim || p.global != q.global || !same(p.value, q.value)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> difference(const Graph& a, const Graph& b, const TypeTable& types) {
  return Comparison(a, b, types).run();
}

}  // namespace axon::graph
