// From our results and diagnostics to Python exceptions: the only place that raises.
#include "python/errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "source/diag.h"
#include "source/render.h"

namespace axon::python {

namespace nb = nanobind;

void raise(const Error& error) {
  const DiagInfo* info = find_diag(error.code);
  nb::object made = nb::module_::import_("axon.errors")
                        .attr("make")(error.code, error.message, error.file, error.hint,
                                      info ? info->exit_status : 70);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

std::vector<std::string> diagnostics_json(const sema::Session& session) {
  std::vector<std::string> out;
  for (const Diagnostic& d : session.sink.all())
    out.push_back(render_json(d, session.files, session.sink.severity(d)));
  return out;
}

void raise_diagnostics(sema::Session& session) {
  if (!session.sink.has_errors()) return;
  session.sink.sort();
  nb::object made =
      nb::module_::import_("axon.errors").attr("from_diagnostics")(diagnostics_json(session));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

}  // namespace axon::python
