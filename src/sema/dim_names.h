// What a dim name written in a definition stands for in its checked types. The checker may merge
// names (`S` and `K` proved equal print as one), so the written types are laid over the checked
// ones.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "syntax/nodes.h"
#include "types/type.h"

namespace axon::sema {

class DimNames {
 public:
  DimNames(const syntax::Ast& ast, TypeTable& types) : ast_(ast), types_(types) {}

  // Learns from a type as written and as checked; what does not match in form teaches nothing.
  void learn(syntax::TypeExprId written, TypeId checked);
  // Learns the symbols of a checked type by their own names; names known already stay.
  void learn_symbols(TypeId checked);
  // What is told goes before what is learned afterwards.
  void tell(NameId name, DimId dim);
  // Invalid when the name is not known.
  DimId find(NameId name) const;
  // All that is known, in the order of learning.
  const std::vector<std::pair<NameId, DimId>>& all() const { return order_; }

 private:
  const syntax::Ast& ast_;
  TypeTable& types_;
  std::unordered_map<NameId, DimId, IdHash> dims_;
  std::vector<std::pair<NameId, DimId>> order_;
};

}  // namespace axon::sema
