// All source texts of a session. Texts are loaded once and never move.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "source/span.h"

namespace axon {

struct LineColumn {
  int line = 1;    // from 1
  int column = 1;  // from 1, in bytes
};

class FileTable {
 public:
  FileTable() = default;
  FileTable(const FileTable&) = delete;
  FileTable& operator=(const FileTable&) = delete;

  FileId add(std::string path, std::string text);
  const std::string& path(FileId id) const { return files_[static_cast<size_t>(id.index)].path; }
  std::string_view text(FileId id) const { return files_[static_cast<size_t>(id.index)].text; }
  size_t size() const { return files_.size(); }
  LineColumn line_column(FileId id, int32_t offset) const;
  // The text of a line (from 1) without its line end.
  std::string_view line_text(FileId id, int line) const;

 private:
  struct File {
    std::string path;
    std::string text;
    std::vector<int32_t> line_starts;
  };
  std::deque<File> files_;
};

}  // namespace axon
