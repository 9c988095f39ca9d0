// Gather, scatter and convolution.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {
namespace {

int64_t axis_of(const View& view, int64_t axis) { return axis < 0 ? axis + view.rank : axis; }

void move_element(const View& x, int64_t from, const View& y, int64_t to) {
  if (is_float(x.storage)) {
    store_at(y, to, load_at(x, from));
  } else {
    store_int_at(y, to, load_int_at(x, from));
  }
}

// y := x, elementwise; nothing when both are the same memory.
void copy_whole(const View& x, const View& y) {
  if (x.data == y.data) return;
  const View* const operands[] = {&x, &y};
  Walk<2> at(y, y.rank, operands, 0);
  for (int64_t n = y.count(); n > 0; --n, at.next()) {
    move_element(x, at.offset(0), y, at.offset(1));
  }
}

// Visits the elements of `index`: body(offset in y of the place named, walk) for those inside of y.
// Walk operands: 0 index, 1 y without the axis, 2 src.
template <class Body>
void each_place(const KernelArgs& args, const View& index, const View& y, const View& src,
                int64_t axis, Body&& body) {
  View held = y;
  for (int a = 0; a < index.rank; ++a) held.shape[a] = index.shape[a];
  held.shape[axis] = 1;
  const View* const operands[] = {&index, &held, &src};
  Walk<3> at(index, index.rank, operands, 0);
  for (int64_t n = index.count(); n > 0; --n, at.next()) {
    const int64_t i = load_int_at(index, at.offset(0));
    if (!args.inside(i, y.shape[axis])) continue;
    body(at.offset(1) + i * y.stride[axis], at);
  }
}

float combine(ReduceCode code, float old, float v) {
  switch (code) {
    case ReduceCode::Sum:
    case ReduceCode::Mean:
      return old + v;
    case ReduceCode::Prod:
      return old * v;
    case ReduceCode::Max:
      return std::isnan(old) || old > v ? old : v;
    case ReduceCode::Min:
      return std::isnan(old) || old < v ? old : v;
  }
  return v;
}
int64_t combine(ReduceCode code, int64_t old, int64_t v) {
  switch (code) {
    case ReduceCode::Sum:
    case ReduceCode::Mean:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + static_cast<uint64_t>(v));
    case ReduceCode::Prod:
      return static_cast<int64_t>(static_cast<uint64_t>(old) * static_cast<uint64_t>(v));
    case ReduceCode::Max:
      return std::max(old, v);
    case ReduceCode::Min:
      return std::min(old, v);
  }
  return v;
}

// How elements of one kind are read, written, started from and averaged; means round down.
struct Floats {
  static float load(const View& view, int64_t at) { return load_at(view, at); }
  static void store(const View& view, int64_t at, float v) { store_at(view, at, v); }
  static float first(ReduceCode code) {
    if (code == ReduceCode::Max) return -INFINITY;
    if (code == ReduceCode::Min) return INFINITY;
    return code == ReduceCode::Prod ? 1.0f : 0.0f;
  }
  static float mean(float total, int64_t count) { return total / static_cast<float>(count); }
};
struct Integers {
  static int64_t load(const View& view, int64_t at) { return load_int_at(view, at); }
  static void store(const View& view, int64_t at, int64_t v) { store_int_at(view, at, v); }
  static int64_t first(ReduceCode code) {
    if (code == ReduceCode::Max) return INT64_MIN;
    if (code == ReduceCode::Min) return INT64_MAX;
    return code == ReduceCode::Prod ? 1 : 0;
  }
  static int64_t mean(int64_t total, int64_t count) {
    return total / count - (total % count < 0 ? 1 : 0);
  }
};

}  // namespace

// Off the axis, index may be smaller than x. An index outside of x gives 0, and the call an error.
void gather(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &index = args.in[1], &y = args.out[0];
  const int64_t axis = axis_of(x, args.integer(param(Operation::Gather, "axis"), -1));
  View held = x;
  for (int a = 0; a < x.rank; ++a) held.shape[a] = index.shape[a];
  held.shape[axis] = 1;
  const View* const operands[] = {&held, &index, &y};
  const Share share = share_of(y.count(), 16, part, parts);
  Walk<3> at(y, y.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) {
    const int64_t i = load_int_at(index, at.offset(1));
    if (!args.inside(i, x.shape[axis])) {
      store_at(y, at.offset(2), 0.0f);
    } else {
      move_element(x, at.offset(0) + i * x.stride[axis], y, at.offset(2));
    }
  }
}

