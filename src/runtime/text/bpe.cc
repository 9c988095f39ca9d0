// Byte pair encoding of one word.
#include "runtime/text/bpe.h"

#include <algorithm>
#include <queue>

namespace axon::text {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};

uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

uint64_t hash_pair(uint64_t pair) {
  uint64_t hash = pair * 0xD6E8FEB86659FD93ull;
  return hash ^ hash >> 32;
}

// A merge that waits: lower rank first, then further left.
struct Pending {
  uint32_t rank;
  int32_t position;
  int32_t merged;
  bool operator<(const Pending& other) const {  // std::priority_queue serves the largest
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

size_t code_point_size(char first) {
  auto byte = static_cast<uint8_t>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

Result<Bpe> Bpe::create(const ModelSpec& spec, const Vocabulary& vocabulary) {
  Bpe out;
  out.continuing_prefix_ = spec.continuing_prefix;
  out.end_suffix_ = spec.end_suffix;
  out.fuse_unknown_ = spec.fuse_unknown;
  out.byte_fallback_ = spec.byte_fallback;
  out.ignore_merges_ = spec.ignore_merges;
  auto fail = [](const std::string& what) {
    return Error{"TOK-FORMAT", "tokenizer: " + what, {}, -1, {}};
  };
  if (spec.unknown) {
    // Some files name an unknown token that they do not have, and never need it.
    out.unknown_ = vocabulary.find(*spec.unknown);
  }
  size_t count = spec.merges.size() / 2, capacity = 16;
  while (capacity < 2 * count) capacity *= 2;
  out.rules_.assign(capacity, Rule{});
  out.mask_ = capacity - 1;
  std::string joined;
  for (size_t rank = 0; rank < count; ++rank) {
    std::string_view left = spec.merges[2 * rank], right = spec.merges[2 * rank + 1];
    int32_t left_id = vocabulary.find(left), right_id = vocabulary.find(right);
    bool whole = right.size() >= out.continuing_prefix_.size();
    joined = left;
    if (whole) joined += right.substr(out.continuing_prefix_.size());
    int32_t merged = whole ? vocabulary.find(joined) : Vocabulary::kNone;
    if (left_id < 0 || right_id < 0 || merged < 0) {
      return fail("merge " + std::to_string(rank + 1) + " of `" + std::string(left) + "` and `" +
                  std::string(right) + "` uses a token that the vocabulary lacks");
    }
    out.insert({pair_key(left_id, right_id), static_cast<uint32_t>(rank), merged});
  }
  return out;
}

void Bpe::insert(const Rule& rule) {
  size_t slot = hash_pair(rule.pair) & mask_;
  while (rules_[slot].pair != kFree && rules_[slot].pair != rule.pair) slot = (slot + 1) & mask_;
  rules_[slot] = rule;
}

const Bpe::Rule* Bpe::find(int32_t left, int32_t right) const {
  uint64_t pair = pair_key(left, right);
  for (size_t slot = hash_pair(pair) & mask_; rules_[slot].pair != kFree;
       slot = (slot + 1) & mask_) {
    if (rules_[slot].pair == pair) return &rules_[slot];
  }
  return nullptr;
}

// The bytes of a piece as `<0xHH>` tokens; false when one of them is missing.
bool Bpe::add_bytes(std::string_view piece, const Vocabulary& vocabulary,
                    std::vector<Symbol>& out) const {
  constexpr char kDigits[] = "0123456789ABCDEF";
  size_t before = out.size();
  for (char c : piece) {
    auto byte = static_cast<uint8_t>(c);
    char name[] = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    int32_t id = vocabulary.find({name, sizeof name});
    if (id < 0) {
      out.resize(before);
      return false;
    }
    out.push_back({id, -1, -1, true});
  }
  return true;
}

std::vector<Bpe::Symbol> Bpe::symbols_of(std::string_view word,
                                         const Vocabulary& vocabulary) const {
  std::vector<Symbol> out;
  out.reserve(word.size());
  // An unknown piece is held back, so that the next may join it.
  bool waiting = false;
  auto flush = [&] {
    if (waiting) out.push_back({unknown_, -1, -1, true});
    waiting = false;
  };
  std::string decorated;
  for (size_t pos = 0; pos < word.size();) {
    size_t size = std::min(code_point_size(word[pos]), word.size() - pos);
    std::string_view piece = word.substr(pos, size);
    bool first = pos == 0, last = pos + size == word.size();
    pos += size;
    if ((!first && !continuing_prefix_.empty()) || (last && !end_suffix_.empty())) {
      decorated = first ? "" : continuing_prefix_;
      decorated += piece;
      if (last) decorated += end_suffix_;
      piece = decorated;
    }
    int32_t id = vocabulary.find(piece);
    if (id >= 0) {
      flush();
      out.push_back({id, -1, -1, true});
    } else if (byte_fallback_ && add_bytes(piece, vocabulary, out)) {
      continue;
    } else if (unknown_ >= 0) {
      if (!fuse_unknown_) flush();
      waiting = true;
    }
  }
  flush();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].previous = static_cast<int32_t>(i) - 1;
    out[i].next = i + 1 < out.size() ? static_cast<int32_t>(i) + 1 : -1;
  }
  return out;
}

// Short words: looking at every pair each round costs less than a queue.
void Bpe::merge_few(std::vector<Symbol>& symbols) const {
  while (true) {
    const Rule* best = nullptr;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Rule* rule = find(symbols[i].id, symbols[i + 1].id);
      if (rule && (!best || rule->rank < best->rank)) {
        best = rule;
        at = i;
      }
    }
    if (!best) return;
    symbols[at].id = best->merged;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

void Bpe::merge(std::vector<Symbol>& symbols) const {
  std::vector<Pending> first;
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (const Rule* rule = find(symbols[i].id, symbols[i + 1].id)) {
      first.push_back({rule->rank, static_cast<int32_t>(i), rule->merged});
    }
  }
  std::priority_queue<Pending> queue(std::less<Pending>(), std::move(first));
  auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const Rule* rule =
        find(symbols[static_cast<size_t>(left)].id, symbols[static_cast<size_t>(right)].id);
    if (rule) queue.push({rule->rank, left, rule->merged});
  };
  while (!queue.empty()) {
    Pending top = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<size_t>(top.position)];
    if (!left.alive || left.next < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    // The pair may have changed since it was queued.
    const Rule* rule = find(left.id, right.id);
    if (!rule || rule->merged != top.merged) continue;
    left.id = top.merged;
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = top.position;
    offer(left.previous, top.position);
    offer(top.position, left.next);
  }
}

void Bpe::encode(std::string_view word, const Vocabulary& vocabulary,
                 std::vector<int32_t>& out) const {
  if (ignore_merges_) {
    int32_t id = vocabulary.find(word);
    if (id >= 0) {
      out.push_back(id);
      return;
    }
  }
  std::vector<Symbol> symbols = symbols_of(word, vocabulary);
  constexpr size_t kFew = 24;
  if (symbols.size() <= kFew) {
    merge_few(symbols);
  } else {
    merge(symbols);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.alive) out.push_back(symbol.id);
  }
}

}  // namespace axon::text
