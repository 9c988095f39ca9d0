// Reductions, scans, sorting and the matrix product.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"

namespace axon::graph {
namespace {

DType sum_dtype(DType dtype) { return is_float(dtype) ? dtype : DType::I64; }

Result<bool> flag(const OpCall& call, size_t i, bool if_null) {
  if (call[i].is_null()) return if_null;
  return call.boolean(i);
}

// Positions along one axis in sorted order; ties keep their order, NaN counts as largest.
std::vector<int64_t> sorted_positions(const EvalTensor& x, const AxisView& view, int64_t o,
                                      int64_t k, bool descending) {
  std::vector<int64_t> order(static_cast<size_t>(view.extent));
  std::iota(order.begin(), order.end(), 0);
  auto less = [&](int64_t a, int64_t b) {
    int64_t i = view.at(o, a, k), j = view.at(o, b, k);
    if (!x.real()) return x.get_int(i) < x.get_int(j);
    double p = x.get(i), q = x.get(j);
    return std::isnan(p) ? false : std::isnan(q) || p < q;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return descending ? less(b, a) : less(a, b); });
  return order;
}

}  // namespace

Result<EvalValue> eval_sum(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AXON_TRY(bool keep, flag(call, 2, false));
  AxisView view = view_axis(x->shape, axis);
  Shape shape = x->shape;
  if (keep)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
  EvalTensor out = EvalTensor::make(sum_dtype(x->dtype), shape);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t k = 0; k < view.inner; ++k) {
      double total = 0;
      uint64_t whole = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        if (x->real())
          total += x->get(view.at(o, i, k));
        else
          whole += static_cast<uint64_t>(x->get_int(view.at(o, i, k)));
      }
      int64_t at = o * view.inner + k;
      if (x->real())
        out.set(at, total);
      else
        out.set_int(at, static_cast<int64_t>(whole));
    }
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_cumsum(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AxisView view = view_axis(x->shape, axis);
  EvalTensor out = EvalTensor::make(sum_dtype(x->dtype), x->shape);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t k = 0; k < view.inner; ++k) {
      double total = 0;
      uint64_t whole = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        int64_t at = view.at(o, i, k);
        if (x->real())
          out.set(at, total += x->get(at));
        else
          out.set_int(at, static_cast<int64_t>(whole += static_cast<uint64_t>(x->get_int(at))));
      }
    }
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_softmax(const OpCall& call) {
  AXON_TRY(const EvalTensor* given, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, given->shape.size()));
  AXON_TRY(DType dtype, call.dtype(2, given->dtype));
  if (!is_float(dtype)) return call.wrong(0, "a float tensor");
  EvalTensor x = convert(*given, dtype);
  AxisView view = view_axis(x.shape, axis);
  EvalTensor out = EvalTensor::make(dtype, x.shape);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t k = 0; k < view.inner; ++k) {
      double highest = -INFINITY, total = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        double v = x.get(view.at(o, i, k));
        if (std::isnan(v) || v > highest) highest = v;
      }
      for (int64_t i = 0; i < view.extent; ++i) {
        total += std::exp(x.get(view.at(o, i, k)) - highest);
      }
      for (int64_t i = 0; i < view.extent; ++i) {
        int64_t at = view.at(o, i, k);
        out.set(at, std::exp(x.get(at) - highest) / total);
      }
    }
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_topk(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(int64_t count, call.integer(1));
  AXON_TRY(size_t axis, call.axis(2, x->shape.size()));
  AXON_TRY(bool largest, flag(call, 3, true));
  AxisView view = view_axis(x->shape, axis);
  if (count < 0 || count > view.extent) return eval_error(Diag::RunIndex, {count, view.extent});
  Shape shape = x->shape;
  shape[axis] = count;
  EvalTensor values = EvalTensor::make(x->dtype, shape),
             indices = EvalTensor::make(DType::I64, shape);
  AxisView to = view_axis(shape, axis);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t k = 0; k < view.inner; ++k) {
      std::vector<int64_t> order = sorted_positions(*x, view, o, k, largest);
      for (int64_t i = 0; i < count; ++i) {
        int64_t from = order[static_cast<size_t>(i)];
        values.copy(to.at(o, i, k), *x, view.at(o, from, k));
        indices.set_int(to.at(o, i, k), from);
      }
    }
  }
  return EvalValue::tuple({EvalValue::of(std::move(values)), EvalValue::of(std::move(indices))});
}

Result<EvalValue> eval_argsort(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AXON_TRY(bool descending, flag(call, 2, false));
  AxisView view = view_axis(x->shape, axis);
  EvalTensor out = EvalTensor::make(DType::I64, x->shape);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t k = 0; k < view.inner; ++k) {
      std::vector<int64_t> order = sorted_positions(*x, view, o, k, descending);
      for (int64_t i = 0; i < view.extent; ++i) {
        out.set_int(view.at(o, i, k), order[static_cast<size_t>(i)]);
      }
    }
  }
  return EvalValue::of(std::move(out));
}

// The left operand takes the float type of the right one (stdlib.md, `matmul`).
Result<EvalValue> eval_matmul(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* y, call.tensor(1));
  if (x->shape.size() < 2 || y->shape.size() < 2) return call.wrong(0, "two axes or more");
  DType dtype = x->real() && y->real() ? y->dtype : promote(x->dtype, y->dtype);
  EvalTensor a = convert(*x, dtype), b = convert(*y, dtype);
  int64_t rows = a.shape[a.shape.size() - 2], inner = a.shape.back(), cols = b.shape.back();
  if (b.shape[b.shape.size() - 2] != inner) {
    return eval_error(Diag::RunShape,
                      {call.name(0), show_shape(a.shape), call.name(1), show_shape(b.shape)});
  }
  Shape batch_a(a.shape.begin(), a.shape.end() - 2), batch_b(b.shape.begin(), b.shape.end() - 2);
  AXON_TRY(Shape shape, broadcast(batch_a, batch_b));
  auto at_a = broadcast_offsets(batch_a, shape), at_b = broadcast_offsets(batch_b, shape);
  shape.push_back(rows);
  shape.push_back(cols);
  EvalTensor out = EvalTensor::make(dtype, shape);
  int64_t n = 0;
  for (size_t batch = 0; batch < at_a.size(); ++batch) {
    int64_t base_a = at_a[batch] * rows * inner, base_b = at_b[batch] * inner * cols;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        double total = 0;
        uint64_t whole = 0;
        for (int64_t i = 0; i < inner; ++i) {
          int64_t p = base_a + r * inner + i, q = base_b + i * cols + c;
          if (a.real())
            total += a.get(p) * b.get(q);
          else
            whole += static_cast<uint64_t>(a.get_int(p)) * static_cast<uint64_t>(b.get_int(q));
        }
        if (a.real())
          out.set(n++, total);
        else
          out.set_int(n++, static_cast<int64_t>(whole));
      }
    }
  }
  return EvalValue::of(std::move(out));
}

}  // namespace axon::graph