void scatter(const KernelArgs& args, int part, int) {
  if (part != 0) return;
  constexpr Operation op = Operation::Scatter;
  const View &x = args.in[0], &index = args.in[1], &src = args.in[2], &y = args.out[0];
  const int64_t axis = axis_of(x, args.integer(param(op, "axis"), -1));
  const ParamSlot& value = args.params[param(op, "value")];
  copy_whole(x, y);
  each_place(args, index, y, src.present() ? src : index, axis, [&](int64_t to, const Walk<3>& at) {
    if (src.present()) {
      move_element(src, at.offset(2), y, to);
    } else if (is_float(y.storage)) {
      store_at(y, to, static_cast<float>(value.f));
    } else {
      store_int_at(y, to, value.i);
    }
  });
}

namespace {

// Without include_self the first value that comes to a place replaces the old one. Places are found
// by scanning index again: a reference may be slow, and needs no memory this way.
template <class Kind>
void scatter_reduce_as(const KernelArgs& args) {
  constexpr Operation op = Operation::ScatterReduce;
  const View &x = args.in[0], &index = args.in[1], &src = args.in[2], &y = args.out[0];
  const int64_t axis = axis_of(x, args.integer(param(op, "axis"), -1));
  const auto code = static_cast<ReduceCode>(args.integer(param(op, "code")));
  const bool include_self = args.integer(param(op, "include_self"), 1) != 0;
  copy_whole(x, y);
  if (!include_self) {
    each_place(args, index, y, src, axis,
               [&](int64_t to, const Walk<3>&) { Kind::store(y, to, Kind::first(code)); });
  }
  each_place(args, index, y, src, axis, [&](int64_t to, const Walk<3>& at) {
    Kind::store(y, to, combine(code, Kind::load(y, to), Kind::load(src, at.offset(2))));
  });
  if (code != ReduceCode::Mean) return;
  // A place is divided when its last contribution is met.
  int64_t n = 0;
  each_place(args, index, y, src, axis, [&](int64_t to, const Walk<3>&) {
    int64_t count = include_self ? 1 : 0, m = 0, last = -1;
    each_place(args, index, y, src, axis, [&](int64_t other, const Walk<3>&) {
      if (other == to) {
        ++count;
        last = m;
      }
      ++m;
    });
    if (last == n) Kind::store(y, to, Kind::mean(Kind::load(y, to), count));
    ++n;
  });
}

}  // namespace

void scatter_reduce(const KernelArgs& args, int part, int) {
  if (part != 0) return;
  is_float(args.out[0].storage) ? scatter_reduce_as<Floats>(args)
                                : scatter_reduce_as<Integers>(args);
}

void index_add(const KernelArgs& args, int part, int) {
  if (part != 0) return;
  const View &x = args.in[0], &index = args.in[1], &src = args.in[2], &y = args.out[0];
  const int64_t axis = axis_of(x, args.integer(param(Operation::IndexAdd, "axis"), 0));
  copy_whole(x, y);
  View held = y;
  held.shape[axis] = 1;
  const View* const operands[] = {&held, &src};
  Walk<2> at(src, src.rank, operands, 0);
  for (int64_t n = src.count(); n > 0; --n, at.next()) {
    const int64_t i = load_int_at(index, at.index(static_cast<int>(axis)) * index.stride[0]);
    if (!args.inside(i, y.shape[axis])) continue;
    const int64_t to = at.offset(0) + i * y.stride[axis];
    if (is_float(y.storage)) {
      store_at(y, to, load_at(y, to) + load_at(src, at.offset(1)));
    } else {
      store_int_at(y, to, load_int_at(y, to) + load_int_at(src, at.offset(1)));
    }
  }
}

void conv1d(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::Conv1d;
  const View &x = args.in[0], &w = args.in[1], &bias = args.in[2], &y = args.out[0];
  const int64_t stride = args.integer(param(op, "stride"), 1);
  const int64_t left = args.integer(param(op, "padding_left"));
  const int64_t dilation = args.integer(param(op, "dilation"), 1);
  const int64_t groups = args.integer(param(op, "groups"), 1);
  const int64_t inputs = w.shape[1], taps = w.shape[2], outputs = y.shape[1] / groups;
  const View* const operands[] = {&y};
  const Share share = share_of(y.count(), 1, part, parts);
  Walk<1> at(y, y.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) {
    const int64_t b = at.index(0), o = at.index(1), t = at.index(2);
    float sum = bias.present() ? load_at(bias, o * bias.stride[0]) : 0.0f;
    for (int64_t c = 0; c < inputs; ++c) {
      const int64_t channel = o / outputs * inputs + c;
      for (int64_t k = 0; k < taps; ++k) {
        const int64_t s = t * stride + k * dilation - left;
        if (s < 0 || s >= x.shape[2]) continue;
        sum += load_at(x, b * x.stride[0] + channel * x.stride[1] + s * x.stride[2]) *
               load_at(w, o * w.stride[0] + c * w.stride[1] + k * w.stride[2]);
      }
    }
    store_at(y, at.offset(0), sum);
  }
}

}  // namespace axon::runtime::ref
