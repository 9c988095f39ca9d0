// Reads a tokenizer.json file; the only file here that sees the JSON library.
#include "runtime/text/tokenizer_json.h"

#include "support/json.h"
#include "support/text.h"

namespace axon::text {
namespace {

using array = json::Array;
using element = json::Value;
using object = json::Object;

template <class T>
bool read(const element& value, T& out) {
  if constexpr (std::is_same_v<T, array> || std::is_same_v<T, object>)
    return json::get(value, out);
  else
    return value.get(out);
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}
  Result<TokenizerSpec> run(std::string_view text);

 private:
  Error fail(const char* code, const std::string& what) const {
    return Error{code, "`" + file_ + "`: " + what, file_, -1, {}};
  }
  Error lacks(std::string_view where, std::string_view key) const {
    return fail("TOK-FORMAT",
                std::string(where) + " lacks `" + std::string(key) + "`, or it has another type");
  }
  Error unknown(const char* what, std::string_view type) const {
    return fail("TOK-UNSUPPORTED",
                std::string(what) + " `" + std::string(type) + "` is not supported");
  }

  static std::string_view text_or(object from, std::string_view key, std::string_view otherwise) {
    std::string_view out;
    return read(from[key], out) ? out : otherwise;
  }
  static bool flag(object from, std::string_view key, bool otherwise) {
    bool out;
    return read(from[key], out) ? out : otherwise;
  }
  static std::optional<std::string> maybe_text(object from, std::string_view key) {
    std::string_view out;
    if (!read(from[key], out)) return {};
    return std::string(out);
  }
  static int64_t integer_or(object from, std::string_view key, int64_t otherwise) {
    int64_t out;
    return read(from[key], out) ? out : otherwise;
  }

  // Calls `one` for the step under `key` of the root, or for each item of a sequence of them.
  template <class One>
  Result<void> each_step(object root, std::string_view key, std::string_view items_key,
                         One one) const {
    element step;
    if (!read(root[key], step) || step.is_null()) return {};
    return each(step, items_key, one, 0);
  }
  template <class One>
  Result<void> each(element step, std::string_view items_key, One one, int depth) const {
    object fields;
    if (!read(step, fields) || depth > 8) return fail("TOK-FORMAT", "a step is not an object");
    std::string_view type = text_or(fields, "type", "");
    if (type != "Sequence") return one(fields, type);
    array items;
    if (!read(fields[items_key], items)) return lacks("a sequence", items_key);
    for (element item : items) AXON_TRY_VOID(each(item, items_key, one, depth + 1));
    return {};
  }

  Result<PatternSpec> pattern(object step, std::string_view where) const {
    object pattern;
    if (!read(step["pattern"], pattern)) return lacks(where, "pattern");
    if (auto regex = maybe_text(pattern, "Regex")) return PatternSpec{*regex, true};
    if (auto text = maybe_text(pattern, "String")) return PatternSpec{*text, false};
    return lacks(where, "pattern");
  }
  Result<SplitBehavior> behavior(object step) const;
  Result<void> normalizer(object step, std::string_view type);
  Result<void> pre_tokenizer(object step, std::string_view type);
  Result<void> decoder(object step, std::string_view type);
  Result<void> post_processor(object step, std::string_view type);
  Result<void> template_processing(object step);
  Result<void> model(object root);
  Result<void> bpe(object model);
  Result<void> vocabulary(object model);
  Result<void> merges(object model);
  Result<void> added_tokens(object root);

