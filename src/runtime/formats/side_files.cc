// Side files of a checkpoint directory: generation config, chat templates, special tokens, pooling.
#include "runtime/formats/checkpoint_files.h"
#include "runtime/formats/json.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;
using Kind = ConfigValue::Kind;

Error config_error(const std::string& path, const std::string& what) {
  return Error{"FILE-CONFIG", "`" + path + "`: " + what, path, -1, {}};
}

class GenerationReader {
 public:
  GenerationReader(const ConfigValue& root, const std::string& path) : root_(root), path_(path) {}

  // Both read the fields that are present over those in `out`.
  Result<void> run_ids(GenerationConfig& out) {
    AXON_TRY_VOID(ids("eos_token_id", out.eos_ids));
    AXON_TRY_VOID(integer("bos_token_id", out.bos_id));
    AXON_TRY_VOID(integer("decoder_start_token_id", out.decoder_start_id));
    return integer("pad_token_id", out.pad_id);
  }

  Result<void> run_all(GenerationConfig& out) {
    AXON_TRY_VOID(run_ids(out));
    AXON_TRY_VOID(integer("max_new_tokens", out.max_new_tokens));
    AXON_TRY_VOID(integer("top_k", out.top_k));
    AXON_TRY_VOID(number("temperature", out.temperature));
    AXON_TRY_VOID(number("top_p", out.top_p));
    AXON_TRY_VOID(number("min_p", out.min_p));
    AXON_TRY_VOID(number("repetition_penalty", out.repetition_penalty));
    const ConfigValue* sample = present("do_sample");
    if (sample && sample->kind != Kind::Bool)
      return config_error(path_, "`do_sample` is not a truth value");
    if (sample) out.do_sample = sample->boolean;
    return {};
  }

 private:
  const ConfigValue* present(std::string_view key) const {
    const ConfigValue* value = root_.kind == Kind::Map ? root_.member(key) : nullptr;
    return value && value->kind != Kind::Null ? value : nullptr;
  }

  Result<void> ids(std::string_view key, std::vector<int64_t>& out) const {
    const ConfigValue* value = present(key);
    if (!value) return {};
    std::vector<int64_t> read;
    if (value->kind == Kind::Int) read.push_back(value->integer);
    for (const ConfigValue& item : value->items) {
      if (item.kind != Kind::Int)
        return config_error(path_, "`" + std::string(key) + "` holds " + item.show());
      read.push_back(item.integer);
    }
    if (value->kind != Kind::Int && value->kind != Kind::List) {
      return config_error(
          path_, "`" + std::string(key) + "` is " + value->show() + ", expected an id or ids");
    }
    out = std::move(read);
    return {};
  }

  Result<void> integer(std::string_view key, std::optional<int64_t>& out) const {
    const ConfigValue* value = present(key);
    if (!value) return {};
    // Some configs give a list of ids where one is meant; the first is the one in use.
    if (value->kind == Kind::List && !value->items.empty()) value = &value->items[0];
    if (value->kind != Kind::Int) {
      return config_error(
          path_, "`" + std::string(key) + "` is " + value->show() + ", expected an integer");
    }
    out = value->integer;
    return {};
  }

  Result<void> number(std::string_view key, std::optional<double>& out) const {
    const ConfigValue* value = present(key);
    if (!value) return {};
    if (value->kind != Kind::Int && value->kind != Kind::Float) {
      return config_error(path_,
                          "`" + std::string(key) + "` is " + value->show() + ", expected a number");
    }
    out = value->kind == Kind::Int ? static_cast<double>(value->integer) : value->number;
    return {};
  }

  const ConfigValue& root_;
  const std::string& path_;
};

// A special token is its text, or an object with `content`.
std::string token_text(const ConfigValue& value) {
  if (value.kind == Kind::String) return value.text;
  const ConfigValue* content = value.kind == Kind::Map ? value.member("content") : nullptr;
  return content && content->kind == Kind::String ? content->text : "";
}

void add_special_tokens(const ConfigValue& root,
                        std::vector<std::pair<std::string, std::string>>& out) {
  for (const auto& [key, value] : root.members) {
    if (!ends_with(key, "_token")) continue;
    std::string text = token_text(value);
    bool known = false;
    for (const auto& [name, old] : out) known |= name == key;
    if (!text.empty() && !known) out.emplace_back(key, std::move(text));
  }
}

void add_template(std::vector<ChatTemplate>& out, std::string name, std::string text) {
  for (const ChatTemplate& old : out) {
    if (old.name == name) return;
  }
  bool first = name == "default";
  out.insert(first ? out.begin() : out.end(), {std::move(name), std::move(text)});
}

void add_templates(const ConfigValue& tokenizer_config, std::vector<ChatTemplate>& out) {
  const ConfigValue* templates = tokenizer_config.member("chat_template");
  if (!templates) return;
  if (templates->kind == Kind::String) add_template(out, "default", templates->text);
  for (const ConfigValue& item : templates->items) {
    const ConfigValue* name = item.kind == Kind::Map ? item.member("name") : nullptr;
    const ConfigValue* text = item.kind == Kind::Map ? item.member("template") : nullptr;
    if (name && text && name->kind == Kind::String && text->kind == Kind::String) {
      add_template(out, name->text, text->text);
    }
  }
}

