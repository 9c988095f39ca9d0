// Translation of dims.
#include "plan/symbols.h"

#include "support/check.h"

namespace axon::plan {

runtime::SymId Symbols::symbol(SymbolId symbol) {
  auto known = symbols_.find(symbol);
  if (known != symbols_.end()) return known->second;
  const Symbol& facts = dims_.symbol(symbol);
  runtime::Symbol made;
  made.name = std::string(dims_.names().text(facts.name));
  made.kind = facts.kind == SymbolKind::Data ? runtime::SymKind::Data : runtime::SymKind::Shape;
  runtime::SymId id = program_.symbols.add(std::move(made));
  symbols_.emplace(symbol, id);
  return id;
}

runtime::IntId Symbols::translate(const DimTable::Tree& tree) {
  using Kind = DimTable::Tree::Kind;
  using Int = runtime::IntExpr::Kind;
  if (tree.kind == Kind::Integer) return program_.constant(tree.value);
  if (tree.kind == Kind::Symbol) return program_.symbol(symbol(tree.symbol));
  Int kind = Int::Add;
  switch (tree.kind) {
    case Kind::Add:
      kind = Int::Add;
      break;
    case Kind::Sub:
      kind = Int::Sub;
      break;
    case Kind::Mul:
      kind = Int::Mul;
      break;
    case Kind::Div:
      kind = Int::FloorDiv;
      break;
    case Kind::Mod:
      kind = Int::Mod;
      break;
    case Kind::Min:
      kind = Int::Min;
      break;
    case Kind::Max:
      kind = Int::Max;
      break;
    case Kind::Integer:
    case Kind::Symbol:
      break;
  }
  AXON_CHECK(!tree.operands.empty(), "operands of a dim");
  runtime::IntId result = translate(tree.operands[0]);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    result = program_.make(kind, result, translate(tree.operands[i]));
  }
  return result;
}

runtime::IntId Symbols::expr(DimId dim) {
  auto known = known_.find(dim);
  if (known != known_.end()) return known->second;
  runtime::IntId id = translate(dims_.tree(dim));
  known_.emplace(dim, id);
  return id;
}

std::vector<runtime::IntId> Symbols::exprs(const std::vector<DimId>& dims) {
  std::vector<runtime::IntId> out;
  for (DimId d : dims) out.push_back(expr(d));
  return out;
}

}  // namespace axon::plan
