// Unicode sets, patterns, pre-tokenizers, decoders: what the recorded comparisons cannot show by
// name.
#include "support/text.h"

#include <gtest/gtest.h>

#include "runtime/text/added_tokens.h"
#include "runtime/text/normalize.h"
#include "runtime/text/pre_tokenize.h"
#include "runtime/text/token_decoder.h"
#include "runtime/text/unicode.h"

namespace axon::text {
namespace {

std::vector<std::string> words(std::vector<PreTokenizerStep> steps, std::string_view text) {
  auto tokenizer = PreTokenizer::create(std::move(steps));
  EXPECT_TRUE(tokenizer.ok());
  std::vector<std::string> out;
  auto done = tokenizer->run(text, [&](std::string_view word) { out.emplace_back(word); });
  EXPECT_TRUE(done.ok());
  return out;
}

PreTokenizerStep split(const char* pattern, SplitBehavior behavior, bool invert = false) {
  PreTokenizerStep step;
  step.pattern = {pattern, true};
  step.behavior = behavior;
  step.invert = invert;
  return step;
}

TEST(Unicode, CategoriesOfUnicode16) {
  size_t letters = 0;
  for (const CodeRange& range : ranges_of_property("L")) letters += range.last - range.first + 1;
  EXPECT_EQ(letters, 141028u);
  EXPECT_TRUE(ranges_of_property("Xx").empty());
  std::vector<CodeRange> rest = complement(ranges_of_property("L"));
  size_t others = 0;
  for (const CodeRange& range : rest) others += range.last - range.first + 1;
  EXPECT_EQ(letters + others, 0x110000u);
}

TEST(Unicode, MalformedPartsBecomeOneReplacementEach) {
  EXPECT_EQ(well_formed("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(well_formed("\xF0\x80\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(well_formed("\xF0\x9F\x98"), "\xEF\xBF\xBD");
  EXPECT_EQ(well_formed("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(well_formed("\xC0\xFF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Unicode, WholePrefixKeepsBackOnlyWhatCanGoOn) {
  EXPECT_EQ(whole_prefix("ab"), 2u);
  EXPECT_EQ(whole_prefix("a\xF0\x9F\x98"), 1u);
  EXPECT_EQ(whole_prefix("a\xF0\x9F\x98\x80"), 5u);
  EXPECT_EQ(whole_prefix("a\xE2"), 1u);
  EXPECT_EQ(whole_prefix("a\xE2z"), 3u);
  EXPECT_EQ(whole_prefix("a\xF8"), 2u);
  EXPECT_EQ(whole_prefix("\x80\x80\x80\x80"), 4u);
  EXPECT_EQ(whole_prefix(""), 0u);
}

TEST(Unicode, ByteCharactersAreOneToOne) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string text;
    append_byte_char(text, static_cast<uint8_t>(byte));
    size_t pos = 0;
    EXPECT_EQ(byte_of_char(next_code_point(text, pos)), byte);
  }
  EXPECT_EQ(byte_of_char(0x20), -1);
  EXPECT_EQ(byte_of_char(0x10FFFF), -1);
}

TEST(Pattern, EveryBehavior) {
  using Words = std::vector<std::string>;
  const char* text = "-a--b";
  EXPECT_EQ(words({split("-", SplitBehavior::Removed)}, text), (Words{"a", "b"}));
  EXPECT_EQ(words({split("-", SplitBehavior::Isolated)}, text), (Words{"-", "a", "-", "-", "b"}));
  EXPECT_EQ(words({split("-", SplitBehavior::MergedWithPrevious)}, text),
            (Words{"-", "a-", "-", "b"}));
  EXPECT_EQ(words({split("-", SplitBehavior::MergedWithNext)}, text), (Words{"-a", "-", "-b"}));
  EXPECT_EQ(words({split("-", SplitBehavior::Contiguous)}, text), (Words{"-", "a", "--", "b"}));
  EXPECT_EQ(words({split("[a-z]+", SplitBehavior::Removed, true)}, text), (Words{"a", "b"}));
}

TEST(Pattern, ClassesAreOurRanges) {
  // U+1C89 is a letter since Unicode 16, whatever the system's pattern library knows.
  EXPECT_EQ(words({split(R"(\p{Lu})", SplitBehavior::Removed)}, "a\xE1\xB2\x89z").size(), 2u);
  EXPECT_EQ(words({split(R"([^\s\P{N}]+)", SplitBehavior::Removed)}, "a12 b").size(), 2u);
  EXPECT_EQ(words({split(R"(\p{^L}+)", SplitBehavior::Removed)}, "a12b").size(), 2u);
  EXPECT_EQ(words({split("x*", SplitBehavior::Isolated)}, "axxb").size(), 3u);
}

TEST(Pattern, RefusesWhatMeansSomethingElse) {
  for (const char* pattern : {"[a[bc]]", "[a&&b]", "a{1,2}+", "(?m:a)", "(?<n>a)", R"(\b)", R"(\X)",
                              R"(\p{Greek})", "[[:alpha:]]"}) {
    auto compiled = Pattern::compile({pattern, true});
    ASSERT_FALSE(compiled.ok()) << pattern;
    EXPECT_EQ(compiled.error().code, "TOK-UNSUPPORTED") << pattern;
  }
  for (const char* pattern : {"[a", "(a", "a\\", "*", R"(\pL)", R"(\p{L)"}) {
    auto compiled = Pattern::compile({pattern, true});
    ASSERT_FALSE(compiled.ok()) << pattern;
    EXPECT_EQ(compiled.error().code, "TOK-FORMAT") << pattern;
  }
  auto literal = Pattern::compile({"a.[", false});
  ASSERT_TRUE(literal.ok());
  auto found = literal->find_all("a.[ab[");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 1u);
}

TEST(Pattern, LongRunsDoNotGiveUp) {
  PreTokenizerStep bytes;
  bytes.kind = PreTokenizerKind::ByteLevel;
  for (const std::string& run :
       {std::string(300000, ' '), std::string(300000, 'a'), std::string(300000, '\n') + "x"}) {
    EXPECT_LE(words({bytes}, run).size(), 3u);
  }
}

TEST(AddedTokens, LongestOfTheLeftmost) {
  AddedTokenMatcher matcher;
  AddedToken plain;
  matcher.add("<a>", 1, plain);
  matcher.add("<a><b>", 2, plain);
  matcher.add("a", 3, plain);
  std::vector<Segment> out = matcher.split("x<a><b>a<a");
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[1].id, 2);
  EXPECT_EQ(out[2].id, 3);
  EXPECT_EQ(out[3].id, -1);
  EXPECT_EQ(out[4].id, 3);
}

TEST(AddedTokens, StripsAndWords) {
  AddedTokenMatcher matcher;
  AddedToken word;
  word.single_word = true;
  matcher.add("cat", 1, word);
  AddedToken strips;
  strips.left_strip = strips.right_strip = true;
  matcher.add("<s>", 2, strips);
  EXPECT_EQ(matcher.split("concat cat_ cat.").size(), 3u);
  std::vector<Segment> out = matcher.split("a \xE3\x80\x80<s> \n b");
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1].begin, 1u);
  EXPECT_EQ(out[2].begin, 11u);
}

