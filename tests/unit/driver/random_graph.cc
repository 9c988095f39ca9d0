// The generator of random programs.
#include "random_graph.h"

#include <algorithm>

namespace axon::driver::ways {
namespace {

using graph::EvalValue;
using graph::Operand;

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

graph::ModuleId RandomGraph::add_main() { return graph::add_module(graph_, names_.intern("main")); }

RandomGraph::RandomGraph(uint64_t seed)
    : state_(seed * 77 + 5), builder_(graph_, add_main(), types_) {
  case_.name = "seed " + std::to_string(seed);
  static constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 7};
  auto extent = [&] { return kExtents[below(6)]; };
  for (int i = 0; i < 3; ++i) {
    Shape shape;
    for (int64_t rank = 1 + below(4); rank > 0; --rank) shape.push_back(extent());
    input(i == 2 ? DType::I64 : DType::F32, shape);
  }
  if (chance(8)) input(DType::F32, {2, 0, 3});
  for (int64_t steps = 6 + below(14); steps > 0; --steps) step();
  size_t outputs = std::min<size_t>(made_.size(), 4);
  for (size_t i = 0; i < outputs; ++i) {
    builder_.output(of(made_[made_.size() - 1 - i]), "y" + std::to_string(i));
  }
  builder_.finish();
  graph_.main = builder_.id();
}

void RandomGraph::input(DType dtype, Shape shape) {
  std::string name = "x" + std::to_string(made_.size());
  std::vector<DimId> dims;
  for (int64_t extent : shape) dims.push_back(dims_.integer(extent));
  graph::ValueId value = builder_.input(name, types_.tensor_of(dims), dtype);
  case_.inputs.emplace_back(name, EvalValue::of(random_tensor(dtype, shape, state_)));
  made_.push_back({value, shape, dtype, dtype == DType::F32 ? 1.0 : 3.0, true});
}

const RandomGraph::Made* RandomGraph::pick(DType dtype, bool exact, size_t least_rank) {
  for (int tries = 0; tries < 12; ++tries) {
    const Made& m = pick();
    if (m.dtype == dtype && (m.exact || !exact) && m.shape.size() >= least_rank) return &m;
  }
  return nullptr;
}

Operand RandomGraph::sizes(const Shape& shape) {
  std::vector<Operand> items;
  for (int64_t extent : shape) items.push_back(integer(extent));
  return builder_(builder_.add(Op::CoreList, std::move(items), types_.list(types_.dim())));
}

Operand RandomGraph::param(const std::string& leaf, Shape shape) {
  std::string key = "p" + std::to_string(params_);
  case_.params.emplace_back(key + "." + leaf, random_tensor(DType::F32, std::move(shape), state_));
  graph::Path path;
  path.pieces.push_back({names_.intern(key)});
  return graph::path_operand(std::move(path), types_);
}

// Values that have grown are brought back.
void RandomGraph::keep(graph::ValueId value, Shape shape, DType dtype, double bound, bool exact) {
  if (shape.size() > 5 || count_of(shape) > 4000) return;
  if (dtype == DType::F32 && bound > 50) {
    value = add(Op::ActivationsTanh, {builder_(value)});
    bound = 1;
    exact = false;
  }
  if (dtype == DType::I64 && bound > 1e6) return;
  made_.push_back({value, std::move(shape), dtype, bound, exact});
}

void RandomGraph::step() {
  using Step = void (RandomGraph::*)();
  static constexpr Step kSteps[] = {
      &RandomGraph::unary,   &RandomGraph::binary,    &RandomGraph::binary, &RandomGraph::compare,
      &RandomGraph::layout,  &RandomGraph::layout,    &RandomGraph::pieces, &RandomGraph::along,
      &RandomGraph::sorted,  &RandomGraph::product,   &RandomGraph::layer,  &RandomGraph::scatter,
      &RandomGraph::created, &RandomGraph::structure, &RandomGraph::loop};
  (this->*kSteps[below(static_cast<int64_t>(std::size(kSteps)))])();
}

void RandomGraph::unary() {
  static constexpr Op kOps[] = {Op::Sin,
                                Op::Cos,
                                Op::ActivationsTanh,
                                Op::ActivationsSigmoid,
                                Op::ActivationsSilu,
                                Op::ActivationsGelu,
                                Op::ActivationsGeluNew,
                                Op::ActivationsRelu,
                                Op::ActivationsRelu2,
                                Op::ActivationsSwiglu,
                                Op::Exp};
  const Made m = pick();
  Op op = kOps[below(static_cast<int64_t>(std::size(kOps)))];
  if (m.dtype != DType::F32 || (op == Op::Exp && m.bound > 3)) return;
  double bound = op == Op::Exp ? 21
                 : op == Op::ActivationsRelu2 || op == Op::ActivationsSwiglu
                     ? m.bound * m.bound
                     : std::max(m.bound, 1.0);
  keep(add(op, {of(m)}), m.shape, DType::F32, bound, false);
}

void RandomGraph::binary() {
  static constexpr Op kOps[] = {Op::CoreBinaryAdd, Op::CoreBinarySub, Op::CoreBinaryMul};
  const Made a = pick();
  if (a.dtype == DType::Bool) return;
  Op op = kOps[below(3)];
  auto bound = [&](double other) {
    return op == Op::CoreBinaryMul ? a.bound * other : a.bound + other;
  };
  if (chance(4)) {
    bool whole = chance(2);
    Operand scalar = whole ? integer(below(4)) : real(0.25 * static_cast<double>(below(8)));
    bool left = chance(2);
    graph::ValueId v = left ? add(op, {scalar, of(a)}) : add(op, {of(a), scalar});
    DType dtype = a.dtype == DType::I64 && !whole ? DType::F32 : a.dtype;
    return keep(v, a.shape, dtype, bound(4), a.exact && dtype == DType::I64);
  }
  const Made b = pick();
  if (b.dtype == DType::Bool) return;
  Shape shape(std::max(a.shape.size(), b.shape.size()), 1);
  for (const Made* m : {&a, &b}) {
    for (size_t i = 1; i <= m->shape.size(); ++i) {
      int64_t& to = shape[shape.size() - i];
      int64_t from = m->shape[m->shape.size() - i];
      if (to != 1 && from != 1 && to != from) return;
      if (to == 1) to = from;
    }
  }
  DType dtype = promote(a.dtype, b.dtype);
  bool exact = a.exact && b.exact && dtype == DType::I64;
  keep(add(op, {of(a), of(b)}), shape, dtype, bound(b.bound), exact);
}

void RandomGraph::compare() {
  const Made a = pick();
  if (!a.exact || a.dtype == DType::Bool) return;
  static constexpr Op kOps[] = {Op::CoreBinaryLt, Op::CoreBinaryLe, Op::CoreBinaryGt,
                                Op::CoreBinaryGe, Op::CoreBinaryEq, Op::CoreBinaryNe};
  graph::ValueId mask =
      add(kOps[below(6)], {of(a), a.dtype == DType::I64 ? integer(1) : real(0.1)});
  keep(mask, a.shape, DType::Bool, 1, true);
  if (chance(3)) {
    graph::ValueId other = add(Op::CoreBinaryGt, {of(a), integer(0)});
    mask = add(chance(2) ? Op::CoreBinaryAnd : Op::CoreBinaryOr, {builder_(mask), builder_(other)});
  }
  const Made* x = pick(DType::F32, false, 0);
  if (x == nullptr || x->shape != a.shape) return;
  const Made y = *x;
  keep(add(Op::Where, {builder_(mask), of(y), real(0.5)}), y.shape, DType::F32,
       std::max(y.bound, 0.5), y.exact);
}

void RandomGraph::layout() {
  const Made m = pick();
  size_t rank = m.shape.size();
  size_t axis = static_cast<size_t>(below(static_cast<int64_t>(std::max<size_t>(rank, 1))));
  Shape shape = m.shape;
  auto done = [&](graph::ValueId v) { keep(v, shape, m.dtype, m.bound, m.exact); };
  switch (below(7)) {
    case 0: {  // two axes become one, or one splits off
      if (rank >= 2 && axis + 1 < rank) {
        shape[axis] *= shape[axis + 1];
        shape.erase(shape.begin() + static_cast<int64_t>(axis) + 1);
      } else {
        shape = {count_of(m.shape)};
      }
      Shape written = shape;
      if (count_of(shape) > 0 && chance(3)) written[0] = -1;
      return done(add(Op::Reshape, {of(m), sizes(written)}));
    }
    case 1: {
      Shape order;
      for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>((i + axis) % rank));
      for (size_t i = 0; i < rank; ++i) shape[i] = m.shape[static_cast<size_t>(order[i])];
      return done(add(Op::Permute, {of(m), sizes(order)}));
    }
    case 2: {
      if (rank < 2) return;
      size_t other = (axis + 1) % rank;
      std::swap(shape[axis], shape[other]);
      return done(
          add(Op::Transpose, {of(m), integer(axis_of(axis, rank)), integer(axis_of(other, rank))}));
    }
    case 3: {
      shape.insert(shape.begin() + static_cast<int64_t>(axis), 1);
      return done(add(Op::Unsqueeze, {of(m), integer(axis_of(axis, rank + 1))}));
    }
    case 4: {
      if (rank == 0 || shape[axis] == 0) return;
      int64_t from = below(shape[axis]), to = from + 1 + below(shape[axis] - from);
      shape[axis] = to - from;
      return done(
          add(Op::Slice, {of(m), integer(axis_of(axis, rank)), integer(from), integer(to)}));
    }
    case 5: {
      if (rank == 0) return;
      int64_t times = 1 + below(3);
      shape[axis] *= times;
      return done(add(Op::Repeat_, {of(m), integer(times), integer(axis_of(axis, rank))}));
    }
    default: {
      for (int64_t& extent : shape) {
        if (extent == 1) extent = 1 + below(3);
      }
      shape.insert(shape.begin(), 2);
      return done(add(Op::Expand, {of(m), sizes(shape)}));
    }
  }
}

