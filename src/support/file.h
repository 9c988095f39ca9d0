// Whole-file reading and safe writing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace axon {

// The bytes of a regular file. Errors: FILE-READ.
Result<std::string> read_file(const std::string& path);
// Writes to a temporary name beside `path` and renames it. Errors: FILE-WRITE.
Result<void> write_file(const std::string& path, std::string_view bytes);
bool file_exists(const std::string& path);
bool is_directory(const std::string& path);
// Names in a directory, sorted, without `.` and `..`; none when it cannot be read.
std::vector<std::string> list_directory(const std::string& path);
// The path with symbolic links resolved, or the path itself when that fails.
std::string real_path(const std::string& path);
std::string parent_path(const std::string& path);
std::string base_name(const std::string& path);
std::string path_join(std::string_view a, std::string_view b);

}  // namespace axon
