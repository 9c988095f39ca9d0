// Byte pair encoding of one word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/vocabulary.h"
#include "support/result.h"

namespace axon::text {

class Bpe {
 public:
  // `spec` without its tokens, which `vocabulary` holds; both outlive this. Errors: TOK-FORMAT.
  static Result<Bpe> create(const ModelSpec& spec, const Vocabulary& vocabulary);
  // Appends the ids of a word. Equal words give equal ids.
  void encode(std::string_view word, const Vocabulary& vocabulary, std::vector<int32_t>& out) const;

 private:
  struct Rule {
    uint64_t pair = ~uint64_t{0};  // left id above right id
    uint32_t rank = 0;
    int32_t merged = 0;
  };
  struct Symbol {
    int32_t id;
    int32_t previous, next;  // positions, or -1
    bool alive;
  };
  void insert(const Rule& rule);
  const Rule* find(int32_t left, int32_t right) const;
  std::vector<Symbol> symbols_of(std::string_view word, const Vocabulary& vocabulary) const;
  bool add_bytes(std::string_view piece, const Vocabulary& vocabulary,
                 std::vector<Symbol>& out) const;
  void merge(std::vector<Symbol>& symbols) const;
  void merge_few(std::vector<Symbol>& symbols) const;

  std::vector<Rule> rules_;  // open addressing
  size_t mask_ = 0;
  int32_t unknown_ = Vocabulary::kNone;
  std::string continuing_prefix_, end_suffix_;
  bool fuse_unknown_ = false, byte_fallback_ = false, ignore_merges_ = false;
};

}  // namespace axon::text
