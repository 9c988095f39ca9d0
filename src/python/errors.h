// From our results and diagnostics to Python exceptions: the only place that raises.
#pragma once

#include <nanobind/nanobind.h>

#include "driver/frontend.h"
#include "support/result.h"

namespace axon::python {

// Raises the exception of axon.errors that fits the error's code. Needs the GIL.
[[noreturn]] void raise(const Error& error);
// Raises ProgramError with all diagnostics of a front end, if it has errors. Needs the GIL.
void raise_diagnostics(sema::Session& session);
// One JSON object a diagnostic, as `axon check --json` prints them.
std::vector<std::string> diagnostics_json(const sema::Session& session);

// The value of a result, or the exception of its error.
template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace axon::python
