// Turns token texts back into text.
#include "runtime/text/token_decoder.h"

#include <algorithm>
#include <charconv>

#include "runtime/text/unicode.h"
#include "support/text.h"

namespace axon::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A token whose characters all stand for bytes gives these, any other its own bytes.
void byte_level(std::string_view token, std::string& out) {
  const size_t before = out.size();
  bool all = true;
  for_each_code_point(token, [&](uint32_t code, size_t, size_t) {
    int byte = byte_of_char(code);
    all &= byte >= 0;
    out += static_cast<char>(byte);
  });
  if (all) return;
  out.resize(before);
  out += token;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t begin = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, begin)) {
    out += text.substr(begin, at - begin);
    out += to;
    begin = at + from.size();
  }
  return out += text.substr(begin);
}

// Takes back the blanks that word tokenizers leave around English punctuation.
std::string clean_up(std::string text) {
  constexpr std::string_view kRows[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& row : kRows) text = replace_all(text, row[0], row[1]);
  return text;
}

void word_piece(const DecoderStep& step, std::vector<std::string>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string& token = tokens[i];
    if (i > 0) token = starts_with(token, step.text) ? token.substr(step.text.size()) : " " + token;
    if (step.cleanup) token = clean_up(std::move(token));
  }
}

std::string strip(const DecoderStep& step, std::string_view token) {
  auto cut = [&](bool front, size_t limit) {
    for (size_t i = 0; i < limit && !step.text.empty(); ++i) {
      bool there = front ? starts_with(token, step.text) : ends_with(token, step.text);
      if (!there) return;
      if (front)
        token.remove_prefix(step.text.size());
      else
        token.remove_suffix(step.text.size());
    }
  };
  cut(true, step.start);
  cut(false, step.stop);
  return std::string(token);
}

// `<0xHH>`: a byte; -1 for anything else.
int byte_token(std::string_view token) {
  if (token.size() != 6 || !starts_with(token, "<0x") || token[5] != '>') return -1;
  int byte = 0;
  auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  return error == std::errc() && end == token.data() + 5 && token[3] != '-' ? byte : -1;
}

// Runs of byte tokens become text, or one replacement character a byte when they are not UTF-8.
std::vector<std::string> byte_fallback(std::vector<std::string> tokens) {
  std::vector<std::string> out;
  std::string bytes;
  auto flush = [&] {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes) == bytes.npos) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), std::string(kReplacement));
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    int byte = byte_token(token);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
    } else {
      flush();
      out.push_back(std::move(token));
    }
  }
  flush();
  return out;
}

std::string replace(const Pattern& pattern, const std::string& content, const std::string& token) {
  auto matches = pattern.find_all(token);
  if (!matches) return token;  // a search over one token gives up only on patterns that no file has
  std::string out;
  size_t begin = 0;
  for (const Match& match : *matches) {
    out.append(token, begin, match.begin - begin);
    out += content;
    begin = match.end;
  }
  return out.append(token, begin);
}

}  // namespace

Result<TokenDecoder> TokenDecoder::create(std::vector<DecoderStep> steps) {
  TokenDecoder out;
  for (DecoderStep& spec : steps) {
    Step step;
    if (spec.kind == DecoderKind::Replace) {
      AXON_TRY(step.pattern, Pattern::compile(spec.pattern));
    }
    step.spec = std::move(spec);
    out.steps_.push_back(std::move(step));
  }
  return out;
}

bool TokenDecoder::by_bytes() const {
  return steps_.size() == 1 && steps_[0].spec.kind == DecoderKind::ByteLevel;
}

void TokenDecoder::append_bytes(std::string_view token, std::string& out) const {
  byte_level(token, out);
}

std::string TokenDecoder::decode(std::vector<std::string> tokens) const {
  if (steps_.empty()) return join(tokens, " ");
  for (const Step& step : steps_) {
    switch (step.spec.kind) {
      case DecoderKind::ByteLevel: {
        std::string bytes;
        for (const std::string& token : tokens) byte_level(token, bytes);
        tokens = {well_formed(bytes)};
        break;
      }
      case DecoderKind::WordPiece:
        word_piece(step.spec, tokens);
        break;
      case DecoderKind::Replace:
        for (std::string& token : tokens) token = replace(*step.pattern, step.spec.text, token);
        break;
      case DecoderKind::Fuse:
        tokens = {join(tokens, "")};
        break;
      case DecoderKind::Strip:
        for (std::string& token : tokens) token = strip(step.spec, token);
        break;
      case DecoderKind::ByteFallback:
        tokens = byte_fallback(std::move(tokens));
        break;
    }
  }
  return join(tokens, "");
}

}  // namespace axon::text
