// Calls: of primitives by their rules, of definitions by a check for these arguments.
#include <algorithm>

#include "ops/signature.h"
#include "sema/typecheck_checker.h"
#include "support/check.h"
#include "support/text.h"
#include "syntax/path_text.h"
#include "types/dtype.h"

namespace axon::sema::types {

using namespace syntax;

// ---- symbols and keys ----------------------------------------------------------------------

void Checker::collect_symbols(TypeId type, std::vector<SymbolId>& out) {
  const TypeData data = t_.get(type);
  auto add = [&](SymbolId symbol) {
    if (std::find(out.begin(), out.end(), symbol) == out.end()) out.push_back(symbol);
  };
  if (data.kind == TypeKind::Variable) add(data.variable);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) {
      add(axis.run);
      continue;
    }
    for (SymbolId symbol : d_.symbols(axis.dim)) {
      if (d_.symbol(symbol).kind != SymbolKind::Rigid) add(symbol);
    }
  }
  for (TypeId item : data.items) collect_symbols(item, out);
}

void Checker::collect_symbols(const Known& known, std::vector<SymbolId>& out) {
  if (known.is_dim()) collect_symbols(t_.tensor_of({known.dim}), out);
  for (const Known& item : known.items) collect_symbols(item, out);
}

std::vector<SymbolId> Checker::symbols_of(const std::vector<Value>& args) {
  std::vector<SymbolId> out;
  for (const Value& arg : args) {
    collect_symbols(arg.type, out);
    collect_symbols(arg.known, out);
  }
  return out;
}

namespace {

// Text that is equal for arguments that differ in the names of symbols only.
struct KeyWriter {
  TypeTable& t;
  DimTable& d;
  const std::vector<SymbolId>& symbols;
  std::string text;

  void symbol(SymbolId id) {
    auto found = std::find(symbols.begin(), symbols.end(), id);
    if (found == symbols.end()) {
      text += "r" + std::to_string(id.index);
    } else {
      text += "s" + std::to_string(found - symbols.begin());
      text += static_cast<char>('a' + static_cast<int>(d.symbol(id).kind));
    }
  }
  void tree(const DimTable::Tree& node) {
    text += static_cast<char>('A' + static_cast<int>(node.kind));
    if (node.kind == DimTable::Tree::Kind::Integer) text += std::to_string(node.value);
    if (node.kind == DimTable::Tree::Kind::Symbol) symbol(node.symbol);
    for (const auto& operand : node.operands) {
      text += ',';
      tree(operand);
    }
    text += ';';
  }
  void type(TypeId id) {
    const TypeData data = t.get(id);
    text += static_cast<char>('a' + static_cast<int>(data.kind));
    if (data.kind == TypeKind::Variable) symbol(data.variable);
    text += data.known_rank ? "[" : "(";
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) {
        text += '.';
        symbol(axis.run);
      } else {
        tree(d.tree(axis.dim));
      }
    }
    for (TypeId item : data.items) type(item);
    text += ')';
  }
  void known(const Known& k) {
    text += static_cast<char>('0' + static_cast<int>(k.kind));
    if (k.is_bool()) text += k.boolean ? 't' : 'f';
    if (k.is_dim()) tree(d.tree(k.dim));
    if (k.kind == Known::Kind::String) text += std::to_string(k.text.index) + ";";
    for (const Known& item : k.items) known(item);
    if (k.is_list()) text += ']';
  }
};

}  // namespace

namespace {

// Arguments in which every size that is no plain name is one.
struct Generaliser {
  Generaliser(TypeTable& table, bool keep) : t(table), d(table.dims()), small(keep) {}
  TypeTable& t;
  DimTable& d;
  bool small;  // small numbers stay: they may say which axis is meant
  std::map<SymbolId, DimId> meant;
  std::map<DimId, DimId> names;

