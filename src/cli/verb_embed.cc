// `axon embed`: texts to vectors with an encoder.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/tensors.h"
#include "cli/verbs.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

enum class Pool : uint8_t { Mean, Cls, Last, None };

struct Pooling {
  Pool pool = Pool::Mean;
  bool normalize = false;
};

bool is_set(const model::ConfigValue& config, const char* key) {
  const model::ConfigValue* value = config.member(key);
  return value && value->kind == model::ConfigValue::Kind::Bool && value->boolean;
}

Pooling pooling_of(const EmbedOptions& options, const formats::Checkpoint& checkpoint) {
  Pooling out;
  const model::ConfigValue& files = checkpoint.sentence.pooling;
  if (is_set(files, "pooling_mode_cls_token")) out.pool = Pool::Cls;
  if (is_set(files, "pooling_mode_lasttoken")) out.pool = Pool::Last;
  if (options.pool == "mean") out.pool = Pool::Mean;
  if (options.pool == "cls") out.pool = Pool::Cls;
  if (options.pool == "last") out.pool = Pool::Last;
  if (options.pool == "none") out.pool = Pool::None;
  // The model's files ask for vectors of unit length; rows of tokens stay as they are.
  out.normalize =
      options.normalize.value_or(out.pool != Pool::None && checkpoint.sentence.normalize);
  return out;
}

Result<std::vector<std::string>> texts_of(const EmbedOptions& options) {
  std::vector<std::string> texts = options.texts;
  if (!options.file.empty()) {
    AXON_TRY(std::string all, read_given(options.file));
    for (std::string_view line : split(all, '\n')) texts.emplace_back(line);
    if (texts.back().empty()) texts.pop_back();  // what follows the last line's end
  }
  if (texts.empty())
    return Error{"USE-PROMPT",
                 "there is no text to embed",
                 {},
                 -1,
                 "give texts, or `-f FILE` with one a line"};
  return texts;
}

// A batch padded on the right, with the mask that says so; with nothing to say only if `always`.
std::vector<runtime::NamedTensor> batch_inputs(const std::vector<std::vector<int64_t>>& rows,
                                               bool always) {
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::vector<int64_t> ids(rows.size() * width, 0), mask(rows.size() * width, 0);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::copy(rows[r].begin(), rows[r].end(), ids.begin() + static_cast<ptrdiff_t>(r * width));
    std::fill_n(mask.begin() + static_cast<ptrdiff_t>(r * width), rows[r].size(), 1);
  }
  std::vector<int64_t> shape{static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)};
  auto bytes = [](const std::vector<int64_t>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * 8);
  };
  std::vector<runtime::NamedTensor> out{{"input_ids", DType::I64, shape, bytes(ids)}};
  if (always || std::find(mask.begin(), mask.end(), 0) != mask.end())
    out.push_back({"attn_mask", DType::I64, shape, bytes(mask)});
  return out;
}

void normalise(float* v, int64_t n) {
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(v[i]) * v[i];
  float inverse = static_cast<float>(1.0 / std::max(std::sqrt(squares), 1e-12));
  for (int64_t i = 0; i < n; ++i) v[i] *= inverse;
}

// One row's vector (or vectors) out of its hidden states [tokens][width].
void pool_row(const float* hidden, int64_t tokens, int64_t width, const Pooling& how,
              std::vector<float>& out) {
  size_t begin = out.size();
  if (how.pool == Pool::None) {
    out.insert(out.end(), hidden, hidden + tokens * width);
  } else if (how.pool == Pool::Mean) {
    for (int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (int64_t t = 0; t < tokens; ++t) sum += hidden[t * width + i];
      out.push_back(static_cast<float>(sum / static_cast<double>(tokens)));
    }
  } else {
    const float* row = hidden + (how.pool == Pool::Cls ? 0 : tokens - 1) * width;
    out.insert(out.end(), row, row + width);
  }
  if (!how.normalize) return;
  for (size_t at = begin; at < out.size(); at += static_cast<size_t>(width))
    normalise(out.data() + at, width);
}

