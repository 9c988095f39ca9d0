// Version text of the command.
#pragma once

#include <string>

namespace axon::cli {

// Version, instruction set chosen, libraries.
std::string version_text();

}  // namespace axon::cli
