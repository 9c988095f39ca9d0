// Names of functions and the trees of shapes.
#include "emit/jax/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

#include "emit/jax/function.h"
#include "emit/jax/rows.h"
#include "emit/py/print.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"
#include "support/text.h"

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
    std::string text = py::print(without_docs(functions)), shapes = py::print(tree);
    const std::string *alike = known(functions_, text), *same_shapes = known(trees_, shapes);
    bool root = p_.is_root(id);
    // What has other functions has its own shapes, unless it is called the same.
    if (!alike && same_shapes && labels_.at(*same_shapes) != label(id)) same_shapes = nullptr;
    if (root) alike = same_shapes = nullptr;
    std::string name = alike && same_shapes ? *alike : name_of(id);
    set_name(id, alike ? *alike : name);
    shapes_[id] = same_shapes ? *same_shapes : root ? "shapes" : name + "_shapes";
    if (!same_shapes) {
      put_shapes(id, std::move(tree));
      labels_[shapes_[id]] = label(id);
      trees_.emplace_back(std::move(shapes), shapes_[id]);
    }
    if (alike) return {};
    functions_.emplace_back(std::move(text), name);
    Stmt& last = functions.back();
    std::string doc = whole_doc(block_doc(p_, id), last.body[0].text);
    if (root) doc += "\n\nIds and positions outside of a table read another row of it.";
    last.body[0] = py::docstring(doc);
    last.text = name;
    if (functions.size() > 1) functions[0].text = p_.classes.at(block.twin);
    out_.insert(out_.end(), functions.begin(), functions.end());
    return {};
  }

  using Written = std::vector<std::pair<std::string, std::string>>;  // text, name

  static const std::string* known(const Written& written, const std::string& text) {
    for (const auto& [other, name] : written) {
      if (other == text) return &name;
    }
    return nullptr;
  }

  // Functions that differ in the names of axes alone do the same.
  static std::vector<Stmt> without_docs(std::vector<Stmt> functions) {
    for (Stmt& function : functions) function.body[0] = py::docstring("");
    return functions;
  }

  // "`model.norm`." and "x [B, S] -> [B, S]." on one line where that has room.
  static std::string whole_doc(std::string block, const std::string& function) {
    constexpr size_t kRoom = 78;
    if (block.size() + 1 + function.size() > kRoom) return block + "\n\n" + function;
    block.back() = ':';
    return block + " " + function;
  }

  // What a block is called where numbers count for nothing.
  std::string label(BlockId id) const {
    if (p_.is_root(id)) return "";
    const std::string& segment = p_.block(id).segment;
    bool numbered = is_number(segment) || segment[0] == '{';
    return numbered ? p_.block(p_.block(id).parent).segment : segment;
  }

  // A block and its twin are called by names that go together.
  void set_name(BlockId id, const std::string& name) {
    p_.classes[id] = name;
    BlockId twin = p_.block(id).twin;
    if (twin.valid()) p_.classes[twin] = p_.is_root(id) ? "encode" : "encode_" + name;
  }

  void put_shapes(BlockId id, std::vector<Stmt> body) {
    std::string doc = p_.is_root(id) ? "The shapes of all parameters."
                                     : fmt::format("The shapes of `{}`.", p_.block(id).path);
    body.insert(body.begin(), py::docstring(doc));
    std::vector<py::Param> params;
    for (const auto& [flag, round] : flags_of(p_, id))
      params.push_back({flag, py::atom("bool"), {}});
    out_.push_back(py::def(shapes_.at(id), std::move(params), py::atom("Params"), std::move(body)));
  }

  bool is_helper(BlockId id) {
    const Block& block = p_.block(id);
    const graph::Node& node = p_.joined.steps[block.items[0].step].node;
    return has_layer(node, block.params, weights_, p_.types.dims().names());
  }

  static std::string what(const Block& block) {
    return fmt::format("the parameters below `{}`", block.path);
  }

  // From the path: the last segment; of the elements of a list, what the list is called, and which.
  std::string name_of(BlockId id) {
    if (p_.is_root(id)) return "forward";
    std::string name = word(p_.block(id).segment);
    BlockId up = p_.block(id).parent;
    if (is_number(name) || name[0] == '{') {
      std::string number = is_number(name) ? "_" + name : "";
      name = word(singular(p_.block(up).segment)) + number;
      up = p_.block(up).parent;
    }
    std::string longer = name;
    auto holder = holders_.find(name);
    if (holder != holders_.end()) longer = parted(name, p_.block(id).path, holder->second);
    for (; is_taken(longer) && up.valid() && !p_.is_root(up); up = p_.block(up).parent) {
      std::string above = word(p_.block(up).segment);
      if (above[0] != '{' && !is_number(above)) longer = above + "_" + name;
    }
    name = p_.names.unique(is_taken(longer) ? name : longer);
    p_.names.reserve(name + "_shapes");
    if (p_.block(id).twin.valid()) p_.names.reserve("encode_" + name);
    holders_[name] = p_.block(id).path;
    return name;
  }

  bool is_taken(const std::string& name) const {
    return p_.names.taken(name) || p_.names.taken(name + "_shapes") ||
           p_.names.taken("encode_" + name);
  }

  // The name after where its path leaves that of the block that has the name already.
  static std::string parted(const std::string& name, const std::string& path,
                            const std::string& other) {
    std::vector<std::string_view> a = axon::split(path, '.'), b = axon::split(other, '.');
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i] == b[i]) continue;
      std::string here = word(std::string(a[i]));
      return is_number(here) || here == name ? name : here + "_" + name;
    }
    return name;
  }

  // `EncDecAttention` → `enc_dec_attention`; numbers and variables stay.
  static std::string word(const std::string& segment) {
    if (is_number(segment) || segment[0] == '{') return segment;
    std::string out;
    auto lower_at = [&](size_t i) {
      return i < segment.size() && std::islower(static_cast<unsigned char>(segment[i])) != 0;
    };
    for (size_t i = 0; i < segment.size(); ++i) {
      unsigned char c = static_cast<unsigned char>(segment[i]);
      bool starts =
          i > 0 && std::isupper(c) && segment[i - 1] != '_' &&
          (std::isupper(static_cast<unsigned char>(segment[i - 1])) == 0 || lower_at(i + 1));
      if (starts) out += '_';
      out += static_cast<char>(std::tolower(c));
    }
    return py::identifier(out);
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
    if (shapes_.count(id)) {
      std::vector<Expr> args;
      for (const auto& [flag, round] : flags_of(p_, id)) args.push_back(py::atom(flag));
      return py::call(py::atom(shapes_.at(id)), std::move(args));
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
    if (!flags.empty() && !shapes_.count(child))
      return unsupported(what(p_.block(child)),
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
  Written functions_, trees_;
  std::unordered_map<BlockId, std::string, IdHash> shapes_;  // the functions that give them
  std::map<std::string, std::string> holders_;               // name, path
  std::map<std::string, std::string> labels_;                // of functions that give shapes
};

}  // namespace

Result<std::vector<Stmt>> write_functions(Program& program, const Weights& weights) {
  return Functions(program, weights).run();
}

}  // namespace axon::emit::jax
