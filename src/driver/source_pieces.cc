// Cuts texts by their lines.
#include "driver/source_pieces.h"

#include <algorithm>

#include "support/text.h"

namespace axon::driver {
namespace {

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_word(char c) { return begins_word(c) || (c >= '0' && c <= '9'); }

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(at, end - at);
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// Brackets may be closed in the first column.
bool begins_piece(std::string_view line) {
  constexpr std::string_view kInside = " \t\r)]|";
  return !line.empty() && kInside.find(line[0]) == kInside.npos && !starts_with(line, "--");
}

Piece head_of(std::string_view line) {
  Piece piece;
  if (starts_with(line, "{-")) {
    piece.kind = Piece::Kind::Pragma;
    return piece;
  }
  std::string_view first = begins_word(line[0]) ? word_at(line, 0) : line.substr(0, 0);
  const size_t next = skip_blanks(line, first.size());
  if (first == "import") {
    piece.kind = Piece::Kind::Import;
  } else if (first == "export") {
    piece.kind = Piece::Kind::Export;
  } else if (first == "type") {
    piece.kind = Piece::Kind::Alias;
    if (next < line.size() && begins_word(line[next])) piece.name = word_at(line, next);
  } else {
    piece.name = first;
    piece.is_global = line.substr(next, 2) == "<-";
  }
  return piece;
}

}  // namespace

bool begins_statement(std::string_view word) {
  constexpr std::string_view kWords[] = {"return", "yield", "for", "if", "else", "then"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> out;
  char quote = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n' || c == quote) {
      quote = 0;
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    } else if (!quote && text.substr(i, 2) == "--") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    } else if (begins_word(c)) {
      out.push_back(word_at(text, i));
      i += out.back().size();
      continue;
    } else if (c >= '0' && c <= '9') {
      i += word_at(text, i).size();
      continue;
    }
    ++i;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string_view> inner_names(const Piece& piece, std::string_view text) {
  std::vector<std::string_view> out;
  std::string_view body =
      text.substr(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.end - piece.begin));
  for (std::string_view line : split(body, '\n')) {
    const size_t begin = skip_blanks(line, 0);
    if (begin == line.size() || !begins_word(line[begin])) continue;
    std::string_view name = word_at(line, begin);
    const size_t after = skip_blanks(line, begin + name.size());
    const size_t equal = line.find(" = "), arrow = line.find("<-");
    // `y = x` was meant to bind.
    const bool head =
        equal != line.npos && equal < arrow && begins_word(line[after]) && !begins_statement(name);
    if (line.substr(after, 2) == "::" || head) out.push_back(name);
  }
  return out;
}

void SourcePieces::add(FileId file, std::string_view text) {
  const size_t first = pieces_.size();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (begins_piece(line)) {
      Piece piece = head_of(line);
      piece.file = file;
      piece.begin = static_cast<int32_t>(at);
      if (pieces_.size() > first) pieces_.back().end = piece.begin;
      pieces_.push_back(std::move(piece));
    }
    at = end + 1;
  }
  if (pieces_.size() > first) pieces_.back().end = static_cast<int32_t>(text.size());
  files_[file.index] = {text, first, pieces_.size()};
  for (size_t i = first; i < pieces_.size(); ++i) {
    if (!pieces_[i].name.empty()) by_name_[pieces_[i].name].push_back(i);
    for (std::string_view word : words(pieces_[i])) by_word_[word].push_back(i);
  }
}

const Piece* SourcePieces::at(Span span) const {
  auto file = files_.find(span.file.index);
  if (file == files_.end()) return nullptr;
  auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(file->second.begin);
  auto end = pieces_.begin() + static_cast<std::ptrdiff_t>(file->second.end);
  auto after = std::partition_point(begin, end,
                                    [&](const Piece& piece) { return piece.begin <= span.begin; });
  return after == begin ? nullptr : &*(after - 1);
}

const std::vector<size_t>& SourcePieces::find(const Index& index, std::string_view word) const {
  auto found = index.find(word);
  return found == index.end() ? none_ : found->second;
}

const std::vector<size_t>& SourcePieces::named(std::string_view name) const {
  return find(by_name_, name);
}

const std::vector<size_t>& SourcePieces::mentioning(std::string_view word) const {
  return find(by_word_, word);
}

std::vector<std::string_view> SourcePieces::words(const Piece& piece) const {
  return words_in(files_.at(piece.file.index)
                      .text.substr(static_cast<size_t>(piece.begin),
                                   static_cast<size_t>(piece.end - piece.begin)));
}

}  // namespace axon::driver
