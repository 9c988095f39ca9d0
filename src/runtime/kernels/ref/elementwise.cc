// Elementwise kernels. Floats are computed in f32, integers in int64, then stored in the output's
// type.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {
namespace {

constexpr float kGeluTanh = 0.7978845608028654f;

float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(kGeluTanh * (x + 0.044715f * x * x * x)));
}
float gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f)); }
float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

int64_t unary_int(UnaryCode code, int64_t x) {
  switch (code) {
    case UnaryCode::Neg:
      return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
    case UnaryCode::Not:
      return x == 0 ? 1 : 0;
    case UnaryCode::Abs:
      return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
    case UnaryCode::Relu:
      return std::max<int64_t>(x, 0);
    case UnaryCode::Floor:
    case UnaryCode::Round:
      return x;
    default:
      return static_cast<int64_t>(apply_unary(code, static_cast<float>(x)));
  }
}

float binary_float(BinaryCode code, float a, float b) {
  switch (code) {
    case BinaryCode::Add:
      return a + b;
    case BinaryCode::Sub:
      return a - b;
    case BinaryCode::Mul:
      return a * b;
    case BinaryCode::Div:
      return a / b;
    case BinaryCode::Mod: {  // the sign of the divisor
      const float r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case BinaryCode::Pow:
      return std::pow(a, b);
    case BinaryCode::Min:
      return std::isnan(a) || a < b ? a : b;
    case BinaryCode::Max:
      return std::isnan(a) || a > b ? a : b;
    case BinaryCode::Eq:
      return a == b ? 1.0f : 0.0f;
    case BinaryCode::Ne:
      return a != b ? 1.0f : 0.0f;
    case BinaryCode::Lt:
      return a < b ? 1.0f : 0.0f;
    case BinaryCode::Le:
      return a <= b ? 1.0f : 0.0f;
    case BinaryCode::Gt:
      return a > b ? 1.0f : 0.0f;
    case BinaryCode::Ge:
      return a >= b ? 1.0f : 0.0f;
    case BinaryCode::And:
      return a != 0 && b != 0 ? 1.0f : 0.0f;
    case BinaryCode::Or:
      return a != 0 || b != 0 ? 1.0f : 0.0f;
  }
  return 0;
}

uint64_t power(uint64_t base, int64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Wraps around on overflow. What is undefined is noted by check_integer() and gives any number.
int64_t binary_int(BinaryCode code, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (code) {
    case BinaryCode::Add:
      return static_cast<int64_t>(ua + ub);
    case BinaryCode::Sub:
      return static_cast<int64_t>(ua - ub);
    case BinaryCode::Mul:
      return static_cast<int64_t>(ua * ub);
    case BinaryCode::Div:
      return floor_div(a, b);
    case BinaryCode::Mod:
      return b == 0 ? 0 : static_cast<int64_t>(ua - static_cast<uint64_t>(floor_div(a, b)) * ub);
    case BinaryCode::Pow:
      return b < 0 ? (a == 1 ? 1 : 0) : static_cast<int64_t>(power(ua, b));
    case BinaryCode::Min:
      return std::min(a, b);
    case BinaryCode::Max:
      return std::max(a, b);
    case BinaryCode::Eq:
      return a == b;
    case BinaryCode::Ne:
      return a != b;
    case BinaryCode::Lt:
      return a < b;
    case BinaryCode::Le:
      return a <= b;
    case BinaryCode::Gt:
      return a > b;
    case BinaryCode::Ge:
      return a >= b;
    case BinaryCode::And:
      return a != 0 && b != 0;
    case BinaryCode::Or:
      return a != 0 || b != 0;
  }
  return 0;
}

// Calls body(offsets...) for this part's share of the output's elements.
template <int N, class Body>
void each(const KernelArgs& args, const View* const (&operands)[N], int part, int parts,
          Body&& body) {
  const View& y = args.out[0];
  const Share share = share_of(y.count(), 16, part, parts);
  Walk<N> at(y, y.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) body(at);
}

void check_integer(const KernelArgs& args, BinaryCode code, int64_t b) {
  const bool divides = code == BinaryCode::Div || code == BinaryCode::Mod;
  if (divides && b == 0) args.undefined(Fault::Kind::DivideByZero);
  if (code == BinaryCode::Pow && b < 0) args.undefined(Fault::Kind::NegativePower);
}

void move_element(const View& x, int64_t from, const View& y, int64_t to) {
  if (is_float(x.storage)) {
    store_at(y, to, load_at(x, from));
  } else {
    store_int_at(y, to, load_int_at(x, from));
  }
}

}  // namespace

float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return std::max(x, 0.0f);
    case Activation::Relu2:
      return x < 0 ? 0.0f : x * x;
    case Activation::Silu:
      return x * sigmoid(x);
    case Activation::Gelu:
      return gelu(x);
    case Activation::GeluTanh:
      return gelu_tanh(x);
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Tanh:
      return std::tanh(x);
  }
  return x;
}