  DimId dim(DimId of) {
    constexpr int64_t kSmall = 16;
    auto number = d.as_integer(of);
    const bool stays = number && small && *number >= -kSmall && *number <= kSmall;
    if (stays || d.as_symbol(of)) return of;
    auto [it, added] = names.try_emplace(of);
    if (!added) return it->second;
    SymbolId name = d.fresh("n", SymbolKind::Variable);
    meant[name] = of;
    return it->second = d.of(name);
  }
  TypeId type(TypeId id) {
    const TypeData data = t.get(id);
    if (data.kind == TypeKind::Tensor && data.known_rank) {
      std::vector<Axis> axes = data.axes;
      for (Axis& axis : axes) {
        if (!axis.is_run()) axis.dim = dim(axis.dim);
      }
      return t.tensor(std::move(axes));
    }
    std::vector<TypeId> items;
    for (TypeId item : data.items) items.push_back(type(item));
    if (data.kind == TypeKind::List) return t.list(items[0]);
    if (data.kind == TypeKind::Optional) return t.optional(items[0]);
    return data.kind == TypeKind::Tuple ? t.tuple(std::move(items)) : id;
  }
  Known known(const Known& of) {
    Known out = of;
    if (out.is_dim()) out.dim = dim(out.dim);
    for (Known& item : out.items) item = known(item);
    return out;
  }
  std::vector<Value> values(const std::vector<Value>& args) {
    std::vector<Value> out;
    for (const Value& arg : args) out.push_back({type(arg.type), known(arg.known)});
    return out;
  }
};

}  // namespace

std::string Checker::key_of(size_t callee, const std::vector<Value>& args,
                            const std::vector<SymbolId>& symbols) {
  KeyWriter writer{t_, d_, symbols, std::to_string(callee) + ":"};
  for (const Value& arg : args) {
    writer.type(arg.type);
    writer.known(arg.known);
  }
  return std::move(writer.text);
}

Known Checker::resolve(Frame& f, const Known& known) {
  Known out = known;
  if (out.is_dim()) out.dim = f.u.resolve(out.dim);
  for (Known& item : out.items) item = resolve(f, item);
  return out;
}

Value Checker::resolve(Frame& f, const Value& value) {
  return {f.u.resolve(value.type), resolve(f, value.known)};
}

// ---- calls ---------------------------------------------------------------------------------

Value Checker::eval_call(Frame& f, const Call& call, Span span) {
  std::vector<Value> given;
  for (const Arg& arg : call.args) given.push_back(eval(f, arg.value));
  std::string_view name = s_.names.text(call.callee);
  if (name.size() > 1 && name[0] == '_') {
    auto op = find_primitive(name);
    if (!op) {
      report(f, Diag::ElabPrim, call.callee_span.valid() ? call.callee_span : span, {name});
      return {t_.error(), {}};
    }
    return call_primitive(f, *op, call, given, span);
  }
  auto found = program_.by_name.find(call.callee);
  if (found == program_.by_name.end()) {
    report(f, Diag::ResUnknown, call.callee_span.valid() ? call.callee_span : span, {name});
    return {t_.error(), {}};
  }
  const Definition& def = program_.definitions[found->second];
  if (given.size() > def.params.size()) {
    report(f, Diag::ElabArity, span, {name, def.params.size(), given.size()});
    return {t_.error(), {}};
  }
  std::vector<Value> args;
  for (const Value& value : given) args.push_back(resolve(f, value));
  while (args.size() < def.params.size()) args.push_back({t_.null(), Known::null()});
  if (def.helper.kind != HelperKind::None) return call_helper(f, found->second, args, call, span);
  return call_definition(f, found->second, call, std::move(args), span);
}

