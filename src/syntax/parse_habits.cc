// What people write who come from Python: the hint for what stands where it does not fit.
#include <array>

#include "source/habits.h"
#include "support/text.h"
#include "syntax/parser_base.h"

namespace axon::syntax {
namespace {

bool is_sign(char c) {
  return std::string_view("*/+-=<>!&|^~:$?@.").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view ParserBase::habit_of(const Token& token, Span& where) const {
  return token.kind == Tok::Name ? word_habit(token) : sign_habit(token, where);
}

std::string_view ParserBase::word_habit(const Token& token) const {
  if (!token.bare) return {};
  if (construct_.what == "the signature of")
    return "what a type is made of stands in brackets: `List[Int]`";
  // `0xFF`, `1_000`
  const char before =
      token.begin > 0 ? files_.text(file_)[static_cast<size_t>(token.begin) - 1] : ' ';
  if (token.begin == stream_.last_end() && before >= '0' && before <= '9')
    return "a number has digits alone, and perhaps a point and an exponent";
  const std::string_view word = written_here(Habit::Word, names_.text(token.name));
  return word.empty() ? written_here(Habit::Syntax, names_.text(token.name)) : word;
}

// `where` grows to the signs around that belong to what was written.
std::string_view ParserBase::sign_habit(const Token& token, Span& where) const {
  const std::string_view source = files_.text(file_);
  constexpr int32_t kLongest = 3;
  int32_t first = token.begin, last = token.end;
  const bool glued = token.begin == stream_.last_end() && token.begin > 0;
  if (glued && is_sign(source[static_cast<size_t>(first) - 1])) --first;
  while (last - first < kLongest && static_cast<size_t>(last) < source.size() &&
         is_sign(source[static_cast<size_t>(last)]))
    ++last;
  const std::string_view at = construct_.what;
  if (at == "the file" && (token.kind == Tok::String || token.kind == Tok::Slash))
    return "a comment starts with `--`";
  if (at == "the head of definition") return {};  // told by what the head lacks
  const Habit kind = at == "a list"             ? Habit::Index
                     : at == "the signature of" ? Habit::Type
                                                : Habit::Sign;
  const std::array<Span, 4> spans{Span{file_, first, last}, Span{file_, first, token.end},
                                  Span{file_, token.begin, last}, where};
  for (const Span& span : spans) {
    const std::string_view text =
        source.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.end - span.begin));
    std::string_view here = written_here(kind, text);
    if (here.empty() && kind != Habit::Sign) here = written_here(Habit::Sign, text);
    if (here.empty()) continue;
    where = span;
    return here;
  }
  if (token.kind == Tok::LArrow && at == "definition")
    return "statements stand in a block, which `do` opens at the end of the line above";
  if (token.kind == Tok::String && at == "definition") return "a comment starts with `--`";
  return {};
}

// `lambda a: b` reads as a call that something hangs of.
void ParserBase::note_callee(Diagnostic& report, Span where) const {
  if (!callee_.name.valid() || callee_.span.end > where.begin) return;
  const std::string_view between = files_.text(file_).substr(
      static_cast<size_t>(callee_.span.end), static_cast<size_t>(where.begin - callee_.span.end));
  if (between.find('\n') != between.npos) return;
  const std::string_view here = written_here(Habit::Word, names_.text(callee_.name));
  if (here.empty()) return;
  report.notes.clear();
  report.note(Note::NoteHere, callee_.span, {here});
}

}  // namespace axon::syntax
