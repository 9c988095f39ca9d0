// Types and dims as written, in the terms of one check.
#include "sema/typecheck_checker.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::sema::types {

using namespace syntax;

// ---- names ---------------------------------------------------------------------------------

// A dim name is a constant when it is a canonical name of a global or of a definition without
// parameters; undotted ones are visible in the root module only.
std::optional<size_t> Checker::rigid_definition(const Frame& f, NameId name) const {
  auto found = program_.by_name.find(name);
  if (found == program_.by_name.end()) return {};
  const Definition& def = program_.definitions[found->second];
  if (!def.params.empty() || !def.path_params.empty()) return {};
  bool dotted = s_.names.text(name).find('.') != std::string_view::npos;
  bool own_dotted = s_.names.text(f.def.name).find('.') != std::string_view::npos;
  if (!dotted && own_dotted) return {};
  return found->second;
}

DimId Checker::rigid(NameId name) { return d_.of(d_.symbol(name, SymbolKind::Rigid)); }

DimId Checker::dim_name(Frame& f, NameId name, Span span) {
  if (auto known = f.dims.find(name); known != f.dims.end()) return known->second;
  if (auto index = rigid_definition(f, name)) {
    if (states_[*index] == State::New) check_generic(*index);
    check_constant(f, *index, span);
    DimId dim = rigid(name);
    if (auto meaning = rigid_meanings_.find(*d_.as_symbol(dim)); meaning != rigid_meanings_.end()) {
      f.u.define(meaning->first, meaning->second);
    }
    return dim;
  }
  if (s_.names.text(name).find('.') != std::string_view::npos) {
    report(f, Diag::TypeUnknown, span, {s_.names.text(name)});
  }
  SymbolId symbol = f.generic ? d_.symbol(name, SymbolKind::Variable)
                              : d_.fresh(s_.names.text(name), SymbolKind::Variable);
  return f.dims[name] = d_.of(symbol);
}

SymbolId Checker::run_of(Frame& f, NameId name) {
  auto [it, added] = f.runs.try_emplace(name);
  if (added) {
    it->second = f.generic ? d_.symbol(name, SymbolKind::Run)
                           : d_.fresh(s_.names.text(name), SymbolKind::Run);
  }
  return it->second;
}

DimId Checker::dim_of(Frame& f, DimExprId id) {
  const DimExpr& e = s_.ast[id];
  switch (e.kind()) {
    case DimExprKind::Int:
      return d_.integer(e.as<DimInt>().value);
    case DimExprKind::Name:
      return dim_name(f, e.as<DimName>().name, e.span);
    case DimExprKind::Paren:
      return dim_of(f, e.as<DimParen>().inner);
    case DimExprKind::Variadic:
      return f.u.unknown();  // only lists of dims may hold a run
    case DimExprKind::Binary: {
      const DimBinary b = e.as<DimBinary>();
      DimId left = dim_of(f, b.left);
      DimId right = dim_of(f, b.right);
      if (b.op == '/' || b.op == '%') check_divisor(f, right, e.span);
      return b.op == '+'   ? d_.value_add(left, right)
             : b.op == '-' ? d_.value_sub(left, right)
             : b.op == '*' ? d_.value_mul(left, right)
             : b.op == '/' ? d_.value_div(left, right)
                           : d_.mod(left, right);
    }
  }
  AXON_UNREACHABLE("dim expression");
}

// ---- types ---------------------------------------------------------------------------------

