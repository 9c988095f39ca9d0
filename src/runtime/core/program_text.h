// A plan as text: the listing for people as comments, then everything a Program holds, in words.
#pragma once

#include <string>
#include <string_view>

#include "runtime/core/program.h"

namespace axon::runtime {

std::string write_text(const Program& program);
// Checked like the bytes of a saved program: FILE-FORMAT with the offset.
Result<Program> read_text(std::string_view text);

}  // namespace axon::runtime
