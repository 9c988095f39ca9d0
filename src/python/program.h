// Programs without running them: diagnostics, and the source of a framework's module.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "driver/model.h"

namespace axon::python {

// All diagnostics of a program, against a checkpoint where one is given, as JSON objects.
std::vector<std::string> check(const driver::ModelRequest& request, const std::string& program,
                               const std::string& checkpoint);
// What `axon compile` writes. Raises what goes wrong.
std::string compile(const driver::ModelRequest& request, const std::string& program,
                    const std::string& checkpoint, const std::string& target,
                    const std::string& command);

void bind_programs(nanobind::module_& module);

}  // namespace axon::python
