// Turns ids into text piece by piece: whole characters only, and nothing of a stop string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer.h"

namespace axon::text {

// All pieces together equal Tokenizer::decode of all ids, up to the first stop string. With a
// tokenizer that decodes by bytes nothing is allocated while the text held back fits `reserve`.
class StreamDecoder {
 public:
  struct Options {
    std::vector<std::string> stops;  // empty strings are ignored
    ShowSpecial show = ShowSpecial::No;
    size_t reserve = 4096;  // bytes
  };
  // The tokenizer outlives this.
  StreamDecoder(const Tokenizer& tokenizer, Options options);

  // The text that is certain after one more id; valid until the next call. Empty once stopped.
  std::string_view push(int32_t id);
  // The rest: what was held back for a character or a stop string that did not come.
  std::string_view finish();
  // Index of the stop string that ended the text, or -1.
  int stopped_by() const { return stopped_by_; }

 private:
  void append_bytes(int32_t id);
  void append_window(int32_t id, bool last);
  std::string_view release(bool last);

  const Tokenizer* tokenizer_;
  Options options_;
  std::string cut_;              // bytes of a character that is not complete yet
  std::string held_;             // certain text that may begin a stop string
  std::string piece_;            // what the last call returned
  std::vector<int32_t> window_;  // other decoders: ids before, then ids whose text is not taken yet
  size_t context_ = 0;           // how many of the window are before
  std::string shown_;            // text of these
  int stopped_by_ = -1;
};

}  // namespace axon::text
