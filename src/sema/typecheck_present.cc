// Types that a check recorded, written in the names of the definition that each belongs to.
#include <algorithm>
#include <set>

#include "sema/type_syntax.h"
#include "sema/typecheck_checker.h"

namespace axon::sema::types {

using namespace syntax;

namespace {

// Names of one definition: what its parameters bind stays, everything else becomes `_d<n>`.
class Presenter {
 public:
  Presenter(TypeTable& t, Interner& names, const Definition& def)
      : t_(t), d_(t.dims()), names_(names), def_(def) {}

  void bind(SymbolId symbol, DimId dim) { dims_[symbol] = dim; }
  void allow(SymbolId symbol) { allowed_.insert(symbol); }

  DimId show_dim(DimId id) {
    return d_.substitute(id, [&](SymbolId s) { return dim(s); });
  }

  TypeId show(TypeId type) {
    if (t_.kind(type) == TypeKind::Error) return t_.any();
    const TypeData data = t_.get(type);
    if (!data.items.empty()) {
      std::vector<TypeId> items;
      for (TypeId item : data.items) items.push_back(show(item));
      if (data.kind == TypeKind::List) return t_.list(items[0]);
      if (data.kind == TypeKind::Optional) return t_.optional(items[0]);
      return t_.tuple(std::move(items));
    }
    return t_.substitute(
        type, [&](SymbolId s) { return dim(s); },
        [&](SymbolId s, bool& found) {
          found = true;
          return std::vector<Axis>{{{}, run(s)}};
        },
        [&](SymbolId s) { return variable(s); });
  }

 private:
  SymbolId run(SymbolId s) {
    if (!d_.symbol(s).generated) return s;
    auto [it, added] = runs_.try_emplace(s);
    if (added)
      it->second = d_.symbol(names_.intern("_R" + std::to_string(runs_.size())), SymbolKind::Run);
    return it->second;
  }

  bool keeps(SymbolId s) const { return allowed_.count(s) > 0 && !d_.symbol(s).generated; }

  DimId dim(SymbolId s) {
    const Symbol symbol = d_.symbol(s);
    if (symbol.kind == SymbolKind::Rigid) return d_.of(s);
    auto [it, added] = dims_.try_emplace(s);
    if (!added) return it->second;
    if (keeps(s) && symbol.kind != SymbolKind::Unknown) {
      bool parameter = std::any_of(def_.params.begin(), def_.params.end(),
                                   [&](const Param& p) { return p.name == symbol.name; });
      bool foreign = symbol.kind == SymbolKind::Param && !parameter;
      return it->second = foreign ? d_.of(d_.symbol(symbol.name, SymbolKind::Variable)) : d_.of(s);
    }
    NameId name = names_.intern("_d" + std::to_string(++unknowns_));
    return it->second = d_.of(d_.symbol(name, SymbolKind::Unknown));
  }

  TypeId variable(SymbolId s) {
    if (!d_.symbol(s).generated) return t_.variable(s);
    auto [it, added] = variables_.try_emplace(s);
    if (added) {
      NameId name = names_.intern("_T" + std::to_string(variables_.size()));
      it->second = t_.variable(d_.symbol(name, SymbolKind::Type));
    }
    return it->second;
  }

