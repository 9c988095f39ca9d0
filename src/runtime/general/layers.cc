// Layers that read parameters, norms, products, convolution and random numbers.
#include <algorithm>

#include "runtime/general/apply.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

Result<TensorPtr> find_param(const OpCall& call, const std::string& key, ParamUse use) {
  AXON_TRY(const std::optional<View> view, call.eager.host().param(key, use));
  if (!view) return TensorPtr();
  auto out = std::make_shared<Tensor>();
  out->view = *view;
  return out;
}

Result<TensorPtr> need_param(const OpCall& call, const std::string& key, ParamUse use) {
  AXON_TRY(TensorPtr found, find_param(call, key, use));
  if (found == nullptr) return run_error(Diag::RunParam, {key});
  return found;
}

// A leaf path under a base path: an absolute leaf, or one that already lies under the base, stands
// alone.
Result<std::string> leaf_key(const OpCall& call, size_t base, size_t leaf) {
  AXON_TRY(const std::string root, call.key(base));
  const Datum& path = call[leaf];
  if (path.kind != Datum::Kind::Path) return call.wrong(leaf, "a path");
  const bool inside = path.text == root || starts_with(path.text, root + ".");
  if (path.absolute || root.empty() || inside) return path.text;
  return path.text.empty() ? root : root + "." + path.text;
}

// A bias that the checkpoint lacks is no bias. Null when there is none.
Result<TensorPtr> bias_of(const OpCall& call, size_t wanted, size_t path) {
  AXON_TRY(const bool with_bias, call.flag(wanted, false));
  if (!with_bias) return TensorPtr();
  AXON_TRY(const std::string key, leaf_key(call, 0, path));
  return find_param(call, key, ParamUse::Dense);
}

Error width_error(const OpCall& call, const TensorPtr& x, const TensorPtr& w) {
  return run_error(Diag::RunShape,
                   {call.name(1), show_shape(x->shape()), "the weight", show_shape(w->shape())});
}

bool in_blocks(const View& view) {
  const View& stored = view.part_count > 0 ? view.parts[0] : view;
  return storage_info(stored.storage).block > 1;
}

// The matrix [out, in] of one item of a bank, or the bank itself.
TensorPtr item_of(const TensorPtr& bank, int64_t item) {
  View view = bank->view;
  if (view.join == View::PartJoin::Stack) return Eager::viewed(bank, view.parts[item]);
  const StorageInfo& info = storage_info(view.storage);
  view.data += item * view.stride[0] / info.block * info.block_bytes;
  for (int a = 0; a + 1 < view.rank; ++a) {
    view.shape[a] = view.shape[a + 1];
    view.stride[a] = view.stride[a + 1];
  }
  --view.rank;
  return Eager::viewed(bank, view);
}

TensorPtr turned(const TensorPtr& w) {
  View view = w->view;
  std::swap(view.shape[view.rank - 1], view.shape[view.rank - 2]);
  std::swap(view.stride[view.rank - 1], view.stride[view.rank - 2]);
  return Eager::viewed(w, view);
}

// The weight of a product in the form [out, in]; strides turn what is stored the other way round.
Result<TensorPtr> matrix(const OpCall& call, size_t leaf, bool transposed, bool plain) {
  AXON_TRY(const std::string key, leaf_key(call, 0, leaf));
  AXON_TRY(TensorPtr w, need_param(call, key, plain ? ParamUse::Product : ParamUse::Stored));
  if (!transposed) return w;
  if (w->view.part_count > 0 || in_blocks(w->view)) {
    AXON_TRY(w, need_param(call, key, ParamUse::Dense));
  }
  return w->view.rank < 2 ? w : turned(w);
}

}  // namespace

Result<Datum> apply_param(const OpCall& call) {
  AXON_TRY(const std::string key, call.key(0));
  AXON_TRY(TensorPtr tensor, need_param(call, key, ParamUse::Dense));
  return Datum::of(std::move(tensor));
}

Result<Datum> apply_has_root(const OpCall& call) {
  AXON_TRY(const std::string key, call.key(0));
  return Datum::of(key.empty() || call.eager.host().has_root(key));
}

