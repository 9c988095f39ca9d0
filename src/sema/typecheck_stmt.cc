// Statements: binds, loops, returns.
#include <algorithm>

#include "sema/typecheck_checker.h"
#include "support/check.h"

namespace axon::sema::types {

using namespace syntax;

void Checker::run_block(Frame& f, const std::vector<StmtId>& body) {
  for (StmtId id : body) run_stmt(f, id);
}

void Checker::run_stmt(Frame& f, StmtId id) {
  const Stmt s = s_.ast[id];
  switch (s.kind()) {
    case StmtKind::Bind:
      run_bind(f, s.as<Bind>(), s.span);
      break;
    case StmtKind::Loop:
      run_loop(f, s.as<Loop>());
      break;
    case StmtKind::Return: {
      const auto& values = s.as<Return>().values;
      Value value = values.size() == 1 ? eval(f, values[0]) : eval_list(f, values, true, s.span);
      f.returned = value;
      break;
    }
    case StmtKind::Yield:
      f.yielded.clear();
      for (ExprId value : s.as<Yield>().values) f.yielded.push_back(eval(f, value));
      break;
    case StmtKind::If:
    case StmtKind::ScopeBind:
      AXON_UNREACHABLE("typecheck of a program that is not flat");
  }
}

// The values that `count` names get from one value.
std::vector<Value> Checker::split(Frame& f, const Value& value, size_t count, Span span,
                                  ExprId from) {
  if (count == 1) return {value};
  TypeId type = f.u.resolve(value.type);
  const TypeData data = t_.get(type);
  std::vector<Value> out;
  auto each = [&](TypeId item) {
    for (size_t i = 0; i < count; ++i) out.push_back({f.u.renew_unknowns(item), {}});
  };
  const Known& known = value.known;
  switch (data.kind) {
    case TypeKind::Tuple:
      if (data.items.size() != count) break;
      for (size_t i = 0; i < count; ++i) {
        bool has = known.is_list() && known.items.size() == count;
        out.push_back({data.items[i], has ? known.items[i] : Known{}});
      }
      break;
    case TypeKind::List:
      each(data.items[0]);
      break;
    case TypeKind::Any:
      each(t_.any());
      break;
    case TypeKind::Error:
      each(t_.error());
      break;
    case TypeKind::Variable: {
      std::vector<TypeId> items;
      for (size_t i = 0; i < count; ++i)
        items.push_back(t_.variable(d_.fresh("T", SymbolKind::Type)));
      TypeId tuple = t_.tuple(items);
      UnifyNotes notes;
      f.u.unify(type, tuple, tuple, notes);
      for (TypeId item : items) out.push_back({item, {}});
      break;
    }
    default:
      break;
  }
  if (out.empty()) {
    Diagnostic* d = report(f, Diag::TypeDestructure, span, {count, show(f, type)});
    if (d && from.valid()) note_source(f, *d, from, type);
    each(t_.error());
  }
  for (Value& v : out) v = sized(f, v);
  return out;
}

// Where a value comes from: the definition that gives it, or its name's binding.
void Checker::note_source(Frame& f, Diagnostic& report, ExprId from, TypeId type) {
  const Expr* e = &s_.ast[from];
  while (const Ascribe* ascribed = e->get<Ascribe>()) e = &s_.ast[ascribed->value];
  if (const Call* call = e->get<Call>()) {
    auto found = program_.by_name.find(call->callee);
    if (found == program_.by_name.end()) return note_type(f, report, e->span, type);
    const Definition& def = program_.definitions[found->second];
    report.note(Note::NoteDefinedHere, def.name_span, {s_.names.text(home_of(def))});
    return;
  }
  const Name* name = e->get<Name>();
  Local* local = name ? find_local(f, name->name) : nullptr;
  if (local && local->span.valid()) {
    report.note(Note::NoteBoundHere, local->span, {s_.names.text(name->name)});
  } else {
    note_type(f, report, e->span, type);
  }
}

void Checker::run_bind(Frame& f, const Bind& bind, Span span) {
  Value value = eval(f, bind.value);
  Outcome outcome;
  if (bind.targets.size() == 1) outcome = outcome_of(f, bind.value);
  auto parts = split(f, value, bind.targets.size(), span, bind.value);
  for (size_t i = 0; i < bind.targets.size(); ++i) {
    bind_local(f, bind.targets[i].name, parts[i], bind.targets[i].span, outcome);
  }
}

// ---- loops ---------------------------------------------------------------------------------

std::vector<Value> Checker::run_round(Frame& f, const Loop& loop, const std::vector<Value>& carries,
                                      size_t count) {
  std::vector<Local> before = f.locals.all();
  auto dims_before = f.dim_values;
  DimId index = d_.of(d_.fresh("_i", SymbolKind::Unknown));
  bind_local(f, loop.var, {t_.int_(), Known::of(index)}, loop.var_span);
  for (size_t i = 0; i < carries.size(); ++i) {
    f.locals.push({loop.carry[i].name, sized(f, carries[i]), ++f.versions, {}, loop.carry[i].span});
  }
  f.yielded.clear();
  ++f.maybe;
  run_block(f, loop.body);
  --f.maybe;
  std::vector<Value> yielded = f.yielded;
  f.locals.restore(std::move(before));
  f.dim_values = std::move(dims_before);
  if (yielded.size() == 1 && count != 1 && count > 0)
    yielded = split(f, yielded[0], count, loop.var_span);
  return yielded;
}

// Runs rounds, unreported, until the carried types no longer change.
bool Checker::settle(Frame& f, const Loop& loop, std::vector<Value>& carries) {
  constexpr int kRounds = 8;
  bool recording = f.record;
  bool settled = carries.empty();
  f.record = false;
  ++f.muted;
  for (int round = 0; round < kRounds && !settled; ++round) {
    std::vector<Value> next = run_round(f, loop, carries, carries.size());
    settled = true;
    f.u.start_join();
    for (size_t i = 0; i < carries.size() && i < next.size(); ++i) {
      TypeId head = f.u.resolve(carries[i].type);
      TypeId joined;
      if (f.u.join(head, next[i].type, joined)) joined = head;  // reported in the last round
      carries[i].type = f.u.resolve(joined);
      if (carries[i].type != head) settled = false;
    }
  }
  --f.muted;
  f.record = recording;
  return settled;
}

void Checker::run_loop(Frame& f, const Loop& loop) {
  for (ExprId bound : {loop.from, loop.to, loop.step}) {
    if (!bound.valid()) continue;
    Value value = eval(f, bound);
    TypeId type;
    UnifyNotes notes;
    if (auto bad = f.u.unify(value.type, t_.int_(), type, notes)) {
      report_mismatch(f, *bad, "loop bound", s_.ast[bound].span);
    }
  }
  std::vector<Value> carries;
  for (const Target& target : loop.carry) {
    carries.push_back({eval_name(f, target.name, target.span).type, {}});
  }
  f.u.keep_unknowns(true);
  bool settled = settle(f, loop, carries);
  std::vector<Value> last = run_round(f, loop, carries, carries.size());
  f.u.start_join();
  for (size_t i = 0; i < carries.size() && i < last.size(); ++i) {
    TypeId head = f.u.resolve(carries[i].type);
    TypeId joined = head;
    auto bad = f.u.join(head, last[i].type, joined);
    if (bad || (!settled && f.u.resolve(joined) != f.u.resolve(head))) {
      report(f, Diag::TypeLoop, loop.carry[i].span,
             {s_.names.text(loop.carry[i].name), show(f, head), show(f, last[i].type)});
    }
    carries[i].type = joined;
  }
  f.u.keep_unknowns(false);
  for (size_t i = 0; i < loop.targets.size() && i < carries.size(); ++i) {
    bind_local(f, loop.targets[i].name, sized(f, carries[i]), loop.targets[i].span);
  }
}

}  // namespace axon::sema::types
