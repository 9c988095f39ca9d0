// Alias lookup, parameter kinds and expansion.
#include "sema/alias.h"

#include <algorithm>
#include <array>

#include "support/check.h"

namespace axon::sema {

using namespace syntax;

bool is_builtin_type(std::string_view name) {
  constexpr std::array<std::string_view, 11> kTypes = {
      "Int", "Dim", "Float", "F", "Bool", "String", "Str", "Path", "Null", "Any", "Tensor"};
  return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
}

bool is_explicit_type_variable(std::string_view name) {
  return !name.empty() && name[0] == '_' && name.find('.') == name.npos;
}

std::string_view last_component(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

AliasTable::AliasTable(const std::vector<TypeAlias>& aliases, const Ast& ast, const Interner& names)
    : aliases_(aliases), ast_(ast), names_(names) {
  for (size_t i = 0; i < aliases_.size(); ++i) by_name_.emplace(aliases_[i].name, i);
  for (const TypeAlias& alias : aliases_) type_params_.emplace_back(alias.params.size(), false);
  // An argument of another alias may be a type because that alias says so: settle by rounds.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < aliases_.size(); ++i) {
      for (size_t p = 0; p < aliases_[i].params.size(); ++p) {
        if (type_params_[i][p] || !uses_as_type(aliases_[i].type, aliases_[i].params[p].name)) {
          continue;
        }
        type_params_[i][p] = true;
        changed = true;
      }
    }
  }
}

const TypeAlias* AliasTable::find(NameId name) const {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    NameId last = names_.find(last_component(names_.text(name)));
    if (!last.valid()) return nullptr;
    found = by_name_.find(last);
    if (found == by_name_.end()) return nullptr;
  }
  return &aliases_[found->second];
}

bool AliasTable::uses_as_type(TypeExprId id, NameId param) const {
  const TypeExpr& type = ast_[id];
  switch (type.kind()) {
    case TypeExprKind::Optional:
      return uses_as_type(type.as<TypeOptional>().inner, param);
    case TypeExprKind::List:
      return uses_as_type(type.as<TypeList>().item, param);
    case TypeExprKind::Tuple: {
      const auto& items = type.as<TypeTuple>().items;
      return std::any_of(items.begin(), items.end(),
                         [&](TypeExprId item) { return uses_as_type(item, param); });
    }
    case TypeExprKind::Named:
      break;
  }
  const TypeNamed& named = type.as<TypeNamed>();
  if (named.name == param && !named.has_args) return true;
  const TypeAlias* alias = find(named.name);
  for (size_t i = 0; i < named.args.size(); ++i) {
    const TypeArg& arg = named.args[i];
    if (arg.type.valid()) {
      if (uses_as_type(arg.type, param)) return true;
    } else if (alias && takes_type(*alias, i, named.args.size())) {
      const DimExpr& dim = ast_[arg.dim];
      if (dim.kind() == DimExprKind::Name && dim.as<DimName>().name == param) return true;
    }
  }
  return false;
}

std::optional<AliasArgs> AliasTable::match(const TypeAlias& alias, size_t count) {
  AliasArgs out;
  auto variadic = std::find_if(alias.params.begin(), alias.params.end(),
                               [](const AliasParam& param) { return param.variadic; });
  size_t fixed = alias.params.size() - (variadic == alias.params.end() ? 0 : 1);
  if (variadic == alias.params.end() ? count != fixed : count < fixed) return {};
  size_t at = 0;
  for (const AliasParam& param : alias.params) {
    size_t width = param.variadic ? count - fixed : 1;
    out.ranges.emplace_back(at, at + width);
    at += width;
  }
  return out;
}

bool AliasTable::takes_type(const TypeAlias& alias, size_t index, size_t count) const {
  auto args = match(alias, count);
  if (!args) return false;
  size_t which = by_name_.at(alias.name);
  for (size_t p = 0; p < args->ranges.size(); ++p) {
    auto [begin, end] = args->ranges[p];
    if (index >= begin && index < end) return type_params_[which][p];
  }
  return false;
}

TypeExprId arg_as_type(const TypeArg& arg, Ast& ast) {
  if (arg.type.valid()) return arg.type;
  const DimExpr& dim = ast[arg.dim];
  if (dim.kind() != DimExprKind::Name) return {};
  NameId name = dim.as<DimName>().name;
  Span span = dim.span;
  return ast.add(TypeExpr{TypeNamed{name, {}, false}, span});
}

