// Streaming allocates nothing once it runs: allocations are counted by replacing operator new.

#include <gtest/gtest.h>

#include "../support/counted_allocations.h"
#include "runtime/text/stream_decoder.h"
#include "runtime/text/unicode.h"

namespace axon::text {
namespace {

TEST(StreamDecoder, AllocatesNothingWhileItRuns) {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) {
    std::string token;
    append_byte_char(token, static_cast<uint8_t>(byte));
    spec.model.tokens.add(token);
    spec.model.ids.push_back(byte);
  }
  DecoderStep bytes;
  bytes.kind = DecoderKind::ByteLevel;
  spec.decoders.push_back(bytes);
  AddedToken end;
  end.content = "<end>";
  end.special = true;
  spec.added.push_back(end);
  auto tokenizer = Tokenizer::create(std::move(spec));
  ASSERT_TRUE(tokenizer.ok());
  StreamDecoder decoder(*tokenizer, {{"stop here", "\n\n\n"}});
  std::string_view text = "some stop he\n\ntext \xF0\x9F\x98\x80 stop \xE4\xBD\xA0";
  size_t before = g_allocations, size = 0;
  for (int round = 0; round < 64; ++round) {
    for (char c : text) size += decoder.push(static_cast<uint8_t>(c)).size();
    size += decoder.push(256).size();
  }
  EXPECT_EQ(g_allocations, before);
  EXPECT_GT(size, 60 * text.size());
}

}  // namespace
}  // namespace axon::text
