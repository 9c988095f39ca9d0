// A loaded model as Python sees it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver/model.h"
#include "runtime/gen/generate.h"
#include "runtime/text/tokenizer.h"

namespace axon::python {

using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using Ids = std::vector<int64_t>;

// What `generate` is asked for, beside the prompts.
struct Asked {
  int64_t max_new_tokens = 20;
  std::optional<Ids> eos;  // nothing: the model's
  runtime::SamplingOptions sampling;
};

// Calls take turns: a model runs one at a time. The GIL is free while one runs.
class LoadedModel {
 public:
  // Raises what goes wrong.
  static std::unique_ptr<LoadedModel> load(const driver::ModelRequest& request);

  std::vector<Ids> generate(const std::vector<Ids>& prompts, const Asked& asked);
  // Arrays by name, in and out.
  nanobind::dict forward(const nanobind::dict& inputs);
  Ids tokenize(const std::string& text, bool special);
  std::string detokenize(const Ids& ids, bool show_special);

  std::string program() const { return first_.compiled.program_name; }
  std::string task() const { return first_.compiled.task; }
  Ids eos_token_ids() const { return first_.compiled.checkpoint->generation.eos_ids; }

 private:
  // A program bound to its checkpoint, which it keeps; without a model, what is wrong.
  struct Bound {
    driver::Compiled compiled;
    std::unique_ptr<runtime::Model> model;
    std::optional<Error> wrong;
  };
  static Bound bind(const driver::ModelRequest& request);
  static void raise_wrong(const Bound& bound);
  Bound& planned_for(const std::vector<runtime::NamedTensor>& inputs);
  const text::Tokenizer& tokenizer();

  driver::ModelRequest request_;
  Bound first_;
  // Plans for calls that the first one does not know: names and element types of their inputs.
  std::map<std::vector<std::pair<std::string, DType>>, Bound> calls_;
  std::optional<text::Tokenizer> tokenizer_;
  std::mutex turn_;
};

void bind_model(nanobind::module_& module);

}  // namespace axon::python
