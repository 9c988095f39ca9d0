// Names of functions and the trees of shapes.
#include "emit/jax/functions.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

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
    set_name(id, "?");  // calls of it are those of a function
    AXON_TRY(std::vector<Stmt> tree, shapes_of(id));
    std::vector<Stmt> functions;
    for (BlockId one : {block.twin, id}) {
      if (!one.valid()) continue;
      AXON_TRY(Stmt function, Function(p_, weights_, one).write("?"));
      functions.push_back(std::move(function));
    }
    std::vector<Stmt> whole = functions;
    whole.insert(whole.end(), tree.begin(), tree.end());
    std::string text = py::print(whole);
    for (const auto& [known, name] : written_) {
      if (known != text || p_.is_root(id)) continue;
      set_name(id, name);
      return {};
    }
    std::string name = name_of(id);
    set_name(id, name);
    written_.emplace_back(std::move(text), name);
    put_shapes(id, name, std::move(tree));
    Stmt& last = functions.back();
    last.body[0] = py::docstring(block_doc(p_, id) + "\n\n" + last.body[0].text);
    last.text = name;
    if (functions.size() > 1) functions[0].text = p_.classes.at(block.twin);
    out_.insert(out_.end(), functions.begin(), functions.end());
    return {};
  }

  // A block and its twin are called by names that go together.
  void set_name(BlockId id, const std::string& name) {
    p_.classes[id] = name;
    BlockId twin = p_.block(id).twin;
    if (twin.valid()) p_.classes[twin] = p_.is_root(id) ? "encode" : "encode_" + name;
  }

  void put_shapes(BlockId id, const std::string& name, std::vector<Stmt> body) {
    bool root = p_.is_root(id);
    std::string doc = root ? "The shapes of all parameters."
                           : fmt::format("The shapes of `{}`.", p_.block(id).path);
    body.insert(body.begin(), py::docstring(doc));
    std::vector<py::Param> params;
    for (const auto& [flag, round] : flags_of(p_, id))
      params.push_back({flag, py::atom("bool"), {}});
    out_.push_back(py::def(root ? "shapes" : name + "_shapes", std::move(params),
                           py::atom("Params"), std::move(body)));
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
    auto taken = [&](const std::string& word) {
      return p_.names.taken(word) || p_.names.taken(word + "_shapes") ||
             p_.names.taken("encode_" + word);
    };
    std::string longer = name;
    for (; taken(longer) && up.valid() && !p_.is_root(up); up = p_.block(up).parent) {
      const std::string& above = p_.block(up).segment;
      if (above[0] != '{' && !is_number(above)) longer = lower(above) + "_" + name;
    }
    if (!taken(longer)) name = longer;
    name = p_.names.unique(name);
    p_.names.reserve(name + "_shapes");
    if (p_.block(id).twin.valid()) p_.names.reserve("encode_" + name);
    return name;
  }

  static std::string lower(const std::string& segment) {
    std::string out = py::identifier(segment);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }

  // ---- shapes --------------------------------------------------------------------------------

  // What a function of shapes does: parts that one round of a list has come last.
  Result<std::vector<Stmt>> shapes_of(BlockId id) {
    some_.clear();
    AXON_TRY(Expr tree, tree_of(id, py::atom("tree")));
    if (some_.empty()) return std::vector<Stmt>{py::return_(std::move(tree))};
    std::vector<Stmt> out = {py::assign(py::atom("tree"), std::move(tree))};
    out[0].annotation = py::atom("Params");
    out.insert(out.end(), some_.begin(), some_.end());
    out.push_back(py::return_(py::atom("tree")));
    return out;
  }

  // What makes the shapes of a child; `at` is where they will be.
  Result<Expr> maker(BlockId id, Expr at) {
    const Block& block = p_.block(id);
    if (block.kind == Block::Kind::List) return list_maker(id, at);
    if (p_.classes.count(id)) {
      std::vector<Expr> args;
      for (const auto& [flag, round] : flags_of(p_, id)) args.push_back(py::atom(flag));
      return py::call(py::atom(p_.classes.at(id) + "_shapes"), std::move(args));
    }
    if (block.kind == Block::Kind::Layer)
      return layer_shapes(p_.joined.steps[block.items[0].step].node, block.params, weights_);
    return tree_of(id, std::move(at));
  }

  Result<Expr> list_maker(BlockId id, const Expr& at) {
    std::vector<Expr> elements;
    for (BlockId child : p_.block(id).children) {
      const std::string& segment = p_.block(child).segment;
      AXON_TRY(Expr element, maker(child, py::index(at, {py::atom(segment)})));
      if (segment[0] == '{') {
        int64_t count = count_of(child);
        if (count < 0 || p_.block(id).children.size() != 1)
          return unsupported(what(p_.block(id)), "they are numbered in several ways");
        return by_round(child, std::move(element), count);
      }
      if (segment != std::to_string(elements.size()))
        return unsupported(what(p_.block(id)), "they are not numbered from 0");
      elements.push_back(std::move(element));
    }
    return py::list(std::move(elements));
  }

  // The shapes of all rounds; a part that one of them has is told to what makes it.
  Result<Expr> by_round(BlockId child, Expr element, int64_t count) {
    std::map<std::string, int64_t> flags = flags_of(p_, child);
    if (!flags.empty() && (weights_.scan || !p_.classes.count(child)))
      return unsupported(weights_.scan ? "a scan over layers" : what(p_.block(child)),
                         "only one round of a loop has " + flags.begin()->first.substr(4));
    if (!flags.empty()) element.items.resize(1);
    for (const auto& [flag, round] : flags)
      element.items.push_back(py::keyword(flag, expand("i == {0}", {py::integer(round)})));
    Expr variable = py::atom(flags.empty() ? "_" : "i");
    Expr rounds = expand("range({0})", {py::integer(count)});
    return py::list(
        {Expr{Expr::Kind::ForIn, "", {std::move(element), variable, std::move(rounds)}}});
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

  Result<Expr> tree_of(BlockId id, const Expr& at) {
    Expr out{Expr::Kind::Dict, "", {}};
    for (BlockId child : p_.block(id).children) {
      Expr segment = py::text(p_.block(child).segment);
      Expr place = py::index(at, {segment});
      AXON_TRY(Expr made, maker(child, place));
      if (p_.block(child).only >= 0) {
        some_.push_back(py::if_(py::atom("has_" + segment.text),
                                {py::assign(std::move(place), std::move(made))}));
        continue;
      }
      out.items.push_back(std::move(segment));
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
  std::vector<Stmt> out_, some_;  // some_: parts of one round only, for the tree being made
  std::vector<std::pair<std::string, std::string>> written_;  // text, name
};

}  // namespace

Result<std::vector<Stmt>> write_functions(Program& program, const Weights& weights) {
  return Functions(program, weights).run();
}

}  // namespace axon::emit::jax
