// Making, showing and comparing specialisation values.
#include "opt/tree.h"

#include <fmt/format.h>

#include "support/text.h"

namespace axon::opt {

std::string_view spelling(Tree::Kind kind) {
  static constexpr std::string_view kNames[] = {"null",     "a boolean", "an integer",
                                                "a float",  "a string",  "a path",
                                                "a tensor", "a list",    "a tuple"};
  return kNames[static_cast<size_t>(kind)];
}

TreeId Forest::add(Tree tree) {
  trees_.push_back(std::move(tree));
  return TreeId{static_cast<int32_t>(trees_.size() - 1)};
}

TreeId Forest::null() { return add({}); }
TreeId Forest::boolean(bool value) {
  Tree t;
  t.kind = Tree::Kind::Bool;
  t.boolean = value;
  return add(std::move(t));
}
TreeId Forest::integer(DimId dim) {
  Tree t;
  t.kind = Tree::Kind::Int;
  t.dim = dim;
  return add(std::move(t));
}
TreeId Forest::number(double value) {
  Tree t;
  t.kind = Tree::Kind::Float;
  t.number = value;
  return add(std::move(t));
}
TreeId Forest::string(NameId text) {
  Tree t;
  t.kind = Tree::Kind::String;
  t.text = text;
  return add(std::move(t));
}
TreeId Forest::path(NameId text, bool absolute) {
  Tree t;
  t.kind = Tree::Kind::Path;
  t.text = text;
  t.boolean = absolute;
  return add(std::move(t));
}
TreeId Forest::tensor(std::vector<DimId> dims, DType dtype, graph::ValueId value) {
  Tree t;
  t.kind = Tree::Kind::Tensor;
  t.dims = std::move(dims);
  t.dtype = dtype;
  t.value = value;
  return add(std::move(t));
}
TreeId Forest::list(std::vector<TreeId> items) {
  Tree t;
  t.kind = Tree::Kind::List;
  t.items = std::move(items);
  return add(std::move(t));
}
TreeId Forest::tuple(std::vector<TreeId> items) {
  Tree t;
  t.kind = Tree::Kind::Tuple;
  t.items = std::move(items);
  return add(std::move(t));
}

TreeId Forest::appended(TreeId list, TreeId item) {
  Tree t;
  t.kind = Tree::Kind::List;
  t.items = (*this)[list].items;
  t.items.push_back(item);
  t.base = list;
  return add(std::move(t));
}

std::string Forest::show(TreeId id, const DimTable& dims) const {
  const Tree& t = (*this)[id];
  std::vector<std::string> parts;
  switch (t.kind) {
    case Tree::Kind::Null:
      return "null";
    case Tree::Kind::Bool:
      return t.boolean ? "true" : "false";
    case Tree::Kind::Int:
      return dims.show(t.dim);
    case Tree::Kind::Float:
      return show_double(t.number);
    case Tree::Kind::String:
      return fmt::format("\"{}\"", dims.names().text(t.text));
    case Tree::Kind::Path:
      return fmt::format("{}{}", t.boolean ? "@@" : "@", dims.names().text(t.text));
    case Tree::Kind::Tensor:
      for (DimId d : t.dims) parts.push_back(dims.show(d));
      return fmt::format("{}[{}]", axon::spelling(t.dtype), join(parts, ","));
    case Tree::Kind::List:
    case Tree::Kind::Tuple:
      break;
  }
  for (TreeId item : t.items) parts.push_back(show(item, dims));
  bool list = t.kind == Tree::Kind::List;
  return (list ? "[" : "(") + join(parts, ", ") + (list ? "]" : ")");
}

namespace {

void collect(const Forest& forest, TreeId id, const std::string& place, std::vector<Leaf>& out) {
  const Tree& t = forest[id];
  if (t.kind != Tree::Kind::List && t.kind != Tree::Kind::Tuple) {
    out.push_back({place, id});
    return;
  }
  for (size_t i = 0; i < t.items.size(); ++i) {
    collect(forest, t.items[i], place.empty() ? std::to_string(i) : fmt::format("{}.{}", place, i),
            out);
  }
}

}  // namespace

std::vector<Leaf> leaves(const Forest& forest, TreeId root) {
  std::vector<Leaf> out;
  collect(forest, root, "", out);
  return out;
}

bool same_structure(const Forest& forest, TreeId a, TreeId b) {
  const Tree& x = forest[a];
  const Tree& y = forest[b];
  if (x.kind != y.kind || x.items.size() != y.items.size()) return false;
  switch (x.kind) {
    case Tree::Kind::Bool:
      return x.boolean == y.boolean;
    case Tree::Kind::String:
    case Tree::Kind::Path:
      return x.text == y.text;
    case Tree::Kind::Float:
      return x.number == y.number;
    case Tree::Kind::Tensor:
      return x.dtype == y.dtype && x.dims.size() == y.dims.size();
    default:
      break;
  }
  for (size_t i = 0; i < x.items.size(); ++i) {
    if (!same_structure(forest, x.items[i], y.items[i])) return false;
  }
  return true;
}

}  // namespace axon::opt
