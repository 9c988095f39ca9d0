// Dims as trees and as text, in an order that does not depend on history.
#include <algorithm>

#include "types/dim_impl.h"

namespace axon {
namespace {

using Tree = DimTable::Tree;
using Kind = DimTable::Tree::Kind;

int binding(Kind kind) {
  switch (kind) {
    case Kind::Add:
    case Kind::Sub:
      return 1;
    case Kind::Mul:
    case Kind::Div:
    case Kind::Mod:
      return 2;
    case Kind::Integer:
    case Kind::Symbol:
    case Kind::Min:
    case Kind::Max:
      return 3;
  }
  return 3;
}

std::string text_of(const Tree& tree, const DimTable& dims);

std::string operand_text(const Tree& parent, size_t index, const DimTable& dims) {
  const Tree& child = parent.operands[index];
  std::string text = text_of(child, dims);
  int outer = binding(parent.kind);
  int inner = binding(child.kind);
  bool tight = index > 0 && parent.kind != Kind::Add;  // the right side of `*` binds tighter too
  const bool negative = index > 0 && child.kind == Kind::Integer && child.value < 0;
  if (negative || inner < outer || (tight && inner == outer)) return "(" + text + ")";
  return text;
}

std::string text_of(const Tree& tree, const DimTable& dims) {
  const char* op = "+";
  switch (tree.kind) {
    case Kind::Integer:
      return std::to_string(tree.value);
    case Kind::Symbol:
      return std::string(dims.names().text(dims.symbol(tree.symbol).name));
    case Kind::Add:
      break;
    case Kind::Sub:
      op = "-";
      break;
    case Kind::Mul:
      op = "*";
      break;
    case Kind::Div:
      op = "/";
      break;
    case Kind::Mod:
      op = "%";
      break;
    case Kind::Min:
    case Kind::Max: {
      std::string out = tree.kind == Kind::Min ? "min(" : "max(";
      for (size_t i = 0; i < tree.operands.size(); ++i) {
        out += (i > 0 ? "," : "") + text_of(tree.operands[i], dims);
      }
      return out + ")";
    }
  }
  std::string out;
  for (size_t i = 0; i < tree.operands.size(); ++i) {
    if (i > 0) out += op;
    out += operand_text(tree, i, dims);
  }
  return out;
}

Tree integer_tree(int64_t value) { return {Kind::Integer, value, {}, {}}; }

Tree product(std::vector<Tree> factors) {
  if (factors.empty()) return integer_tree(1);
  if (factors.size() == 1) return std::move(factors[0]);
  return {Kind::Mul, 0, {}, std::move(factors)};
}

}  // namespace

struct DimTreeBuilder {
  const DimTable& dims;
  const DimTable::Impl& impl;

  Tree atom(int32_t index) const {
    const DimAtom& a = impl.atom(index);
    Tree out;
    switch (a.kind) {
      case AtomKind::Symbol:
        out.kind = Kind::Symbol;
        break;
      case AtomKind::Div:
      case AtomKind::Floor:
        out.kind = Kind::Div;
        break;
      case AtomKind::Mod:
        out.kind = Kind::Mod;
        break;
      case AtomKind::Min:
        out.kind = Kind::Min;
        break;
      case AtomKind::Max:
        out.kind = Kind::Max;
        break;
    }
    out.symbol = a.symbol;
    for (DimId operand : a.operands) out.operands.push_back(poly(impl.poly(operand)));
    if (a.kind == AtomKind::Min || a.kind == AtomKind::Max) sort(out.operands);
    return out;
  }

  void sort(std::vector<Tree>& trees) const {
    std::stable_sort(trees.begin(), trees.end(), [&](const Tree& a, const Tree& b) {
      bool literal_a = a.kind == Kind::Integer;
      bool literal_b = b.kind == Kind::Integer;
      if (literal_a != literal_b) return literal_b;
      return text_of(a, dims) < text_of(b, dims);
    });
  }

  // The term without its sign.
  Tree term(const Term& t) const {
    std::vector<Tree> num;
    std::vector<Tree> den;
    for (const Factor& f : t.factors) {
      auto& side = f.exponent > 0 ? num : den;
      for (int32_t i = 0; i < std::abs(f.exponent); ++i) side.push_back(atom(f.atom));
    }
    sort(num);
    sort(den);
    int64_t scale = std::abs(t.coefficient.num);
    if (scale != 1) num.insert(num.begin(), integer_tree(scale));
    if (t.coefficient.den != 1) den.insert(den.begin(), integer_tree(t.coefficient.den));
    Tree top = product(std::move(num));
    if (den.empty()) return top;
    return {Kind::Div, 0, {}, {std::move(top), product(std::move(den))}};
  }

  Tree poly(const Polynomial& p) const {
    if (auto constant = poly_constant(p); constant && constant->is_integer())
      return integer_tree(constant->num);
    std::vector<Tree> plus;
    std::vector<Tree> minus;
    for (const Term& t : p.terms) (t.coefficient.num > 0 ? plus : minus).push_back(term(t));
    sort(plus);
    sort(minus);
    Tree out = plus.empty() ? integer_tree(0) : std::move(plus[0]);
    if (plus.size() > 1) {
      plus[0] = std::move(out);
      out = {Kind::Add, 0, {}, std::move(plus)};
    }
    for (Tree& t : minus) out = {Kind::Sub, 0, {}, {std::move(out), std::move(t)}};
    return out;
  }
};

Tree DimTable::tree(DimId dim) const {
  return DimTreeBuilder{*this, *impl_}.poly(impl_->poly(dim));
}
std::string DimTable::show(DimId dim) const { return text_of(tree(dim), *this); }

}  // namespace axon