  TypeTable& t_;
  DimTable& d_;
  Interner& names_;
  const Definition& def_;
  std::map<SymbolId, DimId> dims_;
  std::map<SymbolId, TypeId> variables_;
  std::map<SymbolId, SymbolId> runs_;
  std::set<SymbolId> allowed_;
  int unknowns_ = 0;
};

}  // namespace

Header Checker::header_of(Frame& f) {
  Header out{f.definition, {}, f.returned ? f.u.resolve(f.returned->type) : t_.any(), {}, {}};
  out.promises = f.promises;
  for (const Value& param : f.params) out.params.push_back(resolve(f, param));
  for (const auto& [name, dim] : f.dim_values) {
    bool parameter = std::any_of(f.def.params.begin(), f.def.params.end(),
                                 [wanted = name](const Param& p) { return p.name == wanted; });
    if (!parameter) out.dims.emplace_back(name, f.u.resolve(dim));
  }
  return out;
}

// The header as checked. That of a helper said little before; names that the body made equal to
// others are gone, and stand among the constraints.
void Checker::refine_header(Definition& def, const TypedDefinition& typed) {
  for (size_t i = 0; i < def.params.size(); ++i) {
    def.params[i].type = to_syntax(t_.strip_optional(typed.params[i].type), s_);
    def.params[i].optional = typed.params[i].optional;
  }
  def.return_type = to_syntax(typed.return_type, s_);
  def.has_signature = !def.is_global;
}

void Checker::present(Frame& f) {
  std::map<size_t, Presenter> presenters;
  for (Header& header : f.headers) {
    const Definition& def = program_.definitions[header.definition];
    Presenter p(t_, s_.names, def);
    std::vector<SymbolId> symbols;
    for (Value& param : header.params) {
      param = resolve(f, param);
      collect_symbols(param.type, symbols);
    }
    for (auto& [name, dim] : header.dims) {
      dim = f.u.resolve(dim);
      collect_symbols(t_.tensor_of({dim}), symbols);
    }
    for (SymbolId symbol : symbols) p.allow(symbol);
    // In types, the name of an integer parameter always means that parameter.
    std::set<NameId> integers;
    for (size_t i = 0; i < header.params.size(); ++i) {
      TypeKind k = t_.kind(t_.strip_optional(header.params[i].type));
      if (k == TypeKind::Int || k == TypeKind::Dim) integers.insert(def.params[i].name);
    }
    auto own = [&](NameId name) { return integers.count(name) == 0; };
    for (auto& [name, symbol] : header.promises) {
      if (!own(name)) name = s_.names.intern(std::string(s_.names.text(name)) + "__g1");
      p.bind(symbol, d_.of(d_.symbol(name, SymbolKind::Variable)));
    }
    for (size_t i = 0; i < header.params.size(); ++i) {
      const Value& param = header.params[i];
      auto symbol = param.known.is_dim() ? d_.as_symbol(param.known.dim) : std::nullopt;
      bool bound = symbol && std::find(symbols.begin(), symbols.end(), *symbol) != symbols.end();
      if (own(def.params[i].name) || !symbol || d_.symbol(*symbol).kind == SymbolKind::Rigid)
        continue;
      bool other = d_.symbol(*symbol).name != def.params[i].name;
      if (bound && other && d_.symbol(*symbol).kind == SymbolKind::Variable) continue;
      p.bind(*symbol, d_.of(d_.symbol(def.params[i].name, SymbolKind::Param)));
    }
    TypedDefinition& typed = out_.definitions[header.definition];
    typed.params.clear();
    for (size_t i = 0; i < header.params.size(); ++i) {
      TypeId type = p.show(header.params[i].type);
      TypeKind kind = t_.kind(type);
      bool vague = kind == TypeKind::Any || kind == TypeKind::Null;
      bool optional = kind == TypeKind::Optional || (vague && def.params[i].optional);
      typed.params.push_back({def.params[i].name, type, optional});
    }
    typed.return_type = p.show(f.u.resolve(header.result));
    refine_header(out_.flat.program.definitions[header.definition], typed);
    typed.dim_values.clear();
    for (const auto& [name, dim] : header.dims)
      typed.dim_values.emplace_back(name, p.show_dim(dim));
    for (const auto& [name, symbol] : header.promises)
      typed.dim_values.emplace_back(name, p.show_dim(d_.of(symbol)));
    presenters.erase(header.definition);
    presenters.emplace(header.definition, std::move(p));
  }
  for (const Recorded& r : f.recorded) {
    auto found = presenters.find(r.definition);
    if (found == presenters.end()) continue;
    out_.type_of[static_cast<size_t>(r.expr.index)] = found->second.show(f.u.resolve(r.type));
  }
}

}  // namespace axon::sema::types
