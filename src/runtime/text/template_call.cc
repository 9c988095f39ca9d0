// Attributes, items, operators and calls of a template run.
#include <algorithm>
#include <cmath>

#include "runtime/text/template_eval.h"

namespace axon::text::tmpl {

namespace {

Value loop_attribute(Evaluator& run, const Value& loop, const std::string& name) {
  Heap& heap = run.heap();
  const LoopState& state = heap.loop_state(loop);
  int64_t index = static_cast<int64_t>(state.index);
  int64_t count = static_cast<int64_t>(state.items.size());
  if (name == "index") return heap.integer(index + 1);
  if (name == "index0") return heap.integer(index);
  if (name == "revindex") return heap.integer(count - index);
  if (name == "revindex0") return heap.integer(count - index - 1);
  if (name == "first") return heap.boolean(index == 0);
  if (name == "last") return heap.boolean(index + 1 == count);
  if (name == "length") return heap.integer(count);
  if (name == "depth") return heap.integer(state.depth + 1);
  if (name == "depth0") return heap.integer(state.depth);
  if (name == "previtem")
    return index > 0 ? state.items[state.index - 1] : heap.undefined("previtem");
  if (name == "nextitem")
    return index + 1 < count ? state.items[state.index + 1] : heap.undefined("nextitem");
  if (name == "cycle" || name == "changed") return find_method(heap, loop, name);
  return heap.undefined(name);
}

}  // namespace

Value Evaluator::attribute(const Value& object, const std::string& name) {
  switch (object.kind) {
    case Kind::Undefined: {
      std::string what = object.ref >= 0 ? heap_.text(object) : std::string();
      return fail((what.empty() ? "an undefined value" : "`" + what + "` is undefined and") +
                  " has no attribute `" + name + "`");
    }
    case Kind::Namespace: {
      const Value* found = heap_.find(object, name);
      return found ? *found : heap_.undefined(name);
    }
    case Kind::Loop:
      return loop_attribute(*this, object, name);
    case Kind::Macro:
      if (name == "name") return heap_.string(macros_[static_cast<size_t>(object.ref)].stmt->text);
      return heap_.undefined(name);
    default:
      break;
  }
  Value method = find_method(heap_, object, name);
  if (method.kind != Kind::Undefined) return method;
  if (object.kind == Kind::Dict) {
    const Value* found = heap_.find(object, name);
    if (found) return *found;
  }
  return heap_.undefined(name);
}

Value Evaluator::item(const Value& object, const Value& index) {
  if (object.kind == Kind::Undefined) return attribute(object, str(heap_, index));
  if (object.kind == Kind::Dict) {
    for (const auto& [key, value] : heap_.pairs(object)) {
      if (equal(heap_, key, index)) return value;
    }
    if (index.kind == Kind::String) {
      Value method = find_method(heap_, object, heap_.text(index));
      if (method.kind != Kind::Undefined) return method;
    }
    return heap_.undefined(str(heap_, index));
  }
  if (object.kind == Kind::String || is_sequence(object)) {
    if (index.kind == Kind::Int || index.kind == Kind::Bool) {
      Items items;
      if (!iterate(object, items)) return {};
      int64_t i =
          index.integer < 0 ? index.integer + static_cast<int64_t>(items.size()) : index.integer;
      if (i < 0 || i >= static_cast<int64_t>(items.size()))
        return heap_.undefined(str(heap_, index));
      return items[static_cast<size_t>(i)];
    }
  }
  if (index.kind == Kind::String) return attribute(object, heap_.text(index));
  return heap_.undefined(str(heap_, index));
}

namespace {

Value integer_binary(Evaluator& run, const std::string& op, int64_t a, int64_t b) {
  Heap& heap = run.heap();
  int64_t r = 0;
  bool overflow = false;
  if (op == "+")
    overflow = __builtin_add_overflow(a, b, &r);
  else if (op == "-")
    overflow = __builtin_sub_overflow(a, b, &r);
  else if (op == "*")
    overflow = __builtin_mul_overflow(a, b, &r);
  else if (op == "**") {
    if (b < 0) return heap.number(std::pow(static_cast<double>(a), static_cast<double>(b)));
    r = 1;
    for (int64_t i = 0; i < b && !overflow; ++i) {
      overflow = __builtin_mul_overflow(r, a, &r);
      if (a == 0 || a == 1 || a == -1) {
        r = a == -1 && b % 2 == 0 ? 1 : a;
        break;
      }
    }
  } else {
    if (b == 0) return run.fail("division by zero");
    if (op == "/") return heap.number(static_cast<double>(a) / static_cast<double>(b));
    if (a == INT64_MIN && b == -1) return run.fail("integer overflow");
    int64_t quotient = a / b, rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) --quotient, rest += b;
    return heap.integer(op == "//" ? quotient : rest);
  }
  if (overflow) return run.fail("integer overflow in `" + op + "`");
  return heap.integer(r);
}

Value float_binary(Evaluator& run, const std::string& op, double a, double b) {
  Heap& heap = run.heap();
  if (op == "+") return heap.number(a + b);
  if (op == "-") return heap.number(a - b);
  if (op == "*") return heap.number(a * b);
  if (op == "**") return heap.number(std::pow(a, b));
  if (b == 0) return run.fail("division by zero");
  if (op == "/") return heap.number(a / b);
  double quotient = std::floor(a / b);
  return heap.number(op == "//" ? quotient : a - quotient * b);
}

Value repeat(Evaluator& run, const Value& v, int64_t count) {
  Heap& heap = run.heap();
  count = std::max<int64_t>(count, 0);
  size_t unit = v.kind == Kind::String ? heap.text(v).size() : heap.items(v).size();
  if (unit == 0) count = 0;
  if (count > (int64_t{1} << 32) || !run.charge(unit * static_cast<size_t>(count))) {
    return run.fail("repetition is too long", "TMPL-LIMIT");
  }
  if (v.kind == Kind::String) {
    std::string out;
    for (int64_t i = 0; i < count; ++i) out += heap.text(v);
    return heap.string(std::move(out));
  }
  Items out;
  for (int64_t i = 0; i < count; ++i)
    out.insert(out.end(), heap.items(v).begin(), heap.items(v).end());
  return v.kind == Kind::List ? heap.list(std::move(out)) : heap.tuple(std::move(out));
}

}  // namespace