float apply_unary(UnaryCode code, float x) {
  switch (code) {
    case UnaryCode::Neg:
      return -x;
    case UnaryCode::Exp:
      return std::exp(x);
    case UnaryCode::Log:
      return std::log(x);
    case UnaryCode::Sin:
      return std::sin(x);
    case UnaryCode::Cos:
      return std::cos(x);
    case UnaryCode::Acos:
      return std::acos(x);
    case UnaryCode::Sqrt:
      return std::sqrt(x);
    case UnaryCode::Rsqrt:
      return 1.0f / std::sqrt(x);
    case UnaryCode::Floor:
      return std::floor(x);
    case UnaryCode::Round:
      return std::nearbyint(x);
    case UnaryCode::Relu:
      return activate(Activation::Relu, x);
    case UnaryCode::Relu2:
      return activate(Activation::Relu2, x);
    case UnaryCode::Silu:
      return activate(Activation::Silu, x);
    case UnaryCode::Gelu:
      return gelu(x);
    case UnaryCode::GeluTanh:
      return gelu_tanh(x);
    case UnaryCode::Sigmoid:
      return sigmoid(x);
    case UnaryCode::Tanh:
      return std::tanh(x);
    case UnaryCode::Not:
      return x == 0 ? 1.0f : 0.0f;
    case UnaryCode::Abs:
      return std::fabs(x);
  }
  return x;
}

void unary(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  const auto code = static_cast<UnaryCode>(args.integer(param(Operation::Unary, "code")));
  const bool floats = is_float(x.storage) || is_float(y.storage);
  each<2>(args, {&x, &y}, part, parts, [&](const Walk<2>& at) {
    if (floats) {
      store_at(y, at.offset(1), apply_unary(code, load_at(x, at.offset(0))));
    } else {
      store_int_at(y, at.offset(1), unary_int(code, load_int_at(x, at.offset(0))));
    }
  });
}

void binary(const KernelArgs& args, int part, int parts) {
  const View &a = args.in[0], &b = args.in[1], &y = args.out[0];
  const auto code = static_cast<BinaryCode>(args.integer(param(Operation::Binary, "code")));
  const bool floats = is_float(a.storage) || is_float(b.storage) || is_float(y.storage);
  each<3>(args, {&a, &b, &y}, part, parts, [&](const Walk<3>& at) {
    if (floats) {
      store_at(y, at.offset(2),
               binary_float(code, load_at(a, at.offset(0)), load_at(b, at.offset(1))));
    } else {
      const int64_t right = load_int_at(b, at.offset(1));
      check_integer(args, code, right);
      store_int_at(y, at.offset(2), binary_int(code, load_int_at(a, at.offset(0)), right));
    }
  });
}

void binary_scalar(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::BinaryScalar;
  const View &x = args.in[0], &y = args.out[0];
  const auto code = static_cast<BinaryCode>(args.integer(param(op, "code")));
  const ParamSlot& value = args.params[param(op, "value")];
  const bool reversed = args.integer(param(op, "reversed")) != 0;
  const bool floats = is_float(x.storage) || value.is_float || is_float(y.storage);
  const auto scalar = static_cast<float>(value.f);
  each<2>(args, {&x, &y}, part, parts, [&](const Walk<2>& at) {
    if (floats) {
      const float v = load_at(x, at.offset(0));
      store_at(y, at.offset(1),
               reversed ? binary_float(code, scalar, v) : binary_float(code, v, scalar));
    } else {
      const int64_t v = load_int_at(x, at.offset(0));
      const int64_t left = reversed ? value.i : v, right = reversed ? v : value.i;
      check_integer(args, code, right);
      store_int_at(y, at.offset(1), binary_int(code, left, right));
    }
  });
}

