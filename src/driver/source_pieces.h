// Source texts cut into their top-level items, as far as lines and words tell.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/span.h"

namespace axon::driver {

// The text from a line that begins in the first column up to the next such line. A signature and
// its definition are two pieces of one name.
struct Piece {
  enum class Kind : uint8_t { Definition, Alias, Import, Export, Pragma } kind = Kind::Definition;
  FileId file;
  int32_t begin = 0, end = 0;
  std::string_view name;   // of a definition or alias; empty where none can be read
  bool is_global = false;  // NAME <- …
};

// Looks at the texts, which must outlive it.
class SourcePieces {
 public:
  void add(FileId file, std::string_view text);
  const std::vector<Piece>& all() const { return pieces_; }
  // The piece that holds the beginning of `span`, or null.
  const Piece* at(Span span) const;
  // Indices of pieces.
  const std::vector<size_t>& named(std::string_view name) const;
  const std::vector<size_t>& mentioning(std::string_view word) const;
  bool defines(std::string_view name) const { return !named(name).empty(); }
  // Words of its text without comments, each once.
  std::vector<std::string_view> words(const Piece& piece) const;

 private:
  struct File {
    std::string_view text;
    size_t begin = 0, end = 0;  // its pieces
  };
  using Index = std::unordered_map<std::string_view, std::vector<size_t>>;
  const std::vector<size_t>& find(const Index& index, std::string_view word) const;

  std::vector<Piece> pieces_;
  std::unordered_map<int32_t, File> files_;  // by file
  Index by_name_, by_word_;
  std::vector<size_t> none_;
};

// Identifiers in a text, those in quotes too; each once, in order of spelling.
std::vector<std::string_view> words_in(std::string_view text);
// Whether a line that begins so is a statement and no item.
bool begins_statement(std::string_view word);
// Names of lines within a piece that look as items do, and may have been meant as such.
std::vector<std::string_view> inner_names(const Piece& piece, std::string_view text);

}  // namespace axon::driver
