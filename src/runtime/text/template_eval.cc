// Statements and expressions of a template run.
#include "runtime/text/template_eval.h"

#include <algorithm>

namespace axon::text::tmpl {
namespace {

constexpr const char* kBuiltins[] = {"range", "namespace", "raise_exception", "strftime_now",
                                     "dict"};

}  // namespace

Value CallArgs::get(size_t index, std::string_view name, Value otherwise) const {
  if (index < positional.size()) return positional[index];
  for (const auto& [key, value] : keywords) {
    if (key == name) return value;
  }
  return otherwise;
}

bool CallArgs::has(size_t index, std::string_view name) const {
  if (index < positional.size()) return true;
  for (const auto& [key, value] : keywords) {
    if (key == name) return true;
  }
  return false;
}

Evaluator::Evaluator(const Template& tmpl, const std::string& source, Heap& heap,
                     const TemplateLimits& limits, int64_t now)
    : template_(tmpl), source_(source), heap_(heap), limits_(limits), now_(now) {
  enter({});
  for (int32_t i = 0; i < 5; ++i) scopes_[0]->emplace_back(kBuiltins[i], Value{Kind::Builtin, i});
}

void Evaluator::set_global(std::string_view name, Value value) {
  scopes_[0]->emplace_back(std::string(name), value);
}

Value Evaluator::fail(std::string message, const char* code) {
  if (!failed_) error_ = template_error(code, source_, offset_, std::move(message));
  failed_ = true;
  return {};
}

bool Evaluator::charge(size_t units) {
  steps_ += static_cast<int64_t>(std::min<size_t>(units, size_t{1} << 40));
  if (steps_ > limits_.steps)
    fail("more than " + std::to_string(limits_.steps) + " steps", "TMPL-LIMIT");
  return !failed_;
}

bool Evaluator::step() {
  if (!charge(1)) return false;
  if (heap_.bytes() > 8 * limits_.output) fail("the run holds too many values", "TMPL-LIMIT");
  return !failed_;
}

void Evaluator::write(const std::string& text) {
  if (out_.size() + text.size() > limits_.output) {
    fail("output longer than " + std::to_string(limits_.output) + " bytes", "TMPL-LIMIT");
    return;
  }
  out_ += text;
}

Result<RenderedChat> Evaluator::run() {
  enter({});
  exec_all(template_.body);
  if (failed_) return error_;
  return RenderedChat{std::move(out_), std::move(generated_)};
}

// ---- statements ------------------------------------------------------------------------------

Evaluator::Flow Evaluator::exec_all(const std::vector<StmtId>& body) {
  if (++depth_ > limits_.depth)
    fail("nested deeper than " + std::to_string(limits_.depth), "TMPL-LIMIT");
  Flow flow = Flow::Next;
  for (StmtId id : body) {
    if (!step()) break;
    flow = exec(template_.stmts[id]);
    if (flow != Flow::Next || failed_) break;
  }
  --depth_;
  return flow;
}

Evaluator::Flow Evaluator::exec(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Text:
      write(stmt.text);
      return Flow::Next;
    case StmtKind::Output: {
      Value v = eval(stmt.expr);
      if (!failed_) write(str(heap_, v));
      return Flow::Next;
    }
    case StmtKind::If:
      return exec_if(stmt);
    case StmtKind::For: {
      Items items;
      Value v = eval(stmt.expr);
      if (!failed_ && iterate(v, items)) exec_for(stmt, std::move(items), 0);
      return Flow::Next;
    }
    case StmtKind::Set: {
      Value v = eval(stmt.expr);
      if (!failed_) assign(stmt.target, v);
      return Flow::Next;
    }
    case StmtKind::SetBlock:
      exec_set_block(stmt);
      return Flow::Next;
    case StmtKind::Macro: {
      assign({stmt.text, {}, {}}, define_macro(stmt));
      return Flow::Next;
    }
    case StmtKind::CallBlock:
      exec_call_block(stmt);
      return Flow::Next;
    case StmtKind::FilterBlock: {
      Value text = heap_.string(capture(stmt.body));
      Value v = filter_chain(stmt.filter, text);
      if (!failed_) write(str(heap_, v));
      return Flow::Next;
    }
    case StmtKind::With:
      exec_with(stmt);
      return Flow::Next;
    case StmtKind::Generation: {
      size_t begin = out_.size();
      Flow flow = exec_all(stmt.body);
      if (!failed_ && captures_ == 0) generated_.emplace_back(begin, out_.size());
      return flow;
    }
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    case StmtKind::Do:
      eval(stmt.expr);
      return Flow::Next;
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::exec_if(const Stmt& stmt) {
  for (const IfArm& arm : stmt.arms) {
    if (arm.condition.valid() && !truthy(heap_, eval(arm.condition))) {
      if (failed_) return Flow::Next;
      continue;
    }
    if (failed_) return Flow::Next;
    return exec_all(arm.body);
  }
  return Flow::Next;
}

void Evaluator::exec_for(const Stmt& stmt, Items items, int depth) {
  enter({});
  size_t scope = scopes_.size() - 1;
  if (stmt.filter.valid()) {
    Items kept;
    for (const Value& v : items) {
      scopes_[scope]->clear();
      assign(stmt.target, v);
      if (failed_ || !step()) break;
      if (truthy(heap_, eval(stmt.filter))) kept.push_back(v);
    }
    items = std::move(kept);
  }
  LoopState state;
  state.items = std::move(items);
  state.depth = depth;
  if (stmt.recursive) state.for_stmt = static_cast<int32_t>(&stmt - &template_.stmts[StmtId{0}]);
  Value loop = heap_.loop(std::move(state));
  size_t count = heap_.loop_state(loop).items.size();
  for (size_t i = 0; i < count && !failed_; ++i) {
    scopes_[scope]->clear();
    heap_.loop_state(loop).index = i;
    assign(stmt.target, heap_.loop_state(loop).items[i]);
    scopes_[scope]->emplace_back("loop", loop);
    if (failed_ || !step()) break;
    if (exec_all(stmt.body) == Flow::Break) break;
  }
  scopes_.pop_back();
  if (count == 0 && !failed_) exec_all(stmt.else_body);
}

Value Evaluator::define_macro(const Stmt& stmt) {
  macros_.push_back({&stmt, scopes_});
  return {Kind::Macro, static_cast<int32_t>(macros_.size() - 1)};
}

std::string Evaluator::capture(const std::vector<StmtId>& body) {
  std::string saved = std::exchange(out_, {});
  ++captures_;
  enter({});
  exec_all(body);
  scopes_.pop_back();
  --captures_;
  return std::exchange(out_, std::move(saved));
}

void Evaluator::exec_set_block(const Stmt& stmt) {
  Value v = heap_.string(capture(stmt.body));
  if (stmt.filter.valid() && !failed_) v = filter_chain(stmt.filter, v);
  if (!failed_) assign(stmt.target, v);
}

void Evaluator::exec_call_block(const Stmt& stmt) {
  Value caller = define_macro(stmt);
  const Expr& e = template_.exprs[stmt.expr];
  Value callee = eval(e.items[0]);
  CallArgs args = eval_args(e);
  args.keywords.emplace_back("caller", caller);
  if (failed_) return;
  if (callee.kind != Kind::Macro) {
    fail("`call` needs a macro, found " + std::string(type_name(callee)));
    return;
  }
  Value v = call(callee, args);
  if (!failed_) write(str(heap_, v));
}

void Evaluator::exec_with(const Stmt& stmt) {
  Scope scope;
  for (const MacroParam& param : stmt.params)
    scope.emplace_back(param.name, eval(param.default_value));
  if (failed_) return;
  enter(std::move(scope));
  exec_all(stmt.body);
  scopes_.pop_back();
}

// The chain's innermost filter has no subject of its own.
Value Evaluator::filter_chain(ExprId chain, const Value& subject) {
  const Expr& e = template_.exprs[chain];
  Value inner = e.items[0].valid() ? filter_chain(e.items[0], subject) : subject;
  if (failed_) return {};
  offset_ = e.offset;
  return apply_filter(e.text, inner, eval_args(e));
}

void Evaluator::assign(const AssignTarget& target, const Value& v) {
  if (!target.items.empty()) {
    Items items;
    if (!iterate(v, items)) return;
    if (items.size() != target.items.size()) {
      fail(std::to_string(target.items.size()) + " names are assigned " +
           std::to_string(items.size()) + " values");
      return;
    }
    for (size_t i = 0; i < items.size(); ++i) assign(target.items[i], items[i]);
    return;
  }
  if (!target.attribute.empty()) {
    Value object = lookup(target.name);
    if (object.kind != Kind::Namespace) {
      fail("cannot assign an attribute of " + std::string(type_name(object)) +
           "; only of a namespace");
      return;
    }
    heap_.set(object, target.attribute, v);
    return;
  }
  for (auto& [name, value] : *scopes_.back()) {
    if (name == target.name) {
      value = v;
      return;
    }
  }
  scopes_.back()->emplace_back(target.name, v);
}

// ---- expressions -----------------------------------------------------------------------------

Value Evaluator::lookup(const std::string& name) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope& scope = *scopes_[i];
    for (size_t j = scope.size(); j-- > 0;) {
      if (scope[j].first == name) return scope[j].second;
    }
  }
  return heap_.undefined(name);
}

