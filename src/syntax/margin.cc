// Comments and blank lines of a file, given out position by position.
#include "syntax/margin.h"

#include <algorithm>
#include <limits>

#include "support/text.h"

namespace axon::syntax {
namespace {

void new_line(std::string& out, int column) {
  if (!out.empty()) out += '\n';
  out.append(static_cast<size_t>(column), ' ');
}

void blank_line(std::string& out) {
  if (!out.empty()) out += '\n';
}

}  // namespace

// Whether an empty line stands directly above what is at `pos`.
bool Margin::blank_line_before(int32_t pos) const {
  int ends = 0;
  for (size_t i = static_cast<size_t>(pos); i > 0; --i) {
    char c = text_[i - 1];
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') break;
    if (c == '\n' && ++ends == 2) return true;
  }
  return false;
}

// The same for what is at `pos` together with the comments above it that are still to come.
bool Margin::blank_line_within(int32_t pos) const {
  bool found = blank_line_before(pos);
  for (size_t i = next_; i < comments_.size() && comments_[i].span.begin < pos; ++i)
    found = found || (comments_[i].own_line && blank_line_before(comments_[i].span.begin));
  return found;
}

int Margin::column_of(int32_t pos) const {
  int column = 0;
  for (size_t i = static_cast<size_t>(pos); i > 0 && text_[i - 1] != '\n'; --i)
    column += text_[i - 1] == '\t' ? 8 : 1;
  return column;
}

int32_t Margin::next_code(int32_t pos) const {
  size_t i = static_cast<size_t>(pos);
  while (i < text_.size()) {
    bool skipped = text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\r' || text_[i] == '\n' ||
                   text_[i] == ';';
    if (!skipped && text_.substr(i, 2) != "--") break;
    i = skipped ? i + 1 : std::min(text_.find('\n', i), text_.size());
  }
  return static_cast<int32_t>(i);
}

bool Margin::put(const Comment& comment, int column, Blank blank, std::string& out) {
  size_t begin = static_cast<size_t>(comment.span.begin);
  std::string_view text = text_.substr(begin, static_cast<size_t>(comment.span.end) - begin);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  bool behind_code = !comment.own_line && !out.empty() && out.size() != comment_end_;
  if (behind_code) {
    out += "  ";
  } else {
    bool keeps = blank == Blank::Keep && blank_line_before(comment.span.begin);
    if (keeps || blank == Blank::Force) blank_line(out);
    new_line(out, column);
  }
  out += text;
  comment_end_ = out.size();
  return !behind_code;
}

void Margin::put_before(int32_t pos, int column, Blank blank, std::string& out) {
  while (has_before(pos)) {
    if (put(comments_[next_++], column, blank, out)) blank = Blank::Keep;
  }
}

void Margin::start_line(int32_t pos, int column, Blank blank, std::string& out) {
  // A blank line that must be there is not added where the source already has one.
  if (blank == Blank::Force && blank_line_within(pos)) blank = Blank::Keep;
  while (has_before(pos)) {
    if (put(comments_[next_++], column, blank, out)) blank = Blank::Keep;
  }
  if (blank == Blank::Force || (blank == Blank::Keep && blank_line_before(pos))) blank_line(out);
  new_line(out, column);
}

void Margin::end_block(int32_t begin, int32_t end, int column, std::string& out) {
  int32_t limit = next_code(end);
  int indent = column_of(begin);
  while (has_before(limit)) {
    const Comment& comment = comments_[next_];
    if (comment.own_line && column_of(comment.span.begin) < indent) return;
    ++next_;
    put(comment, column, Blank::Keep, out);
  }
}

void Margin::put_rest(std::string& out) {
  put_before(std::numeric_limits<int32_t>::max(), 0, Blank::Keep, out);
}

}  // namespace axon::syntax
