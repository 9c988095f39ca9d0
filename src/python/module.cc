// The compiled half of the package `axon`: axon._native. The other half is python/axon.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "driver/model.h"
#include "python/model.h"
#include "python/program.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  using axon::driver::ModelRequest;
  module.attr("version") = AXON_VERSION;
  nb::class_<ModelRequest>(module, "Request")
      .def(nb::init<>())
      .def_rw("model", &ModelRequest::model)
      .def_rw("program", &ModelRequest::program)
      .def_rw("main", &ModelRequest::main)
      .def_rw("overlays", &ModelRequest::overlays)
      .def_rw("math", &ModelRequest::math)
      .def_rw("kv_dtype", &ModelRequest::kv_dtype)
      .def_rw("activations", &ModelRequest::activations)
      .def_rw("isa", &ModelRequest::isa)
      .def_rw("threads", &ModelRequest::threads)
      .def_rw("strict", &ModelRequest::strict);
  axon::python::bind_model(module);
  axon::python::bind_programs(module);
}
