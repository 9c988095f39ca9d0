// Values in the text files of tests/graph/fixtures.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/eval_value.h"
#include "support/text.h"

namespace axon::graph::testing {

// The first word of a line and what follows the blank behind it.
inline std::pair<std::string_view, std::string_view> cut(std::string_view line) {
  size_t space = line.find(' ');
  if (space == line.npos) return {line, ""};
  return {line.substr(0, space), line.substr(space + 1)};
}

inline double read_real(std::string_view word) {
  if (word == "inf" || word == "-inf") return word[0] == '-' ? -INFINITY : INFINITY;
  return word == "nan" ? NAN : parse_double(word).value();
}

// `f32 2,3 v v …`, with `scalar` for no axes.
inline EvalValue read_tensor(std::string_view text) {
  auto words = split(text, ' ');
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f32", DType::F32}, {"f16", DType::F16}, {"bf16", DType::BF16},
      {"i64", DType::I64}, {"i32", DType::I32}, {"bool", DType::Bool}};
  DType dtype = DType::Unknown;
  for (auto [name, type] : kTypes) {
    if (name == words[0]) dtype = type;
  }
  std::vector<int64_t> shape;
  if (words[1] != "scalar") {
    for (std::string_view extent : split(words[1], ',')) shape.push_back(parse_int(extent).value());
  }
  EvalTensor out = EvalTensor::make(dtype, shape);
  EXPECT_EQ(static_cast<size_t>(out.count()) + 2, words.size());
  for (size_t i = 2; i < words.size(); ++i) {
    if (out.real())
      out.reals[i - 2] = static_cast<float>(read_real(words[i]));
    else
      out.ints[i - 2] = parse_int(words[i]).value();
  }
  return EvalValue::of(std::move(out));
}

}  // namespace axon::graph::testing
