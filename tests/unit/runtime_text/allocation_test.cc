// Streaming allocates nothing once it runs: allocations are counted by replacing operator new.
// The counting operators below hand memory to malloc and free, which GCC takes for a mismatch where
// it inlines one of the two.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "runtime/text/stream_decoder.h"
#include "runtime/text/unicode.h"

namespace {
size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
// Libraries use this form; the standard's own would not end in this file's malloc.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

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
  size_t before = allocations, size = 0;
  for (int round = 0; round < 64; ++round) {
    for (char c : text) size += decoder.push(static_cast<uint8_t>(c)).size();
    size += decoder.push(256).size();
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(size, 60 * text.size());
}

}  // namespace
}  // namespace axon::text