Value Evaluator::eval(ExprId id) {
  if (failed_ || !id.valid()) return {};
  if (!step()) return {};
  if (++depth_ > 4 * limits_.depth) fail("nested deeper than the limit", "TMPL-LIMIT");
  const Expr& e = template_.exprs[id];
  size_t outer = std::exchange(offset_, e.offset);
  Value v = failed_ ? Value{} : eval_inner(e);
  offset_ = failed_ ? offset_ : outer;
  --depth_;
  return v;
}

Value Evaluator::eval_inner(const Expr& e) {
  switch (e.kind) {
    case ExprKind::None:
      return heap_.none();
    case ExprKind::True:
      return heap_.boolean(true);
    case ExprKind::False:
      return heap_.boolean(false);
    case ExprKind::Int:
      return heap_.integer(e.integer);
    case ExprKind::Float:
      return heap_.number(e.number);
    case ExprKind::String:
      return heap_.string(e.text);
    case ExprKind::Name:
      return lookup(e.text);
    case ExprKind::List:
    case ExprKind::Tuple: {
      Items items;
      for (ExprId item_id : e.items) items.push_back(eval(item_id));
      return e.kind == ExprKind::List ? heap_.list(std::move(items))
                                      : heap_.tuple(std::move(items));
    }
    case ExprKind::Dict:
      return eval_dict(e);
    case ExprKind::Neg:
    case ExprKind::Pos: {
      Value v = eval(e.items[0]);
      if (failed_) return {};
      if (!is_number(v)) return fail("a sign needs a number, found " + std::string(type_name(v)));
      if (v.kind == Kind::Float)
        return heap_.number(e.kind == ExprKind::Neg ? -v.number : v.number);
      if (e.kind == ExprKind::Pos) return heap_.integer(v.integer);
      return binary("-", heap_.integer(0), v);
    }
    case ExprKind::Not:
      return heap_.boolean(!truthy(heap_, eval(e.items[0])));
    case ExprKind::Binary: {
      Value a = eval(e.items[0]);
      Value b = eval(e.items[1]);
      return failed_ ? Value{} : binary(e.text, a, b);
    }
    case ExprKind::Concat: {
      std::string text;
      for (ExprId part : e.items) text += str(heap_, eval(part));
      return charge(text.size() / 64) ? heap_.string(std::move(text)) : Value{};
    }
    case ExprKind::Compare:
      return eval_compare(e);
    case ExprKind::And: {
      Value a = eval(e.items[0]);
      return truthy(heap_, a) ? eval(e.items[1]) : a;
    }
    case ExprKind::Or: {
      Value a = eval(e.items[0]);
      return truthy(heap_, a) ? a : eval(e.items[1]);
    }
    case ExprKind::Cond:
      if (truthy(heap_, eval(e.items[1]))) return eval(e.items[0]);
      return e.items[2].valid() ? eval(e.items[2]) : heap_.undefined("");
    case ExprKind::Filter: {
      Value subject = eval(e.items[0]);
      CallArgs args = eval_args(e);
      return failed_ ? Value{} : apply_filter(e.text, subject, args);
    }
    case ExprKind::Test: {
      Value subject = eval(e.items[0]);
      CallArgs args = eval_args(e);
      return failed_ ? Value{} : heap_.boolean(apply_test(e.text, subject, args) != e.negated);
    }
    case ExprKind::Attr: {
      Value object = eval(e.items[0]);
      return failed_ ? Value{} : attribute(object, e.text);
    }
    case ExprKind::Item: {
      Value object = eval(e.items[0]);
      Value index = eval(e.items[1]);
      return failed_ ? Value{} : item(object, index);
    }
    case ExprKind::Slice:
      return eval_slice(e);
    case ExprKind::Call:
      return eval_call(e);
  }
  return {};
}

