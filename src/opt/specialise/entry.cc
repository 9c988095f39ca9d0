// What a call's sizes must be for the types to hold: sizes named by integers, and declared results.
#include "opt/specialise/specialiser.h"

namespace axon::opt {

std::optional<int64_t> SpecialiseOptions::least(const DimTable& dims, SymbolId symbol) const {
  for (const auto& [known, value] : lower) {
    if (known == symbol) return value;
  }
  for (SymbolId any : free) {
    if (any == symbol) return std::nullopt;
  }
  return dims.symbol(symbol).kind == SymbolKind::Data ? 0 : 1;
}

// A size that has the name of an integer is that integer.
void Specialiser::name_integers(Frame& frame) {
  const graph::Module& main = graph_[graph_.main];
  for (graph::ValueId input : main.inputs) {
    const Tree& tree = forest_[frame.values[static_cast<size_t>(input.index)]];
    if (tree.kind != Tree::Kind::Int) continue;
    const DimId integer = tree.dim;
    const DimId named = lookup(frame, dims_.symbol(main.values[input].name, SymbolKind::Param));
    if (named.valid()) require_equal(named, integer, main.span);
  }
}

// An input's size that has the name of a global constant is that constant, which the types may not
// know yet: the program goes on with its value, and the caller's axis must be as long.
std::vector<DimId> Specialiser::name_constants(Frame& frame, const std::vector<DimId>& sizes) {
  std::vector<DimId> out;
  for (DimId size : sizes) {
    out.push_back(dims_.substitute(size, [&](SymbolId symbol) -> DimId {
      if (dims_.symbol(symbol).kind != SymbolKind::Rigid) return {};
      const DimId value = lookup(frame, symbol);
      const std::optional<int64_t> number = value.valid() ? dims_.as_integer(value) : std::nullopt;
      if (number && *number < 0) fail("a constant whose name is a size is negative");
      if (value.valid()) require_equal(dims_.of(symbol), value, graph_[frame.id].span);
      return value;
    }));
  }
  return out;
}

// Whether a dim names a constant that the types did not know when they were checked.
bool Specialiser::is_late(DimId dim) const {
  for (SymbolId symbol : dims_.symbols(dim)) {
    const Symbol& facts = dims_.symbol(symbol);
    if (facts.kind == SymbolKind::Rigid && !facts.value) return true;
  }
  return false;
}

void Specialiser::require_equal(DimId left, DimId right, Span span) {
  if (left == right || depends_on_round(left) || depends_on_round(right)) return;
  for (const DimFact& known : out_.facts) {
    if (known.relation == DimFact::Relation::Eq && known.left == left && known.right == right)
      return;
  }
  out_.facts.push_back(DimFact{DimFact::Relation::Eq, left, right, span});
}

// A size that nothing knew is what the declared result says it is, the same for all that have its
// name.
void Specialiser::check_result(Frame& frame, TypeId type, TreeId id, Span span) {
  if (!type.valid() || !id.valid()) return;
  bind_dims(frame, type, id);
  TypeId plain = types_.strip_optional(type);
  if (types_.kind(plain) == TypeKind::Tuple && forest_[id].kind == Tree::Kind::Tuple) {
    const std::vector<TypeId> items = types_.get(plain).items;
    const Args trees = forest_[id].items;
    for (size_t i = 0; i < items.size() && i < trees.size(); ++i)
      check_result(frame, items[i], trees[i], span);
  }
  if (forest_[id].kind != Tree::Kind::Tensor) return;
  if (types_.kind(plain) != TypeKind::Tensor) return;
  const std::vector<DimId> declared = types_.dims_of(plain);
  if (declared.size() != forest_[id].dims.size()) return;
  for (size_t i = 0; i < declared.size(); ++i) {
    DimId want = resolve_dim(frame, declared[i]);
    if (want.valid()) require_equal(want, forest_[id].dims[i], span);
  }
}

}  // namespace axon::opt
