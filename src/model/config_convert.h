// What a configuration's value is to a read that asks for a type (language.md 8.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/config_value.h"

namespace axon::model {

enum class ConfigType : uint8_t { Integer, Size, Number, Truth, Text, List, Any };

// Nothing where the value is of another kind and does not convert.
std::optional<ConfigValue> converted(ConfigType type, const ConfigValue& value);

// "an integer", as a diagnostic says it.
std::string_view needed(ConfigType type);

}  // namespace axon::model
