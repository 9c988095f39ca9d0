// JSON forms that scripts rely on (design.md 7), built from plain values.
#pragma once

#include <string>

#include "support/result.h"

namespace axon::cli {

std::string error_json(const Error& error);

}  // namespace axon::cli
