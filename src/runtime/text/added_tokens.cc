// Tokens that are cut out of a text before the model sees the rest.
#include "runtime/text/added_tokens.h"

#include <algorithm>

#include "runtime/text/unicode.h"
#include "support/text.h"

namespace axon::text {
namespace {

size_t previous_begin(std::string_view text, size_t pos) {
  do --pos;
  while (pos > 0 && (static_cast<uint8_t>(text[pos]) & 0xC0) == 0x80);
  return pos;
}

uint32_t code_before(std::string_view text, size_t pos) {
  size_t at = previous_begin(text, pos);
  return next_code_point(text, at);
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && contains(CharSet::Word, code_before(text, begin))) return true;
  if (end == text.size()) return false;
  return contains(CharSet::Word, next_code_point(text, end));
}

size_t blanks_before(std::string_view text, size_t pos) {
  while (pos > 0 && contains(CharSet::Whitespace, code_before(text, pos)))
    pos = previous_begin(text, pos);
  return pos;
}

size_t blanks_after(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    size_t next = pos;
    if (!contains(CharSet::Whitespace, next_code_point(text, next))) break;
    pos = next;
  }
  return pos;
}

}  // namespace

int32_t AddedTokenMatcher::step(int32_t node, uint8_t byte) const {
  for (auto [edge, target] : nodes_[static_cast<size_t>(node)].next) {
    if (edge == byte) return target;
  }
  return -1;
}

void AddedTokenMatcher::add(std::string_view text, int32_t id, const AddedToken& flags) {
  if (text.empty()) return;
  int32_t node = 0;
  for (char c : text) {
    int32_t next = step(node, static_cast<uint8_t>(c));
    if (next < 0) {
      next = static_cast<int32_t>(nodes_.size());
      nodes_[static_cast<size_t>(node)].next.emplace_back(static_cast<uint8_t>(c), next);
      nodes_.emplace_back();
    }
    node = next;
  }
  starts_[static_cast<uint8_t>(text[0])] = true;
  Node& end = nodes_[static_cast<size_t>(node)];
  if (end.token >= 0) return;
  end.token = static_cast<int32_t>(tokens_.size());
  tokens_.push_back({id, flags.single_word, flags.left_strip, flags.right_strip});
}

std::vector<Segment> AddedTokenMatcher::split(std::string_view text) const {
  std::vector<Segment> out;
  size_t covered = 0;
  for (size_t pos = 0; pos < text.size();) {
    if (!starts_[static_cast<uint8_t>(text[pos])]) {
      ++pos;
      continue;
    }
    int32_t found = -1;
    size_t found_end = pos;
    int32_t node = 0;
    for (size_t at = pos; at < text.size(); ++at) {
      node = step(node, static_cast<uint8_t>(text[at]));
      if (node < 0) break;
      if (nodes_[static_cast<size_t>(node)].token < 0) continue;
      found = nodes_[static_cast<size_t>(node)].token;
      found_end = at + 1;
    }
    if (found < 0) {
      ++pos;
      continue;
    }
    const Token& token = tokens_[static_cast<size_t>(found)];
    size_t begin = pos, end = found_end;
    pos = found_end;
    if (token.single_word && touches_word(text, begin, end)) continue;
    if (token.left_strip) begin = std::max(blanks_before(text, begin), covered);
    if (token.right_strip) end = blanks_after(text, end);
    if (covered < begin) out.push_back({covered, begin, -1});
    if (begin < end) out.push_back({begin, end, token.id});
    covered = end;
  }
  if (covered < text.size()) out.push_back({covered, text.size(), -1});
  return out;
}

}  // namespace axon::text
