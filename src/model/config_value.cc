// Values of a checkpoint's configuration and the walk along dotted keys.
#include "model/config_value.h"

#include "support/text.h"

namespace axon::model {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"' + json_escape(text) + '"';
}

void append_json(std::string& out, const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::Null:
      out += "null";
      return;
    case ConfigValue::Kind::Bool:
      out += value.boolean ? "true" : "false";
      return;
    case ConfigValue::Kind::Int:
      out += std::to_string(value.integer);
      return;
    case ConfigValue::Kind::Float:
      out += show_double(value.number);
      return;
    case ConfigValue::Kind::String:
      append_quoted(out, value.text);
      return;
    case ConfigValue::Kind::List:
      out += '[';
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ", ";
        append_json(out, value.items[i]);
      }
      out += ']';
      return;
    case ConfigValue::Kind::Map:
      out += '{';
      for (size_t i = 0; i < value.members.size(); ++i) {
        if (i > 0) out += ", ";
        append_quoted(out, value.members[i].first);
        out += ": ";
        append_json(out, value.members[i].second);
      }
      out += '}';
      return;
  }
}

}  // namespace

ConfigValue ConfigValue::of(bool v) {
  ConfigValue out;
  out.kind = Kind::Bool;
  out.boolean = v;
  return out;
}

ConfigValue ConfigValue::of(int64_t v) {
  ConfigValue out;
  out.kind = Kind::Int;
  out.integer = v;
  return out;
}

ConfigValue ConfigValue::of(double v) {
  ConfigValue out;
  out.kind = Kind::Float;
  out.number = v;
  return out;
}

ConfigValue ConfigValue::of(std::string v) {
  ConfigValue out;
  out.kind = Kind::String;
  out.text = std::move(v);
  return out;
}

const ConfigValue* ConfigValue::member(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

void ConfigValue::set(std::string name, ConfigValue value) {
  kind = Kind::Map;
  for (auto& [key, old] : members) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  members.emplace_back(std::move(name), std::move(value));
}

std::string ConfigValue::show() const {
  std::string out;
  append_json(out, *this);
  return out;
}

Lookup lookup(const ConfigValue& root, std::string_view dotted_key) {
  const ConfigValue* at = &root;
  size_t walked = 0;  // length of the part of the key that led to `at`
  for (std::string_view step : split(dotted_key, '.')) {
    if (at->kind == ConfigValue::Kind::Null) return {};
    if (at->kind != ConfigValue::Kind::Map) {
      return {LookupState::NotAMap, nullptr, std::string(dotted_key.substr(0, walked))};
    }
    at = at->member(step);
    if (!at) return {};
    walked += step.size() + (walked > 0 ? 1 : 0);
  }
  return {LookupState::Found, at, {}};
}

}  // namespace axon::model