namespace {

// Replaces an alias's parameters by the arguments of one use, aliases inside included.
class Expander {
 public:
  Expander(const AliasTable& aliases, Ast& ast, Interner& names)
      : aliases_(aliases), ast_(ast), names_(names) {}

  TypeExprId type(TypeExprId id) {
    // Texts nest as deep as the parser lets them; each alias adds what it stands for.
    AXON_CHECK(++depth_ < 100000, "alias expansion does not end");
    TypeExprId out = type_inner(id);
    --depth_;
    return out;
  }

 private:
  struct Actual {
    std::vector<DimExprId> dims;  // one, or the run of a variadic parameter
    TypeExprId type;
  };
  using Actuals = std::unordered_map<NameId, Actual, IdHash>;

  TypeExprId type_inner(TypeExprId id) {
    TypeExpr node = ast_[id];
    switch (node.kind()) {
      case TypeExprKind::Optional: {
        TypeExprId inner = type(node.as<TypeOptional>().inner);
        if (ast_[inner].kind() == TypeExprKind::Optional) return inner;
        if (inner == node.as<TypeOptional>().inner) return id;
        return ast_.add(TypeExpr{TypeOptional{inner}, node.span});
      }
      case TypeExprKind::List: {
        TypeExprId item = type(node.as<TypeList>().item);
        if (item == node.as<TypeList>().item) return id;
        return ast_.add(TypeExpr{TypeList{item}, node.span});
      }
      case TypeExprKind::Tuple: {
        std::vector<TypeExprId> items;
        for (TypeExprId item : node.as<TypeTuple>().items) items.push_back(type(item));
        if (items == node.as<TypeTuple>().items) return id;
        return ast_.add(TypeExpr{TypeTuple{std::move(items)}, node.span});
      }
      case TypeExprKind::Named:
        return named(id, node.as<TypeNamed>(), node.span);
    }
    AXON_UNREACHABLE("type kind");
  }

  TypeExprId named(TypeExprId id, const TypeNamed& named, Span span) {
    if (scope_ && !named.has_args) {
      auto actual = scope_->find(named.name);
      if (actual != scope_->end() && actual->second.type.valid()) return actual->second.type;
    }
    const TypeAlias* alias =
        is_builtin_type(names_.text(named.name)) ? nullptr : aliases_.find(named.name);
    if (!alias) {
      TypeNamed now{named.name, {}, named.has_args};
      for (const TypeArg& arg : named.args) append_dims(arg.dim, now.args);
      if (!scope_) return id;
      return ast_.add(TypeExpr{std::move(now), span});
    }
    auto match = AliasTable::match(*alias, named.args.size());
    if (!match) return id;  // reported by resolve
    Actuals actuals;
    for (size_t p = 0; p < alias->params.size(); ++p) {
      Actual actual;
      auto [begin, end] = match->ranges[p];
      for (size_t i = begin; i < end; ++i) {
        if (aliases_.takes_type(*alias, i, named.args.size())) {
          TypeExprId given = arg_as_type(named.args[i], ast_);
          if (given.valid()) actual.type = type(given);
        } else {
          std::vector<TypeArg> dims;
          append_dims(named.args[i].dim, dims);
          for (const TypeArg& dim : dims) actual.dims.push_back(dim.dim);
        }
      }
      actuals.emplace(alias->params[p].name, std::move(actual));
    }
    const Actuals* before = scope_;
    scope_ = &actuals;
    TypeExprId out = type(alias->type);
    scope_ = before;
    return out;
  }

  // A direct element of a dim list: a variadic parameter becomes its run.
  void append_dims(DimExprId id, std::vector<TypeArg>& out) {
    if (!id.valid()) return;
    const DimExpr& node = ast_[id];
    if (scope_ && node.kind() == DimExprKind::Variadic) {
      auto actual = scope_->find(node.as<DimVariadic>().name);
      if (actual != scope_->end()) {
        for (DimExprId dim : actual->second.dims) out.push_back({dim, {}});
        return;
      }
    }
    out.push_back({dim(id), {}});
  }