TEST(Normalizer, BertAndForms) {
  NormalizerStep bert;
  bert.kind = NormalizerKind::Bert;
  bert.clean_text = bert.chinese_chars = bert.strip_accents = bert.lowercase = true;
  auto normalizer = Normalizer::create({bert});
  ASSERT_TRUE(normalizer.ok());
  auto out = normalizer->apply("\xC3\x89t\xC3\xA9\t\xE4\xBD\xA0\x7F");
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, "ete  \xE4\xBD\xA0 ");
  NormalizerStep strip;
  strip.kind = NormalizerKind::Strip;
  strip.left = true;
  auto stripping = Normalizer::create({strip});
  EXPECT_EQ(*stripping->apply("  a "), "a ");
  EXPECT_EQ(*stripping->apply("  "), "");
}

TEST(TokenDecoder, Chains) {
  DecoderStep piece;
  piece.kind = DecoderKind::WordPiece;
  piece.text = "##";
  piece.cleanup = true;
  auto decoder = TokenDecoder::create({piece});
  ASSERT_TRUE(decoder.ok());
  EXPECT_EQ(decoder->decode({"##a", "##b", "c", "."}), "##ab c.");
  EXPECT_FALSE(decoder->by_bytes());
  DecoderStep bytes;
  bytes.kind = DecoderKind::ByteFallback;
  auto fallback = TokenDecoder::create({bytes});
  EXPECT_EQ(fallback->decode({"<0xE4>", "<0xBD>", "<0xA0>", "x", "<0xE4>", "<0x-1>"}),
            "\xE4\xBD\xA0x\xEF\xBF\xBD<0x-1>");
  auto none = TokenDecoder::create({});
  EXPECT_EQ(none->decode({"a", "b"}), "a b");
}

}  // namespace
}  // namespace axon::text
