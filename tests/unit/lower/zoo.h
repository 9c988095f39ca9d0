// Programs of the zoo through the front end, with the library from the source tree.
#pragma once

#include <string>
#include <string_view>

#include "lower/lower.h"

namespace axon::lower {

std::string errors_of(const sema::Session& session);

// The verified graph of `zoo/<name>.axon`; empty when the session has errors afterwards.
graph::Graph lower_zoo(std::string_view name, std::string_view overlay, std::string_view main,
                       sema::Session& session);

// The same for a program given as text, without a library.
graph::Graph lower_text(std::string_view text, sema::Session& session);

}  // namespace axon::lower