  DimExprId dim(DimExprId id) {
    DimExpr node = ast_[id];
    switch (node.kind()) {
      case DimExprKind::Int:
      case DimExprKind::Variadic:
        return id;
      case DimExprKind::Name: {
        if (!scope_) return id;
        auto actual = scope_->find(node.as<DimName>().name);
        if (actual == scope_->end() || actual->second.dims.size() != 1) return id;
        return actual->second.dims[0];
      }
      case DimExprKind::Binary: {
        DimBinary binary = node.as<DimBinary>();
        binary.left = dim(binary.left);
        binary.right = dim(binary.right);
        return ast_.add(DimExpr{binary, node.span});
      }
      case DimExprKind::Paren: {
        DimExprId inner = dim(node.as<DimParen>().inner);
        return ast_.add(DimExpr{DimParen{inner}, node.span});
      }
    }
    AXON_UNREACHABLE("dim kind");
  }

  const AliasTable& aliases_;
  Ast& ast_;
  Interner& names_;
  const Actuals* scope_ = nullptr;
  int depth_ = 0;
};

// Depth-first search for an alias that reaches itself.
class CycleSearch {
 public:
  CycleSearch(const AliasTable& aliases, Session& session) : aliases_(aliases), session_(session) {}

  bool run() {
    for (const TypeAlias& alias : aliases_.all()) visit(alias);
    return ok_;
  }

 private:
  enum class Mark : uint8_t { New, Open, Done };

  void visit(const TypeAlias& alias) {
    Mark& mark = marks_[alias.name];
    if (mark == Mark::Done) return;
    if (mark == Mark::Open) return report(alias);
    mark = Mark::Open;
    stack_.push_back(&alias);
    walk(alias.type, alias);
    stack_.pop_back();
    marks_[alias.name] = Mark::Done;
  }

  void walk(TypeExprId id, const TypeAlias& inside) {
    const TypeExpr& type = session_.ast[id];
    switch (type.kind()) {
      case TypeExprKind::Optional:
        return walk(type.as<TypeOptional>().inner, inside);
      case TypeExprKind::List:
        return walk(type.as<TypeList>().item, inside);
      case TypeExprKind::Tuple:
        for (TypeExprId item : type.as<TypeTuple>().items) walk(item, inside);
        return;
      case TypeExprKind::Named:
        break;
    }
    const TypeNamed& named = type.as<TypeNamed>();
    enter(named.name, inside);
    for (size_t i = 0; i < named.args.size(); ++i) {
      if (named.args[i].type.valid()) walk(named.args[i].type, inside);
      const TypeAlias* alias = aliases_.find(named.name);
      if (alias && named.args[i].dim.valid() && aliases_.takes_type(*alias, i, named.args.size())) {
        const DimExpr& dim = session_.ast[named.args[i].dim];
        if (dim.kind() == DimExprKind::Name) enter(dim.as<DimName>().name, inside);
      }
    }
  }

  void enter(NameId name, const TypeAlias& inside) {
    if (is_builtin_type(session_.names.text(name))) return;
    for (const AliasParam& param : inside.params) {
      if (param.name == name) return;
    }
    if (const TypeAlias* alias = aliases_.find(name)) visit(*alias);
  }

  void report(const TypeAlias& again) {
    ok_ = false;
    std::string text;
    auto from = std::find_if(stack_.begin(), stack_.end(),
                             [&](const TypeAlias* alias) { return alias->name == again.name; });
    for (auto at = from; at != stack_.end(); ++at) {
      text += std::string(session_.names.text((*at)->name)) + " → ";
    }
    text += session_.names.text(again.name);
    session_.sink.report(Diag::TypeAliasCycle, again.span, {text});
  }

  const AliasTable& aliases_;
  Session& session_;
  std::unordered_map<NameId, Mark, IdHash> marks_;
  std::vector<const TypeAlias*> stack_;
  bool ok_ = true;
};

}  // namespace

TypeExprId expand_aliases(TypeExprId type, const AliasTable& aliases, Ast& ast, Interner& names) {
  return Expander(aliases, ast, names).type(type);
}

bool is_optional(TypeExprId type, const AliasTable& aliases, Ast& ast, Interner& names) {
  bool named = ast[type].kind() == TypeExprKind::Named;
  if (named && aliases.find(ast[type].as<TypeNamed>().name))
    type = expand_aliases(type, aliases, ast, names);
  return ast[type].kind() == TypeExprKind::Optional;
}

bool check_alias_cycles(const AliasTable& aliases, Session& session) {
  return CycleSearch(aliases, session).run();
}

}  // namespace axon::sema
