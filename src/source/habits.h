// How it is written here, for what people write out of habit from other languages.
#pragma once

#include <cstdint>
#include <string_view>

#include "source/diag.h"

namespace axon {

enum class Habit : uint8_t { Sign, Word, Member, Keyword, Syntax, Index, Type };

// Empty where the text is no habit.
std::string_view written_here(Habit where, std::string_view written);

// Says how a type is written here that other languages have, at `span`, which begins with its name.
// Whether there was something to say.
bool suggest_type(Diagnostic& report, std::string_view name, Span span);

}  // namespace axon
