// Textual names of the codes that parameters may carry.
#include <iterator>

#include "runtime/core/bound.h"

namespace axon::runtime {
namespace {

constexpr std::string_view kActivations[] = {"none", "relu",      "relu2",   "silu",
                                             "gelu", "gelu_tanh", "sigmoid", "tanh"};
constexpr std::string_view kUnary[] = {
    "neg",  "exp",   "log",  "sin",  "cos",       "acos",    "sqrt", "rsqrt", "floor", "round",
    "relu", "relu2", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh", "not",   "abs"};
constexpr std::string_view kBinary[] = {"add", "sub", "mul", "div", "mod", "pow", "min", "max",
                                        "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "and", "or"};
constexpr std::string_view kReduce[] = {"sum", "max", "min", "prod", "mean"};
constexpr std::string_view kEmptyRow[] = {"zero"};

static_assert(std::size(kActivations) == static_cast<size_t>(Activation::Tanh) + 1);
static_assert(std::size(kUnary) == static_cast<size_t>(UnaryCode::Abs) + 1);
static_assert(std::size(kBinary) == static_cast<size_t>(BinaryCode::Or) + 1);
static_assert(std::size(kReduce) == static_cast<size_t>(ReduceCode::Mean) + 1);

template <size_t N>
int64_t position(const std::string_view (&names)[N], std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<int64_t>(i);
  }
  return -1;
}

}  // namespace

int64_t code_of(Operation operation, std::string_view param, std::string_view text) {
  if (param == "activation") return position(kActivations, text);
  if (param == "empty_row") return position(kEmptyRow, text);
  if (param != "code") return -1;
  switch (operation) {
    case Operation::Unary:
      return position(kUnary, text);
    case Operation::Binary:
    case Operation::BinaryScalar:
      return position(kBinary, text);
    case Operation::Reduce:
    case Operation::ScatterReduce:
      return position(kReduce, text);
    default:
      return -1;
  }
}

}  // namespace axon::runtime
