// Programs without running them: diagnostics, and the source of a framework's module.
#include "python/program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "driver/check.h"
#include "driver/emit.h"
#include "driver/target.h"
#include "python/errors.h"
#include "support/text.h"

namespace axon::python {

namespace nb = nanobind;

std::vector<std::string> check(const driver::ModelRequest& request, const std::string& program,
                               const std::string& checkpoint) {
  std::optional<Result<driver::Target>> target;
  std::optional<driver::Frontend> frontend;
  {
    nb::gil_scoped_release free;
    target.emplace(driver::find_target(request, program, checkpoint));
    if (target->ok()) {
      driver::Target& found = **target;
      frontend.emplace(driver::compile_text(found.text, found.request, answers_of(found),
                                            driver::Stage::GraphIr));
      if (found.checkpoint) driver::check_checkpoint(*frontend, *found.checkpoint, found.request);
      frontend->session->sink.sort();
    }
  }
  if (!target->ok()) raise(target->error());
  return diagnostics_json(*frontend->session);
}

std::string compile(const driver::ModelRequest& request, const std::string& program,
                    const std::string& checkpoint, const std::string& target,
                    const std::string& command) {
  if (auto known = driver::check_target(target); !known) raise(known.error());
  std::optional<driver::Frontend> frontend;
  auto run = [&]() -> Result<std::string> {
    AXON_TRY(driver::Target found, driver::find_target(request, program, checkpoint));
    frontend.emplace(
        driver::compile_text(found.text, found.request, answers_of(found), driver::Stage::GraphIr));
    driver::PassReport passes;
    if (!frontend->ok() ||
        !driver::run_structured_passes(*frontend, answers_of(found), found.request.passes, passes))
      return std::string();
    auto source = driver::emit_source(*frontend, found.text, answers_of(found),
                                      {target, command, AXON_VERSION});
    driver::point_at_program(*frontend->session);
    return source;
  };
  std::optional<Result<std::string>> source;
  {
    nb::gil_scoped_release free;
    source.emplace(run());
  }
  if (frontend) raise_diagnostics(*frontend->session);
  return value_of(std::move(*source));
}

void bind_programs(nb::module_& module) {
  module.def("check", &check);
  module.def("compile", &compile);
  module.def("targets", &driver::emit_targets);
}

}  // namespace axon::python