Value Checker::call_primitive(Frame& f, Op op, const Call& call, const std::vector<Value>& args,
                              Span span) {
  const OpSignature& signature = op_signature(op);
  std::vector<ops::RuleArg> rule_args;
  for (const Value& arg : args) rule_args.push_back({arg.type, resolve(f, arg.known)});
  if (rule_args.size() > signature.params.size()) {
    report(f, Diag::ElabArity, span,
           {s_.names.text(call.callee), signature.params.size(), rule_args.size()});
    return {t_.error(), {}};
  }
  while (rule_args.size() < signature.params.size())
    rule_args.push_back({t_.null(), Known::null()});
  if (!check_dtypes(f, signature, rule_args, call, span)) return {t_.error(), {}};
  f.u.set_origin(origin(f, span));
  ops::RuleResult result = ops::type_rule(op, rule_args, f.u);
  if (result.error) {
    report_rule(f, *result.error, op, &call, span);
    return {t_.error(), {}};
  }
  for (int index : result.optional_arguments) {
    auto i = static_cast<size_t>(index);
    if (i >= call.args.size()) continue;
    warn(f, Diag::WOptional, s_.ast[call.args[i].value].span,
         {"argument `" + std::string(signature.params[i].name) + "` of `" +
              std::string(s_.names.text(call.callee)) + "`",
          show(f, t_.strip_optional(f.u.resolve(args[i].type)))});
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    std::string_view text = signature.params[i].type;
    if (text == "Dim") retype_literal(f, call.args[i].value, t_.dim());
    if (text == "List[Dim]") retype_literal(f, call.args[i].value, t_.list(t_.dim()));
  }
  return {result.type, result.known};
}

// Texts that name an element type, as far as they are known.
bool Checker::check_dtypes(Frame& f, const OpSignature& signature,
                           const std::vector<ops::RuleArg>& args, const Call& call, Span span) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Known& known = args[i].known;
    if (signature.params[i].name != "dtype" || known.kind != Known::Kind::String) continue;
    const std::string_view word = s_.names.text(known.text);
    if (word.empty() || word == "none" || word == "default" || parse_dtype(word)) continue;
    Span where = i < call.args.size() ? s_.ast[call.args[i].value].span : span;
    if (!where.valid()) where = span;
    const bool failed = f.failure.has_value();
    Diagnostic* d = report(f, Diag::RunDtype, where, {word});
    std::vector<std::string> names;
    for (DType type : {DType::Bool, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32})
      names.emplace_back(spelling(type));
    for (const std::string& near : closest(word, names, 1)) {
      const DiagNote note{Note::NoteDidYouMean, where, {"`" + near + "`"}};
      if (d) d->notes.push_back(note);
      if (!d && f.failure && !failed) f.failure->notes.push_back(note);
    }
    return false;
  }
  return true;
}

namespace {

void add_dims(const Ast& ast, DimExprId id, std::vector<NameId>& out) {
  std::vector<DimExprId> left{id};
  while (!left.empty()) {
    const DimExpr& dim = ast[left.back()];
    left.pop_back();
    if (dim.kind() == DimExprKind::Name) out.push_back(dim.as<DimName>().name);
    if (dim.kind() == DimExprKind::Paren) left.push_back(dim.as<DimParen>().inner);
    if (dim.kind() != DimExprKind::Binary) continue;
    left.push_back(dim.as<DimBinary>().right);
    left.push_back(dim.as<DimBinary>().left);
  }
}

// The dims that an axis of a written type mentions; with -1 those of all axes.
std::vector<NameId> dims_of_axis(const Ast& ast, TypeExprId id, int axis) {
  std::vector<NameId> out;
  while (id.valid() && ast[id].kind() == TypeExprKind::Optional)
    id = ast[id].as<TypeOptional>().inner;
  if (!id.valid() || ast[id].kind() != TypeExprKind::Named) return out;
  const std::vector<TypeArg>& args = ast[id].as<TypeNamed>().args;
  for (size_t i = 0; i < args.size(); ++i) {
    bool wanted = axis < 0 || i == static_cast<size_t>(axis);
    if (wanted && args[i].dim.valid()) add_dims(ast, args[i].dim, out);
  }
  return out;
}

}  // namespace

// `"up"` where a path is needed.
void Checker::suggest_path(Diagnostic& report, const Mismatch& m, Span where) {
  if (m.kind != Mismatch::Kind::Type || t_.kind(m.left) != TypeKind::String ||
      t_.kind(m.right) != TypeKind::Path)
    return;
  const std::string_view text =
      s_.files.text(where.file)
          .substr(static_cast<size_t>(where.begin), static_cast<size_t>(where.end - where.begin));
  report.note(Note::NoteHere, where,
              {"a path starts with `@` and is no text: `@up`, `@'layers.{i}.up'`"});
  const bool literal = text.size() > 2 && text[0] == '"' && text.back() == '"';
  const std::string_view inner = literal ? text.substr(1, text.size() - 2) : text;
  if (literal && std::all_of(inner.begin(), inner.end(), syntax::is_ident_char))
    report.fix(where, "@" + std::string(inner));
}