Value Evaluator::eval_dict(const Expr& e) {
  Value dict = heap_.dict({});
  for (size_t i = 0; i + 1 < e.items.size() && !failed_; i += 2) {
    Value key = eval(e.items[i]);
    Value value = eval(e.items[i + 1]);
    Pairs& pairs = heap_.pairs(dict);
    auto same = std::find_if(pairs.begin(), pairs.end(),
                             [&](const auto& pair) { return equal(heap_, pair.first, key); });
    if (same == pairs.end()) {
      pairs.emplace_back(key, value);
    } else {
      same->second = value;
    }
  }
  return dict;
}

Value Evaluator::eval_compare(const Expr& e) {
  Value left = eval(e.items[0]);
  for (size_t i = 0; i < e.operators.size() && !failed_; ++i) {
    Value right = eval(e.items[i + 1]);
    if (failed_) return {};
    const std::string& op = e.operators[i];
    bool holds = false;
    if (op == "==" || op == "!=") {
      holds = equal(heap_, left, right) == (op == "==");
    } else if (op == "in" || op == "not in") {
      holds = contains(right, left) == (op == "in");
    } else {
      int order = compare(heap_, left, right);
      if (order == 2) {
        return fail("cannot order " + std::string(type_name(left)) + " and " +
                    std::string(type_name(right)));
      }
      holds = op == "<" ? order < 0 : op == "<=" ? order <= 0 : op == ">" ? order > 0 : order >= 0;
    }
    if (!holds) return heap_.boolean(false);
    left = right;
  }
  return heap_.boolean(true);
}