// linear(path, x, dim, bias, transpose, expert, weight_path, bias_path)
Result<Datum> apply_linear(const OpCall& call) {
  AXON_TRY(TensorPtr x, call.tensor(1));
  AXON_TRY(const bool transposed, call.flag(4, false));
  const bool plain = call[5].is_null() && !transposed;
  AXON_TRY(TensorPtr w, matrix(call, 6, transposed, plain));
  AXON_TRY(TensorPtr bias, bias_of(call, 3, 7));
  if (!call[5].is_null()) {
    AXON_TRY(const int64_t expert, call.integer(5));
    const int64_t experts = w->view.rank == 0 ? 0 : w->view.shape[0];
    if (expert < 0 || expert >= experts) return run_error(Diag::RunIndex, {expert, experts});
    if (w->view.rank == 3) w = item_of(w, expert);
    if (bias != nullptr && bias->view.rank >= 2) bias = item_of(bias, expert);
  }
  const View& view = w->view;
  if (view.rank != 2 || x->view.rank == 0 || x->view.last() != view.shape[1])
    return width_error(call, x, w);
  if (bias != nullptr && bias->count() != view.shape[0]) return width_error(call, x, bias);
  if (!x->real()) {
    AXON_TRY(x, call.eager.converted(x, DType::F32));
  }
  Shape shape = x->shape();
  shape.back() = view.shape[0];
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), shape));
  AXON_TRY_VOID(call.eager.run(Operation::Linear, {x, w, bias}, {out}, {}));
  return Datum::of(std::move(out));
}

// expert_linear(path, x, expert_idx, dim, bias, transpose, weight_path, bias_path)
Result<Datum> apply_expert_linear(const OpCall& call) {
  AXON_TRY(TensorPtr x, call.tensor(1));
  AXON_TRY(TensorPtr index, call.tensor(2));
  AXON_TRY(const bool transposed, call.flag(5, false));
  AXON_TRY(const TensorPtr bank, matrix(call, 6, transposed, false));
  AXON_TRY(TensorPtr bias, bias_of(call, 4, 7));
  const View& view = bank->view;
  if (view.rank != 3 || x->view.rank == 0 || x->view.last() != view.shape[2] ||
      index->count() * view.shape[2] != x->count())
    return width_error(call, x, bank);
  if (bias != nullptr && bias->count() != view.shape[0] * view.shape[1])
    return width_error(call, x, bias);
  AXON_TRY_VOID(check_indices(index, view.shape[0]));
  if (bias != nullptr) {
    View flat = bias->view;
    flat.rank = 2;
    flat.shape[0] = view.shape[0];
    flat.shape[1] = view.shape[1];
    set_contiguous(flat);
    bias = Eager::viewed(bias, flat);
  }
  AXON_TRY(index, call.eager.fit(index, Layout::Dense));
  View rows = index->view;  // of x's leading axes
  rows.rank = static_cast<int8_t>(x->view.rank - 1);
  std::copy(x->view.shape, x->view.shape + rows.rank, rows.shape);
  set_contiguous(rows);
  Shape shape = x->shape();
  shape.back() = view.shape[1];
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), shape));
  AXON_TRY_VOID(call.eager.run(Operation::ExpertLinear, {x, Eager::viewed(index, rows), bank, bias},
                               {out}, {}));
  return Datum::of(std::move(out));
}

Result<Datum> apply_embedding(const OpCall& call) {
  AXON_TRY(const std::string base, call.key(0));
  AXON_TRY(const TensorPtr ids, call.tensor(1));
  if (ids->real()) return call.wrong(1, "an integer tensor");
  const std::string key = base.empty() ? "weight" : base + ".weight";
  AXON_TRY(const TensorPtr table, need_param(call, key, ParamUse::Stored));
  if (table->view.rank != 2) return width_error(call, ids, table);
  AXON_TRY_VOID(check_indices(ids, table->view.shape[0]));
  Shape shape = ids->shape();
  shape.push_back(table->view.shape[1]);
  AXON_TRY(TensorPtr out, call.eager.make(DType::F32, shape));
  AXON_TRY_VOID(call.eager.run(Operation::Embedding, {ids, table}, {out}, {}));
  return Datum::of(std::move(out));
}

// layernorm(path, x, eps, dim, weight_path, bias, bias_path)
Result<Datum> apply_layernorm(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(1));
  AXON_TRY(const double eps, call.number(2));
  AXON_TRY(const std::string key, leaf_key(call, 0, 4));
  AXON_TRY(const TensorPtr w, need_param(call, key, ParamUse::Dense));
  AXON_TRY(const TensorPtr bias, bias_of(call, 5, 6));
  const int64_t width = x->view.rank == 0 ? 0 : x->view.last();
  if (!x->real() || w->count() != width || (bias != nullptr && bias->count() != width))
    return width_error(call, x, w);
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::LayerNorm, {x, w, bias}, {out}, {Param{"eps", eps}}));
  return Datum::of(std::move(out));
}

