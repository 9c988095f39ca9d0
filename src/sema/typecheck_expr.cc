// Types of expressions.
#include <algorithm>

#include "sema/operators.h"
#include "sema/typecheck_checker.h"
#include "support/check.h"

namespace axon::sema::types {

using namespace syntax;

// ---- small things --------------------------------------------------------------------------

void Checker::record(Frame& f, ExprId id, TypeId type) {
  if (f.record) f.recorded.push_back({f.definition, id, type});
}

// Every integer has a dim that stands for it, so that relations between sizes survive.
Value Checker::sized(Frame& f, Value value) {
  TypeKind k = t_.kind(f.u.resolve(value.type));
  bool integer = k == TypeKind::Int || k == TypeKind::Dim;
  if (integer && !value.known.is_dim()) value.known = Known::of(f.u.unknown());
  return value;
}

// A literal takes the integer kind that its place needs.
void Checker::retype_literal(Frame& f, ExprId id, TypeId needed) {
  if (!f.record) return;
  needed = t_.strip_optional(f.u.resolve(needed));
  const Expr& e = s_.ast[id];
  if (e.kind() == ExprKind::Int && t_.kind(needed) == TypeKind::Dim) record(f, id, needed);
  if (e.kind() == ExprKind::List && t_.kind(needed) == TypeKind::List) {
    TypeId item = t_.get(needed).items[0];
    for (ExprId inner : e.as<List>().items) retype_literal(f, inner, item);
    record(f, id, needed);
  }
}

Local* Checker::find_local(Frame& f, NameId name) { return f.locals.find(name); }

Local* Locals::find(NameId name) {
  constexpr size_t kFew = 24;  // looked at one by one
  if (all_.size() <= kFew) {
    for (size_t i = all_.size(); i-- > 0;) {
      if (all_[i].name == name) return &all_[i];
    }
    return nullptr;
  }
  auto past = [&](NameId of, size_t place) {
    return place >= all_.size() || all_[place].name != of;
  };
  for (; indexed_ < all_.size(); ++indexed_) {
    NameId bound = all_[indexed_].name;
    std::vector<size_t>& places = places_[bound];
    while (!places.empty() && (places.back() >= indexed_ || past(bound, places.back())))
      places.pop_back();
    places.push_back(indexed_);
  }
  auto found = places_.find(name);
  if (found == places_.end()) return nullptr;
  std::vector<size_t>& places = found->second;
  while (!places.empty() && past(name, places.back())) places.pop_back();
  return places.empty() ? nullptr : &all_[places.back()];
}

void Locals::restore(std::vector<Local> before) {
  indexed_ = std::min(indexed_, before.size());
  all_ = std::move(before);
}

void Checker::bind_local(Frame& f, NameId name, Value value, Span span, Outcome outcome) {
  if (s_.names.text(name) == "_") return;
  auto dim = f.dim_values.find(name);
  if (dim != f.dim_values.end() && find_local(f, name) == nullptr) {
    bool same = value.known.is_dim() && f.u.resolve(value.known.dim) == f.u.resolve(dim->second);
    if (!same && f.def.helper.kind == HelperKind::None)
      warn(f, Diag::WDimShadow, span, {s_.names.text(name)});
  }
  f.locals.push({name, std::move(value), ++f.versions, std::move(outcome), span});
}

Value Checker::eval(Frame& f, ExprId id) {
  const Expr e = s_.ast[id];  // a copy: checking other definitions never adds nodes, but stay safe
  Value value = sized(f, eval_data(f, id, e));
  record(f, id, value.type);
  return value;
}

Value Checker::eval_data(Frame& f, ExprId id, const Expr& e) {
  switch (e.kind()) {
    case ExprKind::Name:
      return eval_name(f, e.as<Name>().name, e.span);
    case ExprKind::Int:
      return {t_.int_(), Known::of(d_.integer(e.as<Int>().value))};
    case ExprKind::Float:
      return {t_.float_(), Known::not_null()};
    case ExprKind::Bool:
      return {t_.bool_(), Known::of(e.as<Bool>().value)};
    case ExprKind::Null:
      unread_ |= e.as<Null>().unread;
      if (e.as<Null>().unread) return {t_.error(), {}};
      return {t_.null(), Known::null()};
    case ExprKind::String:
      return {t_.string(), Known::string(e.as<String>().value)};
    case ExprKind::Path:
      check_path(f, e.as<PathExpr>().path, e.span);
      return {t_.path(), Known::not_null()};
    case ExprKind::List:
      return eval_list(f, e.as<List>().items, false, e.span);
    case ExprKind::Tuple:
      return eval_list(f, e.as<Tuple>().items, true, e.span);
    case ExprKind::Call:
      return eval_call(f, e.as<Call>(), e.span);
    case ExprKind::If:
      return eval_if(f, e.as<If>().cond, e.as<If>().then_value, e.as<If>().else_value, e.span);
    case ExprKind::Ternary: {
      const auto& c = e.as<Ternary>();
      return eval_if(f, c.cond, c.then_value, c.else_value, e.span);
    }
    case ExprKind::Binary:
      return eval_binary(f, e.as<Binary>(), e.span);
    case ExprKind::Paren:
      return eval(f, e.as<Paren>().inner);
    case ExprKind::Ascribe:
      return eval_ascribe(f, e.as<Ascribe>(), e.span);
    case ExprKind::Pipe:
    case ExprKind::BindExpr:
    case ExprKind::Lambda:
    case ExprKind::Do:
      AXON_UNREACHABLE("typecheck of a program that is not flat");
  }
  AXON_UNREACHABLE("expression kind");
}

Value Checker::eval_name(Frame& f, NameId name, Span span) {
  if (Local* local = find_local(f, name)) return resolve(f, local->value);
  if (auto dim = f.dim_values.find(name); dim != f.dim_values.end()) {
    return {t_.dim(), Known::of(f.u.resolve(dim->second))};
  }
  auto found = program_.by_name.find(name);
  if (found == program_.by_name.end()) {
    Diag why = f.dims.count(name) > 0 ? Diag::ResDimUnbound : Diag::ResUnknown;
    report(f, why, span, {s_.names.text(name)});
    return {t_.error(), {}};
  }
  size_t index = found->second;
  if (states_[index] == State::New) check_generic(index);
  Value value = generic_results_[index];
  if (!program_.definitions[index].params.empty()) {  // of a program that a text begins with
    report(f, Diag::NormBareCallable, span, {s_.names.text(name)});
    return {t_.error(), {}};
  }
  if (!value.type.valid()) return {t_.error(), {}};
  if (value.known.is_dim()) dim_name(f, name, span);
  return value;
}

void Checker::check_path(Frame& f, const PathLit& path, Span span) {
  for (const PathPiece& piece : path.pieces) {
    if (!piece.placeholder) continue;
    Value value = eval_name(f, piece.text, path.span.valid() ? path.span : span);
    TypeKind k = t_.kind(t_.strip_optional(f.u.resolve(value.type)));
    bool fits = k == TypeKind::Int || k == TypeKind::Dim || k == TypeKind::String ||
                k == TypeKind::Path || k == TypeKind::Any || k == TypeKind::Variable ||
                k == TypeKind::Error;
    bool known = std::find(f.bad_placeholders.begin(), f.bad_placeholders.end(), piece.text) !=
                 f.bad_placeholders.end();
    if (fits || known) continue;
    f.bad_placeholders.push_back(piece.text);
    report(f, Diag::TypePlaceholder, span, {s_.names.text(piece.text), show(f, value.type)});
  }
}

Value Checker::eval_list(Frame& f, const std::vector<ExprId>& items, bool tuple, Span span) {
  std::vector<TypeId> item_types;
  std::vector<Known> known;
  TypeId item;
  bool any_known = false;
  for (ExprId id : items) {
    Value value = eval(f, id);
    item_types.push_back(value.type);
    any_known = any_known || value.known.kind != Known::Kind::Nothing;
    known.push_back(value.known);
    if (tuple) continue;
    if (!item.valid()) item = value.type;
    f.u.start_join();
    if (auto bad = f.u.join(item, value.type, item)) {
      std::swap(bad->left, bad->right);
      report_mismatch(f, *bad, "list item " + std::to_string(item_types.size()), s_.ast[id].span);
    }
  }
  if (tuple && item_types.size() == 1) return {item_types[0], known[0]};
  Known all = any_known || items.empty() ? Known::list(std::move(known)) : Known{};
  if (tuple) return {t_.tuple(std::move(item_types)), std::move(all)};
  if (!item.valid()) item = t_.variable(d_.fresh("T", SymbolKind::Type));
  return {t_.list(item), std::move(all)};
}

// ---- operators -----------------------------------------------------------------------------

Value Checker::eval_binary(Frame& f, const Binary& b, Span span) {
  auto is_wrong = [&](const Value& v) {
    return b.op <= BinaryOp::Mod && t_.kind(f.u.resolve(v.type)) == TypeKind::Error;
  };
  Value left = eval(f, b.left);
  Value right = eval(f, b.right);
  f.u.set_origin(origin(f, span));
  if (is_wrong(left) || is_wrong(right)) return {t_.error(), {}};
  if (report_no_result(f, b, left, right, span)) return {t_.error(), {}};
  Op op = core_op(b.op);
  ops::RuleResult result =
      ops::type_rule(op, {{left.type, left.known}, {right.type, right.known}}, f.u);
  if (result.error) {
    const ops::RuleError& e = *result.error;
    Span where = e.argument == 0   ? s_.ast[b.left].span
                 : e.argument == 1 ? s_.ast[b.right].span
                                   : span;
    bool whole = e.kind == ops::RuleError::Kind::Broadcast;
    report_rule(f, e, op, nullptr, whole && b.op_span.valid() ? b.op_span : where, &b);
    return {t_.error(), {}};
  }
  for (int index : result.optional_arguments) {
    const bool first = index == 0;
    warn(f, Diag::WOptional, s_.ast[first ? b.left : b.right].span,
         {std::string(first ? "left" : "right") + " operand of `" + std::string(spelling(b.op)) +
              "`",
          show(f, t_.strip_optional(f.u.resolve((first ? left : right).type)))});
  }
  auto x = left.known.is_dim() ? f.u.value(left.known.dim) : std::nullopt;
  auto y = right.known.is_dim() ? f.u.value(right.known.dim) : std::nullopt;
  bool integers = t_.kind(result.type) == TypeKind::Int || t_.kind(result.type) == TypeKind::Dim;
  if (b.op == BinaryOp::Div && integers && x && y && *y != 0 && *x % *y != 0) {
    warn(f, Diag::WInexact, span, {*x, *y, *d_.as_integer(d_.div(d_.integer(*x), d_.integer(*y)))});
  }
  return {result.type, result.known};
}

Value Checker::eval_ascribe(Frame& f, const Ascribe& a, Span span) {
  Value value = eval(f, a.value);
  TypeId needed = type_of(f, a.type);
  if (f.generic) {  // names that ascriptions bring in are as good as the signature's
    std::vector<SymbolId> symbols;
    collect_symbols(needed, symbols);
    for (SymbolId symbol : symbols) f.u.anchor(symbol);
  }
  f.u.set_origin(origin(f, span));
  TypeId type;
  UnifyNotes notes;
  if (auto bad = f.u.unify(value.type, needed, type, notes)) {
    std::vector<DiagArg> args{show(f, value.type), show(f, needed)};
    bool certain = value.known.is_null() && bad->kind == Mismatch::Kind::Null;
    if (Diagnostic* d = report(
            f, certain ? Diag::TypeNull : Diag::TypeAscribe, span,
            certain ? std::vector<DiagArg>{std::string("ascription"), show(f, needed)} : args)) {
      note_type(f, *d, s_.ast[a.value].span, value.type);
    }
    type = t_.error();
  }
  make_dims_values(f, needed);
  retype_literal(f, a.value, type);
  TypeKind k = t_.kind(f.u.resolve(type));
  Known known = k == TypeKind::Float ? Known::not_null() : value.known;
  return {type, known};
}

// ---- conditionals --------------------------------------------------------------------------

Outcome Checker::outcome_of(Frame& f, ExprId id) {
  const Expr& e = s_.ast[id];
  if (const auto* paren = e.get<Paren>()) return outcome_of(f, paren->inner);
  if (const auto* ascribe = e.get<Ascribe>()) return outcome_of(f, ascribe->value);
  if (const auto* name = e.get<Name>()) {
    const Local* local = find_local(f, name->name);
    if (!local) return {};
    Outcome out = local->outcome;
    auto stale = [&](const NullFact& fact) {
      const Local* now = find_local(f, fact.name);
      return !now || now->version != fact.version;
    };
    std::erase_if(out.when_true, stale);
    std::erase_if(out.when_false, stale);
    return out;
  }
  const auto* b = e.get<Binary>();
  if (!b) return {};
  if (b->op == BinaryOp::And || b->op == BinaryOp::Or) {
    Outcome left = outcome_of(f, b->left);
    Outcome right = outcome_of(f, b->right);
    auto& from = b->op == BinaryOp::And ? left.when_true : left.when_false;
    auto& more = b->op == BinaryOp::And ? right.when_true : right.when_false;
    from.insert(from.end(), more.begin(), more.end());
    Outcome out;
    (b->op == BinaryOp::And ? out.when_true : out.when_false) = std::move(from);
    return out;
  }
  if (b->op != BinaryOp::Eq && b->op != BinaryOp::Ne) return {};
  auto plain = [&](ExprId side) {
    while (s_.ast[side].kind() == ExprKind::Paren || s_.ast[side].kind() == ExprKind::Ascribe) {
      const Expr& x = s_.ast[side];
      side = x.kind() == ExprKind::Paren ? x.as<Paren>().inner : x.as<Ascribe>().value;
    }
    return side;
  };
  ExprId left = plain(b->left);
  ExprId right = plain(b->right);
  if (is_null(s_.ast[left])) std::swap(left, right);
  if (!is_null(s_.ast[right]) || s_.ast[left].kind() != ExprKind::Name) return {};
  NameId name = s_.ast[left].as<Name>().name;
  const Local* local = find_local(f, name);
  if (!local) return {};
  bool equal = b->op == BinaryOp::Eq;
  return {{{name, local->version, equal}}, {{name, local->version, !equal}}};
}

void Checker::check_condition(Frame& f, const Value& cond, Span span) {
  TypeId type = t_.strip_optional(f.u.resolve(cond.type));
  TypeKind k = t_.kind(type);
  if (k == TypeKind::Bool || k == TypeKind::Any || k == TypeKind::Variable || k == TypeKind::Error)
    return;
  if (k == TypeKind::Null) return;
  if (k == TypeKind::Tensor && t_.get(type).known_rank) {
    auto dims = t_.dims_of(type);
    bool one = !dims.empty() &&
               std::all_of(dims.begin(), dims.end(), [&](DimId d) { return f.u.value(d) == 1; });
    if (one) return;
  }
  report(f, Diag::TypeCond, span, {show(f, type)});
}

// A branch under what its condition tells of names.
Value Checker::branch(Frame& f, ExprId id, const std::vector<NullFact>& facts) {
  std::vector<Local> before = f.locals.all();
  auto dims_before = f.dim_values;
  for (const NullFact& fact : facts) {
    Local* local = find_local(f, fact.name);
    if (!local || local->version != fact.version) continue;
    TypeId type = f.u.resolve(local->value.type);
    bool surely_null = t_.kind(type) == TypeKind::Null || local->value.known.is_null();
    if (fact.null) {
      local->value = {t_.null(), Known::null()};
    } else if (surely_null) {
      local->value = {t_.error(), {}};  // this branch is never taken
    } else {
      local->value.type = t_.strip_optional(type);
    }
  }
  Value value = eval(f, id);
  f.locals.restore(std::move(before));
  f.dim_values = std::move(dims_before);
  return value;
}

// What the condition's outcome says of parameters, which are the first locals.
std::vector<TypedGuard> Checker::guards_of(Frame& f, ExprId cond, bool taken,
                                           const std::vector<NullFact>& facts) {
  using Is = TypedGuard::Is;
  std::vector<TypedGuard> out;
  auto count = static_cast<int>(f.def.params.size());
  for (const NullFact& fact : facts) {
    if (fact.version <= count) out.push_back({fact.name, fact.null ? Is::Null : Is::NotNull});
  }
  while (s_.ast[cond].kind() == ExprKind::Paren) cond = s_.ast[cond].as<Paren>().inner;
  const Name* name = s_.ast[cond].get<Name>();
  const Local* local = name ? find_local(f, name->name) : nullptr;
  bool flag =
      local && local->version <= count && t_.kind(f.u.resolve(local->value.type)) == TypeKind::Bool;
  if (flag) out.push_back({name->name, taken ? Is::True : Is::False});
  return out;
}

// A branch of a condition that this check cannot decide.
Value Checker::undecided(Frame& f, ExprId cond, bool taken, ExprId id,
                         const std::vector<NullFact>& facts) {
  std::vector<TypedGuard> before = f.open_guards;
  for (const TypedGuard& guard : guards_of(f, cond, taken, facts)) f.open_guards.push_back(guard);
  f.guards.push_back(f.open_guards);
  f.u.enter_branch(static_cast<int32_t>(f.guards.size()) - 1);
  ++f.maybe;
  Value value = resolve(f, branch(f, id, facts));  // sizes that are equal here have one name
  --f.maybe;
  f.u.leave_branch();
  f.open_guards = std::move(before);
  return value;
}

Value Checker::eval_if(Frame& f, ExprId cond, ExprId yes, ExprId no, Span span) {
  Value test = eval(f, cond);
  check_condition(f, test, s_.ast[cond].span);
  Outcome outcome = outcome_of(f, cond);
  bool decided = (test.known.is_bool() && t_.kind(f.u.resolve(test.type)) != TypeKind::Optional) ||
                 test.known.is_null();
  if (!decided) {
    const size_t before = s_.sink.all().size();
    Value a = undecided(f, cond, true, yes, outcome.when_true);
    const size_t between = s_.sink.all().size();
    Value b = undecided(f, cond, false, no, outcome.when_false);
    s_.sink.drop_repeats(before, between, s_.files);  // one cause that both branches show
    return join_values(f, a, b, span);
  }
  bool taken = test.known.is_bool() && test.known.boolean;
  auto other = [&] {
    if (!f.record) return;  // its expressions still need types
    ++f.muted;
    f.u.enter_branch();
    branch(f, taken ? no : yes, taken ? outcome.when_false : outcome.when_true);
    f.u.forget_branch();
    --f.muted;
  };
  if (!taken) other();
  Value value = branch(f, taken ? yes : no, taken ? outcome.when_true : outcome.when_false);
  if (taken) other();
  return value;
}

namespace {

Known join_known(const Known& a, const Known& b) {
  if (a == b) return a;
  if (a.is_list() && b.is_list() && a.items.size() == b.items.size()) {
    std::vector<Known> items;
    for (size_t i = 0; i < a.items.size(); ++i) items.push_back(join_known(a.items[i], b.items[i]));
    return Known::list(std::move(items));
  }
  auto certain = [](const Known& k) {
    return k.kind != Known::Kind::Nothing && !k.is_null() && !k.is_dim();
  };
  return certain(a) && certain(b) ? Known::not_null() : Known{};
}

}  // namespace

Value Checker::join_values(Frame& f, const Value& a, const Value& b, Span span) {
  TypeId type;
  f.u.start_join();
  f.u.set_origin(origin(f, span));
  if (auto bad = f.u.join(a.type, b.type, type)) {
    if (bad->kind == Mismatch::Kind::TupleSize) {
      report(f, Diag::TypeBranchArity, span,
             {t_.get(bad->left).items.size(), t_.get(bad->right).items.size()});
    } else {
      std::swap(bad->left, bad->right);
      report_mismatch(f, *bad, "the second branch", span);
    }
    return {t_.error(), {}};
  }
  if (t_.kind(a.type) == TypeKind::Error) return {type, b.known};
  if (t_.kind(b.type) == TypeKind::Error) return {type, a.known};
  Known known = join_known(resolve(f, a.known), resolve(f, b.known));
  // `v` and null: the value unless null.
  if (b.known.is_null() && a.known.is_dim()) known = a.known;
  if (a.known.is_null() && b.known.is_dim()) known = b.known;
  return {type, known};
}

}  // namespace axon::sema::types
