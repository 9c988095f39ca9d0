// `axon forward`: one call of the main definition, tensors in and out by name.
#include <fmt/core.h>

#include <cstring>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/tensors.h"
#include "cli/verbs.h"

namespace axon::cli {
namespace {

using runtime::NamedTensor;

const NamedTensor* find(const std::vector<NamedTensor>& tensors, std::string_view name) {
  for (const NamedTensor& t : tensors) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

bool is_mask(const NamedTensor& t) { return t.name == "attn_mask" || t.name == "attention_mask"; }

// Whether the call can go through a session: a program with a cache, given ids and perhaps a mask.
bool suits_session(const runtime::Model& model, const std::vector<NamedTensor>& inputs) {
  const NamedTensor* ids = find(inputs, "input_ids");
  if (!ids || ids->dtype != DType::I64 || ids->shape.size() != 2 ||
      model.phase_index("start", false) < 0)
    return false;
  for (const NamedTensor& t : inputs) {
    if (&t != ids && !(is_mask(t) && t.dtype == DType::I64 && t.shape == ids->shape)) return false;
  }
  return true;
}

// Ids through a session in chunks; the logits of all of them.
Result<std::vector<NamedTensor>> forward_session(runtime::Model& model,
                                                 const std::vector<NamedTensor>& inputs,
                                                 int64_t chunk) {
  const NamedTensor& ids = *find(inputs, "input_ids");
  int64_t rows = ids.shape[0], count = ids.shape[1];
  if (rows == 0 || count == 0) return Error{"RUN-INPUT", "input `input_ids` is empty", {}, -1, {}};
  AXON_TRY(auto session, runtime::Session::create(model, {rows, count, chunk}));
  const auto* values = reinterpret_cast<const int64_t*>(ids.bytes.data());
  AXON_TRY_VOID(check_ids({values, static_cast<size_t>(rows * count)}, session->vocabulary()));
  std::vector<uint8_t> valid;
  for (const NamedTensor& t : inputs) {
    if (!is_mask(t)) continue;
    for (size_t i = 0; i < static_cast<size_t>(rows * count); ++i) {
      int64_t keep;
      std::memcpy(&keep, t.bytes.data() + 8 * i, 8);
      valid.push_back(keep != 0);
    }
  }
  int64_t width = session->vocabulary();
  NamedTensor logits{"logits",
                     DType::F32,
                     {rows, count, width},
                     std::string(static_cast<size_t>(rows * count * width) * 4, '\0')};
  auto each = [&](int64_t first, int64_t part, const runtime::View& view) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(logits.bytes.data() + (r * count + first) * width * 4,
                  view.data + r * part * width * 4, static_cast<size_t>(part * width) * 4);
    }
  };
  AXON_TRY(runtime::RunStatus status,
           session->feed_all(values, count, valid.empty() ? nullptr : valid.data(), each,
                             interrupt_flag()));
  if (status == runtime::RunStatus::Cancelled)
    return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
  return std::vector<NamedTensor>{std::move(logits)};
}

}  // namespace

int verb_forward(const Options& options) {
  LoadedModel loaded;
  auto inputs = read_tensors(options.forward.inputs);
  if (!inputs) return report_error(inputs.error(), options.common);
  if (auto status =
          load(options, {Tokenizing::No, true, true, true, options.forward.trace}, loaded))
    return *status;
  auto outputs = suits_session(*loaded.model, *inputs)
                     ? forward_session(*loaded.model, *inputs, options.model.chunk)
                     : loaded.model->forward("score", *inputs, interrupt_flag());
  if (!outputs) return report_error(outputs.error(), options.common);
  auto written = write_tensors(options.forward.output, *outputs);
  if (!written) return report_error(written.error(), options.common);
  return 0;
}

}  // namespace axon::cli
