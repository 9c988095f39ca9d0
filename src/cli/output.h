// Writing results to standard output and text to standard error.
#pragma once

#include <string>
#include <string_view>

namespace axon::cli {

// Writes to standard output at once. False when the reader has gone (a closed pipe): the verb then
// ends quietly with status 0.
bool put(std::string_view text);
// The errno of the first write to standard output that failed, 0 when none did.
int output_error();
// Writes to standard error.
void note(std::string_view text);
// Everything on standard input, or what came before an interrupt.
std::string read_standard_input();

}  // namespace axon::cli
