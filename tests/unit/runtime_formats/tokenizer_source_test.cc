// Tokenizers of checkpoints: from GGUF metadata, from tokenizer.json, and from damaged forms of
// both.
#include "runtime/formats/tokenizer_source.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "runtime/text/tokenizer.h"

namespace axon::formats {
namespace {

using testing::GgufBuilder;
using testing::make_folder;
using testing::write;

const std::vector<std::string> kTokens{"<s>",
                                       "</s>",
                                       "a",
                                       "b",
                                       "1",
                                       "\xC4\xA0",
                                       "ab",
                                       "\xC4\xA0"
                                       "ab"};
const std::vector<int32_t> kTypes{3, 3, 1, 1, 1, 1, 1, 1};

GgufBuilder with_byte_level() {
  GgufBuilder out = testing::tiny_llama();
  out.text("tokenizer.ggml.model", "gpt2");
  out.u32("tokenizer.ggml.bos_token_id", 0);
  out.u32("tokenizer.ggml.eos_token_id", 1);
  return out;
}

Result<text::TokenizerSpec> load(const GgufBuilder& builder) {
  auto checkpoint = open_checkpoint(write(make_folder("tokenizers"), "x.gguf", builder.build()));
  EXPECT_TRUE(checkpoint.ok());
  return load_tokenizer(*checkpoint);
}

void fill(GgufBuilder& builder, const std::vector<std::string>& tokens,
          const std::vector<int32_t>& types, const std::vector<std::string>& merges) {
  builder.strings("tokenizer.ggml.tokens", tokens);
  builder.i32s("tokenizer.ggml.token_type", types);
  builder.strings("tokenizer.ggml.merges", merges);
}

TEST(GgufTokenizer, ByteLevel) {
  GgufBuilder builder = with_byte_level();
  fill(builder, kTokens, kTypes, {"a b", "\xC4\xA0 ab"});
  builder.text("tokenizer.ggml.pre", "smollm");
  builder.pair("tokenizer.ggml.add_bos_token", 7, std::string(1, '\1'));
  auto spec = load(builder);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  auto tokenizer = text::Tokenizer::create(std::move(*spec));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ(*tokenizer->encode("ab ab11</s>"), (std::vector<int32_t>{0, 6, 7, 4, 4, 1}));
  EXPECT_EQ(*tokenizer->encode("ab", text::SpecialTokens::Omit), std::vector<int32_t>{6});
}

TEST(GgufTokenizer, EveryPreTokenizerCompiles) {
  for (const char* name : {"gpt-2", "smollm", "llama-bpe", "qwen2", "default"}) {
    GgufBuilder builder = with_byte_level();
    fill(builder, kTokens, kTypes, {"a b"});
    builder.text("tokenizer.ggml.pre", name);
    auto spec = load(builder);
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    EXPECT_EQ(spec->prefix_ids.size(), std::string(name) == "llama-bpe" ? 1u : 0u);
    auto tokenizer = text::Tokenizer::create(std::move(*spec));
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    EXPECT_EQ(*tokenizer->encode("ab", text::SpecialTokens::Omit), std::vector<int32_t>{6});
  }
}

TEST(GgufTokenizer, WordPieceWithMarkedWordStarts) {
  GgufBuilder builder = testing::tiny_llama();
  builder.text("tokenizer.ggml.model", "bert");
  builder.strings("tokenizer.ggml.tokens",
                  {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\xE2\x96\x81un", "able"});
  builder.i32s("tokenizer.ggml.token_type", {3, 3, 3, 3, 1, 1});
  builder.u32("tokenizer.ggml.unknown_token_id", 1);
  builder.u32("tokenizer.ggml.cls_token_id", 2);
  builder.u32("tokenizer.ggml.seperator_token_id", 3);
  auto spec = load(builder);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  auto tokenizer = text::Tokenizer::create(std::move(*spec));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(*tokenizer->encode("Unable able"), (std::vector<int32_t>{2, 4, 5, 1, 3}));
}

TEST(GgufTokenizer, DamagedMetadata) {
  auto code_of = [](const GgufBuilder& builder) {
    auto spec = load(builder);
    if (!spec) return spec.error().code;
    auto tokenizer = text::Tokenizer::create(std::move(*spec));
    return tokenizer ? std::string("fine") : tokenizer.error().code;
  };
  EXPECT_EQ(code_of(testing::tiny_llama()), "TOK-MISSING");
  EXPECT_EQ(code_of(with_byte_level()), "TOK-FORMAT");
  struct Case {
    std::vector<std::string> tokens;
    std::vector<int32_t> types;
    std::vector<std::string> merges;
  };
  for (const Case& c : {Case{kTokens, {3, 3}, {"a b"}}, Case{{"a", "\xFF"}, {1, 1}, {}},
                        Case{kTokens, kTypes, {"ab"}}, Case{kTokens, kTypes, {""}},
                        Case{kTokens, kTypes, {"b a"}}, Case{kTokens, kTypes, {"a q"}}}) {
    GgufBuilder builder = with_byte_level();
    fill(builder, c.tokens, c.types, c.merges);
    builder.text("tokenizer.ggml.pre", "gpt-2");
    EXPECT_EQ(code_of(builder), "TOK-FORMAT");
  }
  GgufBuilder unknown = with_byte_level();
  fill(unknown, kTokens, kTypes, {"a b"});
  unknown.text("tokenizer.ggml.pre", "something-new");
  EXPECT_EQ(code_of(unknown), "TOK-UNSUPPORTED");
  GgufBuilder pieces = testing::tiny_llama();
  pieces.text("tokenizer.ggml.model", "llama");
  fill(pieces, kTokens, kTypes, {});
  EXPECT_EQ(code_of(pieces), "TOK-UNSUPPORTED");
}

TEST(JsonTokenizer, MissingAndMalformed) {
  std::string folder = make_folder("json_tokenizer");
  write(folder, "config.json", "{}");
  write(folder, "model.safetensors", testing::safetensors("{}", ""));
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(load_tokenizer(*checkpoint).error().code, "TOK-MISSING");
  write(folder, "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0,}}})");
  auto broken = load_tokenizer(*checkpoint);
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, "TOK-FORMAT");
  EXPECT_EQ(broken.error().offset, 43);
}

}  // namespace
}  // namespace axon::formats
