// Conversions between kinds of configuration values.
#include "model/config_convert.h"

#include <cmath>
#include <string>

#include "support/text.h"

namespace axon::model {
namespace {

using Kind = ConfigValue::Kind;

std::optional<ConfigValue> integer(const ConfigValue& v) {
  if (v.kind == Kind::Int) return v;
  if (v.kind == Kind::Float && std::floor(v.number) == v.number && std::fabs(v.number) < 0x1p63)
    return ConfigValue::of(static_cast<int64_t>(v.number));
  if (v.kind == Kind::String) {
    if (auto parsed = parse_int(v.text)) return ConfigValue::of(static_cast<int64_t>(*parsed));
  }
  return {};
}

std::optional<ConfigValue> size(const ConfigValue& v) {
  auto out = integer(v);
  return out && out->integer >= 0 ? out : std::nullopt;
}

std::optional<ConfigValue> number(const ConfigValue& v) {
  if (v.kind == Kind::Int) return ConfigValue::of(static_cast<double>(v.integer));
  if (v.kind == Kind::Float) return v;
  if (v.kind == Kind::String) {
    if (auto parsed = parse_double(v.text)) return ConfigValue::of(static_cast<double>(*parsed));
  }
  return {};
}

std::optional<ConfigValue> truth(const ConfigValue& v) {
  if (v.kind == Kind::Bool) return v;
  std::string word = v.kind == Kind::String ? lower_ascii(v.text) : "";
  if (word == "true" || word == "false") return ConfigValue::of(word == "true");
  return {};
}

std::optional<ConfigValue> only(Kind kind, const ConfigValue& v) {
  if (v.kind == kind) return v;
  return {};
}

}  // namespace

std::optional<ConfigValue> converted(ConfigType type, const ConfigValue& value) {
  switch (type) {
    case ConfigType::Integer:
      return integer(value);
    case ConfigType::Size:
      return size(value);
    case ConfigType::Number:
      return number(value);
    case ConfigType::Truth:
      return truth(value);
    case ConfigType::Text:
      return only(Kind::String, value);
    case ConfigType::List:
      return only(Kind::List, value);
    case ConfigType::Any:
      return value;
  }
  return {};
}

std::string_view needed(ConfigType type) {
  switch (type) {
    case ConfigType::Integer:
      return "an integer";
    case ConfigType::Size:
      return "a size, an integer of 0 or more";
    case ConfigType::Number:
      return "a number";
    case ConfigType::Truth:
      return "true or false";
    case ConfigType::Text:
      return "a string";
    case ConfigType::List:
      return "a list";
    case ConfigType::Any:
      return "a value";
  }
  return "a value";
}

}  // namespace axon::model
