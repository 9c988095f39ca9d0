// Breaks long lines of canonical text where the language lets a statement go on (language.md 3.2).
#pragma once

#include <string>
#include <string_view>

#include "support/interner.h"

namespace axon::syntax {

// Every line that is longer than `width` is broken at its loosest operators first; what follows is
// indented deeper. Comments are left as they are. The text parses to the same tree.
std::string fold_lines(std::string_view text, size_t width, Interner& names);

}  // namespace axon::syntax