// Problems with the arguments themselves, at the arguments.
void Checker::check_arguments(Frame& f, const Summary& summary, const std::vector<Value>& args,
                              const Call& call, size_t callee, Span span) {
  const Definition& def = program_.definitions[callee];
  auto what = [&](int index) {
    return "argument `" + std::string(s_.names.text(def.params[static_cast<size_t>(index)].name)) +
           "` of " + title(def);
  };
  auto where = [&](int index) {
    auto i = static_cast<size_t>(index);
    return i < call.args.size() ? s_.ast[call.args[i].value].span : span;
  };
  for (int index : summary.dropped) {
    TypeId needed = t_.strip_optional(f.u.resolve(args[static_cast<size_t>(index)].type));
    warn(f, Diag::WOptional, where(index), {what(index), show(f, needed)});
  }
  if (!summary.failure || summary.failure->argument < 0) return;
  int index = summary.failure->argument;
  const Mismatch& mismatch = *summary.failure->mismatch;
  // It does not keep its own signature: told there, and callers may keep what was meant.
  if (mismatch.kind == Mismatch::Kind::Rank && failed_[callee]) return;
  TypeExprId type = def.params[static_cast<size_t>(index)].type;
  Diagnostic* d = report_mismatch(f, mismatch, what(index), where(index), {}, s_.ast[type].span);
  if (d) suggest_path(*d, mismatch, where(index));
  bool dims = mismatch.kind == Mismatch::Kind::Dim || mismatch.kind == Mismatch::Kind::DimConst;
  if (!d || !dims) return;
  // Which argument before gave the dim its size.
  for (NameId name : dims_of_axis(s_.ast, type, mismatch.axis)) {
    for (int before = 0; before < index; ++before) {
      TypeExprId other = def.params[static_cast<size_t>(before)].type;
      std::vector<NameId> bound = dims_of_axis(s_.ast, other, -1);
      if (std::find(bound.begin(), bound.end(), name) == bound.end()) continue;
      d->note(Note::NoteBoundHere, where(before), {s_.names.text(name)});
      break;
    }
  }
}

namespace {

// Dim or List[Dim] where a parameter is declared so: literals given there are sizes.
TypeId integer_type(Session& s, TypeExprId id) {
  const TypeExpr* e = &s.ast[id];
  if (e->kind() == TypeExprKind::Optional) e = &s.ast[e->as<TypeOptional>().inner];
  bool list = e->kind() == TypeExprKind::List;
  if (list) e = &s.ast[e->as<TypeList>().item];
  bool dim = e->kind() == TypeExprKind::Named && s.names.text(e->as<TypeNamed>().name) == "Dim";
  if (!dim) return {};
  return list ? s.types.list(s.types.dim()) : s.types.dim();
}

}  // namespace

Value Checker::call_definition(Frame& f, size_t callee, const Call& call, std::vector<Value> args,
                               Span span) {
  const Definition& def = program_.definitions[callee];
  if (states_[callee] == State::New) check_generic(callee);
  // A definition without parameters is a constant, as in types that have its name.
  const Value& constant = generic_results_[callee];
  if (def.params.empty() && !failed_[callee] && !result_failed_[callee] &&
      constant.known.is_dim()) {
    dim_name(f, def.name, span);
    return constant;
  }
  for (const auto& [symbol, meaning] : rigid_meanings_) f.u.define(symbol, meaning);
  std::vector<SymbolId> symbols;
  std::map<SymbolId, DimId> meant;
  const Summary& summary = summary_for(f, callee, args, symbols, meant);
  check_arguments(f, summary, args, call, callee, span);
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (!def.params[i].type.valid()) continue;
    if (TypeId needed = integer_type(s_, def.params[i].type); needed.valid()) {
      retype_literal(f, call.args[i].value, needed);
    }
  }
  if (summary.failure && summary.failure->argument < 0)
    report_call(f, *summary.failure, callee, span);
  bool unsure = summary.failure && !summary.result.type.valid();
  if (unsure || result_failed_[callee]) return {t_.error(), {}};
  return apply_summary(f, summary, symbols, span, meant);
}