Value Evaluator::binary(const std::string& op, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    if (a.kind != Kind::Float && b.kind != Kind::Float)
      return integer_binary(*this, op, a.integer, b.integer);
    return float_binary(*this, op, as_double(a), as_double(b));
  }
  if (op == "+" && a.kind == Kind::String && b.kind == Kind::String) {
    if (!charge((heap_.text(a).size() + heap_.text(b).size()) / 64)) return {};
    return heap_.string(heap_.text(a) + heap_.text(b));
  }
  if (op == "+" && is_sequence(a) && a.kind == b.kind) {
    Items joined = heap_.items(a);
    joined.insert(joined.end(), heap_.items(b).begin(), heap_.items(b).end());
    return a.kind == Kind::List ? heap_.list(std::move(joined)) : heap_.tuple(std::move(joined));
  }
  bool a_repeats = a.kind == Kind::String || is_sequence(a),
       b_repeats = b.kind == Kind::String || is_sequence(b);
  if (op == "*" && a_repeats && (b.kind == Kind::Int || b.kind == Kind::Bool))
    return repeat(*this, a, b.integer);
  if (op == "*" && b_repeats && (a.kind == Kind::Int || a.kind == Kind::Bool))
    return repeat(*this, b, a.integer);
  if (op == "%" && a.kind == Kind::String) {
    Items args = b.kind == Kind::Tuple ? heap_.items(b) : Items{b};
    std::string text = format_percent(*this, heap_.text(a), args);
    return failed_ ? Value{} : heap_.string(std::move(text));
  }
  auto show = [&](const Value& v) {
    if (v.kind == Kind::Undefined && v.ref >= 0 && !heap_.text(v).empty())
      return "undefined `" + heap_.text(v) + "`";
    return std::string(type_name(v));
  };
  return fail("`" + op + "` does not take " + show(a) + " and " + show(b));
}

Value Evaluator::call(const Value& callee, const CallArgs& args) {
  if (++depth_ > limits_.depth) {
    --depth_;
    return fail("calls nested deeper than " + std::to_string(limits_.depth), "TMPL-LIMIT");
  }
  Value v;
  switch (callee.kind) {
    case Kind::Macro:
      v = call_macro(callee.ref, args);
      break;
    case Kind::Builtin:
      v = call_builtin(callee.ref, args);
      break;
    case Kind::Method:
      v = call_method(*this, callee, args);
      break;
    case Kind::Loop:
      v = call_loop(callee, args);
      break;
    case Kind::Undefined:
      fail("`" + (callee.ref >= 0 ? heap_.text(callee) : std::string("it")) +
           "` is undefined and cannot be called");
      break;
    default:
      fail(std::string(type_name(callee)) + " cannot be called");
  }
  --depth_;
  return v;
}