void where(const KernelArgs& args, int part, int parts) {
  const View &c = args.in[0], &a = args.in[1], &b = args.in[2], &y = args.out[0];
  each<4>(args, {&c, &a, &b, &y}, part, parts, [&](const Walk<4>& at) {
    const bool chosen =
        is_float(c.storage) ? load_at(c, at.offset(0)) != 0 : load_int_at(c, at.offset(0)) != 0;
    if (chosen) {
      move_element(a, at.offset(1), y, at.offset(3));
    } else {
      move_element(b, at.offset(2), y, at.offset(3));
    }
  });
}

void copy(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  each<2>(args, {&x, &y}, part, parts,
          [&](const Walk<2>& at) { move_element(x, at.offset(0), y, at.offset(1)); });
}

void fill(const KernelArgs& args, int part, int parts) {
  const View& y = args.out[0];
  const ParamSlot& value = args.params[param(Operation::Fill, "value")];
  each<1>(args, {&y}, part, parts, [&](const Walk<1>& at) {
    if (is_float(y.storage) || value.is_float) {
      store_at(y, at.offset(0), static_cast<float>(value.f));
    } else {
      store_int_at(y, at.offset(0), value.i);
    }
  });
}

void arange(const KernelArgs& args, int part, int parts) {
  const View& y = args.out[0];
  const int64_t start = args.integer(param(Operation::Arange, "start"));
  each<1>(args, {&y}, part, parts,
          [&](const Walk<1>& at) { store_int_at(y, at.offset(0), start + at.index(0)); });
}

void clamp(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  const ParamSlot &low = args.params[param(Operation::Clamp, "min")],
                  &high = args.params[param(Operation::Clamp, "max")];
  each<2>(args, {&x, &y}, part, parts, [&](const Walk<2>& at) {
    if (is_float(x.storage)) {
      float v = load_at(x, at.offset(0));
      if (low.present && v < static_cast<float>(low.f)) v = static_cast<float>(low.f);
      if (high.present && v > static_cast<float>(high.f)) v = static_cast<float>(high.f);
      store_at(y, at.offset(1), v);
    } else {
      int64_t v = load_int_at(x, at.offset(0));
      if (low.present) v = std::max(v, low.i);
      if (high.present) v = std::min(v, high.i);
      store_int_at(y, at.offset(1), v);
    }
  });
}

// y's axis is `repeats` times x's: every element stands `repeats` times in a row.
void repeat_axis(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  int64_t axis = args.integer(param(Operation::RepeatAxis, "axis"));
  if (axis < 0) axis += y.rank;
  const int64_t repeats = args.integer(param(Operation::RepeatAxis, "repeats"), 1);
  View held = x;  // stands still on the axis; the index supplies it
  const int64_t step = x.stride[axis];
  held.shape[axis] = 1;
  each<2>(args, {&held, &y}, part, parts, [&](const Walk<2>& at) {
    move_element(x, at.offset(0) + at.index(static_cast<int>(axis)) / repeats * step, y,
                 at.offset(1));
  });
}

void assign_slice(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &src = args.in[1], &y = args.out[0];
  int64_t axis = args.integer(param(Operation::AssignSlice, "axis"));
  if (axis < 0) axis += y.rank;
  const int64_t start = args.integer(param(Operation::AssignSlice, "start"));
  const int64_t extent = src.shape[axis];
  const int64_t step = src.stride[axis];
  View held = src;
  held.shape[axis] = 1;
  each<3>(args, {&x, &held, &y}, part, parts, [&](const Walk<3>& at) {
    const int64_t i = at.index(static_cast<int>(axis)) - start;
    if (i >= 0 && i < extent) {
      move_element(src, at.offset(1) + i * step, y, at.offset(2));
    } else {
      move_element(x, at.offset(0), y, at.offset(2));
    }
  });
}

}  // namespace axon::runtime::ref
