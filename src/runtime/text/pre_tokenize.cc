// Cuts a normalized text into the words that the model sees one at a time.
#include "runtime/text/pre_tokenize.h"

#include <algorithm>

#include "runtime/text/unicode.h"

namespace axon::text {
namespace {

// What byte-level pre-tokenizers cut with: contractions, then runs of letters, of digits and of the
// rest, each with at most one blank before it; blanks before a word leave their last one to it.
constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct Part {
  size_t begin, end;
  bool match;
};

// Covers the text: matches, and what lies between them.
std::vector<Part> cover(const std::vector<Match>& matches, size_t size, bool invert) {
  std::vector<Part> out;
  size_t begin = 0;
  for (const Match& match : matches) {
    if (begin != match.begin) out.push_back({begin, match.begin, invert});
    out.push_back({match.begin, match.end, !invert});
    begin = match.end;
  }
  if (begin != size) out.push_back({begin, size, invert});
  return out;
}

// Joins parts from left to right: one that `joins` (given it and whether the last was a match)
// extends the part before it.
template <class Joins>
std::vector<Match> join_parts(const std::vector<Part>& parts, Joins joins) {
  std::vector<Match> out;
  bool last = false;
  for (const Part& part : parts) {
    if (!out.empty() && joins(part.match, last)) {
      out.back().end = part.end;
    } else {
      out.push_back({part.begin, part.end});
    }
    last = part.match;
  }
  return out;
}

std::vector<Match> merge_with_next(const std::vector<Part>& parts) {
  std::vector<Match> out;
  bool last = false;
  for (size_t i = parts.size(); i-- > 0;) {
    const Part& part = parts[i];
    if (part.match && !last && !out.empty()) {
      out.back().begin = part.begin;
    } else {
      out.push_back({part.begin, part.end});
    }
    last = part.match;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Match> arrange(const std::vector<Part>& parts, SplitBehavior behavior) {
  std::vector<Match> out;
  switch (behavior) {
    case SplitBehavior::Removed:
      for (const Part& part : parts) {
        if (!part.match) out.push_back({part.begin, part.end});
      }
      return out;
    case SplitBehavior::Isolated:
      for (const Part& part : parts) out.push_back({part.begin, part.end});
      return out;
    case SplitBehavior::Contiguous:
      return join_parts(parts, [](bool now, bool last) { return now == last; });
    case SplitBehavior::MergedWithPrevious:
      return join_parts(parts, [](bool now, bool last) { return now && !last; });
    case SplitBehavior::MergedWithNext:
      return merge_with_next(parts);
  }
  AXON_UNREACHABLE("split behavior");
}

// Every code point of the set is a match by itself.
std::vector<Match> members(std::string_view text, CharSet set) {
  std::vector<Match> out;
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    if (contains(set, code)) out.push_back({at, end});
  });
  return out;
}

std::vector<Match> split_by(std::string_view text, CharSet set, SplitBehavior behavior) {
  return arrange(cover(members(text, set), text.size(), false), behavior);
}

// Runs of word characters, and runs of what is neither that nor blank.
std::vector<Match> words_and_signs(std::string_view text) {
  std::vector<Match> out;
  int last = 0;
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    int now = contains(CharSet::Word, code) ? 1 : contains(CharSet::Whitespace, code) ? 0 : 2;
    if (now && now == last) {
      out.back().end = end;
    } else if (now) {
      out.push_back({at, end});
    }
    last = now;
  });
  return out;
}

std::vector<Match> bert_words(std::string_view text) {
  std::vector<Match> out;
  for (const Match& word : split_by(text, CharSet::Whitespace, SplitBehavior::Removed)) {
    std::string_view piece = text.substr(word.begin, word.end - word.begin);
    for (const Match& part : split_by(piece, CharSet::Punctuation, SplitBehavior::Isolated)) {
      out.push_back({word.begin + part.begin, word.begin + part.end});
    }
  }
  return out;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::create(std::vector<PreTokenizerStep> steps) {
  PreTokenizer out;
  for (PreTokenizerStep& spec : steps) {
    Step step;
    if (spec.kind == PreTokenizerKind::Split) {
      AXON_TRY(step.pattern, Pattern::compile(spec.pattern));
    }
    if (spec.kind == PreTokenizerKind::ByteLevel && spec.use_regex) {
      AXON_TRY(step.pattern, Pattern::compile({kByteLevelPattern, true}));
    }
    step.spec = std::move(spec);
    out.steps_.push_back(std::move(step));
  }
  return out;
}

Result<void> PreTokenizer::run(std::string_view text,
                               function_ref<void(std::string_view)> word) const {
  return run_step(0, text, word);
}

Result<void> PreTokenizer::run_parts(size_t step, std::string_view text,
                                     const std::vector<Match>& parts,
                                     function_ref<void(std::string_view)> word) const {
  for (const Match& part : parts)
    AXON_TRY_VOID(run_step(step, text.substr(part.begin, part.end - part.begin), word));
  return {};
}

Result<void> PreTokenizer::run_step(size_t at, std::string_view text,
                                    function_ref<void(std::string_view)> word) const {
  if (text.empty()) return {};
  if (at == steps_.size()) {
    word(text);
    return {};
  }
  const PreTokenizerStep& spec = steps_[at].spec;
  switch (spec.kind) {
    case PreTokenizerKind::Split: {
      AXON_TRY(std::vector<Match> matches, steps_[at].pattern->find_all(text));
      return run_parts(at + 1, text,
                       arrange(cover(matches, text.size(), spec.invert), spec.behavior), word);
    }
    case PreTokenizerKind::ByteLevel:
      return run_byte_level(at, text, word);
    case PreTokenizerKind::Whitespace:
      return run_parts(at + 1, text, words_and_signs(text), word);
    case PreTokenizerKind::WhitespaceSplit:
      return run_parts(at + 1, text, split_by(text, CharSet::Whitespace, SplitBehavior::Removed),
                       word);
    case PreTokenizerKind::Bert:
      return run_parts(at + 1, text, bert_words(text), word);
    case PreTokenizerKind::Digits: {
      SplitBehavior behavior =
          spec.individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous;
      return run_parts(at + 1, text, split_by(text, CharSet::Numeric, behavior), word);
    }
    case PreTokenizerKind::Punctuation:
      return run_parts(at + 1, text, split_by(text, CharSet::Punctuation, spec.behavior), word);
  }
  AXON_UNREACHABLE("pre-tokenizer");
}

Result<void> PreTokenizer::run_byte_level(size_t at, std::string_view text,
                                          function_ref<void(std::string_view)> word) const {
  const Step& step = steps_[at];
  std::string prefixed;
  if (step.spec.add_prefix_space && text[0] != ' ') {
    prefixed = " ";
    prefixed += text;
    text = prefixed;
  }
  std::vector<Match> parts{{0, text.size()}};
  if (step.pattern) {
    AXON_TRY(std::vector<Match> matches, step.pattern->find_all(text));
    parts = arrange(cover(matches, text.size(), false), SplitBehavior::Isolated);
  }
  std::string mapped;
  for (const Match& part : parts) {
    mapped.clear();
    for (size_t i = part.begin; i < part.end; ++i)
      append_byte_char(mapped, static_cast<uint8_t>(text[i]));
    AXON_TRY_VOID(run_step(at + 1, mapped, word));
  }
  return {};
}

}  // namespace axon::text