TypeId Checker::named_type(Frame& f, const TypeNamed& named, Span span) {
  std::string_view name = s_.names.text(named.name);
  if (name == "Tensor") {
    std::vector<Axis> axes;
    int runs = 0;
    for (const TypeArg& arg : named.args) {
      if (!arg.dim.valid()) {
        report(f, Diag::TypeUnknown, span, {std::string(name)});
        return t_.error();
      }
      const DimExpr& e = s_.ast[arg.dim];
      if (e.kind() == DimExprKind::Variadic) {
        axes.push_back({{}, run_of(f, e.as<DimVariadic>().name)});
        ++runs;
      } else {
        axes.push_back({dim_of(f, arg.dim), {}});
        check_size(f, axes.back().dim, e.span);
      }
    }
    if (runs > 1) {
      report(f, Diag::TypeVariadic, span,
             {std::string("a type"), t_.show(t_.tensor(axes)), std::string("one run")});
      return t_.tensor();
    }
    return t_.tensor(std::move(axes));
  }
  if (!named.has_args || named.args.empty()) {
    if (name == "Int") return t_.int_();
    if (name == "Dim") return t_.dim();
    if (name == "Float" || name == "F") return t_.float_();
    if (name == "Bool") return t_.bool_();
    if (name == "String" || name == "Str") return t_.string();
    if (name == "Path") return t_.path();
    if (name == "Null") return t_.null();
    if (name == "Any") return t_.any();
    if (name.find('.') == std::string_view::npos) {
      if (name.size() > 1 && name[0] != '_' && f.generic) {
        if (Diagnostic* d = warn(f, Diag::WTypevar, span, {name})) {
          for (const std::string& near : closest(name, {"Tensor", "Float", "String", "Path"}, 1))
            d->note(Note::NoteDidYouMean, span, {"`" + near + "`"});
        }
      }
      auto [it, added] = f.variables.try_emplace(named.name);
      if (added) {
        SymbolId symbol =
            f.generic ? d_.symbol(named.name, SymbolKind::Type) : d_.fresh(name, SymbolKind::Type);
        it->second = t_.variable(symbol);
      }
      return it->second;
    }
  }
  if (name == "List" && named.args.size() == 1) {
    const TypeArg& arg = named.args[0];
    if (arg.type.valid()) return t_.list(type_of(f, arg.type));
    const DimExpr& e = s_.ast[arg.dim];  // a lone name parses as a dim
    if (e.kind() == DimExprKind::Name) {
      return t_.list(named_type(f, TypeNamed{e.as<DimName>().name, {}, false}, e.span));
    }
  }
  report(f, Diag::TypeUnknown, span, {name});
  return t_.error();
}

TypeId Checker::type_of(Frame& f, TypeExprId id) {
  const TypeExpr e = s_.ast[id];
  switch (e.kind()) {
    case TypeExprKind::Optional:
      return t_.optional(type_of(f, e.as<TypeOptional>().inner));
    case TypeExprKind::List:
      return t_.list(type_of(f, e.as<TypeList>().item));
    case TypeExprKind::Tuple: {
      std::vector<TypeId> items;
      for (TypeExprId item : e.as<TypeTuple>().items) items.push_back(type_of(f, item));
      return items.size() == 1 ? items[0] : t_.tuple(std::move(items));
    }
    case TypeExprKind::Named:
      return named_type(f, e.as<TypeNamed>(), e.span);
  }
  AXON_UNREACHABLE("type expression");
}

// ---- headers -------------------------------------------------------------------------------

// Names of dims in a type that are bound by now become values.
void Checker::make_dims_values(Frame& f, TypeId type) {
  std::vector<SymbolId> symbols;
  collect_symbols(type, symbols);
  for (auto& [name, dim] : f.dims) {
    if (f.dim_values.count(name) > 0) continue;
    auto symbol = d_.as_symbol(dim);
    for (SymbolId s : symbols) {
      if (symbol && s == *symbol) f.dim_values[name] = dim;
    }
  }
}

namespace {

bool is_integer(TypeTable& t, TypeId type) {
  TypeKind k = t.kind(t.strip_optional(type));
  return k == TypeKind::Int || k == TypeKind::Dim;
}

}  // namespace

bool Checker::declares_integer(const Param& param) const {
  if (!param.type.valid()) return false;
  const TypeExpr& e = s_.ast[param.type];
  const TypeExpr& inner =
      e.kind() == TypeExprKind::Optional ? s_.ast[e.as<TypeOptional>().inner] : e;
  if (inner.kind() != TypeExprKind::Named) return false;
  std::string_view text = s_.names.text(inner.as<TypeNamed>().name);
  return text == "Int" || text == "Dim";
}

