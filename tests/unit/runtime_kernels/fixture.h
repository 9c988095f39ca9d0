// Reading of the kernel fixtures (make_fixtures.py), and tensors laid out in test memory.
#pragma once

#include <string>
#include <vector>

#include "runtime/core/kernel.h"

namespace axon::runtime::test {

struct Tensor {
  bool present = false;
  Storage storage = Storage::F32;
  std::vector<int64_t> shape;
  std::string bytes;
};
struct Case {
  std::string name, operation;
  double tolerance = 0;
  std::vector<Param> params;
  std::vector<Tensor> inputs, outputs;
};
std::vector<Case> read_cases(const std::string& file);
std::string from_hex(std::string_view hex);

// How a tensor is placed: row-major at an offset from an aligned address, or with gaps on every
// axis.
enum class Placing { Dense, Unaligned, Gaps };
struct Placed {
  std::vector<uint8_t> memory;
  View view;
};
Placed place(const Tensor& tensor, Placing placing);
// The elements of a view as doubles, in row-major order.
std::vector<double> elements(const View& view);

}  // namespace axon::runtime::test
