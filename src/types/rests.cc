#include "types/rests.h"

namespace axon {
namespace {

using Tree = DimTable::Tree;

DimId dim_of(const Tree& tree, DimTable& dims) {
  using Kind = Tree::Kind;
  if (tree.kind == Kind::Integer) return dims.integer(tree.value);
  if (tree.kind == Kind::Symbol) return dims.of(tree.symbol);
  DimId out = dim_of(tree.operands[0], dims);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    DimId next = dim_of(tree.operands[i], dims);
    out = tree.kind == Kind::Add   ? dims.value_add(out, next)
          : tree.kind == Kind::Sub ? dims.value_sub(out, next)
          : tree.kind == Kind::Mul ? dims.value_mul(out, next)
          : tree.kind == Kind::Div ? dims.value_div(out, next)
          : tree.kind == Kind::Mod ? dims.mod(out, next)
          : tree.kind == Kind::Min ? dims.min(out, next)
                                   : dims.max(out, next);
  }
  return out;
}

void collect(const Tree& tree, int sign, DimTable& dims, std::vector<Rest>& out) {
  using Kind = Tree::Kind;
  const bool sum = tree.kind == Kind::Add || tree.kind == Kind::Sub || tree.kind == Kind::Mul;
  for (size_t i = 0; i < tree.operands.size(); ++i) {
    const bool negative = tree.kind == Kind::Sub && i > 0;
    collect(tree.operands[i], sum ? (negative ? -sign : sign) : 0, dims, out);
  }
  if (tree.kind != Kind::Div) return;
  DimId left = dim_of(tree.operands[0], dims), right = dim_of(tree.operands[1], dims);
  if (dims.as_integer(right).value_or(0) < 0) {  // (0-S)/(-2) is exact where S/2 is
    left = dims.value_sub(dims.integer(0), left);
    right = dims.value_sub(dims.integer(0), right);
  }
  out.push_back({dims.mod(left, right), sign});
}

}  // namespace

std::optional<std::pair<DimId, DimId>> remainder_of(DimTable& dims, DimId dim) {
  const Tree tree = dims.tree(dim);
  if (tree.kind != Tree::Kind::Mod || tree.operands.size() != 2) return {};
  return std::pair{dim_of(tree.operands[0], dims), dim_of(tree.operands[1], dims)};
}

std::vector<Rest> rests_of(DimTable& dims, DimId dim) {
  std::vector<Rest> out;
  if (dims.rounds(dim)) collect(dims.tree(dim), 1, dims, out);
  return out;
}

}  // namespace axon
