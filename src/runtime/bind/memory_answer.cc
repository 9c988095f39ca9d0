// How much memory a model will need, and whether the machine has it.
#include <algorithm>
#include <string>

#include "runtime/bind/model.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

std::string mebibytes(int64_t bytes) {
  const int64_t tenths = (bytes * 10 + (1 << 19)) / (1 << 20);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// The number after `key` in a text of lines `key: number kB`; -1: absent.
int64_t field_kb(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    if (!starts_with(line, key)) continue;
    std::string_view rest = trim(line.substr(key.size()));
    return parse_int(rest.substr(0, rest.find(' '))).value_or(-1);
  }
  return -1;
}

int64_t number_in(const char* path) {
  const auto text = read_file(path);
  return text ? parse_int(trim(*text)).value_or(-1) : -1;
}

}  // namespace

std::string MemoryAnswer::show() const {
  return mebibytes(total()) + " (mapped weights " + mebibytes(mapped) + ", packed " +
         mebibytes(packed) + ", converted " + mebibytes(dense) + ", constants " +
         mebibytes(constants) + ", states " + mebibytes(states) + ", working memory " +
         mebibytes(arena + tables) + ")";
}

int64_t available_memory() {
  int64_t available = 0;
  const auto info = read_file("/proc/meminfo");
  if (info) available = std::max<int64_t>(0, field_kb(*info, "MemAvailable:") * 1024);
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const int64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) {
    const int64_t left = std::max<int64_t>(0, limit - used);
    available = available > 0 ? std::min(available, left) : left;
  }
  return available;
}

Result<void> check_fits(const MemoryAnswer& answer, int64_t available) {
  const int64_t needed = answer.total() - answer.mapped;
  if (available <= 0 || needed <= available) return {};
  return Error{"MEM-LIMIT",
               "the model needs " + answer.show() + ", and " + mebibytes(available) + " are free",
               {},
               -1,
               "a smaller context (`--ctx`) or batch needs less"};
}

}  // namespace axon::runtime
