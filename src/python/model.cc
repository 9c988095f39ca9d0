// A loaded model as Python sees it.
#include "python/model.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "python/errors.h"
#include "runtime/formats/tokenizer_source.h"
#include "runtime/gen/session.h"
#include "support/thread_pool.h"

namespace axon::python {

namespace nb = nanobind;
using runtime::NamedTensor;

namespace {

// The element types that cross the border; Python converts others before.
struct Crossing {
  DType dtype;
  nb::dlpack::dtype as;
};
const Crossing kCrossings[] = {{DType::F32, nb::dtype<float>()},
                               {DType::I64, nb::dtype<int64_t>()},
                               {DType::I32, nb::dtype<int32_t>()},
                               {DType::Bool, nb::dtype<bool>()}};

NamedTensor tensor_of(const std::string& name, const Array& array) {
  NamedTensor out;
  out.name = name;
  const Crossing* found = nullptr;
  for (const Crossing& one : kCrossings) {
    if (array.dtype() == one.as) found = &one;
  }
  if (!found)
    raise({"RUN-INPUT", "input `" + name + "` is no float32, int64, int32 or bool", {}, -1, {}});
  out.dtype = found->dtype;
  for (size_t i = 0; i < array.ndim(); ++i)
    out.shape.push_back(static_cast<int64_t>(array.shape(i)));
  out.bytes.assign(static_cast<const char*>(array.data()), array.nbytes());
  return out;
}

// Hands the bytes over; the array frees them.
nb::object array_of(NamedTensor&& tensor) {
  const Crossing* found = nullptr;
  for (const Crossing& one : kCrossings) {
    if (tensor.dtype == one.dtype) found = &one;
  }
  if (!found)
    raise({"RUN-VALUE", "output `" + tensor.name + "` has no element type of NumPy", {}, -1, {}});
  auto* bytes = new std::string(std::move(tensor.bytes));  // owned by the capsule
  nb::capsule owner(bytes, [](void* held) noexcept { delete static_cast<std::string*>(held); });
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  nb::ndarray<nb::numpy> out(bytes->data(), shape.size(), shape.data(), owner, nullptr, found->as);
  return out.cast();
}

Result<void> check_prompts(const std::vector<Ids>& prompts, int64_t vocabulary) {
  if (prompts.empty()) return Error{"USE-PROMPT", "there is no prompt", {}, -1, {}};
  for (const Ids& ids : prompts) {
    if (ids.empty()) return Error{"USE-PROMPT", "a prompt is empty", {}, -1, {}};
    for (int64_t id : ids) {
      if (id >= 0 && (vocabulary == 0 || id < vocabulary)) continue;
      return Error{"USE-VALUE",
                   "token " + std::to_string(id) + " is not one of the model's " +
                       std::to_string(vocabulary),
                   {},
                   -1,
                   {}};
    }
  }
  return {};
}

}  // namespace

LoadedModel::Bound LoadedModel::bind(const driver::ModelRequest& request) {
  Bound out;
  out.compiled = driver::compile_model(request);
  out.wrong = out.compiled.error;
  if (!out.compiled.ok()) return out;
  auto model = driver::load_model(out.compiled, request);
  if (model)
    out.model = std::move(*model);
  else
    out.wrong = model.error();
  return out;
}

void LoadedModel::raise_wrong(const Bound& bound) {
  if (bound.compiled.error) raise(*bound.compiled.error);
  if (bound.compiled.frontend.session) raise_diagnostics(*bound.compiled.frontend.session);
  if (bound.wrong) raise(*bound.wrong);
}

std::unique_ptr<LoadedModel> LoadedModel::load(const driver::ModelRequest& request) {
  auto out = std::make_unique<LoadedModel>();
  out->request_ = request;
  {
    nb::gil_scoped_release free;
    out->first_ = bind(request);
  }
  raise_wrong(out->first_);
  return out;
}

std::vector<Ids> LoadedModel::generate(const std::vector<Ids>& prompts, const Asked& asked) {
  runtime::GenerateOptions options;
  options.sampling = asked.sampling;
  options.max_tokens = asked.max_new_tokens;
  options.eos = asked.eos ? *asked.eos : eos_token_ids();
  CancelFlag cancel;
  bool interrupted = false;
  auto run = [&]() -> Result<std::vector<runtime::RowResult>> {
    std::lock_guard turn(turn_);
    size_t longest = 0;
    for (const Ids& ids : prompts) longest = std::max(longest, ids.size());
    runtime::SessionOptions session_options;
    session_options.rows = static_cast<int64_t>(prompts.size());
    session_options.capacity = static_cast<int64_t>(longest) + asked.max_new_tokens;
    AXON_TRY_VOID(check_prompts(prompts, 0));
    AXON_TRY(auto session, runtime::Session::create(*first_.model, session_options));
    AXON_TRY_VOID(check_prompts(prompts, session->vocabulary()));
    auto on_token = [&](const runtime::TokenEvent&) {
      nb::gil_scoped_acquire held;
      interrupted = interrupted || PyErr_CheckSignals() != 0;
      return !interrupted;
    };
    return runtime::generate(*session, prompts, options, on_token, &cancel);
  };
  std::optional<Result<std::vector<runtime::RowResult>>> rows;
  {
    nb::gil_scoped_release free;
    rows.emplace(run());
  }
  if (interrupted) throw nb::python_error();
  std::vector<Ids> out;
  for (runtime::RowResult& row : value_of(std::move(*rows))) out.push_back(std::move(row.ids));
  return out;
}

// The first plan knows the usual calls; another is made for the inputs that a call gives, once.
LoadedModel::Bound& LoadedModel::planned_for(const std::vector<NamedTensor>& inputs) {
  if (first_.model->takes_exactly("score", inputs)) return first_;
  driver::ModelRequest request = request_;
  for (const NamedTensor& t : inputs) request.given.emplace_back(t.name, t.dtype);
  std::sort(request.given.begin(), request.given.end());
  auto known = calls_.find(request.given);
  if (known == calls_.end()) known = calls_.emplace(request.given, bind(request)).first;
  return known->second;
}

nb::dict LoadedModel::forward(const nb::dict& inputs) {
  std::vector<NamedTensor> given;
  for (auto [key, array] : inputs) {
    auto name = nb::cast<std::string>(key);
    given.push_back(tensor_of(name, nb::cast<Array>(array)));
    std::string text = "input `" + name + "` is none of the program's and is ignored";
    if (!driver::has_input(first_.compiled, name) &&
        PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0)
      throw nb::python_error();
  }
  Bound* call = nullptr;
  std::optional<Result<std::vector<NamedTensor>>> outputs;
  {
    nb::gil_scoped_release free;
    std::lock_guard turn(turn_);
    call = &planned_for(given);
    if (call->model) outputs.emplace(call->model->forward("score", given));
  }
  if (!call->model) raise_wrong(*call);
  nb::dict out;
  for (NamedTensor& tensor : value_of(std::move(*outputs))) {
    nb::str name(tensor.name.c_str());
    out[name] = array_of(std::move(tensor));
  }
  return out;
}

const text::Tokenizer& LoadedModel::tokenizer() {
  if (!tokenizer_) {
    text::TokenizerSpec spec = value_of(formats::load_tokenizer(*first_.compiled.checkpoint));
    tokenizer_.emplace(value_of(text::Tokenizer::create(std::move(spec))));
  }
  return *tokenizer_;
}

Ids LoadedModel::tokenize(const std::string& text, bool special) {
  auto how = special ? text::SpecialTokens::Add : text::SpecialTokens::Omit;
  std::vector<int32_t> ids = value_of(tokenizer().encode(text, how));
  return Ids(ids.begin(), ids.end());
}

std::string LoadedModel::detokenize(const Ids& ids, bool show_special) {
  auto how = show_special ? text::ShowSpecial::Yes : text::ShowSpecial::No;
  std::vector<int32_t> narrow;
  for (int64_t id : ids) {
    bool known = id >= 0 && id < tokenizer().end_id();
    narrow.push_back(known ? static_cast<int32_t>(id) : -1);  // gives nothing
  }
  return tokenizer().decode(narrow, how);
}

void bind_model(nb::module_& module) {
  nb::class_<runtime::SamplingOptions>(module, "Sampling")
      .def(nb::init<>())
      .def_rw("sample", &runtime::SamplingOptions::sample)
      .def_rw("temperature", &runtime::SamplingOptions::temperature)
      .def_rw("top_k", &runtime::SamplingOptions::top_k)
      .def_rw("top_p", &runtime::SamplingOptions::top_p)
      .def_rw("min_p", &runtime::SamplingOptions::min_p)
      .def_rw("repetition_penalty", &runtime::SamplingOptions::repetition_penalty)
      .def_rw("seed", &runtime::SamplingOptions::seed);
  nb::class_<Asked>(module, "Asked")
      .def(nb::init<>())
      .def_rw("max_new_tokens", &Asked::max_new_tokens)
      .def_rw("eos", &Asked::eos)
      .def_rw("sampling", &Asked::sampling);
  nb::class_<LoadedModel>(module, "LoadedModel")
      .def("generate", &LoadedModel::generate)
      .def("forward", &LoadedModel::forward)
      .def("tokenize", &LoadedModel::tokenize)
      .def("detokenize", &LoadedModel::detokenize)
      .def_prop_ro("program", &LoadedModel::program)
      .def_prop_ro("task", &LoadedModel::task)
      .def_prop_ro("eos_token_ids", &LoadedModel::eos_token_ids);
  module.def("load", &LoadedModel::load);
}

}  // namespace axon::python
