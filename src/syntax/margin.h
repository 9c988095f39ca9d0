// What a file's text has beside its tree: comments and blank lines, given out position by position.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/nodes.h"

namespace axon::syntax {

// Comments leave in their order, each once: a printer that asks with positions that never fall
// keeps all of them.
class Margin {
 public:
  enum class Blank : uint8_t { None, Keep, Force };

  Margin(std::string_view text, const std::vector<Comment>& comments)
      : text_(text), comments_(comments) {}

  bool has_before(int32_t pos) const {
    return next_ < comments_.size() && comments_[next_].span.begin < pos;
  }
  // Appends the comments before `pos` to `out`: those behind code go to the end of its last line,
  // the others on lines of their own at `column`. Nothing ends with a line end.
  void put_before(int32_t pos, int column, Blank blank, std::string& out);
  // As put_before, then starts a line for what stands at `pos`.
  void start_line(int32_t pos, int column, Blank blank, std::string& out);
  // The comments behind a block whose first statement stands at `begin` and whose last ends at
  // `end`, as long as they are indented like the block.
  void end_block(int32_t begin, int32_t end, int column, std::string& out);
  void put_rest(std::string& out);
  // Where the next code behind `pos` stands.
  int32_t next_code(int32_t pos) const;

 private:
  // Whether the comment got a line of its own.
  bool put(const Comment& comment, int column, Blank blank, std::string& out);
  bool blank_line_before(int32_t pos) const;
  bool blank_line_within(int32_t pos) const;
  int column_of(int32_t pos) const;

  std::string_view text_;
  const std::vector<Comment>& comments_;
  size_t next_ = 0;
  size_t comment_end_ = 0;  // the size of the output after the last comment
};

}  // namespace axon::syntax
