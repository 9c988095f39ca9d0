// Whole tokenizers: reading damaged files, streaming, stop strings.
#include "runtime/text/tokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/text/stream_decoder.h"
#include "runtime/text/tokenizer_json.h"
#include "runtime/text/unicode.h"
#include "support/text.h"

namespace axon::text {
namespace {

// Bytes as tokens 0…255, a few merges, an end token that is special.
TokenizerSpec byte_spec() {
  TokenizerSpec spec;
  auto add = [&](std::string_view token) {
    spec.model.tokens.add(token);
    spec.model.ids.push_back(static_cast<int32_t>(spec.model.ids.size()));
  };
  for (int byte = 0; byte < 256; ++byte) {
    std::string token;
    append_byte_char(token, static_cast<uint8_t>(byte));
    add(token);
  }
  for (std::string_view merged : {"th", "the", "ing"}) add(merged);
  for (std::string_view part : {"t", "h", "th", "e"}) spec.model.merges.add(part);
  PreTokenizerStep pre;
  pre.kind = PreTokenizerKind::ByteLevel;
  spec.pre_tokenizers.push_back(pre);
  DecoderStep decoder;
  decoder.kind = DecoderKind::ByteLevel;
  spec.decoders.push_back(decoder);
  AddedToken end;
  end.content = "<end>";
  end.special = true;
  end.normalized = false;
  spec.added.push_back(end);
  return spec;
}

Tokenizer make(TokenizerSpec spec) {
  auto tokenizer = Tokenizer::create(std::move(spec));
  EXPECT_TRUE(tokenizer.ok());
  return std::move(*tokenizer);
}

TEST(Tokenizer, RoundTripsBytes) {
  Tokenizer tokenizer = make(byte_spec());
  std::string text = "the thing\n \xF0\x9F\x98\x80 \xE4\xBD\xA0<end>";
  auto ids = tokenizer.encode(text);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->front(), 257);
  EXPECT_EQ(ids->back(), 259);
  EXPECT_EQ(tokenizer.decode(*ids, ShowSpecial::Yes), text);
  EXPECT_EQ(tokenizer.decode(*ids), text.substr(0, text.size() - 5));
  EXPECT_TRUE(tokenizer.is_special(259));
  EXPECT_EQ(tokenizer.id_of("<end>"), 259);
  EXPECT_EQ(tokenizer.end_id(), 260);
  EXPECT_FALSE(tokenizer.token_of(260).has_value());
  EXPECT_FALSE(tokenizer.token_of(-1).has_value());
  std::vector<int32_t> odd{-5, 260, 1 << 30, 't'};
  EXPECT_EQ(tokenizer.decode(odd), "t");
}

TEST(Tokenizer, RepairsBytesThatAreNotUtf8) {
  Tokenizer tokenizer = make(byte_spec());
  auto ids = tokenizer.encode("a\xFFz");
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(tokenizer.decode(*ids), "a\xEF\xBF\xBDz");
}

TEST(Tokenizer, LongWordsMergeLikeShortOnes) {
  Tokenizer tokenizer = make(byte_spec());
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "the";
  auto ids = tokenizer.encode(text);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*ids, std::vector<int32_t>(5000, 257));
}

TEST(StreamDecoder, NeverSplitsACharacter) {
  Tokenizer tokenizer = make(byte_spec());
  std::string text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80z";
  auto ids = tokenizer.encode(text);
  ASSERT_TRUE(ids.ok());
  StreamDecoder decoder(tokenizer, {});
  std::string all;
  for (int32_t id : *ids) {
    std::string_view piece = decoder.push(id);
    EXPECT_EQ(find_invalid_utf8(piece), piece.npos);
    all += piece;
  }
  all += decoder.finish();
  EXPECT_EQ(all, text);
}