// rmsnorm(x, eps, dim, cast_float) and l2norm(x, eps): one formula, computed in f32 always.
Result<Datum> apply_rmsnorm(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const double eps, call.number(1));
  if (!x->real() || x->view.rank == 0) return call.wrong(0, "a float tensor");
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::RmsNorm, {x}, {out}, {Param{"eps", eps}}));
  return Datum::of(std::move(out));
}

// The left operand takes the float type of the right one.
Result<Datum> apply_matmul(const OpCall& call) {
  AXON_TRY(TensorPtr x, call.tensor(0));
  AXON_TRY(TensorPtr y, call.tensor(1));
  if (x->view.rank < 2 || y->view.rank < 2) return call.wrong(0, "two axes or more");
  const DType dtype = x->real() && y->real() ? y->dtype() : promote(x->dtype(), y->dtype());
  AXON_TRY(x, call.eager.converted(x, dtype));
  AXON_TRY(y, call.eager.converted(y, dtype));
  const Shape a = x->shape(), b = y->shape();
  if (a.back() != b[b.size() - 2])
    return run_error(Diag::RunShape, {call.name(0), show_shape(a), call.name(1), show_shape(b)});
  AXON_TRY(const Shape batch,
           broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)));
  auto with = [&](int64_t rows, int64_t columns) {
    Shape shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  AXON_TRY(TensorPtr out, call.eager.make(dtype, with(m, n)));
  AXON_TRY_VOID(call.eager.run(Operation::Matmul,
                               {Eager::expanded(x, with(m, k)), Eager::expanded(y, with(k, n))},
                               {out}, {}));
  return Datum::of(std::move(out));
}

// conv1d(x[B,C,S], weight[O,I,K], bias, stride, padding_left, padding_right, dilation, groups)
Result<Datum> apply_conv1d(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(TensorPtr w, call.tensor(1));
  int64_t facts[5];
  for (size_t i = 0; i < 5; ++i) {
    AXON_TRY(facts[i], call.integer(3 + i));
  }
  const auto [stride, left, right, dilation, groups] = facts;
  const Shape a = x->shape(), b = w->shape();
  const bool fits = a.size() == 3 && b.size() == 3 && stride > 0 && dilation > 0 && groups > 0 &&
                    left >= 0 && right >= 0 && x->real() && a[1] == b[1] * groups &&
                    b[0] % groups == 0;
  if (!fits)
    return run_error(Diag::RunShape, {call.name(0), show_shape(a), call.name(1), show_shape(b)});
  AXON_TRY(w, call.eager.converted(w, x->dtype()));
  TensorPtr bias;
  if (!call[2].is_null()) {
    AXON_TRY(bias, call.tensor(2));
    if (bias->count() != b[0]) return call.wrong(2, "one element per output channel");
    AXON_TRY(bias, call.eager.converted(bias, x->dtype()));
    AXON_TRY(bias, call.eager.fit(bias, Layout::Dense));
    View flat = bias->view;
    flat.rank = 1;
    flat.shape[0] = b[0];
    flat.stride[0] = 1;
    bias = Eager::viewed(bias, flat);
  }
  const int64_t reach = a[2] + left + right - (dilation * (b[2] - 1) + 1);
  AXON_TRY(TensorPtr out,
           call.eager.make(x->dtype(), {a[0], b[0], reach < 0 ? 0 : reach / stride + 1}));
  AXON_TRY_VOID(call.eager.run(
      Operation::Conv1d, {x, w, bias}, {out},
      {Param{"stride", stride}, Param{"padding_left", left}, Param{"padding_right", right},
       Param{"dilation", dilation}, Param{"groups", groups}}));
  return Datum::of(std::move(out));
}

Result<Datum> apply_random(const OpCall& call) {
  AXON_TRY(const TensorPtr ref, call.tensor(0));
  AXON_TRY(const Shape shape, call.sizes(1));
  AXON_TRY(const int64_t seed, call.integer(2));
  AXON_TRY(TensorPtr out, call.eager.make(ref->real() ? ref->dtype() : DType::F32, shape));
  AXON_TRY_VOID(
      call.eager.run(Operation::Random, {}, {out},
                     {Param{"seed", seed}, Param{"normal", call.op == Op::RandomNormal}}));
  return Datum::of(std::move(out));
}

}  // namespace axon::runtime
