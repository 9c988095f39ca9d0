// Tokens by id and ids by token text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer_spec.h"

namespace axon::text {

uint64_t hash_text(std::string_view text);

class Vocabulary {
 public:
  static constexpr int32_t kNone = -1;

  // Of two entries with one text the later counts, as of two with one id.
  Vocabulary(StringList tokens, std::vector<int32_t> ids);
  int32_t find(std::string_view token) const;  // id, or kNone
  // The text of an id; nothing (data() is null) when it has none.
  std::string_view token(int32_t id) const;
  size_t size() const { return count_; }  // distinct texts
  int32_t end_id() const { return static_cast<int32_t>(entry_of_id_.size()); }

 private:
  StringList tokens_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> entry_of_id_;  // entry, or kNone
  std::vector<int32_t> slots_;        // open addressing: entry, or kNone
  size_t mask_ = 0, count_ = 0;
};

}  // namespace axon::text
