// All source texts of a session.
#include "source/file_table.h"

#include <algorithm>

namespace axon {

FileId FileTable::add(std::string path, std::string text) {
  File file{std::move(path), std::move(text), {0}};
  for (size_t i = 0; i < file.text.size(); ++i) {
    if (file.text[i] == '\n') file.line_starts.push_back(static_cast<int32_t>(i + 1));
  }
  files_.push_back(std::move(file));
  return FileId{static_cast<int32_t>(files_.size() - 1)};
}

LineColumn FileTable::line_column(FileId id, int32_t offset) const {
  const auto& starts = files_[static_cast<size_t>(id.index)].line_starts;
  auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  int line = static_cast<int>(next - starts.begin());
  return {line, offset - starts[static_cast<size_t>(line - 1)] + 1};
}

std::string_view FileTable::line_text(FileId id, int line) const {
  const File& file = files_[static_cast<size_t>(id.index)];
  if (line < 1 || static_cast<size_t>(line) > file.line_starts.size()) return {};
  size_t begin = static_cast<size_t>(file.line_starts[static_cast<size_t>(line - 1)]);
  size_t end = static_cast<size_t>(line) < file.line_starts.size()
                   ? static_cast<size_t>(file.line_starts[static_cast<size_t>(line)]) - 1
                   : file.text.size();
  std::string_view text = std::string_view(file.text).substr(begin, end - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

}  // namespace axon
