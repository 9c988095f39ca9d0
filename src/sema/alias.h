// The table of type aliases and the names that types may use (language.md 6.2, 6.3).
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sema/session.h"

namespace axon::sema {

// A type name that the language itself provides (`List` has syntax of its own).
bool is_builtin_type(std::string_view name);
// `_T`, `_T1`, … and other names that start with an underscore.
bool is_explicit_type_variable(std::string_view name);
std::string_view last_component(std::string_view dotted);

// How the arguments of a use map to the parameters of an alias: for each parameter the range
// [begin, end) of arguments; one argument except for the variadic parameter.
struct AliasArgs {
  std::vector<std::pair<size_t, size_t>> ranges;
};

class AliasTable {
 public:
  AliasTable(const std::vector<syntax::TypeAlias>& aliases, const syntax::Ast& ast,
             const Interner& names);
  // By the last component of the name; null when there is none.
  const syntax::TypeAlias* find(NameId name) const;
  // Whether argument `index` of a use with `count` arguments is a type (not a dim).
  bool takes_type(const syntax::TypeAlias& alias, size_t index, size_t count) const;
  // Nothing when the number of arguments is wrong.
  static std::optional<AliasArgs> match(const syntax::TypeAlias& alias, size_t count);
  const std::vector<syntax::TypeAlias>& all() const { return aliases_; }

 private:
  bool uses_as_type(syntax::TypeExprId type, NameId param) const;

  std::vector<syntax::TypeAlias> aliases_;
  const syntax::Ast& ast_;
  const Interner& names_;
  std::unordered_map<NameId, size_t, IdHash> by_name_;
  std::vector<std::vector<bool>> type_params_;  // by alias, by parameter
};

// The type of an argument that the parser had to read as a dim but that stands for a type; an
// invalid id when the dim is not a lone name.
syntax::TypeExprId arg_as_type(const syntax::TypeArg& arg, syntax::Ast& ast);

// Replaces every alias use by its body.
syntax::TypeExprId expand_aliases(syntax::TypeExprId type, const AliasTable& aliases,
                                  syntax::Ast& ast, Interner& names);

// Whether the type is optional, by itself or by what its alias stands for.
bool is_optional(syntax::TypeExprId type, const AliasTable& aliases, syntax::Ast& ast,
                 Interner& names);

// Cycles and wrong arities of aliases; returns false when there is one (reported).
bool check_alias_cycles(const AliasTable& aliases, Session& session);

}  // namespace axon::sema