bool Evaluator::contains(const Value& container, const Value& v) {
  if (container.kind == Kind::String) {
    if (v.kind != Kind::String) {
      fail("`in` a string needs a string, found " + std::string(type_name(v)));
      return false;
    }
    return heap_.text(container).find(heap_.text(v)) != std::string::npos;
  }
  Items items;
  if (!iterate(container, items)) return false;
  for (const Value& candidate : items) {
    if (equal(heap_, candidate, v)) return true;
  }
  return false;
}

bool Evaluator::iterate(const Value& v, Items& out) {
  switch (v.kind) {
    case Kind::List:
    case Kind::Tuple:
      out = heap_.items(v);
      return charge(out.size() / 16);
    case Kind::Dict:
      for (const auto& [key, value] : heap_.pairs(v)) out.push_back(key);
      return true;
    case Kind::String:
      for (std::string& c : code_points(heap_.text(v))) out.push_back(heap_.string(std::move(c)));
      return charge(out.size());
    case Kind::Undefined:
      return true;  // an undefined value is an empty list
    case Kind::None:
    case Kind::Bool:
    case Kind::Int:
    case Kind::Float:
    case Kind::Namespace:
    case Kind::Macro:
    case Kind::Builtin:
    case Kind::Method:
    case Kind::Loop:
      break;
  }
  fail("cannot go through " + std::string(type_name(v)));
  return false;
}