const runtime::NamedTensor* hidden_states(const std::vector<runtime::NamedTensor>& outputs) {
  for (const runtime::NamedTensor& t : outputs) {
    if (t.name == "last_hidden_state") return &t;
  }
  for (const runtime::NamedTensor& t : outputs) {
    if (t.shape.size() == 3) return &t;
  }
  return nullptr;
}

struct Embeddings {
  std::vector<float> values;
  std::vector<int64_t> shape;
};

constexpr size_t kBatch = 32;

Result<Embeddings> embed(LoadedModel& loaded, const Options& options) {
  AXON_TRY(std::vector<std::string> texts, texts_of(options.embed));
  Pooling how = pooling_of(options.embed, *loaded.compiled.checkpoint);
  if (how.pool == Pool::None && texts.size() > 1) {
    return Error{
        "USE-OPTION", "`--pool none` takes one text, as rows differ in length", {}, -1, {}};
  }
  Embeddings out;
  int64_t limit = model_limit(*loaded.compiled.checkpoint), width = 0;
  for (size_t begin = 0; begin < texts.size(); begin += kBatch) {
    std::vector<std::vector<int64_t>> rows;
    auto reading = std::make_unique<NothingToKeep>(options.common.json);
    for (size_t i = begin; i < std::min(begin + kBatch, texts.size()); ++i) {
      AXON_TRY(std::vector<int64_t> ids, text_ids(loaded, texts[i], true));
      if (ids.empty())
        return Error{"USE-PROMPT", fmt::format("text {} has no token", i + 1), {}, -1, {}};
      if (limit > 0 && static_cast<int64_t>(ids.size()) > limit) {
        return Error{
            "USE-CONTEXT",
            fmt::format("text {} has {} tokens, the model {} positions", i + 1, ids.size(), limit),
            {},
            -1,
            {}};
      }
      rows.push_back(std::move(ids));
    }
    reading.reset();
    const bool always = loaded.model->general() != nullptr;  // it may ask for a mask
    AXON_TRY(auto outputs,
             loaded.model->forward("score", batch_inputs(rows, always), interrupt_flag()));
    const runtime::NamedTensor* hidden = hidden_states(outputs);
    if (!hidden)
      return Error{
          "RUN-VALUE", "the program gives no hidden states to pool", {}, -1, "use an encoder"};
    width = hidden->shape[2];
    const auto* values = reinterpret_cast<const float*>(hidden->bytes.data());
    for (size_t r = 0; r < rows.size(); ++r) {
      pool_row(values + static_cast<int64_t>(r) * hidden->shape[1] * width,
               static_cast<int64_t>(rows[r].size()), width, how, out.values);
    }
  }
  out.shape = {static_cast<int64_t>(out.values.size()) / width, width};
  return out;
}

Result<void> write(const Embeddings& e, const std::string& path) {
  if (ends_with(path, ".npy")) return write_npy(path, e.values, e.shape);
  if (ends_with(path, ".safetensors")) {
    std::string bytes(reinterpret_cast<const char*>(e.values.data()), e.values.size() * 4);
    return write_tensors(path, {{"embeddings", DType::F32, e.shape, std::move(bytes)}});
  }
  return Error{"USE-VALUE", "`-o " + path + "` ends in neither .npy nor .safetensors", {}, -1, {}};
}

}  // namespace

int verb_embed(const Options& options) {
  LoadedModel loaded;
  if (auto status = load(options, {Tokenizing::Yes, true, true, true}, loaded)) return *status;
  auto embeddings = embed(loaded, options);
  if (!embeddings) return report_error(embeddings.error(), options.common);
  if (!options.embed.output.empty()) {
    auto written = write(*embeddings, options.embed.output);
    return written ? 0 : report_error(written.error(), options.common);
  }
  if (options.common.json) {
    put(embeddings_json(embeddings->values, embeddings->shape) + "\n");
    return 0;
  }
  std::string text;
  for (size_t i = 0; i < embeddings->values.size(); ++i) {
    bool last = static_cast<int64_t>(i + 1) % embeddings->shape[1] == 0;
    text += fmt::format("{:.6g}{}", embeddings->values[i], last ? "\n" : " ");
  }
  put(text);
  return 0;
}

}  // namespace axon::cli