// Dims that name a parameter come first: they may occur in types of parameters before it.
std::vector<Known> Checker::integer_parameters(Frame& f, const std::vector<Value>* arguments) {
  const auto& params = f.def.params;
  std::vector<Known> out(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const Value* arg = arguments ? &(*arguments)[i] : nullptr;
    bool actual = arg && f.def.helper.kind != HelperKind::None && is_integer(t_, arg->type);
    if (!declares_integer(params[i]) && !actual) continue;
    DimId dim;
    if (!arg) {
      dim = d_.of(d_.symbol(params[i].name, SymbolKind::Param));
    } else if (arg->known.is_dim()) {
      dim = arg->known.dim;
    } else {
      bool null = arg->known.is_null() || t_.kind(arg->type) != TypeKind::Dim;
      dim = null ? d_.of(d_.fresh(s_.names.text(params[i].name), SymbolKind::Variable))
                 : f.u.unknown();
    }
    f.dims[params[i].name] = dim;
    out[i] = Known::of(dim);
  }
  return out;
}

// What a parameter is inside the definition, given an argument.
Value Checker::bind_argument(Frame& f, size_t index, TypeId formal, const Value& arg,
                             const Known& integer) {
  UnifyNotes notes;
  TypeId type;
  auto bad = f.u.unify(arg.type, formal, type, notes);
  if (notes.dropped_optional) f.dropped.push_back(static_cast<int>(index));
  if (bad && !f.failure) {
    f.failure = Failure{};
    f.failure->argument = static_cast<int>(index);
    f.failure->mismatch = bad;
  }
  formal = f.u.resolve(formal);
  TypeKind k = t_.kind(formal);
  bool takes_null = k == TypeKind::Optional || k == TypeKind::Any || k == TypeKind::Null;
  // An argument that is certainly there makes the parameter certain too.
  bool certain = arg.known.kind != Known::Kind::Nothing && !arg.known.is_null() &&
                 t_.kind(arg.type) != TypeKind::Optional;
  // What has no value has the parameter's type.
  const bool none = t_.kind(arg.type) == TypeKind::Error && k != TypeKind::Variable;
  if (bad || none) type = formal;
  if (!takes_null || certain) type = t_.strip_optional(type);
  Known known = arg.known;
  if (t_.kind(t_.strip_optional(type)) == TypeKind::Float) {
    if (known.kind != Known::Kind::Nothing && !known.is_null()) known = Known::not_null();
  } else if (!known.is_dim() && !known.is_null() && is_integer(t_, type)) {
    known = integer.is_dim() ? integer : Known::of(f.u.unknown());
  }
  return {k == TypeKind::Any ? arg.type : type, known};
}

// Sets up the parameters, from the arguments of a call or (without) from the signature alone.
void Checker::declare(Frame& f, const std::vector<Value>* arguments) {
  const auto& params = f.def.params;
  std::vector<Known> integers = integer_parameters(f, arguments);
  for (size_t i = 0; i < params.size(); ++i) {
    TypeId formal = params[i].type.valid() ? type_of(f, params[i].type)
                                           : t_.variable(d_.fresh("T", SymbolKind::Type));
    if (params[i].type.valid() && params[i].optional) formal = t_.optional(formal);
    if (arguments) {
      f.params.push_back(bind_argument(f, i, formal, (*arguments)[i], integers[i]));
      continue;
    }
    std::vector<SymbolId> symbols;
    collect_symbols(formal, symbols);
    for (SymbolId symbol : symbols) f.u.anchor(symbol);
    f.declared.insert(symbols.begin(), symbols.end());
    f.params.push_back({formal, integers[i]});
  }
  f.dim_values = f.dims;  // so far only names of parameters and of dims in their types
  for (size_t i = 0; i < params.size(); ++i) {
    f.locals.push({params[i].name, f.params[i], ++f.versions, {}, params[i].span});
  }
}

}  // namespace axon::sema::types
