// Constructors and names of module classes.
#include "emit/torch/classes.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "emit/py/print.h"
#include "emit/py/template.h"
#include "emit/torch/forward.h"
#include "emit/torch/root.h"
#include "emit/write/labels.h"
#include "support/text.h"

namespace axon::emit::torch {
namespace {

using py::expand;
using py::Expr;
using py::Stmt;

class Classes {
 public:
  explicit Classes(Program& program) : p_(program) {}

  Result<std::vector<Stmt>> run() {
    AXON_TRY_VOID(write(p_.outline.root));
    return std::move(out_);
  }

 private:
  static bool is_number(const std::string& segment) {
    return !segment.empty() && std::isdigit(static_cast<unsigned char>(segment[0]));
  }

  // Children first, so that every class stands before its use.
  Result<void> write(BlockId id) {
    for (BlockId child : p_.block(id).children) AXON_TRY_VOID(write(child));
    const Block& block = p_.block(id);
    if (block.kind == Block::Kind::List) {
      if (!block.params.empty())
        return unsupported(what(block), "a list has parameters of its own");
      return {};
    }
    if (block.kind == Block::Kind::Layer && layer_constructor(p_, id)) return {};
    if (!p_.is_root(id)) p_.classes[id] = std::string(1, '?');  // calls of it are those of a class
    std::vector<Stmt> body;
    AXON_TRY(Stmt init, constructor(id));
    if (!init.body.empty()) body.push_back(std::move(init));
    if (block.kind != Block::Kind::Container) {
      AXON_TRY(std::vector<Stmt> functions, write_functions(p_, id));
      if (is_repeated(id)) compile_once(functions);
      body.insert(body.end(), functions.begin(), functions.end());
    }
    if (p_.is_root(id)) {
      std::vector<Stmt> more = root_methods(p_);
      body.insert(body.end(), more.begin(), more.end());
    }
    std::string text = py::print(body);
    for (const auto& [known, name] : written_) {
      if (known != text || p_.is_root(id)) continue;
      p_.classes[id] = name;
      return {};
    }
    std::string name = block_class_name(p_, id);
    p_.classes[id] = name;
    written_.emplace_back(std::move(text), name);
    body.insert(body.begin(), py::docstring(block_doc(p_, id)));
    bool encodes = p_.is_root(id) && p_.outline.encode.valid();
    if (encodes) p_.prelude.use("torch/encoder_decoder");
    out_.push_back(
        py::class_(name, {expand(encodes ? "EncoderDecoder" : "nn.Module")}, std::move(body)));
    return {};
  }

  static std::string what(const Block& block) {
    return fmt::format("the parameters below `{}`", block.path);
  }

  // What makes the module of a block.
  Result<Expr> maker(BlockId id) {
    const Block& block = p_.block(id);
    if (block.kind == Block::Kind::List) return list_maker(id);
    if (block.kind == Block::Kind::Layer && p_.classes.count(id) == 0)
      return *layer_constructor(p_, id);
    std::vector<Expr> args;
    for (const auto& [flag, round] : flags_of(p_, id)) args.push_back(py::atom(flag));
    return py::call(py::atom(p_.classes.at(id)), std::move(args));
  }

  Result<Expr> list_maker(BlockId id) {
    std::vector<Expr> elements;
    for (BlockId child : p_.block(id).children) {
      const std::string& segment = p_.block(child).segment;
      AXON_TRY(Expr element, maker(child));
      if (segment[0] == '{') {
        int64_t count = count_of(child);
        if (count < 0 || p_.block(id).children.size() != 1)
          return unsupported(what(p_.block(id)), "they are numbered in several ways");
        Expr rounds = expand("range({0})", {py::integer(count)});
        std::map<std::string, int64_t> flags = flags_of(p_, child);
        if (!flags.empty()) element.items.resize(1);
        for (const auto& [flag, round] : flags)
          element.items.push_back(py::keyword(flag, expand("i == {0}", {py::integer(round)})));
        Expr variable = py::atom(flags.empty() ? "_" : "i");
        Expr each{Expr::Kind::ForIn, "", {std::move(element), variable, std::move(rounds)}};
        return py::call(list_kind(child), {std::move(each)});
      }
      if (segment != std::to_string(elements.size()))
        return unsupported(what(p_.block(id)), "they are not numbered from 0");
      elements.push_back(std::move(element));
    }
    return py::call(py::dotted("nn.ModuleList"), {py::list(std::move(elements))});
  }

  // Whether the rounds of a kept loop call the block.
  bool is_repeated(BlockId id) const {
    const Block& block = p_.block(id);
    return !p_.is_root(id) && !block.is_item && block.segment[0] == '{' && count_of(id) > 1;
  }

  // Under `torch.compile` a layer is compiled once, whatever the number of its rounds.
  void compile_once(std::vector<Stmt>& functions) {
    p_.prelude.use("torch/compiled_once");
    for (Stmt& function : functions) {
      if (function.kind == Stmt::Kind::Def)
        function.decorators.insert(function.decorators.begin(), py::atom("compiled_once"));
    }
  }

  Expr list_kind(BlockId element) {
    if (!p_.block(element).is_item) return py::dotted("nn.ModuleList");
    p_.prelude.use("torch/experts");
    return py::atom("Experts");
  }

  int64_t count_of(BlockId element) const {
    const Block& block = p_.block(element);
    if (block.is_item)
      return static_cast<int64_t>(p_.joined.banks[static_cast<size_t>(block.bank)].count);
    for (const LoopBlock& loop : p_.outline.loops) {
      if (loop.list == block.parent) return static_cast<int64_t>(loop.count);
    }
    return -1;
  }

  Result<Stmt> constructor(BlockId id) {
    std::vector<Stmt> body;
    for (BlockId child : p_.block(id).children) {
      const std::string& segment = p_.block(child).segment;
      if (segment[0] == '{' || is_number(segment) || py::identifier(segment) != segment ||
          py::is_keyword(segment))
        return unsupported(what(p_.block(child)), "a segment is no name in Python");
      AXON_TRY(Expr made, maker(child));
      Stmt set = py::assign(expand("self." + segment), std::move(made));
      if (p_.block(child).only >= 0) set = py::if_(py::atom("has_" + segment), {std::move(set)});
      body.push_back(std::move(set));
    }
    for (const BlockParam& param : p_.block(id).params) {
      std::vector<Expr> sizes;
      for (int64_t n : param.shape) sizes.push_back(py::integer(n));
      Expr value = expand("nn.Parameter(0.02 * {0})",
                          {py::call(py::dotted("torch.randn"), std::move(sizes))});
      body.push_back(py::assign(expand("self." + param.name), std::move(value)));
    }
    if (!body.empty()) body.insert(body.begin(), py::evaluate(expand("super().__init__()")));
    std::vector<py::Param> params = {{"self", {}, {}}};
    for (const auto& [flag, round] : flags_of(p_, id))
      params.push_back({flag, py::atom("bool"), {}});
    return py::def("__init__", std::move(params), py::atom("None"), std::move(body));
  }

  Program& p_;
  std::vector<Stmt> out_;
  std::vector<std::pair<std::string, std::string>> written_;  // body, class
};

}  // namespace

Result<std::vector<Stmt>> write_classes(Program& program) { return Classes(program).run(); }

}  // namespace axon::emit::torch
