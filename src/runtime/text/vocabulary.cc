// Tokens by id and ids by token text.
#include "runtime/text/vocabulary.h"

#include <algorithm>
#include <cstring>

namespace axon::text {

uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ text.size();
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93ull;
    hash ^= hash >> 32;
  };
  size_t pos = 0;
  for (; pos + 8 <= text.size(); pos += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + pos, 8);
    mix(word);
  }
  uint64_t word = 0;
  if (pos < text.size()) std::memcpy(&word, text.data() + pos, text.size() - pos);
  mix(word);
  return hash;
}

Vocabulary::Vocabulary(StringList tokens, std::vector<int32_t> ids)
    : tokens_(std::move(tokens)), ids_(std::move(ids)) {
  size_t capacity = 16;
  while (capacity < 2 * tokens_.size()) capacity *= 2;
  slots_.assign(capacity, kNone);
  mask_ = capacity - 1;
  int32_t last = kNone;
  for (int32_t id : ids_) last = std::max(last, id);
  entry_of_id_.assign(static_cast<size_t>(last + 1), kNone);
  for (size_t entry = 0; entry < tokens_.size(); ++entry) {
    std::string_view text = tokens_[entry];
    size_t slot = hash_text(text) & mask_;
    while (slots_[slot] != kNone && tokens_[static_cast<size_t>(slots_[slot])] != text)
      slot = (slot + 1) & mask_;
    if (slots_[slot] == kNone) ++count_;
    slots_[slot] = static_cast<int32_t>(entry);
    entry_of_id_[static_cast<size_t>(ids_[entry])] = static_cast<int32_t>(entry);
  }
}

int32_t Vocabulary::find(std::string_view token) const {
  for (size_t slot = hash_text(token) & mask_; slots_[slot] != kNone; slot = (slot + 1) & mask_) {
    auto entry = static_cast<size_t>(slots_[slot]);
    if (tokens_[entry] == token) return ids_[entry];
  }
  return kNone;
}

std::string_view Vocabulary::token(int32_t id) const {
  if (id < 0 || id >= end_id()) return {};
  int32_t entry = entry_of_id_[static_cast<size_t>(id)];
  return entry == kNone ? std::string_view() : tokens_[static_cast<size_t>(entry)];
}

}  // namespace axon::text