// The check of a definition for these arguments. `symbols` get those of the arguments. One that is
// called in very many ways is checked for sizes that may be anything (`meant`: what they are in
// this call), unless that fails.
const Summary& Checker::summary_for(Frame& f, size_t callee, const std::vector<Value>& args,
                                    std::vector<SymbolId>& symbols,
                                    std::map<SymbolId, DimId>& meant) {
  constexpr int kExact = 64, kSmallKept = 256;
  auto look_up = [&](const std::vector<Value>& values) -> const Summary* {
    symbols = symbols_of(values);
    auto found = memo_.find(key_of(callee, values, symbols));
    return found == memo_.end() ? nullptr : found->second.get();
  };
  auto check = [&](const std::vector<Value>& values) -> const Summary& {
    auto summary = std::make_unique<Summary>(check_call(f, callee, values, false));
    summary->symbols = symbols;
    ++summaries_[callee];
    return *memo_.emplace(key_of(callee, values, symbols), std::move(summary)).first->second;
  };
  if (const Summary* known = look_up(args)) return *known;
  const int before = summaries_[callee];
  if (before < kExact) return check(args);
  Generaliser any(t_, before < kSmallKept);
  const std::vector<Value> general = any.values(args);
  const Summary* summary = look_up(general);
  if (!summary) summary = &check(general);
  if (summary->failure && summaries_[callee] < kSmallKept) {
    look_up(args);
    return check(args);
  }
  meant = any.meant;
  return *summary;
}

// A helper is part of the definition that it came from: its expressions are recorded with those of
// the caller, and its errors are the caller's.
Value Checker::call_helper(Frame& f, size_t callee, const std::vector<Value>& args,
                           const Call& call, Span span) {
  std::vector<SymbolId> symbols = symbols_of(args);
  if (f.record || f.muted == 0) {
    Summary summary = check_call(f, callee, args, f.record);
    summary.symbols = symbols;
    check_arguments(f, summary, args, call, callee, span);
    if (summary.failure && summary.failure->argument < 0 && !f.failure) f.failure = summary.failure;
    return summary.result.type.valid() ? apply_summary(f, summary, symbols, span)
                                       : Value{t_.error(), {}};
  }
  std::string key = key_of(callee, args, symbols);
  auto found = memo_.find(key);
  if (found == memo_.end()) {
    auto summary = std::make_unique<Summary>(check_call(f, callee, args, false));
    summary->symbols = symbols;
    found = memo_.emplace(key, std::move(summary)).first;
  }
  const Summary& summary = *found->second;
  if (summary.failure && !f.failure && !f.reports) f.failure = summary.failure;
  return summary.result.type.valid() ? apply_summary(f, summary, symbols, span)
                                     : Value{t_.error(), {}};
}

// ---- one check for given arguments ---------------------------------------------------------

Summary Checker::check_call(Frame& caller, size_t callee, const std::vector<Value>& args,
                            bool record) {
  const Definition& def = program_.definitions[callee];
  bool helper = def.helper.kind != HelperKind::None;
  Frame g(callee, def, t_);
  g.reports = helper && caller.reports;
  g.muted = g.reports ? caller.muted : 0;
  g.record = record;
  g.maybe = helper ? caller.maybe : 0;
  for (const auto& [symbol, meaning] : rigid_meanings_) g.u.define(symbol, meaning);
  std::vector<SymbolId> symbols = symbols_of(args);
  for (SymbolId symbol : symbols) g.u.anchor(symbol);
  declare(g, &args);
  Summary out;
  out.symbols = symbols;
  out.dropped = g.dropped;
  if (g.failure) {
    out.failure = g.failure;
    return out;
  }
  // A definition whose own check failed, or that is being checked, is taken by its signature; so is
  // one at the end of a very long chain of calls that all are checked anew. Helpers nest no deeper
  // than the text.
  constexpr int kMaxDepth = 200, kMaxNesting = 2000;
  if (failed_[callee] || running_[callee] > 0 || depth_ > (helper ? kMaxNesting : kMaxDepth)) {
    TypeId type = def.return_type.valid() ? type_of(g, def.return_type) : t_.any();
    out.result = sized(g, {g.u.resolve(type), {}});
    export_facts(g, out);
    return out;
  }
  ++running_[callee];
  ++depth_;
  check_body(g);
  if (!g.failure) discharge(g);
  --depth_;
  --running_[callee];
  if (record) {
    Header header = header_of(g);
    for (const Recorded& r : g.recorded)
      caller.recorded.push_back({r.definition, r.expr, g.u.resolve(r.type)});
    for (Header& h : g.headers) {
      for (Value& param : h.params) param = resolve(g, param);
      h.result = g.u.resolve(h.result);
      for (auto& [name, dim] : h.dims) dim = g.u.resolve(dim);
      caller.headers.push_back(std::move(h));
    }
    caller.headers.push_back(std::move(header));
  }
  out.result = g.returned ? resolve(g, *g.returned) : Value{t_.any(), {}};
  export_facts(g, out);
  out.failure = g.failure;
  return out;
}

