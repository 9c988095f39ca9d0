// Reads a GGUF file as the Hugging Face checkpoint that its table describes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/formats/checkpoint_files.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;
using Kind = ConfigValue::Kind;

// Published settings of Llama 3 scaling; the factors in a file are checked against them.
constexpr double kLowFreqFactor = 1, kHighFreqFactor = 4;
constexpr int64_t kOriginalContext = 8192;

// Metadata names special tokens as `tokenizer.ggml.NAME_token_id`.
constexpr std::string_view kSpecialIds[] = {"bos",       "eos",     "eot", "eom", "unknown",
                                            "seperator", "padding", "cls", "mask"};

const StoredTensor* find_tensor(const GgufHeader& header, std::string_view name) {
  for (const StoredTensor& tensor : header.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

// The factor by which Llama 3 scaling divides the frequency of a wavelength.
double llama3_factor(double wavelength, double factor) {
  double context = static_cast<double>(kOriginalContext);
  if (wavelength < context / kHighFreqFactor) return 1;
  if (wavelength > context / kLowFreqFactor) return factor;
  double smooth = (context / wavelength - kLowFreqFactor) / (kHighFreqFactor - kLowFreqFactor);
  return 1 / ((1 - smooth) / factor + smooth);
}

class ConfigBuilder {
 public:
  ConfigBuilder(const GgufTable& table, const GgufHeader& header, ModelFile& file)
      : table_(table), header_(header), file_(file) {
    out_.kind = Kind::Map;
  }

  Result<ConfigValue> run() {
    for (const ConfigRule& rule : table_.config) {
      if (!rule.when_key.empty()) {
        const ConfigValue* now = header_.metadata.member(rule.when_key);
        if (!now || now->kind != Kind::Int || now->integer != rule.when_is) continue;
      }
      AXON_TRY(std::optional<ConfigValue> value, value_of(rule));
      if (value) {
        set_dotted(out_, rule.key, std::move(*value));
      } else if (rule.required) {
        return Error{"FILE-FORMAT",
                     "`" + file_.path() + "`: metadata lacks `" + join(rule.from, "` and `") + "`",
                     file_.path(),
                     -1,
                     {}};
      }
    }
    return std::move(out_);
  }

 private:
  Result<std::optional<ConfigValue>> value_of(const ConfigRule& rule) const {
    for (const std::string& key : rule.from) {
      const ConfigValue* value = header_.metadata.member(key);
      if (!value) continue;
      ConfigValue out = *value;
      for (const auto& [from, to] : rule.values) {
        if (value->kind == Kind::String && value->text == from) out.text = to;
      }
      return std::optional(std::move(out));
    }
    if (!rule.rows_of.empty()) {
      const StoredTensor* tensor = find_tensor(header_, rule.rows_of);
      // Metadata may say the number of rows too, under the same name.
      const ConfigValue* said = header_.metadata.member(table_.arch + "." + rule.key);
      if (tensor && said && !(said->kind == Kind::Int && said->integer == tensor->shape[0])) {
        return tensor_error(*tensor, "has " + std::to_string(tensor->shape[0]) + " rows, but `" +
                                         table_.arch + "." + rule.key + "` is " + said->show());
      }
      if (tensor) return std::optional(ConfigValue::of(tensor->shape[0]));
    }
    if (!rule.has.empty() || !rule.lacks.empty()) {
      bool holds = rule.has.empty() ? find_tensor(header_, rule.lacks) == nullptr
                                    : find_tensor(header_, rule.has) != nullptr;
      if (!rule.then) return std::optional(ConfigValue::of(holds));
      return holds ? rule.then : rule.otherwise;
    }
    if (!rule.items_of.empty()) return items(rule.items_of);
    if (auto value = quotient(rule)) return std::optional(ConfigValue::of(*value));
    if (!rule.rope_factors.empty()) return rope_scaling(rule.rope_factors);
    return rule.otherwise;
  }

  // A product of metadata over another one; nothing where a part is missing.
  std::optional<double> quotient(const ConfigRule& rule) const {
    if (rule.product.empty()) return {};
    double out = 1;
    auto part = [&](const std::string& key) -> std::optional<double> {
      const ConfigValue* value = header_.metadata.member(key);
      if (!value || (value->kind != Kind::Int && value->kind != Kind::Float)) return {};
      return value->kind == Kind::Int ? static_cast<double>(value->integer) : value->number;
    };
    for (const std::string& key : rule.product) {
      auto factor = part(key);
      if (!factor) return {};
      out *= *factor;
    }
    for (const std::string& key : rule.over) {
      auto divisor = part(key);
      if (!divisor || *divisor == 0) return {};
      out /= *divisor;
    }
    return out;
  }

  Error tensor_error(const StoredTensor& tensor, const std::string& what) const {
    return Error{"FILE-FORMAT",
                 "`" + file_.path() + "`: tensor `" + tensor.name + "` " + what,
                 file_.path(),
                 static_cast<int64_t>(tensor.offset),
                 {}};
  }

  Result<std::vector<float>> numbers(const StoredTensor& tensor) const {
    if (tensor.storage != Storage::F32 || tensor.shape.size() != 1 || tensor.shape[0] > 4096)
      return tensor_error(tensor, "is not a vector of float32");
    std::vector<float> out(static_cast<size_t>(tensor.shape[0]));
    AXON_TRY_VOID(file_.read(tensor.offset, out.data(), tensor.bytes));
    return out;
  }

  Result<std::optional<ConfigValue>> items(const std::string& name) const {
    const StoredTensor* tensor = find_tensor(header_, name);
    if (!tensor) return std::optional<ConfigValue>();
    AXON_TRY(const std::vector<float> values, numbers(*tensor));
    ConfigValue out;
    out.kind = Kind::List;
    for (float value : values) out.items.push_back(ConfigValue::of(static_cast<double>(value)));
    return std::optional(std::move(out));
  }

  double number(std::string_view key) const {
    const ConfigValue* value = out_.member(key);
    if (!value) return 0;
    return value->kind == Kind::Int ? static_cast<double>(value->integer) : value->number;
  }

  // GGUF keeps Llama 3 scaling as one divisor per frequency and drops the settings behind them.
  Result<std::optional<ConfigValue>> rope_scaling(const std::string& name) const {
    const StoredTensor* tensor = find_tensor(header_, name);
    if (!tensor) return std::optional<ConfigValue>();
    AXON_TRY(const std::vector<float> factors, numbers(*tensor));
    double factor = *std::max_element(factors.begin(), factors.end());
    double theta = number("rope_theta"), size = static_cast<double>(factors.size());
    for (size_t i = 0; i < factors.size(); ++i) {
      double wavelength =
          2 * 3.14159265358979323846 * std::pow(theta, static_cast<double>(i) / size);
      double want = llama3_factor(wavelength, factor);
      if (!(std::abs(factors[i] - want) <= 1e-3 * want)) {
        return tensor_error(*tensor, "holds rotary factors that are not Llama 3 scaling; item " +
                                         std::to_string(i) + " is " + show_double(factors[i]) +
                                         ", expected " + show_double(want));
      }
    }
    ConfigValue out;
    out.kind = Kind::Map;
    out.set("rope_type", ConfigValue::of(std::string("llama3")));
    out.set("factor", ConfigValue::of(factor));
    out.set("low_freq_factor", ConfigValue::of(kLowFreqFactor));
    out.set("high_freq_factor", ConfigValue::of(kHighFreqFactor));
    out.set("original_max_position_embeddings", ConfigValue::of(kOriginalContext));
    return std::optional(std::move(out));
  }

  const GgufTable& table_;
  const GgufHeader& header_;
  ModelFile& file_;
  ConfigValue out_;
};

Result<int64_t> head_count(const std::string& key, const GgufHeader& header,
                           const std::string& path) {
  const ConfigValue* heads = header.metadata.member(key);
  // A file without grouped heads may leave out their count: it is that of the query heads.
  constexpr std::string_view kGrouped = "_kv";
  if (!heads && ends_with(key, kGrouped))
    heads = header.metadata.member(key.substr(0, key.size() - kGrouped.size()));
  if (!heads || heads->kind != Kind::Int || heads->integer < 1) {
    return Error{
        "FILE-FORMAT", "`" + path + "`: metadata lacks a head count `" + key + "`", path, -1, {}};
  }
  return heads->integer;
}

Result<Transform> transform_for(const TensorRule& rule, const GgufHeader& header,
                                const std::string& path) {
  Transform out = rule.transform;
  if (!rule.heads_key.empty()) {
    AXON_TRY(out.heads, head_count(rule.heads_key, header, path));
  }
  if (!rule.groups_key.empty()) {
    AXON_TRY(out.groups, head_count(rule.groups_key, header, path));
  }
  return out;
}

std::string token_at(const std::vector<std::string_view>& tokens, const ConfigValue* id) {
  if (!id || id->kind != Kind::Int || id->integer < 0 ||
      id->integer >= static_cast<int64_t>(tokens.size()))
    return "";
  return std::string(tokens[static_cast<size_t>(id->integer)]);
}

}  // namespace

void set_dotted(ConfigValue& root, std::string_view key, ConfigValue value) {
  size_t dot = key.find('.');
  if (dot == key.npos) return root.set(std::string(key), std::move(value));
  std::string head(key.substr(0, dot));
  const ConfigValue* inner = root.member(head);
  ConfigValue map;
  if (inner && inner->kind == Kind::Map) map = *inner;
  map.kind = Kind::Map;
  set_dotted(map, key.substr(dot + 1), std::move(value));
  root.set(std::move(head), std::move(map));
}

Result<ConfigValue> gguf_config(const GgufTable& table, const GgufHeader& header, ModelFile& file) {
  return ConfigBuilder(table, header, file).run();
}

Result<std::vector<SourceTensor>> gguf_tensors(const GgufTable& table, const GgufHeader& header,
                                               const std::string& path,
                                               std::vector<std::string>& notes) {
  std::vector<SourceTensor> out;
  out.reserve(header.tensors.size());
  for (const StoredTensor& stored : header.tensors) {
    bool consumed =
        std::any_of(table.config.begin(), table.config.end(), [&](const ConfigRule& rule) {
          return (!rule.rope_factors.empty() && rule.rope_factors == stored.name) ||
                 (!rule.items_of.empty() && rule.items_of == stored.name);
        });
    if (consumed) continue;
    SourceTensor tensor{stored.name, stored, {}};
    bool known = false;
    for (const TensorRule& rule : table.tensors) {
      auto name = apply_name(rule, stored.name);
      if (!name || (!rule.where.empty() && !find_tensor(header, rule.where))) continue;
      tensor.name = std::move(*name);
      AXON_TRY(tensor.transform, transform_for(rule, header, path));
      known = true;
      break;
    }
    if (!known)
      notes.push_back("tensor `" + stored.name + "` has no row in the loader table `" + table.arch +
                      "`");
    out.push_back(std::move(tensor));
  }
  return out;
}

Result<void> read_gguf_text(Checkpoint& checkpoint) {
  const ConfigValue& metadata = checkpoint.gguf->metadata;
  auto key = [](std::string_view name) {
    return "tokenizer.ggml." + std::string(name) + "_token_id";
  };
  auto id = [&](std::string_view name) { return metadata.member(key(name)); };
  GenerationConfig& generation = checkpoint.generation;
  for (std::string_view name : kSpecialIds) {
    const ConfigValue* value = id(name);
    if (!value || value->kind == Kind::Int) continue;
    return Error{
        "FILE-FORMAT",
        "`" + checkpoint.path + "`: `" + key(name) + "` is " + value->show() + ", expected an id",
        checkpoint.path,
        -1,
        {}};
  }
  for (std::string_view name : {"eos", "eot", "eom"}) {
    const ConfigValue* value = id(name);
    auto& ids = generation.eos_ids;
    if (value && std::find(ids.begin(), ids.end(), value->integer) == ids.end())
      ids.push_back(value->integer);
  }
  if (const ConfigValue* bos = id("bos")) generation.bos_id = bos->integer;
  if (const ConfigValue* pad = id("padding")) generation.pad_id = pad->integer;

  const ConfigValue* start = checkpoint.config.member("decoder_start_token_id");
  if (start && start->kind == Kind::Int) generation.decoder_start_id = start->integer;

  constexpr std::string_view kTemplate = "tokenizer.chat_template";
  for (const auto& [key, value] : metadata.members) {
    if (!starts_with(key, kTemplate) || value.kind != Kind::String) continue;
    bool plain = key.size() == kTemplate.size();
    if (!plain && key[kTemplate.size()] != '.') continue;
    ChatTemplate entry{plain ? "default" : key.substr(kTemplate.size() + 1), value.text};
    auto& all = checkpoint.chat_templates;
    all.insert(plain ? all.begin() : all.end(), std::move(entry));
  }

  const GgufArray* encoded = checkpoint.gguf->array("tokenizer.ggml.tokens");
  auto tokens = encoded ? string_items(*encoded) : std::nullopt;
  check_special_ids(checkpoint, tokens ? static_cast<int64_t>(tokens->size()) : 0);
  if (!tokens) return {};
  for (auto [token, name] : {std::pair{"bos_token", "bos"}, std::pair{"eos_token", "eos"},
                             std::pair{"unk_token", "unknown"}, std::pair{"pad_token", "padding"},
                             std::pair{"sep_token", "seperator"}, std::pair{"cls_token", "cls"},
                             std::pair{"mask_token", "mask"}}) {
    std::string text = token_at(*tokens, id(name));
    if (!text.empty()) checkpoint.special_tokens.emplace_back(token, std::move(text));
  }
  return {};
}

}  // namespace axon::formats
