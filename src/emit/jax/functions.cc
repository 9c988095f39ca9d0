// Names of functions and the trees of shapes.
#include "emit/jax/functions.h"

#include <fmt/format.h>

#include <cctype>

#include "emit/jax/function.h"
#include "emit/jax/rows.h"
#include "emit/py/print.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"

namespace axon::emit::jax {
namespace {

using py::expand;
using py::Expr;
using py::Stmt;

bool is_number(const std::string& segment) {
  return !segment.empty() && std::isdigit(static_cast<unsigned char>(segment[0])) != 0;
}

class Functions {
 public:
  Functions(Program& program, const Weights& weights) : p_(program), weights_(weights) {}

  Result<std::vector<Stmt>> run() {
    AXON_TRY_VOID(write(p_.outline.root));
    return std::move(out_);
  }

 private:
  // Children first, so that every function stands before its use.
  Result<void> write(BlockId id) {
    for (BlockId child : p_.block(id).children) AXON_TRY_VOID(write(child));
    const Block& block = p_.block(id);
    if (block.kind == Block::Kind::List && !block.params.empty())
      return unsupported(what(block), "a list has parameters of its own");
    if (block.kind == Block::Kind::List || block.kind == Block::Kind::Container) return {};
    if (block.kind == Block::Kind::Layer && !block.is_item && is_helper(id)) return {};
    p_.classes[id] = std::string(1, '?');  // calls of it are those of a function
    AXON_TRY(Expr tree, tree_of(id));
    AXON_TRY(Stmt function, Function(p_, weights_, id).write("?"));
    std::string text = py::print({py::return_(tree), function});
    for (const auto& [known, name] : written_) {
      if (known != text || p_.is_root(id)) continue;
      p_.classes[id] = name;
      return {};
    }
    std::string name = name_of(id);
    p_.classes[id] = name;
    written_.emplace_back(std::move(text), name);
    put_shapes(id, name, std::move(tree));
    function.text = name;
    function.body[0] = py::docstring(block_doc(p_, id) + "\n\n" + function.body[0].text);
    out_.push_back(std::move(function));
    return {};
  }

  void put_shapes(BlockId id, const std::string& name, Expr tree) {
    bool root = p_.is_root(id);
    std::string doc = root ? "The shapes of all parameters."
                           : fmt::format("The shapes of `{}`.", p_.block(id).path);
    out_.push_back(py::def(root ? "shapes" : name + "_shapes", {}, py::atom("Params"),
                           {py::docstring(doc), py::return_(std::move(tree))}));
  }

  bool is_helper(BlockId id) {
    const Block& block = p_.block(id);
    const graph::Node& node = p_.joined.steps[block.items[0].step].node;
    return has_layer(node, block.params, weights_, p_.types.dims().names());
  }

  static std::string what(const Block& block) {
    return fmt::format("the parameters below `{}`", block.path);
  }

  // From the path: the last segment; of the rounds of a list, one of what the list is called.
  std::string name_of(BlockId id) {
    if (p_.is_root(id)) return "forward";
    std::string segment = p_.block(id).segment;
    BlockId up = p_.block(id).parent;
    if (segment[0] == '{' || is_number(segment)) {
      segment = singular(p_.block(up).segment);
      up = p_.block(up).parent;
    }
    std::string name = lower(segment);
    bool taken = p_.names.taken(name) || p_.names.taken(name + "_shapes");
    if (taken && up.valid() && !p_.is_root(up)) {
      bool round = p_.block(up).segment[0] == '{';
      name = lower(p_.block(round ? p_.block(up).parent : up).segment) + "_" + name;
    }
    name = p_.names.unique(name);
    p_.names.reserve(name + "_shapes");
    return name;
  }

  static std::string lower(const std::string& segment) {
    std::string out = py::identifier(segment);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }

  // ---- shapes --------------------------------------------------------------------------------

  // What makes the shapes of a child.
  Result<Expr> maker(BlockId id) {
    const Block& block = p_.block(id);
    if (block.kind == Block::Kind::List) return list_maker(id);
    if (p_.classes.count(id)) return py::call(py::atom(p_.classes.at(id) + "_shapes"));
    if (block.kind == Block::Kind::Layer)
      return layer_shapes(p_.joined.steps[block.items[0].step].node, block.params, weights_);
    return tree_of(id);
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
        Expr each{Expr::Kind::ForIn, "", {std::move(element), py::atom("_"), std::move(rounds)}};
        return py::list({std::move(each)});
      }
      if (segment != std::to_string(elements.size()))
        return unsupported(what(p_.block(id)), "they are not numbered from 0");
      elements.push_back(std::move(element));
    }
    return py::list(std::move(elements));
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

  Result<Expr> tree_of(BlockId id) {
    Expr out{Expr::Kind::Dict, "", {}};
    for (BlockId child : p_.block(id).children) {
      if (p_.block(child).only >= 0)
        return unsupported(what(p_.block(child)), "only one round of a loop has them");
      AXON_TRY(Expr made, maker(child));
      out.items.push_back(py::text(p_.block(child).segment));
      out.items.push_back(std::move(made));
    }
    for (const BlockParam& param : p_.block(id).params) {
      out.items.push_back(py::text(param.name));
      out.items.push_back(stored(param, weights_));
    }
    return out;
  }

  Program& p_;
  const Weights& weights_;
  std::vector<Stmt> out_;
  std::vector<std::pair<std::string, std::string>> written_;  // text, name
};

}  // namespace

Result<std::vector<Stmt>> write_functions(Program& program, const Weights& weights) {
  return Functions(program, weights).run();
}

}  // namespace axon::emit::jax