  const std::string& file_;
  TokenizerSpec out_;
};

Result<SplitBehavior> Reader::behavior(object step) const {
  std::string_view name = text_or(step, "behavior", "Isolated");
  if (name == "Removed") return SplitBehavior::Removed;
  if (name == "Isolated") return SplitBehavior::Isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::MergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::MergedWithNext;
  if (name == "Contiguous") return SplitBehavior::Contiguous;
  return fail("TOK-FORMAT", "split behavior `" + std::string(name) + "` does not exist");
}

Result<void> Reader::normalizer(object step, std::string_view type) {
  constexpr std::pair<std::string_view, NormalizerKind> kPlain[] = {
      {"NFC", NormalizerKind::Nfc},
      {"NFD", NormalizerKind::Nfd},
      {"NFKC", NormalizerKind::Nfkc},
      {"NFKD", NormalizerKind::Nfkd},
      {"Lowercase", NormalizerKind::Lowercase},
      {"StripAccents", NormalizerKind::StripAccents},
      {"ByteLevel", NormalizerKind::ByteLevel}};
  NormalizerStep out;
  for (auto [name, kind] : kPlain) {
    if (name != type) continue;
    out.kind = kind;
    out_.normalizers.push_back(std::move(out));
    return {};
  }
  if (type == "BertNormalizer") {
    out.kind = NormalizerKind::Bert;
    out.clean_text = flag(step, "clean_text", true);
    out.chinese_chars = flag(step, "handle_chinese_chars", true);
    out.lowercase = flag(step, "lowercase", true);
    out.strip_accents = flag(step, "strip_accents", out.lowercase);
  } else if (type == "Strip") {
    out.kind = NormalizerKind::Strip;
    out.left = flag(step, "strip_left", true);
    out.right = flag(step, "strip_right", true);
  } else if (type == "Replace") {
    out.kind = NormalizerKind::Replace;
    AXON_TRY(out.pattern, pattern(step, "a `Replace` normalizer"));
    out.content = text_or(step, "content", "");
  } else if (type == "Prepend") {
    out.kind = NormalizerKind::Prepend;
    out.content = text_or(step, "prepend", "");
  } else {
    return unknown("normalizer", type);
  }
  out_.normalizers.push_back(std::move(out));
  return {};
}

Result<void> Reader::pre_tokenizer(object step, std::string_view type) {
  PreTokenizerStep out;
  if (type == "ByteLevel") {
    out.kind = PreTokenizerKind::ByteLevel;
    out.add_prefix_space = flag(step, "add_prefix_space", true);
    out.use_regex = flag(step, "use_regex", true);
  } else if (type == "Split") {
    out.kind = PreTokenizerKind::Split;
    AXON_TRY(out.pattern, pattern(step, "a `Split` pre-tokenizer"));
    AXON_TRY(out.behavior, behavior(step));
    out.invert = flag(step, "invert", false);
  } else if (type == "Digits") {
    out.kind = PreTokenizerKind::Digits;
    out.individual = flag(step, "individual_digits", false);
  } else if (type == "Punctuation") {
    out.kind = PreTokenizerKind::Punctuation;
    AXON_TRY(out.behavior, behavior(step));
  } else if (type == "Whitespace") {
    out.kind = PreTokenizerKind::Whitespace;
  } else if (type == "WhitespaceSplit") {
    out.kind = PreTokenizerKind::WhitespaceSplit;
  } else if (type == "BertPreTokenizer") {
    out.kind = PreTokenizerKind::Bert;
  } else {
    return unknown("pre-tokenizer", type);
  }
  out_.pre_tokenizers.push_back(std::move(out));
  return {};
}

Result<void> Reader::decoder(object step, std::string_view type) {
  DecoderStep out;
  if (type == "ByteLevel") {
    out.kind = DecoderKind::ByteLevel;
  } else if (type == "WordPiece") {
    out.kind = DecoderKind::WordPiece;
    out.text = text_or(step, "prefix", "##");
    out.cleanup = flag(step, "cleanup", true);
  } else if (type == "Replace") {
    out.kind = DecoderKind::Replace;
    AXON_TRY(out.pattern, pattern(step, "a `Replace` decoder"));
    out.text = text_or(step, "content", "");
  } else if (type == "Fuse") {
    out.kind = DecoderKind::Fuse;
  } else if (type == "ByteFallback") {
    out.kind = DecoderKind::ByteFallback;
  } else if (type == "Strip") {
    out.kind = DecoderKind::Strip;
    out.text = text_or(step, "content", " ");
    int64_t start = integer_or(step, "start", 0), stop = integer_or(step, "stop", 0);
    if (start < 0 || stop < 0) return fail("TOK-FORMAT", "a `Strip` decoder has negative counts");
    out.start = static_cast<size_t>(start);
    out.stop = static_cast<size_t>(stop);
  } else {
    return unknown("decoder", type);
  }
  out_.decoders.push_back(std::move(out));
  return {};
}

// Of several processors each wraps what the ones before made.
Result<void> Reader::post_processor(object step, std::string_view type) {
  if (type == "ByteLevel") return {};  // moves offsets only
  if (type == "TemplateProcessing") return template_processing(step);
  if (type != "BertProcessing" && type != "RobertaProcessing")
    return unknown("post-processor", type);
  auto id = [&](std::string_view key) -> std::optional<int32_t> {
    array pair;
    int64_t value;
    if (!read(step[key], pair) || !read(pair.at(1), value)) return {};
    return static_cast<int32_t>(value);
  };
  auto first = id("cls"), last = id("sep");
  if (!first || !last) return lacks("a post-processor", "cls` or `sep");
  out_.prefix_ids.insert(out_.prefix_ids.begin(), *first);
  out_.suffix_ids.push_back(*last);
  return {};
}

Result<void> Reader::template_processing(object step) {
  array pieces;
  if (!read(step["single"], pieces)) return lacks("a template", "single");
  std::vector<int32_t> prefix, suffix;
  int sequences = 0;
  for (element piece : pieces) {
    object fields, inner, definition;
    array ids;
    if (!read(piece, fields)) return fail("TOK-FORMAT", "a template piece is not an object");
    if (read(fields["Sequence"], inner)) {
      ++sequences;
      continue;
    }
    if (!read(fields["SpecialToken"], inner)) return lacks("a template piece", "SpecialToken");
    std::string_view name = text_or(inner, "id", "");
    // A key may hold characters that a JSON pointer would read; walk the object instead.
    object tokens;
    if (!read(step["special_tokens"], tokens)) return lacks("a template", "special_tokens");
    if (!read(tokens[name], definition) || !read(definition["ids"], ids)) {
      return fail("TOK-FORMAT", "template token `" + std::string(name) + "` is not defined");
    }
    for (element item : ids) {
      int64_t id;
      if (!read(item, id)) return fail("TOK-FORMAT", "a template token has no ids");
      (sequences ? suffix : prefix).push_back(static_cast<int32_t>(id));
    }
  }
  if (sequences != 1)
    return fail("TOK-UNSUPPORTED",
                "a template that has its text " + std::to_string(sequences) + " times");
  out_.prefix_ids.insert(out_.prefix_ids.begin(), prefix.begin(), prefix.end());
  out_.suffix_ids.insert(out_.suffix_ids.end(), suffix.begin(), suffix.end());
  return {};
}

Result<void> Reader::vocabulary(object model) {
  object tokens;
  if (!read(model["vocab"], tokens)) return lacks("the model", "vocab");
  out_.model.tokens.reserve(tokens.size(), tokens.size() * 8);
  out_.model.ids.reserve(tokens.size());
  for (auto it = tokens.begin(); it != tokens.end(); ++it) {
    std::string_view token = it.key();
    element value = *it;
    int64_t id;
    // Ids index tables, so one far beyond the vocabulary is a fault, not a request for memory.
    if (!read(value, id) || id < 0 || id > (int64_t{1} << 24)) {
      return fail("TOK-FORMAT", "token `" + std::string(token) + "` has no usable id");
    }
    out_.model.tokens.add(token);
    out_.model.ids.push_back(static_cast<int32_t>(id));
  }
  return {};
}

Result<void> Reader::merges(object model) {
  array merges;
  if (!read(model["merges"], merges)) return lacks("the model", "merges");
  out_.model.merges.reserve(2 * merges.size(), merges.size() * 8);
  for (element merge : merges) {
    std::string_view line, left, right;
    array pair;
    if (read(merge, line)) {
      if (starts_with(line, "#version")) continue;
      size_t blank = line.find(' ');
      if (blank == line.npos || line.find(' ', blank + 1) != line.npos) {
        return fail("TOK-FORMAT", "merge `" + std::string(line) + "` is not a pair");
      }
      left = line.substr(0, blank);
      right = line.substr(blank + 1);
    } else if (!read(merge, pair) || pair.size() != 2 || !read(pair.at(0), left) ||
               !read(pair.at(1), right)) {
      return fail("TOK-FORMAT", "a merge is not a pair");
    }
    out_.model.merges.add(left);
    out_.model.merges.add(right);
  }
  return {};
}

Result<void> Reader::bpe(object model) {
  ModelSpec& out = out_.model;
  out.kind = ModelKind::Bpe;
  double dropout = 0;
  if (read(model["dropout"], dropout) && dropout > 0) {
    return fail("TOK-UNSUPPORTED", "a model with random dropout");
  }
  out.unknown = maybe_text(model, "unk_token");
  out.continuing_prefix = text_or(model, "continuing_subword_prefix", "");
  out.end_suffix = text_or(model, "end_of_word_suffix", "");
  out.fuse_unknown = flag(model, "fuse_unk", false);
  out.byte_fallback = flag(model, "byte_fallback", false);
  out.ignore_merges = flag(model, "ignore_merges", false);
  return merges(model);
}

Result<void> Reader::model(object root) {
  object model;
  if (!read(root["model"], model)) return lacks("the file", "model");
  std::string_view type = text_or(model, "type", "");
  element merges;
  // Old files leave the type out; only one of the two kinds has merges.
  if (type.empty()) type = read(model["merges"], merges) ? "BPE" : "WordPiece";
  if (type != "BPE" && type != "WordPiece") return unknown("tokenizer model", type);
  AXON_TRY_VOID(vocabulary(model));
  if (type == "BPE") return bpe(model);
  out_.model.kind = ModelKind::WordPiece;
  out_.model.unknown = text_or(model, "unk_token", "[UNK]");
  out_.model.continuing_prefix = text_or(model, "continuing_subword_prefix", "##");
  out_.model.max_word_chars = integer_or(model, "max_input_chars_per_word", 100);
  return {};
}

Result<void> Reader::added_tokens(object root) {
  array tokens;
  if (!read(root["added_tokens"], tokens)) return {};
  for (element item : tokens) {
    object fields;
    if (!read(item, fields)) return fail("TOK-FORMAT", "an added token is not an object");
    AddedToken token;
    auto content = maybe_text(fields, "content");
    if (!content) return lacks("an added token", "content");
    token.content = *content;
    token.special = flag(fields, "special", false);
    token.single_word = flag(fields, "single_word", false);
    token.left_strip = flag(fields, "lstrip", false);
    token.right_strip = flag(fields, "rstrip", false);
    token.normalized = flag(fields, "normalized", !token.special);
    out_.added.push_back(std::move(token));
  }
  return {};
}

Result<TokenizerSpec> Reader::run(std::string_view text) {
  auto document = json::parse(text);
  if (!document) {
    Error error = fail("TOK-FORMAT", "is not valid JSON: " + document.error().message);
    error.offset = document.error().offset;
    return error;
  }
  object root;
  if (!read(document->root(), root)) return fail("TOK-FORMAT", "is not a JSON object");
  AXON_TRY_VOID(model(root));
  AXON_TRY_VOID(added_tokens(root));
  AXON_TRY_VOID(
      each_step(root, "normalizer", "normalizers",
                [this](object step, std::string_view type) { return normalizer(step, type); }));
  AXON_TRY_VOID(
      each_step(root, "pre_tokenizer", "pretokenizers",
                [this](object step, std::string_view type) { return pre_tokenizer(step, type); }));
  AXON_TRY_VOID(
      each_step(root, "post_processor", "processors",
                [this](object step, std::string_view type) { return post_processor(step, type); }));
  AXON_TRY_VOID(each_step(root, "decoder", "decoders", [this](object step, std::string_view type) {
    return decoder(step, type);
  }));
  return std::move(out_);
}

}  // namespace

Result<TokenizerSpec> parse_tokenizer_json(std::string_view text, const std::string& file) {
  return Reader(file).run(text);
}

}  // namespace axon::text
