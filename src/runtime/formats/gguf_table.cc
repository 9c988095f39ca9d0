// Reads the embedded tables of zoo/formats/gguf/; the only file that sees the TOML library.
#include "runtime/formats/gguf_table.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "support/embedded.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

constexpr std::string_view kFolder = "formats/gguf/";
constexpr std::string_view kSuffix = ".toml";
constexpr std::string_view kPreTokenizers = "formats/gguf/text/pre_tokenizers.toml";

// The tables are our own data: a fault in one is our bug, found by the test that reads them all.
std::string text_of(const toml::node_view<const toml::node>& node) {
  if (!node) return {};
  auto text = node.value<std::string>();
  AXON_CHECK(text.has_value(), "loader table: expected a string");
  return *text;
}

std::optional<ConfigValue> literal(const toml::node_view<const toml::node>& node) {
  if (!node) return {};
  if (auto flag = node.value_exact<bool>()) return ConfigValue::of(*flag);
  if (auto integer = node.value_exact<int64_t>()) return ConfigValue::of(*integer);
  if (auto number = node.value_exact<double>()) return ConfigValue::of(*number);
  if (auto text = node.value_exact<std::string>()) return ConfigValue::of(*text);
  const toml::array* list = node.as_array();
  AXON_CHECK(list, "loader table: expected a literal");
  ConfigValue out;
  out.kind = ConfigValue::Kind::List;
  for (const toml::node& item : *list) {
    out.items.push_back(*literal(toml::node_view<const toml::node>(item)));
  }
  return out;
}

Transform transform_of(std::string_view text, TensorRule& rule) {
  if (text.empty()) return {};
  if (text == "transpose") return {Transform::Kind::Transpose};
  if (text == "add_one") return {Transform::Kind::AddOne};
  if (text == "sub_one") return {Transform::Kind::SubOne};
  constexpr std::string_view kPermute = "permute_rope(", kGroup = "group_qkv(";
  if (starts_with(text, kGroup) && ends_with(text, ")")) {
    text = text.substr(kGroup.size(), text.size() - kGroup.size() - 1);
    size_t comma = text.find(", ");
    rule.heads_key = text.substr(0, comma);
    rule.groups_key = comma == text.npos ? text : text.substr(comma + 2);
    return {Transform::Kind::GroupQkv};
  }
  AXON_CHECK(starts_with(text, kPermute) && ends_with(text, ")"),
             "loader table: unknown transform");
  rule.heads_key = text.substr(kPermute.size(), text.size() - kPermute.size() - 1);
  return {Transform::Kind::PermuteRope};
}

TensorRule tensor_rule(const toml::array& row) {
  AXON_CHECK(row.size() >= 2 && row.size() <= 4,
             "loader table: a tensor row has two to four items");
  TensorRule out;
  auto item = [&](size_t i) { return text_of(toml::node_view<const toml::node>(row[i])); };
  out.stored = item(0);
  out.published = item(1);
  if (row.size() >= 3) out.transform = transform_of(item(2), out);
  if (row.size() == 4) out.where = item(3);
  return out;
}

// One string, or several.
std::vector<std::string> texts_of(const toml::node_view<const toml::node>& node) {
  std::vector<std::string> out;
  if (const toml::array* items = node.as_array()) {
    for (const toml::node& item : *items)
      out.push_back(text_of(toml::node_view<const toml::node>(item)));
  } else if (node) {
    out.push_back(text_of(node));
  }
  return out;
}

ConfigRule config_rule(const toml::table& row) {
  ConfigRule out;
  out.key = text_of(row["key"]);
  out.from = texts_of(row["from"]);
  out.product = texts_of(row["product"]);
  out.over = texts_of(row["over"]);
  out.items_of = text_of(row["items_of"]);
  out.then = literal(row["then"]);
  if (const toml::table* when = row["when"].as_table()) {
    out.when_key = text_of((*when)["key"]);
    out.when_is = (*when)["is"].value_or(int64_t{0});
  }
  if (const toml::table* values = row["values"].as_table()) {
    for (const auto& [from, to] : *values) {
      out.values.emplace_back(std::string(from.str()),
                              text_of(toml::node_view<const toml::node>(to)));
    }
  }
  out.rows_of = text_of(row["rows_of"]);
  out.has = text_of(row["has"]);
  out.lacks = text_of(row["lacks"]);
  out.rope_factors = text_of(row["rope_factors"]);
  out.otherwise = literal(row["otherwise"]);
  out.required = row["required"].value_or(false);
  return out;
}

