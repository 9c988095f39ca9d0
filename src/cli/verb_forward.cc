// `axon forward`: one call of the main definition, tensors in and out by name.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/tensors.h"
#include "cli/verbs.h"
#include "runtime/gen/general.h"
#include "support/text.h"

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

// Whether a tensor says no more than which tokens are real.
bool only_marks(const NamedTensor& t) {
  for (size_t at = 0; at + 8 <= t.bytes.size(); at += 8) {
    int64_t keep;
    std::memcpy(&keep, t.bytes.data() + at, 8);
    if (keep != 0 && keep != 1) return false;
  }
  return true;
}

// What MAIN does not take is ignored.
void warn_of_unknown(const LoadedModel& loaded, const std::vector<NamedTensor>& inputs,
                     const CommonOptions& common) {
  for (const NamedTensor& t : inputs) {
    if (!driver::has_input(loaded.compiled, t.name) && !common.quiet)
      note("axon: warning: " +
           format_message(diag_info(Diag::RunInput).format,
                          {t.name, "is none of the program's and is ignored"}) +
           " [RUN-INPUT]\n");
  }
}

// Whether the call can go through a session: a program with a cache, given ids and perhaps a mask,
// and ids of the decoder where there is an encoder.
bool suits_session(const runtime::Model& model, const std::vector<NamedTensor>& inputs) {
  const NamedTensor* ids = find(inputs, "input_ids");
  const NamedTensor* decoded = model.encodes() ? find(inputs, "decoder_input_ids") : ids;
  auto are_ids = [](const NamedTensor* t) {
    return t && t->dtype == DType::I64 && t->shape.size() == 2;
  };
  if (!are_ids(ids) || !are_ids(decoded) || ids->shape[0] != decoded->shape[0] ||
      model.phase_index("start", false) < 0)
    return false;
  for (const NamedTensor& t : inputs) {
    if (&t != ids && &t != decoded &&
        !(is_mask(t) && t.dtype == DType::I64 && t.shape == ids->shape && only_marks(t)))
      return false;
  }
  return true;
}

// Which tokens are real; empty where no mask is given.
std::vector<uint8_t> marks_of(const std::vector<NamedTensor>& inputs) {
  std::vector<uint8_t> valid;
  for (const NamedTensor& t : inputs) {
    if (!is_mask(t)) continue;
    for (size_t at = 0; at + 8 <= t.bytes.size(); at += 8) {
      int64_t keep;
      std::memcpy(&keep, t.bytes.data() + at, 8);
      valid.push_back(keep != 0);
    }
  }
  return valid;
}

// Ids through a session in chunks; the logits of all of them.
Result<std::vector<NamedTensor>> forward_session(runtime::Model& model,
                                                 const std::vector<NamedTensor>& inputs,
                                                 int64_t chunk, bool takes_mask) {
  const NamedTensor& source = *find(inputs, "input_ids");
  const NamedTensor& ids = model.encodes() ? *find(inputs, "decoder_input_ids") : source;
  int64_t rows = ids.shape[0], count = ids.shape[1];
  if (rows == 0 || count == 0 || source.shape[1] == 0)
    return Error{"RUN-INPUT", "input `input_ids` is empty", {}, -1, {}};
  std::vector<uint8_t> valid = marks_of(inputs);
  const bool marked = takes_mask && !valid.empty();
  AXON_TRY(auto session,
           runtime::Session::create(model, {rows, count, chunk, source.shape[1], marked}));
  const auto* values = reinterpret_cast<const int64_t*>(ids.bytes.data());
  AXON_TRY_VOID(check_ids({values, static_cast<size_t>(rows * count)}, session->vocabulary()));
  if (model.encodes()) {
    const auto* read = reinterpret_cast<const int64_t*>(source.bytes.data());
    AXON_TRY(runtime::RunStatus status,
             session->feed_source(read, source.shape[1], valid.empty() ? nullptr : valid.data(),
                                  interrupt_flag()));
    if (status == runtime::RunStatus::Cancelled)
      return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
    valid.clear();
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

// A file of tensors holds no texts, nulls and empty lists: they are said. Which outputs a straight
// line leaves out as null or empty, its plan knows and no more.
void say_rest(const LoadedModel& loaded, const std::vector<NamedTensor>& outputs,
              std::vector<runtime::NamedText> rest, const CommonOptions& common) {
  if (common.quiet) return;
  const auto& graph = loaded.compiled.frontend.graph;
  if (!loaded.model->general() && graph) {
    const auto& main = (*graph)[graph->main];
    for (NameId output : main.output_names) {
      const std::string name(loaded.compiled.frontend.session->names.text(output));
      const bool written = std::any_of(outputs.begin(), outputs.end(), [&](const NamedTensor& t) {
        return t.name == name || starts_with(t.name, name + ".");
      });
      const bool renamed = main.output_names.size() == 1 && !outputs.empty();
      if (!written && !renamed && !runtime::is_cache_name(name))
        rest.push_back({name, "null or an empty list"});
    }
  }
  for (const runtime::NamedText& left : rest)
    note("axon: output `" + left.name + "` is " + left.text + ", which no file of tensors holds\n");
}

}  // namespace

int verb_forward(const Options& options) {
  LoadedModel loaded;
  auto inputs = read_tensors(options.forward.inputs);
  if (!inputs) return report_error(inputs.error(), options.common);
  LoadNeeds needs{Tokenizing::No, true, true, true, options.forward.trace, {}};
  for (const NamedTensor& t : *inputs) needs.given.emplace_back(t.name, t.dtype);
  if (auto status = load(options, needs, loaded)) return *status;
  warn_of_unknown(loaded, *inputs, options.common);
  const bool session = suits_session(*loaded.model, *inputs);
  std::vector<runtime::NamedText> rest;
  auto outputs = session ? forward_session(*loaded.model, *inputs, options.model.chunk,
                                           driver::has_input(loaded.compiled, "attn_mask"))
                         : loaded.model->forward("score", *inputs, interrupt_flag(), &rest);
  if (!outputs) return report_error(outputs.error(), options.common);
  auto written = write_tensors(options.forward.output, *outputs);
  if (!written) return report_error(written.error(), options.common);
  if (!session) say_rest(loaded, *outputs, std::move(rest), options.common);
  return 0;
}

}  // namespace axon::cli
