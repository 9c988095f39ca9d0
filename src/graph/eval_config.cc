// Reads of the configuration (language.md 8.7).
#include <cmath>

#include "graph/eval_ops.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using model::ConfigValue;
using CKind = model::ConfigValue::Kind;

std::string_view needed(Op op) {
  switch (op) {
    case Op::ConfigInt:
    case Op::ConfigDim:
      return "an integer";
    case Op::ConfigFloat:
      return "a number";
    case Op::ConfigBool:
      return "true or false";
    case Op::ConfigStr:
      return "a string";
    case Op::ConfigList:
      return "a list";
    default:
      return "a value";
  }
}

// Values without a type asked for. A mapping can only be tested for presence; its text stands for
// it.
EvalValue plain(const ConfigValue& v) {
  switch (v.kind) {
    case CKind::Null:
      return EvalValue::null();
    case CKind::Bool:
      return EvalValue::of(v.boolean);
    case CKind::Int:
      return EvalValue::of(v.integer);
    case CKind::Float:
      return EvalValue::of(v.number);
    case CKind::String:
      return EvalValue::of(v.text);
    case CKind::List: {
      std::vector<EvalValue> items;
      for (const ConfigValue& item : v.items) items.push_back(plain(item));
      return EvalValue::list(std::move(items));
    }
    case CKind::Map:
      return EvalValue::of(v.show());
  }
  AXON_UNREACHABLE("config kind");
}

std::optional<EvalValue> converted(Op op, const ConfigValue& v) {
  switch (op) {
    case Op::ConfigInt:
    case Op::ConfigDim:
      if (v.kind == CKind::Int) return EvalValue::of(v.integer);
      if (v.kind == CKind::Float && std::floor(v.number) == v.number &&
          std::fabs(v.number) < 0x1p63) {
        return EvalValue::of(static_cast<int64_t>(v.number));
      }
      if (v.kind == CKind::String) {
        if (auto integer = parse_int(v.text)) return EvalValue::of(*integer);
      }
      return {};
    case Op::ConfigFloat:
      if (v.kind == CKind::Int) return EvalValue::of(static_cast<double>(v.integer));
      if (v.kind == CKind::Float) return EvalValue::of(v.number);
      if (v.kind == CKind::String) {
        if (auto real = parse_double(v.text)) return EvalValue::of(*real);
      }
      return {};
    case Op::ConfigBool: {
      if (v.kind == CKind::Bool) return EvalValue::of(v.boolean);
      std::string word = v.kind == CKind::String ? lower_ascii(v.text) : "";
      if (word == "true" || word == "false") return EvalValue::of(word == "true");
      return {};
    }
    case Op::ConfigStr:
      if (v.kind == CKind::String) return EvalValue::of(v.text);
      return {};
    case Op::ConfigList:
      if (v.kind == CKind::List) return plain(v);
      return {};
    default:
      return plain(v);
  }
}

}  // namespace

Result<EvalValue> eval_config(const OpCall& call) {
  AXON_TRY(std::string key, call.key(0));
  model::Lookup found;
  if (call.options.config) found = model::lookup(*call.options.config, key);
  if (found.state == model::LookupState::NotAMap) {
    return eval_error(Diag::RunConfigType,
                      {found.stuck_at, "no mapping", "one to hold `" + key + "`"});
  }
  bool absent = found.state != model::LookupState::Found || found.value->kind == CKind::Null;
  if (absent) {
    if (!call[1].is_null() || call.op == Op::ConfigValue) return call[1];
    return eval_error(Diag::RunConfig, {key});
  }
  auto value = converted(call.op, *found.value);
  if (!value) return eval_error(Diag::RunConfigType, {key, found.value->show(), needed(call.op)});
  return *value;
}

Result<EvalValue> eval_config_has(const OpCall& call) {
  AXON_TRY(std::string key, call.key(0));
  model::Lookup found;
  if (call.options.config) found = model::lookup(*call.options.config, key);
  bool present = found.state == model::LookupState::Found;
  if (call.op == Op::ConfigHasValue) present = present && found.value->kind != CKind::Null;
  return EvalValue::of(present);
}

}  // namespace axon::graph