void RandomGraph::pieces() {
  const Made m = pick();
  size_t rank = m.shape.size();
  if (rank == 0) return;
  size_t axis = static_cast<size_t>(below(static_cast<int64_t>(rank)));
  Operand at = integer(axis_of(axis, rank));
  Shape shape = m.shape;
  if (chance(2) && shape[axis] > 1) {
    bool even = shape[axis] % 2 == 0;
    int64_t first = even ? shape[axis] / 2 : 1;
    graph::ValueId list = even && chance(2)
                              ? add(Op::Chunk, {of(m), at, integer(2)})
                              : add(Op::Split, {of(m), at, sizes({first, shape[axis] - first})});
    shape[axis] = first;
    return keep(add(Op::ListIndex, {builder_(list), integer(0)}), shape, m.dtype, m.bound, m.exact);
  }
  shape[axis] *= 2;
  keep(add(Op::Concat, {of(m), of(m), at}), shape, m.dtype, m.bound, m.exact);
}

void RandomGraph::along() {
  const Made m = pick();
  size_t rank = m.shape.size();
  if (rank == 0 || m.dtype == DType::Bool) return;
  size_t axis = static_cast<size_t>(below(static_cast<int64_t>(rank)));
  Operand at = integer(axis_of(axis, rank));
  double extent = static_cast<double>(std::max<int64_t>(m.shape[axis], 1));
  bool whole = m.dtype == DType::I64;
  switch (below(4)) {
    case 0: {
      bool stays = chance(2);
      Shape shape = m.shape;
      if (stays)
        shape[axis] = 1;
      else
        shape.erase(shape.begin() + static_cast<int64_t>(axis));
      if (shape.empty()) return;
      return keep(add(Op::Sum, {of(m), at, graph::lit_bool(stays, types_)}), shape, m.dtype,
                  m.bound * extent, whole && m.exact);
    }
    case 1:
      return keep(add(Op::Cumsum, {of(m), at}), m.shape, m.dtype, m.bound * extent,
                  whole && m.exact);
    case 2:
      if (whole) return;
      return keep(add(Op::Softmax, {of(m), at}), m.shape, m.dtype, 1, false);
    default:
      if (whole) return;
      return keep(add(chance(2) ? Op::Rmsnorm : Op::L2norm, {of(m)}), m.shape, m.dtype,
                  static_cast<double>(m.shape.back() + 1), false);
  }
}