TEST(StreamDecoder, EndsWithWhatWasCut) {
  Tokenizer tokenizer = make(byte_spec());
  StreamDecoder decoder(tokenizer, {});
  EXPECT_EQ(decoder.push('a'), "a");
  EXPECT_EQ(decoder.push(0xF0), "");
  EXPECT_EQ(decoder.push(0x9F), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
}

std::string stream(const Tokenizer& tokenizer, const std::vector<std::string>& stops,
                   std::string_view text, int& stopped) {
  StreamDecoder decoder(tokenizer, {stops});
  std::string all;
  for (char c : text) all += decoder.push(static_cast<uint8_t>(c));
  all += decoder.finish();
  stopped = decoder.stopped_by();
  return all;
}

TEST(StreamDecoder, StopsBeforeAStopString) {
  Tokenizer tokenizer = make(byte_spec());
  int stopped = 0;
  EXPECT_EQ(stream(tokenizer, {"END", "\n\n"}, "abENENDx", stopped), "abEN");
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(stream(tokenizer, {"END", "\n\n"}, "ab\n \n\nEND", stopped), "ab\n ");
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(stream(tokenizer, {"END", ""}, "abEN", stopped), "abEN");
  EXPECT_EQ(stopped, -1);
  EXPECT_EQ(stream(tokenizer, {"aab"}, "aaaabz", stopped), "aa");
  EXPECT_EQ(stopped, 0);
}

constexpr const char* kFile = R"({"version": "1.0",
  "added_tokens": [{"id": 2, "content": "<s>", "special": true}],
  "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "a"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": false}]},
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                     "special_tokens": {"<s>": {"id": "<s>", "ids": [2], "tokens": ["<s>"]}}},
  "decoder": {"type": "Fuse"},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 3}, "merges": [["a", "b"]]}})";

TEST(TokenizerJson, ReadsSequencesAndTemplates) {
  auto spec = parse_tokenizer_json(kFile, "t.json");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->normalizers.size(), 2u);
  EXPECT_EQ(spec->prefix_ids, std::vector<int32_t>{2});
  Tokenizer tokenizer = make(std::move(*spec));
  EXPECT_EQ(*tokenizer.encode("aaab"), (std::vector<int32_t>{2, 3}));
}

TEST(TokenizerJson, NamesWhatItDoesNotSupport) {
  struct Case {
    const char* from;
    const char* to;
    const char* code;
  };
  for (const Case& c : {Case{"\"BPE\"", "\"Unigram\"", "TOK-UNSUPPORTED"},
                        {"\"NFC\"", "\"Precompiled\"", "TOK-UNSUPPORTED"},
                        {"\"Digits\"", "\"Metaspace\"", "TOK-UNSUPPORTED"},
                        {"\"Fuse\"", "\"CTC\"", "TOK-UNSUPPORTED"},
                        {"\"a+\"", "\"a(\"", "TOK-FORMAT"},
                        {"\"Isolated\"", "\"Other\"", "TOK-FORMAT"},
                        {"\"ab\": 3", "\"ab\": -3", "TOK-FORMAT"},
                        {"\"ab\": 3", "\"ab\": 99999999999", "TOK-FORMAT"},
                        {"\"ab\": 3", "\"ac\": 3", "TOK-FORMAT"},
                        {"[\"a\", \"b\"]", "[\"a\"]", "TOK-FORMAT"},
                        {"[\"a\", \"b\"]", "\"a b c\"", "TOK-FORMAT"},
                        {"\"vocab\"", "\"vocap\"", "TOK-FORMAT"},
                        {"\"model\"", "\"models\"", "TOK-FORMAT"}}) {
    std::string text = kFile;
    text.replace(text.find(c.from), std::string(c.from).size(), c.to);
    auto spec = parse_tokenizer_json(text, "t.json");
    Error error;
    if (!spec) {
      error = spec.error();
    } else {
      auto tokenizer = Tokenizer::create(std::move(*spec));
      ASSERT_FALSE(tokenizer.ok()) << c.to;
      error = tokenizer.error();
    }
    EXPECT_EQ(error.code, c.code) << c.to << ": " << error.message;
  }
}

// Cut or changed anywhere, a file gives a tokenizer or an Error, and nothing the sanitizers see.
TEST(TokenizerJson, DamagedFiles) {
  std::string whole = kFile;
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    auto spec = parse_tokenizer_json(whole.substr(0, cut), "t.json");
    ASSERT_FALSE(spec.ok()) << cut;
    EXPECT_EQ(spec.error().code, "TOK-FORMAT");
  }
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = "{}[]\",:0-1a \\"[random() % 13];
    auto spec = parse_tokenizer_json(changed, "t.json");
    if (!spec) continue;
    auto tokenizer = Tokenizer::create(std::move(*spec));
    if (tokenizer) (void)tokenizer->encode("aab-12<s>b").ok();
  }
}

}  // namespace
}  // namespace axon::text