toml::table parse_table(std::string_view name, std::string_view text) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    std::ostringstream why;
    why << "loader table `" << name << "`: " << parsed.error().description();
    AXON_UNREACHABLE(why.str().c_str());
  }
  return std::move(parsed).table();
}

GgufPreTokenizer pre_tokenizer_row(const toml::table& row) {
  GgufPreTokenizer out;
  out.ignore_merges = row["ignore_merges"].value_or(false);
  out.add_bos = row["add_bos"].value_or(false);
  if (row["normalize"]) {
    AXON_CHECK(text_of(row["normalize"]) == "nfc", "loader table: unknown normalization");
    out.normalizers.push_back({text::NormalizerKind::Nfc});
  }
  if (const toml::array* patterns = row["split"].as_array()) {
    for (const toml::node& pattern : *patterns) {
      text::PreTokenizerStep step;
      step.pattern = {text_of(toml::node_view<const toml::node>(pattern)), true};
      out.steps.push_back(std::move(step));
    }
  }
  if (row["digits"].value_or(false)) {
    text::PreTokenizerStep step;
    step.kind = text::PreTokenizerKind::Digits;
    step.individual = true;
    out.steps.push_back(std::move(step));
  }
  text::PreTokenizerStep bytes;
  bytes.kind = text::PreTokenizerKind::ByteLevel;
  bytes.use_regex = row["byte_level_pattern"].value_or(false);
  out.steps.push_back(std::move(bytes));
  return out;
}

GgufTable read_table(std::string_view arch, std::string_view text) {
  const toml::table root = parse_table(arch, text);
  GgufTable out;
  out.arch = arch;
  const toml::array* tensors = root["tensors"].as_array();
  const toml::array* config = root["config"].as_array();
  AXON_CHECK(tensors && config, "loader table: needs `tensors` and `config`");
  for (const toml::node& row : *tensors) {
    AXON_CHECK(row.as_array(), "loader table: a tensor row is an array");
    out.tensors.push_back(tensor_rule(*row.as_array()));
  }
  for (const toml::node& row : *config) {
    AXON_CHECK(row.as_table(), "loader table: a config row is a table");
    out.config.push_back(config_rule(*row.as_table()));
  }
  return out;
}

}  // namespace

std::vector<std::string> gguf_architectures() {
  std::vector<std::string> out;
  for (const embedded::File& file : embedded::zoo()) {
    if (!starts_with(file.path, kFolder) || !ends_with(file.path, kSuffix)) continue;
    std::string_view name =
        file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kSuffix.size());
    if (name.find('/') == name.npos) out.emplace_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<GgufPreTokenizer> find_gguf_pre_tokenizer(std::string_view name) {
  for (const embedded::File& file : embedded::zoo()) {
    if (file.path != kPreTokenizers) continue;
    const toml::table root = parse_table(file.path, file.text);
    const toml::array* rows = root["pre"].as_array();
    AXON_CHECK(rows, "loader table: needs `pre`");
    for (const toml::node& row : *rows) {
      const toml::table& fields = *row.as_table();
      for (const toml::node& entry : *fields["names"].as_array()) {
        if (text_of(toml::node_view<const toml::node>(entry)) == name)
          return pre_tokenizer_row(fields);
      }
    }
  }
  return Error{"TOK-UNSUPPORTED",
               "pre-tokenizer `" + std::string(name) + "` of GGUF metadata is not supported",
               {},
               -1,
               {}};
}

Result<GgufTable> find_gguf_table(std::string_view arch) {
  for (const embedded::File& file : embedded::zoo()) {
    if (file.path == std::string(kFolder) + std::string(arch) + std::string(kSuffix)) {
      return read_table(arch, file.text);
    }
  }
  std::vector<std::string> known = gguf_architectures();
  std::vector<std::string> near = closest(arch, known);
  return Error{"FILE-MODEL",
               "GGUF architecture `" + std::string(arch) + "` has no loader table; there are " +
                   join(known, ", "),
               {},
               -1,
               near.empty() ? "" : "did you mean `" + near[0] + "`?"};
}

std::optional<std::string> apply_name(const TensorRule& rule, std::string_view stored) {
  std::vector<std::string_view> pattern = split(rule.stored, '.');
  std::vector<std::string_view> parts = split(stored, '.');
  if (pattern.size() != parts.size()) return {};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (pattern[i] != parts[i] && !starts_with(pattern[i], "{")) return {};
  }
  std::string out = rule.published;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!starts_with(pattern[i], "{")) continue;
    size_t at = out.find(pattern[i]);
    if (at != out.npos) out.replace(at, pattern[i].size(), parts[i]);
  }
  return out;
}

}  // namespace axon::formats
