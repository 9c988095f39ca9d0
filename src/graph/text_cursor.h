// Tokens, names, numbers, dims and types of the graph text; the reader's lower half.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/result.h"

namespace axon::graph {

// Walks a text. After the first failure every read gives a default and ok() is false.
class Cursor {
 public:
  Cursor(std::string_view text, TypeTable& types) : text_(text), types_(types) {}

  bool ok() const { return !failed_; }
  void fail(std::string message);
  Error error() const { return error_; }
  size_t position() const { return pos_; }
  void seek(size_t position) { pos_ = position; }
  // Offsets of the lines that begin a module.
  std::vector<size_t> header_lines() const;
  bool at_header() const;
  bool at_end() const { return pos_ >= text_.size(); }

  void skip();  // blanks, line ends, comments
  // Where the last token ended, whether or not what follows it was looked for.
  size_t token_end() const { return pos_ == skipped_to_ ? skipped_from_ : pos_; }
  char peek();  // next character after blanks, 0 at the end
  bool accept(std::string_view token);
  bool raw_accept(char c);  // without skipping blanks
  void expect(std::string_view token);
  bool accept_blank();           // a lone `_`
  std::string_view peek_word();  // letters, digits, `_`, `-`; empty when there is none
  std::string_view word();
  std::string_view op_word();  // up to a blank or `)`
  std::string rest_of_line();
  NameId name();
  int64_t integer();
  struct Number {
    bool is_float = false;
    int64_t integer = 0;
    double real = 0;
  };
  Number number();
  std::string string();     // in double quotes
  std::string path_text();  // up to an unescaped `.`, `{`, `'` or joint
  SymbolId symbol(SymbolKind kind = SymbolKind::Variable);  // a mark after a dim says its kind
  TypeId type();
  DimId dim();

 private:
  std::string escaped(std::string_view stops);
  DimId dim_product();
  DimId dim_atom();
  TypeId type_part();
  TypeId tensor();

  std::string_view text_;
  TypeTable& types_;
  size_t pos_ = 0;
  size_t skipped_from_ = 0, skipped_to_ = 0;  // the last blanks
  bool failed_ = false;
  Error error_;
};

}  // namespace axon::graph
