// Reductions along an axis, softmax, sorting and selection.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {
namespace {

// The views of one operation with the reduced axis last, and this part's share of the other axes.
struct Lines {
  View x, y;
  int64_t length, x_step, y_step;
  Share share;
};
Lines lines_of(const View& x, const View& y, int64_t axis, int part, int parts) {
  Lines l{move_axis_last(x, axis), move_axis_last(y, axis), 0, 0, 0, {}};
  l.length = l.x.last();
  l.x_step = l.x.stride[l.x.rank - 1];
  l.y_step = l.y.stride[l.y.rank - 1];
  l.share = share_of(row_count(l.x), 1, part, parts);
  return l;
}

// y of a reduction, with the reduced axis put back as one of extent 1 at the end.
View reduced_view(const View& x, const View& y, int64_t axis) {
  if (y.rank == x.rank) return move_axis_last(y, axis);
  View full = y;
  full.shape[full.rank] = 1;
  full.stride[full.rank++] = 0;
  return full;
}

double reduce_step(ReduceCode code, double total, double v) {
  switch (code) {
    case ReduceCode::Sum:
    case ReduceCode::Mean:
      return total + v;
    case ReduceCode::Prod:
      return total * v;
    case ReduceCode::Max:
      return std::isnan(v) || v > total ? v : total;
    case ReduceCode::Min:
      return std::isnan(v) || v < total ? v : total;
  }
  return total;
}
int64_t reduce_step_int(ReduceCode code, int64_t total, int64_t v) {
  switch (code) {
    case ReduceCode::Sum:
    case ReduceCode::Mean:
      return static_cast<int64_t>(static_cast<uint64_t>(total) + static_cast<uint64_t>(v));
    case ReduceCode::Prod:
      return static_cast<int64_t>(static_cast<uint64_t>(total) * static_cast<uint64_t>(v));
    case ReduceCode::Max:
      return std::max(total, v);
    case ReduceCode::Min:
      return std::min(total, v);
  }
  return total;
}
double neutral(ReduceCode code) {
  switch (code) {
    case ReduceCode::Sum:
    case ReduceCode::Mean:
      return 0;
    case ReduceCode::Prod:
      return 1;
    case ReduceCode::Max:
      return -INFINITY;
    case ReduceCode::Min:
      return INFINITY;
  }
  return 0;
}
int64_t neutral_int(ReduceCode code) {
  switch (code) {
    case ReduceCode::Max:
      return INT64_MIN;
    case ReduceCode::Min:
      return INT64_MAX;
    case ReduceCode::Prod:
      return 1;
    default:
      return 0;
  }
}

// Orders positions of a line by value: NaN counts as largest, equal values keep their order.
struct Order {
  const View& x;
  int64_t from, step;
  bool descending;
  double value(int64_t i) const { return load_at(x, from + i * step); }
  bool operator()(int64_t a, int64_t b) const {
    if (!is_float(x.storage)) {
      const int64_t va = load_int_at(x, from + a * step), vb = load_int_at(x, from + b * step);
      if (va != vb) return descending ? va > vb : va < vb;
      return a < b;
    }
    const double va = value(a), vb = value(b);
    const bool na = std::isnan(va), nb = std::isnan(vb);
    if (na != nb) return descending ? na : nb;
    if (!na && va != vb) return descending ? va > vb : va < vb;
    return a < b;
  }
};

}  // namespace

void reduce(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::Reduce;
  const auto code = static_cast<ReduceCode>(args.integer(param(op, "code")));
  const int64_t axis = args.integer(param(op, "axis"), -1);
  const View x = move_axis_last(args.in[0], axis);
  const View y = reduced_view(args.in[0], args.out[0], axis);
  const int64_t length = x.last(), step = x.stride[x.rank - 1];
  const bool floats = is_float(x.storage) || is_float(y.storage);
  const Share share = share_of(row_count(x), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    const int64_t from = row_offset(x, row), to = row_offset(y, row);
    if (floats) {
      double total = neutral(code);
      for (int64_t i = 0; i < length; ++i)
        total = reduce_step(code, total, load_at(x, from + i * step));
      if (code == ReduceCode::Mean) total /= static_cast<double>(length);
      store_at(y, to, static_cast<float>(total));
    } else {
      int64_t total = neutral_int(code);
      for (int64_t i = 0; i < length; ++i) {
        total = reduce_step_int(code, total, load_int_at(x, from + i * step));
      }
      if (code == ReduceCode::Mean && length > 0) total /= length;
      store_int_at(y, to, total);
    }
  }
}