// What the definition's own check left to its callers, for these arguments. The stored types are
// those of that check, so they must hold even where this call would do with less.
void Checker::discharge(Frame& g) {
  if (g.def.helper.kind != HelperKind::None || states_[g.definition] != State::Done) return;
  for (const TypedConstraint& c : out_.definitions[g.definition].constraints) {
    bool known = !c.guarded;
    auto here = [&](DimId dim) {
      return d_.substitute(dim, [&](SymbolId symbol) -> DimId {
        if (d_.symbol(symbol).kind == SymbolKind::Rigid) return {};
        auto found = g.dims.find(d_.symbol(symbol).name);
        known = known && found != g.dims.end();
        return found == g.dims.end() ? DimId{} : found->second;
      });
    };
    DimId left = here(c.left), right = here(c.right);
    if (!known) continue;
    g.u.set_origin(origin(g, g.def.name_span));
    if (c.or_one) {
      auto l = g.u.value(g.u.resolve(left)), r = g.u.value(g.u.resolve(right));
      bool fits = !l || !r || *l == *r || *l == 1;
      if (fits) {
        g.u.record(DimConstraint::Kind::Broadcast, right, left);
        continue;
      }
    }
    auto bad = c.or_one ? std::optional<Mismatch>(Mismatch{}) : g.u.unify_dim(left, right);
    if (!bad) continue;
    if (c.or_one) {
      bad->kind = Mismatch::Kind::Dim;
      bad->left_dim = left;
      bad->right_dim = right;
    }
    report_mismatch(g, *bad, "this", g.def.name_span);
  }
}

// What the check found out about the arguments' symbols.
void Checker::export_facts(Frame& g, Summary& out) {
  auto ours = [&](DimId dim) {
    for (SymbolId symbol : d_.symbols(dim)) {
      bool rigid = d_.symbol(symbol).kind == SymbolKind::Rigid;
      if (!rigid && std::find(out.symbols.begin(), out.symbols.end(), symbol) == out.symbols.end())
        return false;
    }
    return true;
  };
  for (SymbolId symbol : out.symbols) {
    if (!g.u.is_bound(symbol)) continue;
    SymbolKind kind = d_.symbol(symbol).kind;
    if (kind == SymbolKind::Type) {
      out.variables.emplace_back(symbol, g.u.binding_of_variable(symbol));
      continue;
    }
    if (kind == SymbolKind::Run) {
      out.runs.emplace_back(symbol, g.u.binding_of_run(symbol));
      continue;
    }
    DimId dim = g.u.resolve(d_.of(symbol));
    if (ours(dim))
      out.equations.push_back({DimConstraint::Kind::Equal, d_.of(symbol), dim, g.def.name_span,
                               g.u.bound_in_branch(symbol)});
  }
  std::vector<DimConstraint> violated;
  for (const DimConstraint& c : g.u.open_constraints(violated)) {
    if (!ours(c.left) || !ours(c.right)) continue;
    Span where = c.origin >= 0 ? g.origins[static_cast<size_t>(c.origin)] : g.def.name_span;
    out.equations.push_back({c.kind, c.left, c.right, where, c.guarded});
  }
  for (const DimConstraint& c : violated) {
    Mismatch m;
    m.kind = Mismatch::Kind::Dim;
    m.left_dim = c.left;
    m.right_dim = c.right;
    Span where = c.origin >= 0 ? g.origins[static_cast<size_t>(c.origin)] : g.def.name_span;
    report_mismatch(g, m, "this", where);
  }
  // Calls of calls may double what has to hold at each level.
  constexpr size_t kMaxEquations = 256;
  if (out.equations.size() <= kMaxEquations || g.def.helper.kind != HelperKind::None) return;
  out.equations.clear();
  if (g.failure) return;
  g.failure = Failure{};
  g.failure->message =
      "more than " + std::to_string(kMaxEquations) + " relations of sizes must hold";
  g.failure->span = g.def.name_span;
}