namespace {

// Python's rules for a given slice bound.
int64_t clamp_bound(int64_t i, int64_t length, int64_t step) {
  if (i < 0) i += length;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
  return std::max(low, std::min(high, i));
}

}  // namespace

Value Evaluator::eval_slice(const Expr& e) {
  Value object = eval(e.items[0]);
  Value from = e.items[1].valid() ? eval(e.items[1]) : heap_.none();
  Value to = e.items[2].valid() ? eval(e.items[2]) : heap_.none();
  Value by = e.items[3].valid() ? eval(e.items[3]) : heap_.none();
  if (failed_) return {};
  for (const Value& bound : {from, to, by}) {
    if (bound.kind != Kind::Int && bound.kind != Kind::Bool && bound.kind != Kind::None) {
      return fail("slice bounds are integers, found " + std::string(type_name(bound)));
    }
  }
  Items items;
  if (object.kind != Kind::String && !is_sequence(object)) {
    if (object.kind == Kind::Undefined) return heap_.undefined("");
    return fail("cannot slice " + std::string(type_name(object)));
  }
  if (!iterate(object, items)) return {};
  int64_t length = static_cast<int64_t>(items.size());
  int64_t step_by = by.kind == Kind::None ? 1 : by.integer;
  if (step_by == 0) return fail("slice step is 0");
  int64_t begin = from.kind == Kind::None ? (step_by > 0 ? 0 : length - 1)
                                          : clamp_bound(from.integer, length, step_by);
  int64_t end = to.kind == Kind::None ? (step_by > 0 ? length : -1)
                                      : clamp_bound(to.integer, length, step_by);
  Items kept;
  for (int64_t i = begin; step_by > 0 ? i < end : i > end; i += step_by) {
    kept.push_back(items[static_cast<size_t>(i)]);
    if (step_by > length || step_by < -length) break;
  }
  if (object.kind == Kind::List) return heap_.list(std::move(kept));
  if (object.kind == Kind::Tuple) return heap_.tuple(std::move(kept));
  std::string text;
  for (const Value& c : kept) text += heap_.text(c);
  return heap_.string(std::move(text));
}

CallArgs Evaluator::eval_args(const Expr& e) {
  CallArgs args;
  for (size_t i = 1; i < e.items.size(); ++i) args.positional.push_back(eval(e.items[i]));
  for (const KeywordArg& keyword : e.keywords)
    args.keywords.emplace_back(keyword.name, eval(keyword.value));
  if (e.star_args.valid()) {
    Items more;
    if (iterate(eval(e.star_args), more)) {
      args.positional.insert(args.positional.end(), more.begin(), more.end());
    }
  }
  if (e.star_kwargs.valid()) {
    Value more = eval(e.star_kwargs);
    if (more.kind == Kind::Dict) {
      for (const auto& [key, value] : heap_.pairs(more))
        args.keywords.emplace_back(str(heap_, key), value);
    } else {
      fail("`**` needs a mapping, found " + std::string(type_name(more)));
    }
  }
  return args;
}

Value Evaluator::eval_call(const Expr& e) {
  Value callee = eval(e.items[0]);
  CallArgs args = eval_args(e);
  return failed_ ? Value{} : call(callee, args);
}

}  // namespace axon::text::tmpl
