// Text to token ids and back, as the checkpoint's own tokenizer does it.
#include "runtime/text/tokenizer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "runtime/text/added_tokens.h"
#include "runtime/text/bpe.h"
#include "runtime/text/normalize.h"
#include "runtime/text/pre_tokenize.h"
#include "runtime/text/token_decoder.h"
#include "runtime/text/unicode.h"
#include "runtime/text/vocabulary.h"
#include "runtime/text/word_piece.h"
#include "support/text.h"

namespace axon::text {
namespace {

// Words repeat; what is kept is bounded in number and length.
constexpr size_t kCacheWords = 16384, kCacheWordBytes = 64;

struct Added {
  AddedToken token;
  std::string shown;  // what decoders see: the normalized form of tokens that are looked for in it
};

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash_text(text); }
};

}  // namespace

struct Tokenizer::Impl {
  Impl(Normalizer n, PreTokenizer p, TokenDecoder d, Vocabulary v)
      : normalizer(std::move(n)),
        pre_tokenizer(std::move(p)),
        decoder(std::move(d)),
        vocabulary(std::move(v)) {}

  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  TokenDecoder decoder;
  Vocabulary vocabulary;
  std::optional<Bpe> bpe;
  std::optional<WordPiece> word_piece;
  AddedTokenMatcher raw_tokens, normalized_tokens;
  std::map<int32_t, Added> added;
  std::unordered_map<std::string, int32_t> added_ids;
  std::unordered_set<std::string> special_texts;
  std::vector<int32_t> prefix_ids, suffix_ids;

  std::mutex mutex;  // guards patterns and the cache
  std::unordered_map<std::string, std::vector<int32_t>, TextHash, std::equal_to<>> cache;

  Result<void> add_tokens(const std::vector<AddedToken>& tokens);
  Result<void> fill_matchers();
  void encode_word(std::string_view word, std::vector<int32_t>& out);
  Result<void> encode_plain(std::string_view text, std::vector<int32_t>& out);
  Result<void> encode_between(std::string_view text, std::vector<int32_t>& out);
  std::optional<std::string_view> shown(int32_t id) const;
};

// Ids of added tokens follow from the vocabulary and their order, not from what a file says.
Result<void> Tokenizer::Impl::add_tokens(const std::vector<AddedToken>& tokens) {
  auto size = static_cast<int32_t>(vocabulary.size());
  int32_t next = size;
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    int32_t id = Vocabulary::kNone;
    auto known = added_ids.find(token.content);
    id = known != added_ids.end() ? known->second : vocabulary.find(token.content);
    if (id < 0) id = next++;
    Added entry{token, token.content};
    if (token.normalized) {
      AXON_TRY(entry.shown, normalizer.apply(token.content));
    }
    added_ids[token.content] = id;
    if (token.special) special_texts.insert(token.content);
    added.insert_or_assign(id, std::move(entry));
  }
  return {};
}

Result<void> Tokenizer::Impl::fill_matchers() {
  for (const auto& [id, entry] : added) {
    if (entry.token.normalized) {
      normalized_tokens.add(entry.shown, id, entry.token);
    } else {
      raw_tokens.add(entry.token.content, id, entry.token);
    }
  }
  return {};
}

std::optional<std::string_view> Tokenizer::Impl::shown(int32_t id) const {
  auto found = added.find(id);
  if (found != added.end()) return found->second.shown;
  std::string_view token = vocabulary.token(id);
  if (!token.data()) return {};
  return token;
}

void Tokenizer::Impl::encode_word(std::string_view word, std::vector<int32_t>& out) {
  bool keep = word.size() <= kCacheWordBytes;
  if (keep) {
    auto found = cache.find(word);
    if (found != cache.end()) {
      out.insert(out.end(), found->second.begin(), found->second.end());
      return;
    }
  }
  size_t before = out.size();
  if (bpe) bpe->encode(word, vocabulary, out);
  if (word_piece) word_piece->encode(word, vocabulary, out);
  if (keep && cache.size() < kCacheWords) {
    cache.emplace(
        word, std::vector<int32_t>(out.begin() + static_cast<std::ptrdiff_t>(before), out.end()));
  }
}

Result<void> Tokenizer::Impl::encode_plain(std::string_view text, std::vector<int32_t>& out) {
  return pre_tokenizer.run(text, [&](std::string_view word) { encode_word(word, out); });
}