void cumsum(const KernelArgs& args, int part, int parts) {
  const Lines l = lines_of(args.in[0], args.out[0],
                           args.integer(param(Operation::Cumsum, "axis"), -1), part, parts);
  const bool floats = is_float(l.x.storage);
  for (int64_t row = l.share.begin; row < l.share.end; ++row) {
    const int64_t from = row_offset(l.x, row), to = row_offset(l.y, row);
    double total = 0;
    int64_t whole = 0;
    for (int64_t i = 0; i < l.length; ++i) {
      if (floats) {
        total += load_at(l.x, from + i * l.x_step);
        store_at(l.y, to + i * l.y_step, static_cast<float>(total));
      } else {
        whole += load_int_at(l.x, from + i * l.x_step);
        store_int_at(l.y, to + i * l.y_step, whole);
      }
    }
  }
}

void softmax(const KernelArgs& args, int part, int parts) {
  const Lines l = lines_of(args.in[0], args.out[0],
                           args.integer(param(Operation::Softmax, "axis"), -1), part, parts);
  for (int64_t row = l.share.begin; row < l.share.end; ++row) {
    const int64_t from = row_offset(l.x, row), to = row_offset(l.y, row);
    float largest = -INFINITY;
    for (int64_t i = 0; i < l.length; ++i) {
      largest = std::max(largest, load_at(l.x, from + i * l.x_step));
    }
    double total = 0;
    for (int64_t i = 0; i < l.length; ++i) {
      total += std::exp(load_at(l.x, from + i * l.x_step) - largest);
    }
    const auto inverse = static_cast<float>(1.0 / total);
    for (int64_t i = 0; i < l.length; ++i) {
      store_at(l.y, to + i * l.y_step,
               std::exp(load_at(l.x, from + i * l.x_step) - largest) * inverse);
    }
  }
}

int64_t sort_workspace(const KernelArgs& args, int) {
  int64_t longest = 1;
  for (int a = 0; a < args.in[0].rank; ++a) longest = std::max(longest, args.in[0].shape[a]);
  return longest * static_cast<int64_t>(sizeof(int64_t));
}

void topk(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::Topk;
  const int64_t axis = args.integer(param(op, "axis"), -1);
  const bool largest = args.integer(param(op, "largest"), 1) != 0;
  const View &values = args.out[0], &places = args.out[1];  // either may be unread
  const Lines l = lines_of(args.in[0], values.present() ? values : places, axis, part, parts);
  const View indices = places.present() ? move_axis_last(places, axis) : places;
  const int64_t k = std::min(l.y.last(), l.length);
  const int64_t i_step = places.present() ? indices.stride[indices.rank - 1] : 0;
  auto* order = reinterpret_cast<int64_t*>(args.scratch(part));
  for (int64_t row = l.share.begin; row < l.share.end; ++row) {
    const int64_t from = row_offset(l.x, row);
    for (int64_t i = 0; i < l.length; ++i) order[i] = i;
    std::partial_sort(order, order + k, order + l.length, Order{l.x, from, l.x_step, largest});
    const int64_t to = row_offset(l.y, row);
    const int64_t index_to = places.present() ? row_offset(indices, row) : 0;
    for (int64_t i = 0; i < k; ++i) {
      if (places.present()) store_int_at(indices, index_to + i * i_step, order[i]);
      if (!values.present()) continue;
      if (is_float(l.x.storage)) {
        store_at(l.y, to + i * l.y_step, load_at(l.x, from + order[i] * l.x_step));
      } else {
        store_int_at(l.y, to + i * l.y_step, load_int_at(l.x, from + order[i] * l.x_step));
      }
    }
  }
}

void argsort(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::Argsort;
  const Lines l =
      lines_of(args.in[0], args.out[0], args.integer(param(op, "axis"), -1), part, parts);
  const bool descending = args.integer(param(op, "descending")) != 0;
  auto* order = reinterpret_cast<int64_t*>(args.scratch(part));
  for (int64_t row = l.share.begin; row < l.share.end; ++row) {
    for (int64_t i = 0; i < l.length; ++i) order[i] = i;
    // The order is total, so an unstable sort gives the stable result without allocating.
    std::sort(order, order + l.length, Order{l.x, row_offset(l.x, row), l.x_step, descending});
    const int64_t to = row_offset(l.y, row);
    for (int64_t i = 0; i < l.length; ++i) store_int_at(l.y, to + i * l.y_step, order[i]);
  }
}

}  // namespace axon::runtime::ref
