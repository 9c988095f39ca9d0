// Version text of the command.
#pragma once

#include <string>

namespace axon::cli {

// Version, instruction set chosen, libraries.
std::string version_text();
// The version alone.
std::string version_number();

}  // namespace axon::cli
