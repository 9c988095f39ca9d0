// Layers that read parameters, norms, convolution and random numbers.
#include <cmath>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"
#include "support/text.h"

namespace axon::graph {
namespace {

Result<std::optional<EvalTensor>> find_param(const OpCall& call, const std::string& key) {
  if (!call.options.params) return std::optional<EvalTensor>{};
  return call.options.params->find(key);
}

Result<EvalTensor> need_param(const OpCall& call, const std::string& key) {
  AXON_TRY(std::optional<EvalTensor> found, find_param(call, key));
  if (!found) return eval_error(Diag::RunParam, {key});
  return std::move(*found);
}

// A leaf path under a base path: an absolute leaf, or one that already lies under the base, stands
// alone (stdlib.md R6).
std::string join_path(const EvalValue& base, const EvalValue& leaf) {
  if (leaf.absolute || base.text.empty()) return leaf.text;
  if (leaf.text == base.text || starts_with(leaf.text, base.text + ".")) return leaf.text;
  return leaf.text.empty() ? base.text : base.text + "." + leaf.text;
}

Result<std::string> leaf_key(const OpCall& call, size_t base, size_t leaf) {
  AXON_TRY(std::string key, call.key(base));
  if (call[leaf].kind != EvalValue::Kind::Path) return call.wrong(leaf, "a path");
  return join_path(call[base], call[leaf]);
}

Result<bool> truth(const OpCall& call, size_t i) {
  if (call[i].is_null()) return false;
  return call.boolean(i);
}

// A bias that the checkpoint lacks is no bias (language.md 8.6).
Result<std::optional<EvalTensor>> optional_bias(const OpCall& call, bool wanted, size_t path) {
  if (!wanted) return std::optional<EvalTensor>{};
  AXON_TRY(std::string key, leaf_key(call, 0, path));
  return find_param(call, key);
}

EvalTensor row_of(const EvalTensor& bank, int64_t row) {
  Shape shape(bank.shape.begin() + 1, bank.shape.end());
  EvalTensor out = EvalTensor::make(bank.dtype, shape);
  for (int64_t i = 0; i < out.count(); ++i) out.copy(i, bank, row * out.count() + i);
  return out;
}

Error width_error(const OpCall& call, const EvalTensor& x, const EvalTensor& w) {
  return eval_error(Diag::RunShape,
                    {call.name(1), show_shape(x.shape), "the weight", show_shape(w.shape)});
}

struct Matrix {
  const EvalTensor& w;  // [out, in], or [in, out] when transposed; may lie in a bank
  int64_t base, out, in;
  bool transposed;
  double at(int64_t o, int64_t i) const {
    return w.get(base + (transposed ? i * out + o : o * in + i));
  }
};

double product(const EvalTensor& x, int64_t row, const Matrix& m, int64_t o) {
  double total = 0;
  for (int64_t i = 0; i < m.in; ++i) total += x.get(row * m.in + i) * m.at(o, i);
  return total;
}

}  // namespace

Result<EvalValue> eval_params_param(const OpCall& call) {
  AXON_TRY(std::string key, call.key(0));
  AXON_TRY(EvalTensor tensor, need_param(call, key));
  return EvalValue::of(std::move(tensor));
}

Result<EvalValue> eval_has_root(const OpCall& call) {
  AXON_TRY(std::string key, call.key(0));
  return EvalValue::of(key.empty() || (call.options.params && call.options.params->has_root(key)));
}

// linear(path, x, dim, bias, transpose, expert, weight_path, bias_path)
Result<EvalValue> eval_linear(const OpCall& call) {
  AXON_TRY(const EvalTensor* given, call.tensor(1));
  AXON_TRY(bool with_bias, truth(call, 3));
  AXON_TRY(bool transposed, truth(call, 4));
  AXON_TRY(std::string key, leaf_key(call, 0, 6));
  AXON_TRY(EvalTensor w, need_param(call, key));
  AXON_TRY(std::optional<EvalTensor> b, optional_bias(call, with_bias, 7));
  if (!call[5].is_null()) {
    AXON_TRY(int64_t expert, call.integer(5));
    int64_t experts = w.shape.empty() ? 0 : w.shape[0];
    if (expert < 0 || expert >= experts) return eval_error(Diag::RunIndex, {expert, experts});
    w = row_of(w, expert);
    if (b && b->shape.size() >= 2) b = row_of(*b, expert);
  }
  DType dtype = given->real() ? given->dtype : promote(given->dtype, w.dtype);
  EvalTensor x = convert(*given, dtype);
  w = convert(w, dtype);
  if (w.shape.size() != 2 || x.shape.empty()) return width_error(call, x, w);
  Matrix m{w, 0, w.shape[transposed ? 1 : 0], w.shape[transposed ? 0 : 1], transposed};
  if (x.shape.back() != m.in) return width_error(call, x, w);
  if (b && b->count() != m.out) return width_error(call, x, *b);
  if (b) b = convert(*b, dtype);
  Shape shape = x.shape;
  shape.back() = m.out;
  EvalTensor out = EvalTensor::make(dtype, shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    int64_t o = i % m.out;
    out.set(i, product(x, i / m.out, m, o) + (b ? b->get(o) : 0));
  }
  return EvalValue::of(std::move(out));
}

// expert_linear(path, x, expert_idx, dim, bias, transpose, weight_path, bias_path)
Result<EvalValue> eval_expert_linear(const OpCall& call) {
  AXON_TRY(const EvalTensor* given, call.tensor(1));
  AXON_TRY(const EvalTensor* index, call.tensor(2));
  AXON_TRY(bool with_bias, truth(call, 4));
  AXON_TRY(bool transposed, truth(call, 5));
  AXON_TRY(std::string key, leaf_key(call, 0, 6));
  AXON_TRY(EvalTensor w, need_param(call, key));
  AXON_TRY(std::optional<EvalTensor> b, optional_bias(call, with_bias, 7));
  if (w.shape.size() != 3 || given->shape.empty()) return width_error(call, *given, w);
  EvalTensor x = convert(*given, w.dtype);
  Matrix m{w, 0, w.shape[transposed ? 2 : 1], w.shape[transposed ? 1 : 2], transposed};
  if (x.shape.back() != m.in || index->count() * m.in != x.count()) return width_error(call, x, w);
  if (b && b->count() != w.shape[0] * m.out) return width_error(call, x, *b);
  Shape shape = x.shape;
  shape.back() = m.out;
  EvalTensor out = EvalTensor::make(given->dtype, shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    int64_t row = i / m.out, o = i % m.out, expert = index->get_int(row);
    if (expert < 0 || expert >= w.shape[0]) return eval_error(Diag::RunIndex, {expert, w.shape[0]});
    m.base = expert * m.out * m.in;
    // The product is rounded to the weight's type, then to that of x, before the bias.
    double y = round_to(given->dtype, round_to(w.dtype, product(x, row, m, o)));
    if (b) y += round_to(given->dtype, b->get(expert * m.out + o));
    out.set(i, y);
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_embedding(const OpCall& call) {
  AXON_TRY(std::string key, call.key(0));
  AXON_TRY(const EvalTensor* ids, call.tensor(1));
  if (ids->real()) return call.wrong(1, "an integer tensor");
  AXON_TRY(EvalTensor w, need_param(call, key.empty() ? "weight" : key + ".weight"));
  if (w.shape.size() != 2) return width_error(call, *ids, w);
  Shape shape = ids->shape;
  shape.push_back(w.shape[1]);
  EvalTensor out = EvalTensor::make(w.dtype, shape);
  for (int64_t i = 0; i < ids->count(); ++i) {
    int64_t id = ids->get_int(i);
    if (id < 0 || id >= w.shape[0]) return eval_error(Diag::RunIndex, {id, w.shape[0]});
    for (int64_t k = 0; k < w.shape[1]; ++k) out.copy(i * w.shape[1] + k, w, id * w.shape[1] + k);
  }
  return EvalValue::of(std::move(out));
}

// layernorm(path, x, eps, dim, weight_path, bias, bias_path)
Result<EvalValue> eval_layernorm(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(1));
  AXON_TRY(double eps, call.number(2));
  AXON_TRY(std::string key, leaf_key(call, 0, 4));
  AXON_TRY(bool with_bias, truth(call, 5));
  AXON_TRY(EvalTensor w, need_param(call, key));
  AXON_TRY(std::optional<EvalTensor> b, optional_bias(call, with_bias, 6));
  int64_t width = x->shape.empty() ? 0 : x->shape.back();
  if (!x->real() || w.count() != width || (b && b->count() != width)) {
    return width_error(call, *x, w);
  }
  EvalTensor out = EvalTensor::make(x->dtype, x->shape);
  for (int64_t row = 0; width > 0 && row < x->count() / width; ++row) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i) mean += x->get(row * width + i);
    mean /= static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i) {
      double d = x->get(row * width + i) - mean;
      variance += d * d;
    }
    double scale = 1 / std::sqrt(variance / static_cast<double>(width) + eps);
    for (int64_t i = 0; i < width; ++i) {
      double y = (x->get(row * width + i) - mean) * scale * w.get(i);
      out.set(row * width + i, y + (b ? b->get(i) : 0));
    }
  }
  return EvalValue::of(std::move(out));
}