// Modules of sentence-transformers: the last part of `type` says what a module does.
Result<void> read_pooling(Checkpoint& checkpoint) {
  AXON_TRY(std::optional<ConfigValue> modules,
           read_json_file(path_join(checkpoint.directory, "modules.json")));
  if (!modules) return {};
  for (const ConfigValue& item : modules->items) {
    const ConfigValue* type = item.kind == Kind::Map ? item.member("type") : nullptr;
    const ConfigValue* folder = item.kind == Kind::Map ? item.member("path") : nullptr;
    if (!type || type->kind != Kind::String || !folder || folder->kind != Kind::String) continue;
    std::string_view role = split(type->text, '.').back();
    if (role == "Normalize") checkpoint.sentence.normalize = true;
    if (role != "Pooling") continue;
    std::string path = path_join(path_join(checkpoint.directory, folder->text), "config.json");
    AXON_TRY(std::optional<ConfigValue> pooling, read_json_file(path));
    if (pooling) checkpoint.sentence.pooling = std::move(*pooling);
  }
  return {};
}

}  // namespace

Result<std::optional<ConfigValue>> read_json_file(const std::string& path) {
  if (!file_exists(path)) return std::optional<ConfigValue>();
  AXON_TRY(std::string text, read_file(path));
  AXON_TRY(ConfigValue value, parse_json(text, path));
  return std::optional<ConfigValue>(std::move(value));
}

Result<std::optional<ConfigValue>> read_json_object(const std::string& path) {
  AXON_TRY(std::optional<ConfigValue> value, read_json_file(path));
  if (value && value->kind != Kind::Map)
    return Error{"FILE-CONFIG", "`" + path + "` is not a JSON object", path, 0, {}};
  return value;
}

void check_special_ids(Checkpoint& checkpoint, int64_t count) {
  constexpr int64_t kNone = -1, kNoneUnsigned = 0xFFFFFFFF;
  auto valid = [&](std::string_view what, int64_t id) {
    if (id == kNone || id == kNoneUnsigned) return false;
    if (id >= 0 && (count == 0 || id < count)) return true;
    checkpoint.warnings.push_back(
        "`" + std::string(what) + "` " + std::to_string(id) + " is not one of the model's " +
        (count > 0 ? std::to_string(count) + " tokens" : "tokens") + " and is ignored");
    return false;
  };
  GenerationConfig& generation = checkpoint.generation;
  std::erase_if(generation.eos_ids, [&](int64_t id) { return !valid("eos_token_id", id); });
  for (auto [what, id] : {std::pair{"bos_token_id", &generation.bos_id},
                          std::pair{"pad_token_id", &generation.pad_id},
                          std::pair{"decoder_start_token_id", &generation.decoder_start_id}}) {
    if (*id && !valid(what, **id)) id->reset();
  }
}

Result<void> read_side_files(Checkpoint& checkpoint) {
  // The model config says what ends a text where the generation config does not.
  std::string path = path_join(checkpoint.directory, "generation_config.json");
  AXON_TRY(std::optional<ConfigValue> generation, read_json_object(path));
  AXON_TRY_VOID(GenerationReader(checkpoint.config, path_join(checkpoint.directory, "config.json"))
                    .run_ids(checkpoint.generation));
  if (generation) AXON_TRY_VOID(GenerationReader(*generation, path).run_all(checkpoint.generation));
  const ConfigValue* size = checkpoint.config.member("vocab_size");
  check_special_ids(checkpoint, size && size->kind == Kind::Int ? size->integer : 0);

  std::string jinja = path_join(checkpoint.directory, "chat_template.jinja");
  if (file_exists(jinja)) {
    AXON_TRY(std::string text, read_file(jinja));
    add_template(checkpoint.chat_templates, "default", std::move(text));
  }
  constexpr std::string_view kFurther = "additional_chat_templates", kJinja = ".jinja";
  for (const std::string& name : list_directory(path_join(checkpoint.directory, kFurther))) {
    if (!ends_with(name, kJinja)) continue;
    AXON_TRY(std::string text,
             read_file(path_join(path_join(checkpoint.directory, kFurther), name)));
    add_template(checkpoint.chat_templates, name.substr(0, name.size() - kJinja.size()),
                 std::move(text));
  }
  AXON_TRY(std::optional<ConfigValue> tokenizer,
           read_json_object(path_join(checkpoint.directory, "tokenizer_config.json")));
  if (tokenizer) {
    add_templates(*tokenizer, checkpoint.chat_templates);
    add_special_tokens(*tokenizer, checkpoint.special_tokens);
  }
  AXON_TRY(std::optional<ConfigValue> special,
           read_json_object(path_join(checkpoint.directory, "special_tokens_map.json")));
  if (special) add_special_tokens(*special, checkpoint.special_tokens);
  return read_pooling(checkpoint);
}

}  // namespace axon::formats