void Checker::apply_equation(Frame& f, const Equation& e, DimId left, DimId right, Span span) {
  std::optional<Mismatch> bad;
  if (e.kind == DimConstraint::Kind::Equal) {
    bad = f.u.unify_dim(left, right);
  } else {
    f.u.record(e.kind, left, right);
    auto l = f.u.value(left), r = f.u.value(right);
    if (l && r && *l != *r && *r != 1) {
      bad = Mismatch{};
      bad->kind = Mismatch::Kind::Dim;
      bad->left_dim = right;
      bad->right_dim = left;
    }
  }
  if (bad) report_mismatch(f, *bad, "this call", span, {}, e.span);
}

// The result of a check in the caller's terms: the check's symbols become the actual ones, symbols
// of its own become new ones, and its findings are added to the caller's.
Value Checker::apply_summary(Frame& f, const Summary& summary, const std::vector<SymbolId>& actual,
                             Span span, const std::map<SymbolId, DimId>& meant) {
  std::map<SymbolId, SymbolId> renamed;
  for (size_t i = 0; i < summary.symbols.size(); ++i) renamed[summary.symbols[i]] = actual[i];
  auto symbol_for = [&](SymbolId symbol) {
    if (d_.symbol(symbol).kind == SymbolKind::Rigid) return symbol;
    auto [it, added] = renamed.try_emplace(symbol);
    if (added) {
      SymbolKind kind = d_.symbol(symbol).kind;
      std::string_view name = s_.names.text(d_.symbol(symbol).name);
      size_t cut = name.find("__", 1);
      std::string base(name[0] == '_' ? "_d" : name.substr(0, cut));
      it->second = d_.fresh(base, kind == SymbolKind::Param ? SymbolKind::Unknown : kind);
    }
    return it->second;
  };
  auto dim_for = [&](SymbolId symbol) {
    SymbolId now = symbol_for(symbol);
    auto known = meant.find(now);
    return known == meant.end() ? d_.of(now) : known->second;
  };
  auto dim = [&](DimId d) { return d_.substitute(d, dim_for); };
  auto type = [&](TypeId t) {
    return t_.substitute(
        t, dim_for,
        [&](SymbolId s, bool& found) {
          found = true;
          return std::vector<Axis>{{{}, symbol_for(s)}};
        },
        [&](SymbolId s) { return t_.variable(symbol_for(s)); });
  };
  f.u.set_origin(origin(f, span));
  UnifyNotes notes;
  TypeId ignored;
  for (const auto& [symbol, bound] : summary.variables) {
    f.u.unify(type(t_.variable(symbol)), type(bound), ignored, notes);
  }
  for (const auto& [symbol, axes] : summary.runs) {
    f.u.unify(type(t_.tensor({Axis{{}, symbol}})), type(t_.tensor(axes)), ignored, notes);
  }
  for (const Equation& e : summary.equations) {
    if (e.guarded) f.u.enter_branch();
    apply_equation(f, e, dim(e.left), dim(e.right), span);
    if (e.guarded) f.u.leave_branch();
  }
  auto known = [&](auto&& self, const Known& k) -> Known {
    Known out = k;
    if (out.is_dim()) out.dim = dim(out.dim);
    for (Known& item : out.items) item = self(self, item);
    return out;
  };
  return {type(summary.result.type), known(known, summary.result.known)};
}

}  // namespace axon::sema::types