// rmsnorm(x, eps, dim, cast_float) and l2norm(x, eps): one formula. Rounding happens once at the
// end, so cast_float makes no difference here.
Result<EvalValue> eval_rmsnorm(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(double eps, call.number(1));
  if (!x->real() || x->shape.empty()) return call.wrong(0, "a float tensor");
  int64_t width = x->shape.back();
  EvalTensor out = EvalTensor::make(x->dtype, x->shape);
  for (int64_t row = 0; width > 0 && row < x->count() / width; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < width; ++i)
      squares += x->get(row * width + i) * x->get(row * width + i);
    double scale = 1 / std::sqrt(squares / static_cast<double>(width) + eps);
    for (int64_t i = 0; i < width; ++i) out.set(row * width + i, x->get(row * width + i) * scale);
  }
  return EvalValue::of(std::move(out));
}

// conv1d(x[B,C,S], weight[O,I,K], bias, stride, padding_left, padding_right, dilation, groups)
Result<EvalValue> eval_conv1d(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* weight, call.tensor(1));
  int64_t facts[5];
  for (size_t i = 0; i < 5; ++i) {
    AXON_TRY(facts[i], call.integer(3 + i));
  }
  auto [stride, left, right, dilation, groups] = facts;
  bool fits = x->shape.size() == 3 && weight->shape.size() == 3 && stride > 0 && dilation > 0 &&
              groups > 0 && left >= 0 && right >= 0 && x->real() &&
              x->shape[1] == weight->shape[1] * groups && weight->shape[0] % groups == 0;
  if (!fits) {
    return eval_error(Diag::RunShape, {call.name(0), show_shape(x->shape), call.name(1),
                                       show_shape(weight->shape)});
  }
  EvalTensor w = convert(*weight, x->dtype), bias = EvalTensor::make(x->dtype, {w.shape[0]});
  if (!call[2].is_null()) {
    AXON_TRY(const EvalTensor* given, call.tensor(2));
    if (given->count() != w.shape[0]) return call.wrong(2, "one element per output channel");
    bias = convert(*given, x->dtype);
  }
  int64_t length = x->shape[2], taps = w.shape[2], per_group = w.shape[1];
  int64_t reach = left + length + right - (dilation * (taps - 1) + 1);
  EvalTensor out =
      EvalTensor::make(x->dtype, {x->shape[0], w.shape[0], reach < 0 ? 0 : reach / stride + 1});
  for (int64_t n = 0; n < out.count(); ++n) {
    int64_t s = n % out.shape[2], o = n / out.shape[2] % out.shape[1],
            batch = n / out.shape[2] / out.shape[1];
    int64_t first = o / (w.shape[0] / groups) * per_group;
    double total = bias.get(o);
    for (int64_t c = 0; c < per_group; ++c) {
      for (int64_t k = 0; k < taps; ++k) {
        int64_t at = s * stride + k * dilation - left;
        if (at < 0 || at >= length) continue;
        total += x->get((batch * x->shape[1] + first + c) * length + at) *
                 w.get((o * per_group + c) * taps + k);
      }
    }
    out.set(n, total);
  }
  return EvalValue::of(std::move(out));
}

// Element i draws from (seed, i) alone: splitmix64, 53 bits; normal by Box-Muller.
Result<EvalValue> eval_random(const OpCall& call) {
  AXON_TRY(const EvalTensor* ref, call.tensor(0));
  AXON_TRY(Shape shape, call.sizes(1));
  AXON_TRY(int64_t seed, call.integer(2));
  auto uniform = [&](uint64_t n) {
    uint64_t z =
        static_cast<uint64_t>(seed) * 0xD1342543DE82EF95ull + (n + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  };
  EvalTensor out = EvalTensor::make(ref->real() ? ref->dtype : DType::F32, shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    uint64_t n = static_cast<uint64_t>(i);
    if (call.op == Op::RandomUniform) {
      double u = uniform(n);
      // Rounding must not reach 1.
      while (round_to(out.dtype, u) >= 1) u = std::nextafter(u - 0x1p-12, 0.0);
      out.set(i, u);
    } else {
      double radius = std::sqrt(-2 * std::log(1 - uniform(2 * n)));
      out.set(i, radius * std::cos(6.283185307179586 * uniform(2 * n + 1)));
    }
  }
  return EvalValue::of(std::move(out));
}

}  // namespace axon::graph
