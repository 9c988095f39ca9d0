// Turns ids into text piece by piece: whole characters only, and nothing of a stop string.
#include "runtime/text/stream_decoder.h"

#include <algorithm>

#include "runtime/text/unicode.h"
#include "support/text.h"

namespace axon::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the longest end of `text` that is a proper beginning of `stop`.
size_t overlap(std::string_view text, std::string_view stop) {
  size_t limit = std::min(text.size(), stop.size() - 1);
  for (size_t size = limit; size > 0; --size) {
    if (text.substr(text.size() - size) == stop.substr(0, size)) return size;
  }
  return 0;
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, Options options)
    : tokenizer_(&tokenizer), options_(std::move(options)) {
  cut_.reserve(options_.reserve);
  held_.reserve(options_.reserve);
  piece_.reserve(options_.reserve);
}

// Adds a token's bytes to the text, keeping back a character that they leave incomplete.
void StreamDecoder::append_bytes(int32_t id) {
  tokenizer_->append_bytes(id, cut_);
  size_t whole = whole_prefix(cut_);
  std::string_view ready = std::string_view(cut_).substr(0, whole);
  if (find_invalid_utf8(ready) == ready.npos) {
    held_ += ready;
  } else {
    held_ += well_formed(ready);
  }
  cut_.erase(0, whole);
}

// Decoders whose tokens depend on their neighbours: new text is what ids add to that of the ids
// before them. It is taken unless it ends in a replacement character, which the next id may mend.
void StreamDecoder::append_window(int32_t id, bool last) {
  if (!last) window_.push_back(id);
  std::string text = tokenizer_->decode(window_, options_.show);
  bool open = !last && ends_with(text, kReplacement);
  if (open || text.size() <= shown_.size() || !starts_with(text, shown_)) return;
  held_ += std::string_view(text).substr(shown_.size());
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(context_));
  context_ = window_.size();
  shown_ = tokenizer_->decode(window_, options_.show);
}

std::string_view StreamDecoder::release(bool last) {
  size_t keep = 0, stop_at = held_.npos;
  for (size_t i = 0; i < options_.stops.size(); ++i) {
    const std::string& stop = options_.stops[i];
    if (stop.empty()) continue;
    size_t at = held_.find(stop);
    if (at < stop_at) {
      stop_at = at;
      stopped_by_ = static_cast<int>(i);
    }
    if (!last) keep = std::max(keep, overlap(held_, stop));
  }
  size_t give = stop_at != held_.npos ? stop_at : held_.size() - keep;
  piece_.assign(held_, 0, give);
  held_.erase(0, give);
  return piece_;
}

std::string_view StreamDecoder::push(int32_t id) {
  if (stopped_by_ >= 0) return {};
  if (!tokenizer_->decodes_by_bytes()) {
    append_window(id, false);
  } else if (options_.show == ShowSpecial::Yes || !tokenizer_->is_special(id)) {
    append_bytes(id);
  }
  return release(false);
}

std::string_view StreamDecoder::finish() {
  if (stopped_by_ >= 0) return {};
  if (!tokenizer_->decodes_by_bytes()) append_window(-1, true);
  if (!cut_.empty()) {
    held_ += well_formed(cut_);
    cut_.clear();
  }
  return release(true);
}

}  // namespace axon::text
