// Finds the tokenizer of a checkpoint and gives it as plain data.
#include "runtime/formats/tokenizer_source.h"

#include <algorithm>

#include "runtime/formats/gguf_table.h"
#include "runtime/formats/json.h"
#include "runtime/text/tokenizer_json.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;
using text::ModelKind;
using text::TokenizerSpec;

// Kinds of token in GGUF metadata.
enum TokenType : int64_t { kNormal = 1, kControl = 3, kUserDefined = 4 };

constexpr std::string_view kWordStart =
    "\xE2\x96\x81";  // how GGUF marks WordPiece tokens that begin a word
constexpr std::string_view kContinuing = "##";

class GgufTokenizerReader {
 public:
  GgufTokenizerReader(const GgufHeader& header, const std::string& path)
      : header_(header), path_(path) {}

  Result<TokenizerSpec> run() {
    const ConfigValue* kind = value("model");
    if (!kind || kind->kind != ConfigValue::Kind::String) {
      return Error{
          "TOK-MISSING", "`" + path_ + "` has no tokenizer in its metadata", path_, -1, {}};
    }
    AXON_TRY_VOID(read_tokens());
    if (kind->text == "gpt2") {
      AXON_TRY_VOID(read_byte_level());
    } else if (kind->text == "bert") {
      AXON_TRY_VOID(read_word_piece());
    } else {
      return fail("TOK-UNSUPPORTED", "tokenizer model `" + kind->text + "` is not supported");
    }
    for (size_t i = 0; i < tokens_.size(); ++i) out_.model.ids.push_back(static_cast<int32_t>(i));
    return std::move(out_);
  }

 private:
  Error fail(const char* code, const std::string& what) const {
    return Error{code, "`" + path_ + "`: " + what, path_, -1, {}};
  }

  const ConfigValue* value(const std::string& name) const {
    return header_.metadata.member("tokenizer.ggml." + name);
  }

  std::optional<int32_t> id(const std::string& name) const {
    const ConfigValue* found = value(name + "_token_id");
    if (!found || found->kind != ConfigValue::Kind::Int || found->integer < 0 ||
        found->integer >= static_cast<int64_t>(tokens_.size())) {
      return {};
    }
    return static_cast<int32_t>(found->integer);
  }

  std::optional<bool> flag(const std::string& name) const {
    const ConfigValue* found = value(name);
    if (!found || found->kind != ConfigValue::Kind::Bool) return {};
    return found->boolean;
  }

