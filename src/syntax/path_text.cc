// The text of paths: splitting at dots, placeholders (language.md 2.7).
#include "syntax/path_text.h"

#include <algorithm>

namespace axon::syntax {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ident_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_ident_char(char c) { return is_ident_start(c) || is_digit(c); }

bool is_ident(std::string_view text) {
  return !text.empty() && is_ident_start(text[0]) &&
         std::all_of(text.begin(), text.end(), is_ident_char);
}

bool is_segment(std::string_view text) {
  return is_ident(text) || (!text.empty() && std::all_of(text.begin(), text.end(), is_digit));
}

namespace {

// A placeholder's name: an identifier, or the qualified name of a constant in another module.
bool is_placeholder_name(std::string_view text) {
  while (true) {
    size_t dot = text.find('.');
    if (!is_ident(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// Collects the pieces of one path; `open` says that the segment so far is not empty.
struct PieceList {
  Interner& names;
  std::vector<PathPiece>& pieces;
  bool open = false;

  void add(std::string_view text, bool placeholder) {
    pieces.push_back({names.intern(text), placeholder, open});
    open = true;
  }
  // Literal text, which may hold dots.
  void add_literal(std::string_view text) {
    while (true) {
      size_t dot = text.find('.');
      std::string_view part = text.substr(0, dot);
      if (!part.empty()) add(part, false);
      if (dot == text.npos) return;
      open = false;
      text.remove_prefix(dot + 1);
    }
  }
};

}  // namespace

PathLit path_from_text(bool absolute, std::string_view text, Span path_span, Interner& names,
                       std::vector<Diagnostic>& errors) {
  PathLit path;
  path.absolute = absolute;
  path.span = path_span;
  PieceList list{names, path.pieces};
  bool was_empty = text.empty();
  while (!text.empty()) {
    size_t brace = text.find_first_of("{}");
    list.add_literal(text.substr(0, brace));
    if (brace == text.npos) break;
    size_t close = text.find('}', brace);
    std::string_view inside =
        close == text.npos || text[brace] == '}' ? "" : text.substr(brace + 1, close - brace - 1);
    if (!is_placeholder_name(inside)) {
      std::string_view shown =
          text.substr(brace, close == text.npos ? text.npos : close + 1 - brace);
      errors.push_back({Diag::AstPlaceholder, path_span, {shown}, {}, {}, {}});
      return path;
    }
    list.add(inside, true);
    text.remove_prefix(close + 1);
  }
  if (path.pieces.empty() && !(absolute && was_empty)) {
    errors.push_back({Diag::AstPathEmpty, path_span, {}, {}, {}, {}});
  }
  return path;
}

}  // namespace axon::syntax
