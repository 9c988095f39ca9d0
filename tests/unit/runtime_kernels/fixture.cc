// Parsing of the text lines, and placing.
#include "fixture.h"

#include <algorithm>

#include "runtime/core/number.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::runtime::test {

std::string from_hex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
}

namespace {

Tensor read_tensor(const std::vector<std::string_view>& words) {
  Tensor t;
  t.present = true;
  t.storage = *parse_storage(words[1]);
  if (words[2] != "scalar") {
    for (std::string_view d : split(words[2], ',')) t.shape.push_back(*parse_int(d));
  }
  if (words.size() > 3) t.bytes = from_hex(words[3]);
  return t;
}

}  // namespace

std::vector<Case> read_cases(const std::string& file) {
  std::vector<Case> cases;
  const auto text = read_file(std::string(AXON_SOURCE_DIR) + "/tests/unit/runtime_kernels/" + file);
  AXON_CHECK(text.ok(), "fixture is missing");
  for (std::string_view line : split(*text, '\n')) {
    if (line.empty()) continue;
    const auto words = split(line, ' ');
    if (words[0] == "case") {
      cases.push_back(
          {std::string(words[1]), std::string(words[2]), *parse_double(words[3]), {}, {}, {}});
    } else if (words[0] == "param") {
      Param p{std::string(words[1]), {}};
      if (const auto integer = parse_int(words[2])) {
        p.value = *integer;
      } else {
        p.value = *parse_double(words[2]);
      }
      cases.back().params.push_back(p);
    } else if (words[0] == "none") {
      cases.back().inputs.push_back({});
    } else {
      (words[0] == "in" ? cases.back().inputs : cases.back().outputs).push_back(read_tensor(words));
    }
  }
  return cases;
}

Placed place(const Tensor& t, Placing placing) {
  Placed placed;
  if (!t.present) return placed;
  View& v = placed.view;
  const StorageInfo& info = storage_info(t.storage);
  const auto size = static_cast<size_t>(info.block_bytes);
  v.storage = t.storage;
  v.rank = static_cast<int8_t>(t.shape.size());
  for (size_t a = 0; a < t.shape.size(); ++a) v.shape[a] = t.shape[a];
  set_contiguous(v);
  const size_t shift = placing == Placing::Unaligned ? 1 : 0;
  if (placing != Placing::Gaps || info.quantised || v.rank == 0) {
    placed.memory.assign(t.bytes.size() + shift + 64, 0xAA);
    uint8_t* at = placed.memory.data();
    at += (64 - reinterpret_cast<uintptr_t>(at) % 64) % 64 % 64;
    placed.memory.resize(t.bytes.size() + shift + 128, 0xAA);
    at = placed.memory.data();
    at += (64 - reinterpret_cast<uintptr_t>(at) % 64) % 64 + shift;
    std::copy(t.bytes.begin(), t.bytes.end(), at);
    v.data = at;
    return placed;
  }
  int64_t step = 2;  // even the last axis has gaps
  for (int a = v.rank - 1; a >= 0; --a) {
    v.stride[a] = step;
    step *= v.shape[a] + 1;
  }
  placed.memory.assign(static_cast<size_t>(step) * size + 64, 0xAA);
  v.data = placed.memory.data();
  for (int64_t n = 0; n < v.count(); ++n) {
    int64_t rest = n, offset = 0;
    for (int a = v.rank - 1; a >= 0; --a) {
      offset += rest % v.shape[a] * v.stride[a];
      rest /= v.shape[a];
    }
    if (t.bytes.empty()) continue;
    std::copy_n(t.bytes.data() + static_cast<size_t>(n) * size, size,
                v.out() + static_cast<size_t>(offset) * size);
  }
  return placed;
}

std::vector<double> elements(const View& v) {
  std::vector<double> out;
  const int64_t size = storage_info(v.storage).block_bytes;
  for (int64_t n = 0; n < v.count(); ++n) {
    int64_t rest = n, offset = 0;
    for (int a = v.rank - 1; a >= 0; --a) {
      offset += rest % v.shape[a] * v.stride[a];
      rest /= v.shape[a];
    }
    const uint8_t* at = v.data + offset * size;
    out.push_back(is_float(storage_info(v.storage).dtype)
                      ? static_cast<double>(load_float(v.storage, at))
                      : static_cast<double>(load_int(v.storage, at)));
  }
  return out;
}

}  // namespace axon::runtime::test
