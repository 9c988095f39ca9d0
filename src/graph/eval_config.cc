// Reads of the configuration (language.md 8.7).
#include "graph/config_reads.h"
#include "graph/eval_ops.h"
#include "model/config_convert.h"

namespace axon::graph {

model::ConfigType asked_type(Op op) {
  switch (op) {
    case Op::ConfigInt:
      return model::ConfigType::Integer;
    case Op::ConfigDim:
      return model::ConfigType::Size;
    case Op::ConfigFloat:
      return model::ConfigType::Number;
    case Op::ConfigBool:
      return model::ConfigType::Truth;
    case Op::ConfigStr:
      return model::ConfigType::Text;
    case Op::ConfigList:
      return model::ConfigType::List;
    default:
      return model::ConfigType::Any;
  }
}

namespace {

using model::ConfigValue;
using CKind = model::ConfigValue::Kind;

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
  model::ConfigType type = asked_type(call.op);
  auto value = model::converted(type, *found.value);
  if (!value)
    return eval_error(Diag::RunConfigType, {key, found.value->show(), model::needed(type)});
  return plain(*value);
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
