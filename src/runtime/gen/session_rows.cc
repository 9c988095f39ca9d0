// Cutting, copying and saving of what a session remembers.
#include <algorithm>
#include <utility>

#include "runtime/gen/session.h"

namespace axon::runtime {

Result<void> Session::truncate(int64_t length) {
  if (length < 0 || length > length_) {
    return Error{"RUN-VALUE", "a session of " + std::to_string(length_) +
                                  " positions cannot be cut to " + std::to_string(length)};
  }
  if (length == length_) return {};
  if (length == 0 && !encodes_) {
    reset();
    return {};
  }
  if (!states_.all_token()) {
    return Error{"RUN-VALUE", "the program has states that are not per token and cannot be cut"};
  }
  for (size_t s = 0; s < scalars_.size(); ++s) {
    if (advances_[s] != 0) scalars_[s] = length;
  }
  masked_ = always_masked();
  for (int64_t row = 0; row < options_.rows; ++row) {
    states_.truncate(row, length);
    const auto begin = mask_.begin() + row * options_.capacity;
    masked_ = masked_ || std::find(begin, begin + length, 0) != begin + length;
    std::fill(begin + length, begin + options_.capacity, 0);
  }
  forget_cache();
  if (!cached_) {  // the history is kept row by row at the current length
    for (int64_t row = 0; row < options_.rows; ++row) {
      std::copy_n(ids_.begin() + row * length_, length, ids_.begin() + row * length);
    }
  }
  length_ = length;
  return {};
}

void Session::reorder(const std::vector<int64_t>& perm) {
  states_.reorder(perm, length_);
  forget_cache();
  const std::vector<uint8_t> mask = mask_;
  const std::vector<float> logits = logits_;
  const std::vector<int64_t> ids = ids_;
  for (size_t row = 0; row < perm.size(); ++row) {
    const auto from = static_cast<size_t>(perm[row]);
    const auto capacity = static_cast<size_t>(options_.capacity),
               width = static_cast<size_t>(vocabulary_);
    std::copy_n(mask.begin() + static_cast<int64_t>(from * capacity), capacity,
                mask_.begin() + static_cast<int64_t>(row * capacity));
    std::copy_n(logits.begin() + static_cast<int64_t>(from * width), width,
                logits_.begin() + static_cast<int64_t>(row * width));
    if (cached_) continue;
    std::copy_n(ids.begin() + static_cast<int64_t>(from) * length_, length_,
                ids_.begin() + static_cast<int64_t>(row) * length_);
  }
}

void Session::fork(int64_t from, int64_t to) {
  std::vector<int64_t> perm(static_cast<size_t>(options_.rows));
  for (int64_t row = 0; row < options_.rows; ++row)
    perm[static_cast<size_t>(row)] = row == to ? from : row;
  reorder(perm);
}

SavedRow Session::save(int64_t row) const {
  SavedRow saved;
  saved.stores = states_.save(row, length_);
  const auto begin = mask_.begin() + row * options_.capacity;
  saved.mask.assign(begin, begin + length_);
  saved.scalars = scalars_;
  saved.length = length_;
  saved.encoded = encoded_;
  saved.padded = source_padded_;
  return saved;
}

Result<void> Session::restore(int64_t row, const SavedRow& saved) {
  const bool fits = saved.length <= options_.capacity && saved.scalars.size() == scalars_.size() &&
                    static_cast<int64_t>(saved.mask.size()) == saved.length && cached_ &&
                    (options_.rows == 1 || (saved.length == length_ && saved.encoded == encoded_ &&
                                            saved.padded == source_padded_));
  if (!fits) return Error{"FILE-FORMAT", "saved state does not fit this session"};
  AXON_TRY_VOID(states_.restore(row, saved.stores));
  scalars_ = saved.scalars;
  for (size_t s = 0; s < scalars_.size(); ++s) advances_[s] = scalars_[s] == saved.length ? 1 : 0;
  length_ = saved.length;
  encoded_ = saved.encoded;
  source_padded_ = saved.padded;
  const auto begin = mask_.begin() + row * options_.capacity;
  std::copy(saved.mask.begin(), saved.mask.end(), begin);
  std::fill(begin + saved.length, begin + options_.capacity, 0);
  masked_ = always_masked();
  for (int64_t r = 0; r < options_.rows; ++r) {
    const auto at = mask_.begin() + r * options_.capacity;
    masked_ = masked_ || std::find(at, at + length_, 0) != at + length_;
  }
  return {};
}

}  // namespace axon::runtime
