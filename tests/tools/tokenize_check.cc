// Compares a tokenizer with recorded results: tokenize_check TOKENIZER EXPECTED, where TOKENIZER is
// a tokenizer.json, a checkpoint directory or a .gguf file and EXPECTED comes from
// tokenizer_corpus.py.
#include <cstdio>
#include <cstring>
#include <ctime>

#include "runtime/formats/tokenizer_source.h"
#include "runtime/text/stream_decoder.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/tokenizer_json.h"
#include "support/file.h"
#include "support/text.h"

namespace {

using axon::text::ShowSpecial;
using axon::text::SpecialTokens;
using axon::text::Tokenizer;

constexpr int kShown = 12;  // mismatches printed in full

class Records {
 public:
  explicit Records(std::string bytes) : bytes_(std::move(bytes)) {}
  bool good() const { return good_; }
  uint32_t number() {
    uint32_t value = 0;
    take(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string out(number(), '\0');
    take(out.data(), out.size());
    return out;
  }
  std::vector<int32_t> ids() {
    std::vector<int32_t> out(number());
    take(out.data(), out.size() * sizeof(int32_t));
    return out;
  }

 private:
  void take(void* to, size_t size) {
    good_ = good_ && size <= bytes_.size() - pos_;
    if (!good_ || size == 0) return;
    std::memcpy(to, bytes_.data() + pos_, size);
    pos_ += size;
  }
  std::string bytes_;
  size_t pos_ = 0;
  bool good_ = true;
};

axon::Result<axon::text::TokenizerSpec> load(const std::string& path) {
  if (axon::ends_with(path, ".json")) {
    AXON_TRY(std::string bytes, axon::read_file(path));
    return axon::text::parse_tokenizer_json(bytes, path);
  }
  AXON_TRY(axon::formats::Checkpoint checkpoint, axon::formats::open_checkpoint(path));
  return axon::formats::load_tokenizer(checkpoint);
}

std::string show(const std::vector<int32_t>& ids) {
  std::string out;
  for (int32_t id : ids) out += (out.empty() ? "" : " ") + std::to_string(id);
  return out;
}

std::string show(const std::string& text) {
  std::string out;
  for (char c : text) {
    char hex[8];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '\\' && static_cast<uint8_t>(c) < 0x7F) {
      out += c;
    } else {
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<uint8_t>(c));
      out += hex;
    }
  }
  return out;
}

class Checker {
 public:
  explicit Checker(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  int mismatches() const { return mismatches_; }

  void check(Records& records) {
    std::string text = records.text();
    std::vector<int32_t> full = records.ids(), bare = records.ids();
    std::string plain = records.text(), shown = records.text();
    if (!records.good()) return;
    compare("ids", text, full, encode(text, SpecialTokens::Add));
    compare("ids without special tokens", text, bare, encode(text, SpecialTokens::Omit));
    compare("text", text, plain, tokenizer_.decode(full));
    compare("text with special tokens", text, shown, tokenizer_.decode(full, ShowSpecial::Yes));
    compare("streamed text", text, plain, stream(full));
  }

 private:
  std::vector<int32_t> encode(const std::string& text, SpecialTokens special) {
    auto ids = tokenizer_.encode(text, special);
    if (ids) return *ids;
    std::printf("%s\n", ids.error().message.c_str());
    return {};
  }

  std::string stream(const std::vector<int32_t>& ids) {
    axon::text::StreamDecoder decoder(tokenizer_, {});
    std::string out;
    for (int32_t id : ids) {
      std::string_view piece = decoder.push(id);
      if (axon::find_invalid_utf8(piece) != piece.npos) out += "<split character>";
      out += piece;
    }
    return out += decoder.finish();
  }

  template <class T>
  void compare(const char* what, const std::string& text, const T& want, const T& got) {
    if (want == got) return;
    if (mismatches_++ >= kShown) return;
    std::printf("%s differ for `%s`\n  expected %s\n  found    %s\n", what, show(text).c_str(),
                show(want).c_str(), show(got).c_str());
  }

  const Tokenizer& tokenizer_;
  int mismatches_ = 0;
};

// Processor time: other load does not count.
double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: tokenize_check TOKENIZER EXPECTED\n");
    return 2;
  }
  auto bytes = axon::read_file(argv[2]);
  if (!bytes || bytes->size() < 8 || std::memcmp(bytes->data(), "AXTK", 4) != 0) {
    std::fprintf(stderr, "`%s` cannot be read as expected results\n", argv[2]);
    return 3;
  }
  std::clock_t begin = std::clock();
  auto spec = load(argv[1]);
  if (!spec) {
    std::fprintf(stderr, "%s: %s\n", spec.error().code.c_str(), spec.error().message.c_str());
    return 3;
  }
  double parse_s = seconds_since(begin);
  auto tokenizer = Tokenizer::create(std::move(*spec));
  if (!tokenizer) {
    std::fprintf(stderr, "%s: %s\n", tokenizer.error().code.c_str(),
                 tokenizer.error().message.c_str());
    return 3;
  }
  double load_s = seconds_since(begin);
  Records records(bytes->substr(4));
  uint32_t count = records.number();
  Checker checker(*tokenizer);
  for (uint32_t i = 0; i < count && records.good(); ++i) checker.check(records);
  std::printf("%u strings, %d mismatches, read in %.1f ms, loaded in %.1f ms, compared in %.2f s\n",
              count, checker.mismatches(), 1000 * parse_s, 1000 * load_s,
              seconds_since(begin) - load_s);
  return checker.mismatches() == 0 && records.good() ? 0 : 1;
}