// Text without raw added tokens: normalized as a whole, then searched for the normalized ones.
Result<void> Tokenizer::Impl::encode_between(std::string_view text, std::vector<int32_t>& out) {
  std::string normalized;
  if (!normalizer.empty()) {
    AXON_TRY(normalized, normalizer.apply(text));
    text = normalized;
  }
  if (normalized_tokens.empty()) return encode_plain(text, out);
  for (const Segment& segment : normalized_tokens.split(text)) {
    if (segment.id >= 0) {
      out.push_back(segment.id);
    } else {
      AXON_TRY_VOID(encode_plain(text.substr(segment.begin, segment.end - segment.begin), out));
    }
  }
  return {};
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::create(TokenizerSpec spec) {
  AXON_TRY(Normalizer normalizer, Normalizer::create(std::move(spec.normalizers)));
  AXON_TRY(PreTokenizer pre_tokenizer, PreTokenizer::create(std::move(spec.pre_tokenizers)));
  AXON_TRY(TokenDecoder decoder, TokenDecoder::create(std::move(spec.decoders)));
  Vocabulary vocabulary(std::move(spec.model.tokens), std::move(spec.model.ids));
  auto impl = std::make_unique<Impl>(std::move(normalizer), std::move(pre_tokenizer),
                                     std::move(decoder), std::move(vocabulary));
  if (spec.model.kind == ModelKind::Bpe) {
    AXON_TRY(impl->bpe, Bpe::create(spec.model, impl->vocabulary));
  } else {
    AXON_TRY(impl->word_piece, WordPiece::create(spec.model, impl->vocabulary));
  }
  AXON_TRY_VOID(impl->add_tokens(spec.added));
  AXON_TRY_VOID(impl->fill_matchers());
  impl->prefix_ids = std::move(spec.prefix_ids);
  impl->suffix_ids = std::move(spec.suffix_ids);
  return Tokenizer(std::move(impl));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  std::lock_guard lock(impl_->mutex);
  std::string repaired;
  if (find_invalid_utf8(text) != text.npos) {
    repaired = well_formed(text);
    text = repaired;
  }
  std::vector<int32_t> out;
  if (special == SpecialTokens::Add) out = impl_->prefix_ids;
  for (const Segment& segment : impl_->raw_tokens.split(text)) {
    if (segment.id >= 0) {
      out.push_back(segment.id);
    } else {
      AXON_TRY_VOID(
          impl_->encode_between(text.substr(segment.begin, segment.end - segment.begin), out));
    }
  }
  if (special == SpecialTokens::Add)
    out.insert(out.end(), impl_->suffix_ids.begin(), impl_->suffix_ids.end());
  return out;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, ShowSpecial show) const {
  std::vector<std::string> tokens;
  for (int32_t id : ids) {
    auto shown = impl_->shown(id);
    if (shown && (show == ShowSpecial::Yes || !is_special(id))) tokens.emplace_back(*shown);
  }
  std::lock_guard lock(impl_->mutex);
  return impl_->decoder.decode(std::move(tokens));
}

int32_t Tokenizer::end_id() const {
  int32_t end = impl_->vocabulary.end_id();
  return impl_->added.empty() ? end : std::max(end, impl_->added.rbegin()->first + 1);
}

std::optional<int32_t> Tokenizer::id_of(std::string_view token) const {
  auto found = impl_->added_ids.find(std::string(token));
  if (found != impl_->added_ids.end()) return found->second;
  int32_t id = impl_->vocabulary.find(token);
  if (id < 0) return {};
  return id;
}

std::optional<std::string> Tokenizer::token_of(int32_t id) const {
  auto found = impl_->added.find(id);
  if (found != impl_->added.end()) return found->second.token.content;
  std::string_view token = impl_->vocabulary.token(id);
  if (!token.data()) return {};
  return std::string(token);
}

bool Tokenizer::is_special(int32_t id) const {
  if (impl_->special_texts.empty()) return false;
  auto found = impl_->added.find(id);
  return found != impl_->added.end() && impl_->special_texts.count(found->second.shown) > 0;
}

bool Tokenizer::decodes_by_bytes() const { return impl_->decoder.by_bytes(); }

void Tokenizer::append_bytes(int32_t id, std::string& out) const {
  if (auto shown = impl_->shown(id)) impl_->decoder.append_bytes(*shown, out);
}

}  // namespace axon::text
