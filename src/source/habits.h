// How it is written here, for what people write out of habit from other languages.
#pragma once

#include <cstdint>
#include <string_view>

namespace axon {

enum class Habit : uint8_t { Sign, Word, Member, Keyword };

// Empty where the text is no habit.
std::string_view written_here(Habit where, std::string_view written);

}  // namespace axon
