// The typecheck stage: each definition once generically, calls for their arguments (language.md
// 6, 10.8).
#include <algorithm>

#include "sema/typecheck_checker.h"
#include "support/check.h"
#include "syntax/walk.h"

namespace axon::sema {
namespace types {

using namespace syntax;

Checker::Checker(const FlatProgram& flat, const Answers& answers, Session& session)
    : flat_(flat),
      answers_(answers),
      program_(flat.program),
      s_(session),
      t_(session.types),
      d_(session.dims) {
  size_t count = program_.definitions.size();
  states_.assign(count, State::New);
  failed_.assign(count, false);
  result_failed_.assign(count, false);
  running_.assign(count, 0);
  summaries_.assign(count, 0);
  generic_results_.assign(count, Value{});
  out_.definitions.resize(count);
}

TypedProgram Checker::run() {
  out_.flat = flat_;
  out_.type_of.assign(s_.ast.exprs.size(), TypeId{});
  auto main = program_.by_name.find(program_.main);
  if (main != program_.by_name.end()) {
    const Definition& def = program_.definitions[main->second];
    bool full = def.has_signature || (def.params.empty() && !def.is_global);
    if (!full) s_.sink.report(Diag::TypeMainSig, def.name_span, {s_.names.text(def.name)});
  }
  for (size_t i : callees_first()) {
    bool helper = program_.definitions[i].helper.kind != HelperKind::None;
    if (!helper && states_[i] == State::New) check_generic(i);
  }
  // A helper of a call that nothing makes is checked by its own signature.
  for (size_t i = 0; !s_.sink.has_errors() && i < program_.definitions.size(); ++i) {
    if (!out_.definitions[i].return_type.valid() && states_[i] == State::New) check_generic(i);
  }
  return std::move(out_);
}

// Definitions with what they refer to before them, so that checks do not nest without bound.
std::vector<size_t> Checker::callees_first() const {
  size_t count = program_.definitions.size();
  std::vector<std::vector<size_t>> uses(count);
  for (size_t i = 0; i < count; ++i) {
    auto use = [&](NameId name) {
      auto found = program_.by_name.find(name);
      if (found != program_.by_name.end()) uses[i].push_back(found->second);
    };
    walk(program_.definitions[i], s_.ast,
         {[&](ExprId, const Expr& e) {
            if (const auto* call = e.get<Call>()) use(call->callee);
            if (const auto* name = e.get<Name>()) use(name->name);
          },
          [](StmtId, const Stmt&) {}});
  }
  std::vector<size_t> out;
  std::vector<bool> seen(count, false);
  for (size_t root = 0; root < count; ++root) {
    std::vector<std::pair<size_t, size_t>> stack;  // definition, next of its uses
    if (!seen[root]) stack.emplace_back(root, 0);
    seen[root] = true;
    while (!stack.empty()) {
      auto& [index, next] = stack.back();
      if (next == uses[index].size()) {
        out.push_back(index);
        stack.pop_back();
        continue;
      }
      size_t callee = uses[index][next++];
      if (seen[callee]) continue;
      seen[callee] = true;
      stack.emplace_back(callee, 0);
    }
  }
  return out;
}

void Checker::check_generic(size_t index) {
  const Definition& def = program_.definitions[index];
  states_[index] = State::Running;
  Frame f(index, def, t_);
  f.generic = true;
  f.reports = true;
  f.record = true;
  declare(f, nullptr);
  ++running_[index];
  check_body(f);
  --running_[index];
  finish_generic(f);
  states_[index] = State::Done;
}

void Checker::check_body(Frame& f) {
  ++out_.bodies_checked;
  if (f.def.statement_body) {
    run_block(f, f.def.body);
  } else if (f.def.body_expr.valid()) {
    f.returned = eval(f, f.def.body_expr);
  }
  if (!f.returned) f.returned = Value{t_.any(), {}};
  apply_return(f);
}

// Whether something in the type of a value is not known, because of an error.
bool Checker::has_error(TypeId type) const {
  const TypeData& data = t_.get(type);
  if (data.kind == TypeKind::Error) return true;
  return std::any_of(data.items.begin(), data.items.end(),
                     [&](TypeId item) { return has_error(item); });
}

// The body's value against the signature.
void Checker::apply_return(Frame& f) {
  if (!f.def.return_type.valid()) return;
  Value body = resolve(f, *f.returned);
  const std::map<NameId, DimId> before = f.dims;
  TypeId declared = type_of(f, f.def.return_type);
  Span where = f.def.name_span;
  if (f.def.statement_body && !f.def.body.empty()) {
    where = s_.ast[f.def.body.back()].span;
  } else if (f.def.body_expr.valid()) {
    where = s_.ast[f.def.body_expr].span;
  }
  f.u.set_origin(origin(f, where));
  TypeId type;
  UnifyNotes notes;
  if (auto bad = f.u.unify(body.type, declared, type, notes)) {
    std::string name(s_.names.text(f.def.name));
    std::vector<DiagArg> args{name, show(f, body.type), show(f, declared)};
    report_mismatch(f, *bad, "the result of `" + name + "`", where,
                    std::pair(Diag::TypeReturn, args), s_.ast[f.def.return_type].span);
    if (f.generic) result_failed_[f.definition] = true;
    type = declared;
  }
  if (notes.dropped_optional) {
    warn(f, Diag::WOptional, where,
         {"the result of `" + std::string(s_.names.text(f.def.name)) + "`", show(f, declared)});
  }
  // What was meant may have given names of sizes that only the result has.
  if (f.generic && unread_ && has_error(body.type)) result_failed_[f.definition] = true;
  type = promised(f, body.type, declared, f.u.resolve(type), before);
  // An error type stays where anything is promised: what never returns fits every branch.
  if (t_.kind(type) == TypeKind::Error && t_.kind(declared) != TypeKind::Any) type = declared;
  Known known = body.known;
  if (t_.kind(t_.strip_optional(f.u.resolve(type))) == TypeKind::Float && known.is_dim())
    known = {};
  f.returned = sized(f, {f.u.resolve(type), known});
}

// ---- after a generic check -----------------------------------------------------------------

namespace {

// What a checkpoint may say to choose the branches of a program.
bool decides_branches(const Known& known) {
  return known.is_bool() || known.is_null() || known.kind == Known::Kind::String;
}

}  // namespace

// Values of constants, as far as they can be told.
void Checker::note_global(size_t index, const Value& result) {
  const Definition& def = program_.definitions[index];
  TypeKind k = t_.kind(result.type);
  Value value{result.type, {}};
  if (k == TypeKind::Int || k == TypeKind::Dim) {
    DimId dim = rigid(def.name);
    value.known = Known::of(dim);
    SymbolId symbol = *d_.as_symbol(dim);
    bool closed = result.known.is_dim();
    for (SymbolId s : closed ? d_.symbols(result.known.dim) : std::vector<SymbolId>{}) {
      closed = closed && d_.symbol(s).kind == SymbolKind::Rigid && s != symbol;
    }
    if (closed) {
      rigid_meanings_[symbol] = result.known.dim;
      auto number = d_.evaluate(result.known.dim, [&](SymbolId s) { return d_.symbol(s).value; });
      if (number) d_.set_value(symbol, *number);
    }
  } else if (answers_.config && decides_branches(result.known)) {
    value.known = result.known;
  }
  generic_results_[index] = value;
}

// Dim names of the parameters that the body made equal to something else.
std::vector<std::pair<NameId, DimId>> Checker::merged_dims(Frame& f) {
  std::vector<std::pair<NameId, DimId>> out;
  for (const auto& [name, dim] : f.dims) {
    auto symbol = d_.as_symbol(dim);
    bool of_parameters =
        symbol && d_.symbol(*symbol).kind == SymbolKind::Variable && f.declared.count(*symbol) > 0;
    if (of_parameters && f.u.resolve(dim) != dim) out.emplace_back(name, f.u.resolve(dim));
  }
  return out;
}

void Checker::warn_merged(Frame& f) {
  for (const auto& [name, dim] : merged_dims(f)) {
    s_.sink.report(Diag::WDimMerged, f.def.name_span,
                   {s_.names.text(name), show(f, dim), s_.names.text(f.def.name)});
  }
}

std::vector<TypedConstraint> Checker::constraints_of(Frame& f) {
  std::vector<TypedConstraint> out;
  for (const auto& [name, dim] : merged_dims(f)) {
    DimId own = f.dims.at(name);
    out.push_back({own, dim, false, f.u.bound_in_branch(*d_.as_symbol(own))});
  }
  auto ours = [&](DimId dim) {
    for (SymbolId s : d_.symbols(dim)) {
      if (d_.symbol(s).generated) return false;
    }
    return true;
  };
  auto of_header = [&](DimId dim) {  // a name that only a branch gives is its own matter
    for (SymbolId s : d_.symbols(dim)) {
      if (d_.symbol(s).kind == SymbolKind::Variable && f.declared.count(s) == 0) return false;
    }
    return true;
  };
  std::vector<DimConstraint> violated;
  for (const DimConstraint& c : f.u.open_constraints(violated)) {
    if (!ours(c.left) || !ours(c.right)) continue;
    if (c.guarded && !(of_header(c.left) && of_header(c.right))) continue;
    bool equal = c.kind == DimConstraint::Kind::Equal;
    std::vector<TypedGuard> guards;
    if (c.guarded && c.branch >= 0) guards = f.guards[static_cast<size_t>(c.branch)];
    if (equal)
      out.push_back({c.left, c.right, false, c.guarded, std::move(guards)});
    else
      out.push_back({c.right, c.left, true, c.guarded, std::move(guards)});
  }
  for (const DimConstraint& c : violated) {
    Mismatch m;
    bool constants = !d_.symbols(c.left).empty() || !d_.symbols(c.right).empty();
    m.kind = constants && f.u.value(c.left) && f.u.value(c.right) ? Mismatch::Kind::DimConst
                                                                  : Mismatch::Kind::Dim;
    m.left_dim = c.left;
    m.right_dim = c.right;
    report_mismatch(f, m, "this",
                    c.origin >= 0 ? f.origins[static_cast<size_t>(c.origin)] : f.def.name_span);
  }
  return out;
}

void Checker::finish_generic(Frame& f) {
  Value result = resolve(f, *f.returned);
  if (f.def.params.empty()) note_global(f.definition, result);
  auto constraints = constraints_of(f);
  if (f.def.name == program_.main && !failed_[f.definition]) warn_merged(f);
  f.headers.push_back(header_of(f));
  present(f);
  out_.definitions[f.definition].constraints = std::move(constraints);
}

}  // namespace types

TypedProgram typecheck(const FlatProgram& flat, const Answers& answers, Session& session) {
  return types::Checker(flat, answers, session).run();
}

}  // namespace axon::sema
