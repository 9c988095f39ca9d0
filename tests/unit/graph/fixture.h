// Values in the text files of tests/graph/fixtures.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/eval_value.h"
#include "graph/evaluate.h"
#include "ops/op.h"
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

// One application of a primitive and what PyTorch says of it.
struct OpCase {
  int line = 0;
  Op op = Op::CoreAlias;
  std::vector<EvalValue> args;
  MemoryParams params;
  std::vector<std::pair<std::string, EvalTensor>> tensors;  // the same
  EvalValue out;
  std::string error;
};

// Reads the lines of one fixture file.
class Fixture {
 public:
  explicit Fixture(std::string_view text) : lines_(split(text, '\n')) {}

  std::vector<OpCase> cases() {
    std::vector<OpCase> out;
    while (at_ < lines_.size()) {
      std::string_view line = lines_[at_++];
      auto [word, rest] = cut(line);
      if (word == "case") {
        out.emplace_back();
        out.back().line = static_cast<int>(at_);
        auto op = find_op(rest);
        EXPECT_TRUE(op.has_value()) << rest;
        out.back().op = op.value_or(Op::CoreAlias);
      } else if (word == "arg") {
        out.back().args.push_back(value(rest));
      } else if (word == "out") {
        out.back().out = value(rest);
      } else if (word == "error") {
        out.back().error = rest;
      } else if (word == "param") {
        auto [key, tensor] = cut(rest);
        EvalTensor read = *value(tensor).tensor;
        out.back().tensors.emplace_back(key, read);
        out.back().params.set(std::string(key), std::move(read));
      }
    }
    return out;
  }

 private:
  EvalValue value(std::string_view text) {
    auto [word, rest] = cut(text);
    if (word == "null") return EvalValue::null();
    if (word == "bool") return EvalValue::of(rest == "1");
    if (word == "int") return EvalValue::of(parse_int(rest).value());
    if (word == "float") return EvalValue::of(read_real(rest));
    if (word == "string") return EvalValue::of(std::string(rest));
    if (word == "path") return EvalValue::path(std::string(rest));
    if (word == "tensor") return read_tensor(rest);
    std::vector<EvalValue> items;
    for (int64_t n = parse_int(rest).value(); n > 0; --n)
      items.push_back(value(cut(lines_[at_++]).second));
    if (rest == "0") ++at_;  // an empty list leaves an empty line
    return word == "list" ? EvalValue::list(std::move(items)) : EvalValue::tuple(std::move(items));
  }
  std::vector<std::string_view> lines_;
  size_t at_ = 0;
};

inline std::vector<OpCase> read_cases(std::string_view text) { return Fixture(text).cases(); }

}  // namespace axon::graph::testing