Value Evaluator::call_macro(int32_t index, const CallArgs& args) {
  const Stmt& stmt = *macros_[static_cast<size_t>(index)].stmt;
  Scope locals;
  size_t used = 0;
  for (const MacroParam& param : stmt.params) {
    if (args.has(used, param.name)) {
      locals.emplace_back(param.name, args.get(used, param.name));
    } else {
      locals.emplace_back(param.name, param.default_value.valid() ? Value{Kind::Undefined, -2}
                                                                  : heap_.undefined(param.name));
    }
    ++used;
  }
  Items extra;
  for (size_t i = used; i < args.positional.size(); ++i) extra.push_back(args.positional[i]);
  Value named = heap_.dict({});
  for (const auto& [key, value] : args.keywords) {
    bool is_param = std::any_of(stmt.params.begin(), stmt.params.end(),
                                [&k = key](const MacroParam& p) { return p.name == k; });
    if (key == "caller") {
      locals.emplace_back(key, value);
    } else if (!is_param) {
      heap_.set(named, key, value);
    }
  }
  locals.emplace_back("varargs", heap_.tuple(std::move(extra)));
  locals.emplace_back("kwargs", named);
  Scopes outside = std::exchange(scopes_, macros_[static_cast<size_t>(index)].visible);
  enter(std::move(locals));
  for (size_t i = 0; i < stmt.params.size(); ++i) {  // defaults may use earlier parameters
    if ((*scopes_.back())[i].second.ref == -2) {
      Value v = eval(stmt.params[i].default_value);
      (*scopes_.back())[i].second = v;
    }
  }
  std::string text = failed_ ? std::string() : capture(stmt.body);
  scopes_ = std::move(outside);
  return failed_ ? Value{} : heap_.string(std::move(text));
}

Value Evaluator::call_builtin(int32_t which, const CallArgs& args) {
  switch (which) {
    case 0: {  // range
      int64_t bounds[3] = {0, 0, 1};
      if (args.positional.empty() || args.positional.size() > 3)
        return fail("`range` takes one to three integers");
      for (const Value& v : args.positional) {
        if (v.kind != Kind::Int && v.kind != Kind::Bool)
          return fail("`range` takes integers, found " + std::string(type_name(v)));
      }
      if (args.positional.size() == 1) {
        bounds[1] = args.positional[0].integer;
      } else {
        for (size_t i = 0; i < args.positional.size(); ++i) bounds[i] = args.positional[i].integer;
      }
      if (bounds[2] == 0) return fail("`range` step is 0");
      Items items;
      for (__int128 i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
        if (items.size() >= 100'000) return fail("`range` longer than 100000", "TMPL-LIMIT");
        items.push_back(heap_.integer(static_cast<int64_t>(i)));
      }
      return charge(items.size()) ? heap_.list(std::move(items)) : Value{};
    }
    case 1:
    case 4: {  // namespace, dict
      Pairs pairs;
      if (!args.positional.empty()) {
        if (args.positional[0].kind != Kind::Dict)
          return fail("needs a mapping, found " + std::string(type_name(args.positional[0])));
        pairs = heap_.pairs(args.positional[0]);
      }
      Value made = which == 1 ? heap_.name_space(std::move(pairs)) : heap_.dict(std::move(pairs));
      for (const auto& [key, value] : args.keywords) heap_.set(made, key, value);
      return made;
    }
    case 2:
      return fail(str(heap_, args.get(0, "message")), "TMPL-RAISE");
    case 3:
      return heap_.string(format_time(now_, str(heap_, args.get(0, "format"))));
    default:
      return fail("unknown function");
  }
}

Value Evaluator::call_loop(const Value& loop, const CallArgs& args) {
  LoopState& state = heap_.loop_state(loop);
  if (state.for_stmt < 0) return fail("the loop is not marked `recursive`");
  Items items;
  if (args.positional.size() != 1 || !iterate(args.positional[0], items))
    return fail("a recursive loop takes one list");
  const Stmt& stmt = template_.stmts[StmtId{state.for_stmt}];
  std::string saved = std::exchange(out_, {});
  ++captures_;
  exec_for(stmt, std::move(items), state.depth + 1);
  --captures_;
  return heap_.string(std::exchange(out_, std::move(saved)));
}

}  // namespace axon::text::tmpl
