// Compares the keys of a program with those of the zoo.
#include "driver/config_keys.h"

#include <algorithm>
#include <set>

#include "driver/library.h"
#include "support/text.h"

namespace axon::driver {
namespace {

bool in_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// What stands behind `Config.KIND` as a path: `Config.dim @@a.b` and `Config.int@a.b`.
void add_keys(std::string_view text, std::set<std::string>& out) {
  constexpr std::string_view kCall = "Config.";
  for (size_t at = text.find(kCall); at != text.npos; at = text.find(kCall, at)) {
    at += kCall.size();
    while (at < text.size() && in_key(text[at])) ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    size_t begin = at;
    while (begin < text.size() && text[begin] == '@') ++begin;
    size_t end = begin;
    while (end < text.size() && in_key(text[end])) ++end;
    if (begin > at && end > begin) out.emplace(text.substr(begin, end - begin));
  }
}

// `rope.factor_of` is `rope`, `.factor`, `_of`.
std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> out(1);
  for (char c : key) {
    if (c == '_' || c == '.') out.emplace_back();
    out.back() += c;
  }
  return out;
}

std::string_view bare(std::string_view word) {
  bool joined = !word.empty() && (word[0] == '_' || word[0] == '.');
  return joined ? word.substr(1) : word;
}

// One letter too many, too few, another one or two that changed places; plurals are words too.
bool is_slip(std::string_view word, std::string_view known) {
  constexpr size_t kLong = 5;
  auto plural = [](std::string_view one, std::string_view many) {
    return many.size() == one.size() + 1 && starts_with(many, one) && many.back() == 's';
  };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  bool comparable = known.size() >= kLong && !word.empty() && word[0] == known[0] &&
                    std::none_of(word.begin(), word.end(), digit) &&
                    std::none_of(known.begin(), known.end(), digit);
  return comparable && !plural(word, known) && !plural(known, word) &&
         edit_distance(word, known) == 1;
}

}  // namespace

void warn_misspelt_keys(Frontend& f) {
  if (f.materialized->config_reads.empty()) return;
  std::set<std::string> known, words, seen;
  for (std::string_view text : zoo_texts()) add_keys(text, known);
  for (const std::string& key : known) {
    for (const std::string& word : words_of(key)) words.emplace(bare(word));
  }
  for (const sema::ConfigRead& read : f.materialized->config_reads) {
    if (known.count(read.key) || !seen.insert(read.key).second) continue;
    const std::vector<std::string> own = words_of(read.key);
    for (const std::string& key : known) {
      const std::vector<std::string> other = words_of(key);
      if (other.size() != own.size()) continue;
      auto [a, b] = std::mismatch(own.begin(), own.end(), other.begin());
      bool slip = a != own.end() && std::equal(a + 1, own.end(), b + 1) &&
                  a->substr(0, 1) == b->substr(0, 1) && !words.count(std::string(bare(*a))) &&
                  is_slip(bare(*a), bare(*b));
      if (!slip) continue;
      f.session->sink.report(Diag::WConfigKey, read.span, {read.key})
          .note(Note::NoteDidYouMean, read.span, {"`" + key + "`"});
      break;
    }
  }
}

}  // namespace axon::driver
