// The disturbance, and the tolerances that follow from it.
#include "fuzz/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace axon::fuzz {
namespace {

using graph::EvalTensor, graph::EvalValue;

constexpr int kRuns = 4;
// Of the largest deviation of kRuns: kernels may be a few units off where a run is one to three, in
// the worst direction each time.
constexpr double kMargin = 16;
// Of the result itself, in units of its last place: what one kernel may be off.
constexpr double kUnits = 8;
// Beyond this, relative to 1 or the result, rounding decides.
constexpr double kUnstable = 1e-2;

// Small: what is cast to a small float may stay a float32 (docs/decisions/element-types.md).
enum class Rounds : uint8_t { Never, Sums, Products, Small, Always };

Rounds rounds(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub:
    case Op::Add:
    case Op::Sum:
    case Op::Cumsum:
    case Op::IndexAdd:
    case Op::ScatterReduce:
      return Rounds::Sums;
    case Op::CoreBinaryMul:
    case Op::Mul:
    case Op::Matmul:
    case Op::Conv1d:
      return Rounds::Products;
    case Op::Cast:
    case Op::CastLike:
      return Rounds::Small;
    case Op::CoreBinaryDiv:
    case Op::CoreBinaryMod:
    case Op::Linear:
    case Op::ExpertLinear:
    case Op::Layernorm:
    case Op::Rmsnorm:
    case Op::L2norm:
    case Op::Div:
    case Op::Pow:
    case Op::Exp:
    case Op::Log:
    case Op::Sin:
    case Op::Cos:
    case Op::Acos:
    case Op::Sqrt:
    case Op::ActivationsGelu:
    case Op::ActivationsTanh:
    case Op::ActivationsSigmoid:
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
    case Op::ActivationsSilu:
    case Op::ActivationsRelu2:
    case Op::ActivationsGegelu:
    case Op::ActivationsXielu:
    case Op::ActivationsSwiglu:
    case Op::Softmax:
    case Op::RandomNormal:
    case Op::FusedLinear:
    case Op::FusedRmsNorm:
    case Op::FusedLayerNorm:
    case Op::FusedRope:
    case Op::FusedAttention:
      return Rounds::Always;
    default:
      return Rounds::Never;
  }
}

// Operations that add up terms: what is lost there is a share of the terms, not of the sum.
bool adds_up(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub:
    case Op::CoreBinaryMod:
    case Op::ActivationsGelu:
    case Op::ActivationsXielu:
    case Op::CoreBinaryMul:
    case Op::CoreBinaryDiv:
    case Op::Mul:
    case Op::Div:
    case Op::Cast:
    case Op::CastLike:
      return false;
    default:
      return rounds(op) != Rounds::Never;
  }
}

// A step from a value to its neighbour.
double unit(DType dtype, double value) {
  int digits = dtype == DType::F16 ? 10 : dtype == DType::BF16 ? 7 : 23;
  if (value == 0 || !std::isfinite(value)) return 0;
  return std::ldexp(1.0, std::max(std::ilogb(value), -126) - digits);
}

class Disturbance : public graph::EvalObserver {
 public:
  explicit Disturbance(uint64_t seed) : state_(seed) {}

  void operands(Op op, std::vector<EvalValue>& values) override {
    Rounds how = rounds(op);
    // Small whole numbers and their halves are added and multiplied without loss, in any order.
    exact_ = how != Rounds::Never && how != Rounds::Always;
    double grid = how == Rounds::Sums ? 64 : 8, most = how == Rounds::Sums ? 2048 : 16;
    if (how == Rounds::Products) most = 64;
    for (const EvalValue& v : values) exact_ = exact_ && on_grid(v, grid, most);
    if (how == Rounds::Never || exact_ || !adds_up(op)) return;
    for (EvalValue& v : values) disturb(v);
  }

