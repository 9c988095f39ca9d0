// A checkpoint and the program that fits it, compiled and bound.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/frontend.h"
#include "driver/library.h"
#include "driver/optimise.h"
#include "opt/param_reads.h"
#include "runtime/formats/checkpoint.h"
#include "runtime/gen/model.h"

namespace axon::driver {

// How a model is opened, compiled and run; the command line's model options as plain data.
struct ModelRequest {
  std::string model;                  // directory, .gguf, .safetensors, hub id
  std::string program;                // .axon file, or empty: by architecture
  std::string main;                   // entry definition, or empty
  std::string from_stage;             // what the program's text is; empty: what it says itself
  std::vector<std::string> overlays;  // empty: chosen
  std::string math = "auto";          // exact, auto, fast
  std::string kv_dtype;               // f32, f16, or empty: by preset
  std::string activations;            // f32, int8, or empty: by preset
  std::string isa;
  int threads = 0;
  bool no_mmap = false;
  PassRequest passes;  // `optimise` switches fusion off too
  bool strict = false;
  bool masked = true;  // plan for padding masks too
  bool scores = true;  // plan the phase without a cache too
  bool trace = false;  // the phase without a cache alone, with values inside as outputs
  // The inputs of the one call without a cache that is wanted, with element types; empty: any.
  std::vector<std::pair<std::string, DType>> given;
};

// What became of a request. After a failure either `error` is set, or the front end's sink has
// errors.
struct Compiled {
  std::optional<Error> error;
  std::optional<formats::Checkpoint> checkpoint;
  std::string program_name;  // llama
  std::string task;          // causal_lm
  Frontend frontend;
  std::optional<runtime::Program> program;
  double plan_ms = 0;
  std::optional<int64_t> plan_instructions;  // where the machine counts them
  PassReport passes;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  // about the checkpoint, with their codes
  bool ok() const { return !error && program.has_value(); }
};

// What `math` and the single fields say together.
struct Numerics {
  DType store = DType::F32;
  bool int8_activations = false;  // for block-quantised weights
  std::string show() const;       // for reports: preset and fields
  std::string preset;
};
Numerics numerics_of(const ModelRequest& request);

// Text and path of the program for a checkpoint (which may be null with a program file).
struct ProgramText {
  std::string path, text, name, main, task;
};
Result<ProgramText> find_program(const ModelRequest& request,
                                 const formats::Checkpoint* checkpoint);

// Opens the checkpoint's headers and compiles; no weight is read.
Compiled compile_model(const ModelRequest& request);
// Names of MAIN's inputs, of what compiled.
std::vector<std::string> input_names(const Compiled& compiled);
// Whether a tensor's name is one of these; a part `name.0` belongs to `name`.
bool has_input(const Compiled& compiled, std::string_view tensor);
// The two steps of it: the checkpoint is there after the first, unless `error` is set.
Compiled open_model(const ModelRequest& request);
void compile_opened(Compiled& compiled, const ModelRequest& request);
// The front end alone for a program text; `answers` may be empty.
Frontend compile_text(const ProgramText& text, const ModelRequest& request,
                      const sema::Answers& answers, Stage stop_after);
// Plans a front end's graph for a checkpoint; no weight is read. Diagnostics in the session's sink
// are in order and each once. `reads` gets what the program reads; it may be null.
std::optional<runtime::Program> plan_model(Frontend& frontend,
                                           const formats::Checkpoint& checkpoint,
                                           const ModelRequest& request,
                                           opt::ParamReads* reads = nullptr);
// Binds what compile_model made; `compiled` keeps the checkpoint and must outlive the model.
// `pool`: workers that are there already.
Result<std::unique_ptr<runtime::Model>> load_model(Compiled& compiled, const ModelRequest& request,
                                                   std::unique_ptr<ThreadPool> pool = nullptr);

}  // namespace axon::driver