// Sorts and what is done with places.
void RandomGraph::sorted() {
  const Made m = pick();
  size_t rank = m.shape.size();
  if (rank == 0 || !m.exact || m.dtype == DType::Bool) return;
  size_t axis = static_cast<size_t>(below(static_cast<int64_t>(rank)));
  Operand at = integer(axis_of(axis, rank));
  if (chance(2)) {
    graph::ValueId order = add(Op::Argsort, {of(m), at, graph::lit_bool(chance(2), types_)});
    keep(order, m.shape, DType::I64, 8, true);
    return keep(add(Op::Gather, {of(m), builder_(order), at}), m.shape, m.dtype, m.bound, true);
  }
  if (m.shape[axis] == 0) return;
  Shape shape = m.shape;
  shape[axis] = 1 + below(m.shape[axis]);
  std::vector<graph::ValueId> out = builder_.add_many(
      Op::Topk, {of(m), integer(shape[axis]), at, graph::lit_bool(chance(2), types_)}, {"", ""},
      {types_.any(), types_.any()});
  keep(out[0], shape, m.dtype, m.bound, true);
  keep(out[1], shape, DType::I64, 8, true);
}

void RandomGraph::product() {
  const Made* x = pick(DType::F32, false, 2);
  if (x == nullptr) return;
  const Made m = *x;
  size_t rank = m.shape.size();
  graph::ValueId turned = add(Op::Transpose, {of(m), integer(-1), integer(-2)});
  Shape shape = m.shape;
  shape[rank - 1] = shape[rank - 2];
  keep(add(Op::Matmul, {of(m), builder_(turned)}), shape, DType::F32,
       m.bound * m.bound * static_cast<double>(std::max<int64_t>(m.shape[rank - 1], 1)), false);
}