  Result<void> read_tokens() {
    const GgufArray* tokens = header_.array("tokenizer.ggml.tokens");
    auto texts = tokens ? string_items(*tokens) : std::nullopt;
    if (!texts) return fail("TOK-FORMAT", "metadata lacks `tokenizer.ggml.tokens`");
    tokens_ = std::move(*texts);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (find_invalid_utf8(tokens_[i]) != std::string_view::npos) {
        return fail("TOK-FORMAT", "token " + std::to_string(i) + " is not UTF-8");
      }
    }
    const GgufArray* types = header_.array("tokenizer.ggml.token_type");
    auto kinds = types ? integer_items(*types) : std::nullopt;
    if (kinds && kinds->size() != tokens_.size()) {
      return fail("TOK-FORMAT", "`tokenizer.ggml.token_type` has " + std::to_string(kinds->size()) +
                                    " items, there are " + std::to_string(tokens_.size()) +
                                    " tokens");
    }
    types_ = kinds ? std::move(*kinds) : std::vector<int64_t>(tokens_.size(), kNormal);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (types_[i] != kControl && types_[i] != kUserDefined) continue;
      text::AddedToken added;
      added.content = tokens_[i];
      added.special = types_[i] == kControl;
      added.normalized = false;
      out_.added.push_back(std::move(added));
    }
    return {};
  }

  Result<void> read_byte_level() {
    const ConfigValue* pre = value("pre");
    bool named = pre && pre->kind == ConfigValue::Kind::String;
    AXON_TRY(GgufPreTokenizer row, find_gguf_pre_tokenizer(named ? pre->text : "default"));
    out_.normalizers = std::move(row.normalizers);
    out_.pre_tokenizers = std::move(row.steps);
    text::DecoderStep decoder;
    decoder.kind = text::DecoderKind::ByteLevel;
    out_.decoders.push_back(decoder);
    out_.model.kind = ModelKind::Bpe;
    out_.model.ignore_merges = row.ignore_merges;
    out_.model.tokens.reserve(tokens_.size(), tokens_.size() * 8);
    for (std::string_view token : tokens_) out_.model.tokens.add(token);
    AXON_TRY_VOID(read_merges());
    auto bos = id("bos"), eos = id("eos");
    if (flag("add_bos_token").value_or(row.add_bos) && bos) out_.prefix_ids.push_back(*bos);
    if (flag("add_eos_token").value_or(false) && eos) out_.suffix_ids.push_back(*eos);
    return {};
  }

  Result<void> read_merges() {
    const GgufArray* array = header_.array("tokenizer.ggml.merges");
    auto merges = array ? string_items(*array) : std::nullopt;
    if (!merges) return fail("TOK-FORMAT", "metadata lacks `tokenizer.ggml.merges`");
    out_.model.merges.reserve(2 * merges->size(), merges->size() * 8);
    for (std::string_view merge : *merges) {
      size_t blank = merge.find(' ', 1);  // a token may begin with a blank
      if (merge.empty() || blank == merge.npos) {
        return fail("TOK-FORMAT", "merge `" + std::string(merge) + "` is not a pair");
      }
      out_.model.merges.add(merge.substr(0, blank));
      out_.model.merges.add(merge.substr(blank + 1));
    }
    return {};
  }

  Result<void> read_word_piece() {
    text::NormalizerStep normalizer;
    normalizer.kind = text::NormalizerKind::Bert;
    normalizer.clean_text = normalizer.chinese_chars = true;
    normalizer.lowercase = flag("normalizer.lowercase").value_or(true);
    normalizer.strip_accents = flag("normalizer.strip_accents").value_or(normalizer.lowercase);
    out_.normalizers.push_back(normalizer);
    text::PreTokenizerStep pre;
    pre.kind = text::PreTokenizerKind::Bert;
    out_.pre_tokenizers.push_back(pre);
    text::DecoderStep decoder;
    decoder.kind = text::DecoderKind::WordPiece;
    decoder.text = kContinuing;
    decoder.cleanup = true;
    out_.decoders.push_back(decoder);
    out_.model.kind = ModelKind::WordPiece;
    out_.model.continuing_prefix = kContinuing;
    std::string published;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      std::string_view token = tokens_[i];
      published.clear();
      if (types_[i] == kControl) {
        published = token;
      } else if (starts_with(token, kWordStart)) {
        published = token.substr(kWordStart.size());
      } else {
        published = kContinuing;
        published += token;
      }
      out_.model.tokens.add(published);
    }
    auto unknown = id("unknown"), first = id("cls"), last = id("seperator");
    if (!first) first = id("bos");
    if (!last) last = id("eos");
    if (!unknown) return fail("TOK-FORMAT", "metadata lacks `tokenizer.ggml.unknown_token_id`");
    out_.model.unknown = std::string(out_.model.tokens[static_cast<size_t>(*unknown)]);
    if (first) out_.prefix_ids.push_back(*first);
    if (last) out_.suffix_ids.push_back(*last);
    return {};
  }

  const GgufHeader& header_;
  const std::string& path_;
  std::vector<std::string_view> tokens_;
  std::vector<int64_t> types_;
  TokenizerSpec out_;
};

}  // namespace

Result<TokenizerSpec> load_tokenizer(const Checkpoint& checkpoint) {
  if (checkpoint.gguf) return GgufTokenizerReader(*checkpoint.gguf, checkpoint.path).run();
  std::string path = path_join(checkpoint.directory, "tokenizer.json");
  if (!file_exists(path)) {
    return Error{
        "TOK-MISSING", "`" + checkpoint.directory + "` has no tokenizer.json", path, -1, {}};
  }
  AXON_TRY(std::string bytes, read_file(path));
  auto spec = text::parse_tokenizer_json(bytes, path);
  if (!spec && spec.error().code == "TOK-FORMAT") {
    // Reading it again in full says where it stops being JSON, if that is what is wrong.
    auto document = parse_json(bytes, path);
    if (!document) {
      document.error().code = "TOK-FORMAT";
      return std::move(document.error());
    }
  }
  return spec;
}

}  // namespace axon::formats
