// Text helpers shared by all layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axon {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// `1 name`, `2 names`.
std::string counted(size_t count, std::string_view noun);
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

// The shortest decimal text that reads back as the same double; always has `.` or an exponent.
std::string show_double(double value);
// Whole text as a number, or nothing.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// Number of edits (insert, delete, replace, swap of neighbours) between two words.
int edit_distance(std::string_view a, std::string_view b);
// The candidates closest to `word`, best first, at most `limit`; none when nothing is near.
std::vector<std::string> closest(std::string_view word, const std::vector<std::string>& candidates,
                                 size_t limit = 3);

// The text as it stands between the quotes of a JSON string; malformed UTF-8 becomes U+FFFD.
std::string json_escape(std::string_view text);

// Byte offset of the first malformed UTF-8 sequence, or npos when all is well formed
// (no overlong forms, no surrogates, at most U+10FFFF).
size_t find_invalid_utf8(std::string_view text);
void append_utf8(std::string& out, uint32_t code_point);
// Decodes one well-formed code point at `pos` and advances it; U+FFFD and one byte on bad input.
uint32_t next_code_point(std::string_view text, size_t& pos);

}  // namespace axon