void RandomGraph::layer() {
  ++params_;
  const Made* x = pick(DType::F32, false, 1);
  const Made* ids = pick(DType::I64, true, 1);
  int64_t out = 1 + below(5);
  if (x == nullptr || x->shape.back() == 0) return;
  const Made m = *x;
  int64_t in = m.shape.back();
  Shape shape = m.shape;
  double bound = m.bound * static_cast<double>(in) + 1;
  switch (below(4)) {
    case 0: {
      bool transposed = chance(2), bias = chance(2);
      Operand path = param("weight", transposed ? Shape{in, out} : Shape{out, in});
      if (bias) param("bias", {out});
      shape.back() = out;
      return keep(add(Op::Linear, {path, of(m), integer(out), graph::lit_bool(true, types_),
                                   graph::lit_bool(transposed, types_)}),
                  shape, DType::F32, bound, false);
    }
    case 1: {
      Operand path = param("weight", {in});
      if (chance(2)) param("bias", {in});
      return keep(add(Op::Layernorm, {path, of(m)}), m.shape, DType::F32,
                  static_cast<double>(in) + 2, false);
    }
    case 2: {
      if (ids == nullptr || ids->bound > 3.5) return;
      const Made chosen = *ids;
      Operand path = param("weight", {4, out});
      graph::ValueId within = add(Op::Clamp, {of(chosen), integer(0), integer(3)});
      shape = chosen.shape;
      shape.push_back(out);
      return keep(add(Op::Embedding, {path, builder_(within)}), shape, DType::F32, 1, true);
    }
    default: {
      Shape rows(m.shape.begin(), m.shape.end() - 1);
      if (rows.empty()) return;
      bool transposed = chance(2);
      Operand path = param("weight", transposed ? Shape{3, in, out} : Shape{3, out, in});
      if (chance(2)) param("bias", {3, out});
      graph::ValueId first = add(Op::Slice, {of(m), integer(-1), integer(0), integer(1)});
      graph::ValueId index = add(
          Op::Cast, {builder_(add(Op::ZerosLike,
                                  {builder_(add(Op::Reshape, {builder_(first), sizes(rows)}))})),
                     graph::lit_string(names_.intern("int64"), types_)});
      index = add(Op::CoreBinaryAdd, {builder_(index), integer(below(3))});
      shape.back() = out;
      return keep(add(Op::ExpertLinear,
                      {path, of(m), builder_(index), integer(out), graph::lit_bool(true, types_),
                       graph::lit_bool(transposed, types_)}),
                  shape, DType::F32, bound, false);
    }
  }
}

void RandomGraph::scatter() {
  const Made m = pick();
  size_t rank = m.shape.size();
  if (rank == 0 || m.dtype == DType::Bool) return;
  size_t axis = static_cast<size_t>(below(static_cast<int64_t>(rank)));
  if (m.shape[axis] == 0) return;
  Operand at = integer(axis_of(axis, rank));
  int64_t place = below(m.shape[axis]);
  graph::ValueId part = add(Op::Slice, {of(m), at, integer(place), integer(place + 1)});
  int64_t to = below(m.shape[axis]);
  bool whole = m.dtype == DType::I64;
  if (chance(3)) {
    return keep(add(Op::AssignUnitSlice, {of(m), builder_(part), at, integer(to)}), m.shape,
                m.dtype, m.bound, m.exact);
  }
  if (chance(2)) {
    return keep(add(Op::AssignSlice, {of(m), builder_(part), at, integer(to), integer(to + 1)}),
                m.shape, m.dtype, m.bound, m.exact);
  }
  Shape one(m.shape);
  one[axis] = 1;
  graph::ValueId index = add(
      Op::Fill, {builder_(part), integer(to), graph::lit_string(names_.intern("int64"), types_)});
  if (chance(2)) {
    return keep(add(Op::Scatter, {of(m), builder_(index), builder_(part), at}), m.shape, m.dtype,
                m.bound, m.exact);
  }
  static constexpr const char* kHow[] = {"sum", "prod", "mean", "max", "min"};
  const char* how = kHow[below(5)];
  keep(add(Op::ScatterReduce,
           {of(m), builder_(index), builder_(part), at,
            graph::lit_string(names_.intern(how), types_), graph::lit_bool(chance(2), types_)}),
       m.shape, m.dtype, std::max(m.bound * m.bound, 2 * m.bound), whole && m.exact);
}