  void result(Op op, EvalValue& value) override {
    Rounds how = rounds(op);
    if (how == Rounds::Never || exact_) return;
    bool small = value.is_tensor() &&
                 (value.tensor->dtype == DType::F16 || value.tensor->dtype == DType::BF16);
    if (how != Rounds::Small || small) disturb(value);
  }

 private:
  static bool on_grid(const EvalValue& v, double grid, double most) {
    auto fits = [&](double x) { return std::fabs(x) <= most && x * grid == std::floor(x * grid); };
    if (v.kind == EvalValue::Kind::Float) return fits(v.number);
    if (!v.is_tensor()) return true;
    if (!v.tensor->real()) return true;
    return std::all_of(v.tensor->reals.begin(), v.tensor->reals.end(), fits) &&
           v.tensor->count() <= 64;
  }

  void disturb(EvalValue& v) {
    if (!v.is_tensor() || !v.tensor->real()) return;
    EvalTensor t = *v.tensor;
    for (float& x : t.reals) {
      uint64_t r = next_random(state_);
      double step = static_cast<double>(1 + r % 3) * ((r >> 8) % 2 == 0 ? 1 : -1);
      x = graph::round_to(t.dtype, static_cast<double>(x) + step * unit(t.dtype, x));
    }
    v = EvalValue::of(std::move(t));
  }

  uint64_t state_;
  bool exact_ = false;
};

}  // namespace

DerivedTolerance::DerivedTolerance(const graph::Graph& graph, const TypeTable& types,
                                   const Given& given, const Outcome& expected, uint64_t seed) {
  for (const auto& [name, tensor] : expected.leaves)
    allowed_[name].assign(static_cast<size_t>(tensor.count()), 0);
  for (int run = 0; run < kRuns && !hopeless_; ++run) {
    Disturbance disturbance(seed + static_cast<uint64_t>(run) * 0x51ED27ull);
    graph::EvalOptions options;
    options.observer = &disturbance;
    add(expected, evaluated(graph, types, given, options));
  }
  for (auto& [name, allowed] : allowed_) {
    const EvalTensor& tensor = expected.leaves.at(name);
    double squares = 0;
    bool stable = true;
    for (double d : allowed) squares += d * d;
    double typical = allowed.empty() ? 0 : std::sqrt(squares / static_cast<double>(allowed.size()));
    for (size_t i = 0; i < allowed.size(); ++i) {
      double value = tensor.get(static_cast<int64_t>(i));
      stable = stable && allowed[i] <= kUnstable * (1 + std::fabs(value));
      // A deviation that happens to be small among larger ones says little.
      allowed[i] = kMargin * std::max(allowed[i], typical / 4);
      if (tensor.real()) allowed[i] += kUnits * unit(tensor.dtype, value);
    }
    if (stable) continue;
    ++unstable_;
    std::fill(allowed.begin(), allowed.end(), std::numeric_limits<double>::infinity());
  }
}

void DerivedTolerance::add(const Outcome& expected, const Outcome& other) {
  hopeless_ = expected.code() != other.code() || expected.leaves.size() != other.leaves.size();
  for (const auto& [name, tensor] : expected.leaves) {
    auto found = other.leaves.find(name);
    if (hopeless_ || found == other.leaves.end() || found->second.shape != tensor.shape) {
      hopeless_ = true;
      return;
    }
    std::vector<double>& allowed = allowed_[name];
    for (size_t i = 0; i < allowed.size(); ++i) {
      double p = tensor.get(static_cast<int64_t>(i));
      double q = found->second.get(static_cast<int64_t>(i));
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      double d = std::fabs(p - q);
      allowed[i] =
          std::isfinite(d) ? std::max(allowed[i], d) : std::numeric_limits<double>::infinity();
    }
  }
}

double DerivedTolerance::of(const std::string& name, int64_t i, double) const {
  return allowed_.at(name)[static_cast<size_t>(i)];
}

}  // namespace axon::fuzz
