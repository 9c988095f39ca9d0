// Runs programs natively and by the evaluator: case_run OVERLAY FOLDER….
//
// A folder has case.axon, in.safetensors and a checkpoint; native.safetensors and
// evaluated.safetensors are written into it. What goes wrong is printed behind the folder's name.
#include <cstdio>
#include <cstring>

#include "cli/tensors.h"
#include "driver/model.h"
#include "graph/evaluate.h"
#include "runtime/core/number.h"

namespace {

using namespace axon;
using graph::EvalTensor;
using graph::EvalValue;
using runtime::NamedTensor;

EvalTensor read(const NamedTensor& from) {
  EvalTensor out = EvalTensor::make(from.dtype, from.shape);
  Storage storage = runtime::plain_storage(from.dtype);
  for (int64_t i = 0; i < out.count(); ++i) {
    const auto* at = reinterpret_cast<const uint8_t*>(from.bytes.data()) +
                     static_cast<size_t>(i) * dtype_size(from.dtype);
    if (out.real())
      out.reals[static_cast<size_t>(i)] = runtime::load_float(storage, at);
    else
      out.ints[static_cast<size_t>(i)] = runtime::load_int(storage, at);
  }
  return out;
}

NamedTensor written(const std::string& name, const EvalTensor& from) {
  NamedTensor out{name, from.dtype, from.shape, {}};
  size_t size = dtype_size(from.dtype);
  out.bytes.resize(static_cast<size_t>(from.count()) * size);
  Storage storage = runtime::plain_storage(from.dtype);
  for (int64_t i = 0; i < from.count(); ++i) {
    auto* at = reinterpret_cast<uint8_t*>(out.bytes.data()) + static_cast<size_t>(i) * size;
    if (from.real())
      runtime::store_float(storage, at, from.reals[static_cast<size_t>(i)]);
    else
      runtime::store_int(storage, at, from.ints[static_cast<size_t>(i)]);
  }
  return out;
}

// Tensors and numbers of a value, those inside of others under `name.index`.
void add_leaves(const std::string& name, const EvalValue& value, std::vector<NamedTensor>& out) {
  using Kind = EvalValue::Kind;
  if (value.kind == Kind::Tensor) out.push_back(written(name, *value.tensor));
  if (value.is_scalar()) {
    DType dtype = value.kind == Kind::Bool  ? DType::Bool
                  : value.kind == Kind::Int ? DType::I64
                                            : DType::F32;
    EvalTensor scalar = EvalTensor::make(dtype, {});
    scalar.set(0, value.as_double());
    out.push_back(written(name, scalar));
  }
  for (size_t i = 0; i < value.items.size(); ++i)
    add_leaves(name + "." + std::to_string(i), value.items[i], out);
}

Result<std::vector<NamedTensor>> evaluated(const driver::Compiled& compiled,
                                           const std::vector<NamedTensor>& inputs) {
  graph::CheckpointParams params(*compiled.checkpoint->params);
  graph::EvalOptions options;
  options.params = &params;
  options.config = &compiled.checkpoint->config;
  options.check_types = true;
  graph::NamedValues values;
  for (const NamedTensor& input : inputs)
    values.emplace_back(input.name, EvalValue::of(read(input)));
  const driver::Frontend& front = compiled.frontend;
  AXON_TRY(graph::NamedValues results,
           graph::evaluate(*front.graph, front.session->types, values, options));
  std::vector<NamedTensor> out;
  for (const auto& [name, value] : results) add_leaves(name, value, out);
  return out;
}

std::string first_report(const driver::Compiled& compiled) {
  if (compiled.error) return compiled.error->code + " " + compiled.error->message;
  std::string out;
  for (const Diagnostic& d : compiled.frontend.session->sink.all())
    out += std::string(diag_info(d.id).code) + " " + message_of(d) + "; ";
  return out;
}

Result<void> run(const std::string& overlay, const std::string& folder) {
  driver::ModelRequest request;
  request.model = folder;
  request.program = folder + "/case.axon";
  request.overlays = {overlay};
  request.math = "exact";
  request.threads = 1;
  AXON_TRY(std::vector<NamedTensor> inputs, cli::read_tensors(folder + "/in.safetensors"));
  for (const NamedTensor& input : inputs) request.given.emplace_back(input.name, input.dtype);
  driver::Compiled compiled = driver::compile_model(request);
  if (!compiled.ok()) return Error{"BUG-STAGE", first_report(compiled)};
  AXON_TRY(std::vector<NamedTensor> reference, evaluated(compiled, inputs));
  AXON_TRY_VOID(cli::write_tensors(folder + "/evaluated.safetensors", reference));
  AXON_TRY(auto model, driver::load_model(compiled, request));
  AXON_TRY(std::vector<NamedTensor> native, model->forward("score", inputs));
  return cli::write_tensors(folder + "/native.safetensors", native);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: case_run OVERLAY FOLDER…\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    auto done = run(argv[1], argv[i]);
    if (!done)
      std::printf("%s: %s %s %s\n", argv[i], done.error().code.c_str(),
                  done.error().message.c_str(), done.error().hint.c_str());
  }
  return 0;
}