void RandomGraph::created() {
  const Made m = pick();
  Shape shape = {1 + below(3), 1 + below(4)};
  switch (below(4)) {
    case 0:
      return keep(add(chance(2) ? Op::RandomUniform : Op::RandomNormal,
                      {of(m), sizes(shape), integer(below(1000))}),
                  shape, DType::F32, 6, false);
    case 1:
      if (m.dtype != DType::F32) return;
      return keep(add(Op::Full, {of(m), sizes(shape), real(0.75)}), shape, DType::F32, 1, true);
    case 2: {
      int64_t end = 1 + below(6);
      return keep(add(Op::Arange, {of(m), integer(0), integer(end)}), {end}, DType::I64, 6, true);
    }
    default:
      if (m.dtype != DType::I64) return;
      return keep(add(Op::Cast, {of(m), graph::lit_string(names_.intern("float32"), types_)}),
                  m.shape, DType::F32, m.bound, m.exact);
  }
}

// Lists, choices and null.
void RandomGraph::structure() {
  const Made a = pick(), b = pick();
  graph::ValueId list = add(Op::ListInit, {});
  list = add(Op::ListAppend, {builder_(list), of(a)});
  list = add(Op::ListAppend, {builder_(list), of(b)});
  bool first = chance(2);
  graph::ValueId item = add(Op::ListIndex, {builder_(list), integer(first ? 0 : -1)});
  const Made& chosen = first ? a : b;
  keep(item, chosen.shape, chosen.dtype, chosen.bound, chosen.exact);
  if (chance(2)) {
    graph::ValueId side = add(Op::CoreSelect, {graph::lit_bool(first, types_), of(a), of(b)});
    keep(side, chosen.shape, chosen.dtype, chosen.bound, chosen.exact);
  }
}

// carry = tanh(carry * 0.5 + captured), a few rounds, with a list of what came by.
void RandomGraph::loop() {
  const Made* x = pick(DType::F32, false, 1);
  if (x == nullptr) return;
  const Made m = *x;
  graph::ModuleId body =
      graph::add_module(graph_, names_.intern("body" + std::to_string(loops_++)));
  graph::Builder b(graph_, body, types_);
  graph::ValueId i = b.input("i", types_.int_()), carry = b.input("carry", types_.any()),
                 seen = b.input("seen", types_.any()), captured = b.input("captured", types_.any());
  graph::ValueId y = b.add(Op::CoreBinaryMul, {b(carry), real(0.5)}, types_.any());
  y = b.add(Op::CoreBinaryAdd, {b(y), b(captured)}, types_.any());
  y = b.add(Op::CoreBinaryAdd, {b(y), b(i)}, types_.any());
  y = b.add(Op::ActivationsTanh, {b(y)}, types_.any());
  graph::ValueId all = b.add(Op::ListAppend, {b(seen), b(y)}, types_.any());
  b.output(b(y));
  b.output(b(all));
  b.finish();
  graph::RepeatInfo info;
  info.callee = body;
  info.var = names_.intern("i");
  info.carry_names = {names_.intern("carry"), names_.intern("seen")};
  using Kind = graph::RepeatArg::Kind;
  info.args = {{Kind::Iter, 0}, {Kind::Carry, 0}, {Kind::Carry, 1}, {Kind::Input, 5}};
  int64_t rounds = 1 + below(4);
  graph::ValueId none = add(Op::ListInit, {});
  std::vector<graph::ValueId> out =
      builder_.repeat(info, {integer(0), integer(rounds), integer(1), of(m), builder_(none), of(m)},
                      {"", ""}, {types_.any(), types_.any()});
  keep(out[0], m.shape, DType::F32, 1, false);
  keep(add(Op::ListIndex, {builder_(out[1]), integer(below(rounds))}), m.shape, DType::F32, 1,
       false);
}

}  // namespace axon::driver::ways
