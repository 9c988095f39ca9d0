// Where something was written: a file and a byte range. Lines and columns are computed on
// rendering.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/ids.h"

namespace axon {

AXON_ID(FileId);

struct Span {
  FileId file;
  int32_t begin = 0;
  int32_t end = 0;  // one past the last byte
  bool valid() const { return file.valid(); }
  friend bool operator==(Span, Span) = default;
};

// The smallest range that holds both; spans of different files give the first.
inline Span merge_spans(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.file != b.file) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace axon
