// Trees of slices, joins and transposes as strided views.
#include "runtime/bind/weights.h"

#include <algorithm>
#include <utility>

#include "runtime/core/number.h"
#include "runtime/kernels/kernel.h"

namespace axon::runtime {
namespace {

constexpr int64_t kRowChunk = 1024;  // elements converted at once

int64_t element_bytes(const View& view) { return storage_info(view.storage).block_bytes; }

Storage dense_storage(Storage storage) { return plain_storage(storage_info(storage).dtype); }

std::string show_shape(const int64_t* shape, int rank) {
  std::string out = "[";
  for (int a = 0; a < rank; ++a) out += (a > 0 ? "," : "") + std::to_string(shape[a]);
  return out + "]";
}

Error bad_tree(const std::string& why) { return Error{"RUN-PARAM-SHAPE", why}; }

// A join on a leading axis keeps rows whole; block formats cannot be cut elsewhere.
bool cuts_blocks(const View& view, int axis, int64_t from, int64_t to) {
  const int64_t block = storage_info(view.storage).block;
  return axis == view.rank - 1 && (from % block != 0 || to % block != 0);
}

bool is_one_block(const View& view, Storage storage) {
  const auto at = reinterpret_cast<uintptr_t>(view.data);
  return view.part_count == 0 && view.storage == storage && view.contiguous() &&
         at % static_cast<uintptr_t>(element_bytes(view)) == 0;
}

}  // namespace

const View* WeightStore::keep_parts(std::vector<View> parts) {
  parts_.push_back(std::move(parts));
  return parts_.back().data();
}

Result<HeldWeight> WeightStore::hold(const Weight& weight, bool dense, Storage storage) {
  HeldWeight held;
  AXON_TRY(held.view, build(weight.source, held));
  const bool same = held.view.rank == static_cast<int8_t>(weight.shape.size()) &&
                    std::equal(weight.shape.begin(), weight.shape.end(), held.view.shape);
  if (!same) {
    return bad_tree("tensor `" + (held.stored.empty() ? std::string() : held.stored[0]) +
                    "` has shape " + show_shape(held.view.shape, held.view.rank) +
                    ", the program reads " +
                    show_shape(weight.shape.data(), static_cast<int>(weight.shape.size())));
  }
  if (dense && !is_one_block(held.view, storage)) {
    AXON_TRY(held.view, densify(held.view, storage, held));
  }
  return held;
}

Result<View> WeightStore::build(const WeightNode& node, HeldWeight& held) {
  using Kind = WeightNode::Kind;
  if (node.kind == Kind::Param) return build_param(node, held);
  if (node.kind == Kind::Concat || node.kind == Kind::Stack) return build_joined(node, held);
  if (node.parts.size() != 1) return bad_tree("a weight is cut from more than one tensor");
  AXON_TRY(View view, build(node.parts[0], held));
  switch (node.kind) {
    case Kind::Slice:
      return slice(view, node, held);
    case Kind::Select:
      return select(view, node, held);
    default:
      return transpose(view, held);
  }
}

Result<View> WeightStore::build_param(const WeightNode& node, HeldWeight& held) {
  AXON_TRY(model::RawTensor raw, source_->tensor(node.name));
  View view;
  view.data = raw.data;
  view.storage = raw.info->storage;
  const auto& shape = raw.info->shape;
  if (shape.size() > static_cast<size_t>(kMaxRank) - 1) {
    return bad_tree("tensor `" + node.name + "` has too many axes");
  }
  view.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  set_contiguous(view);
  held.stored.push_back(node.name);
  held.stored_bytes += static_cast<int64_t>(raw.bytes);
  return view;
}

Result<View> WeightStore::build_joined(const WeightNode& node, HeldWeight& held) {
  const bool stack = node.kind == WeightNode::Kind::Stack;
  if (node.parts.empty()) return bad_tree("a weight is joined from no tensors");
  std::vector<View> parts;
  View whole;
  for (const WeightNode& child : node.parts) {
    AXON_TRY(View part, build(child, held));
    if (part.part_count > 0) {  // parts have no parts
      AXON_TRY(part, densify(part, dense_storage(part.parts[0].storage), held));
    }
    parts.push_back(part);
  }
  whole = parts[0];
  whole.data = nullptr;
  whole.join = stack ? View::PartJoin::Stack : View::PartJoin::Concat;
  const int axis = node.axis < 0 ? node.axis + whole.rank : node.axis;
  whole.join_axis = static_cast<int8_t>(stack ? 0 : axis);
  if (!stack && (axis < 0 || axis >= whole.rank)) return bad_tree("a weight is joined on no axis");
  int64_t extent = 0;
  for (const View& part : parts) {
    for (int a = 0; a < whole.rank; ++a) {
      if (part.rank == whole.rank && (part.shape[a] == whole.shape[a] || (!stack && a == axis)))
        continue;
      return bad_tree("tensors of shapes " + show_shape(parts[0].shape, parts[0].rank) + " and " +
                      show_shape(part.shape, part.rank) + " are joined (`" + held.stored[0] + "`)");
    }
    extent += part.shape[stack ? 0 : axis];
  }
  if (stack) {
    for (int a = whole.rank; a > 0; --a) whole.shape[a] = whole.shape[a - 1];
    whole.shape[0] = static_cast<int64_t>(parts.size());
    ++whole.rank;
  } else {
    whole.shape[axis] = extent;
  }
  set_contiguous(whole);
  whole.part_count = static_cast<int32_t>(parts.size());
  whole.parts = keep_parts(std::move(parts));
  return whole;
}

Result<View> WeightStore::slice(View view, const WeightNode& node, HeldWeight& held) {
  const int axis = node.axis < 0 ? node.axis + view.rank : node.axis;
  if (axis < 0 || axis >= view.rank || node.from < 0 || node.to < node.from ||
      node.to > view.shape[axis]) {
    return bad_tree("a weight of shape " + show_shape(view.shape, view.rank) + " has no rows [" +
                    std::to_string(node.from) + "," + std::to_string(node.to) + ")");
  }
  if (view.part_count > 0 || cuts_blocks(view, axis, node.from, node.to)) {
    const Storage stored = view.part_count > 0 ? view.parts[0].storage : view.storage;
    AXON_TRY(view, densify(view, dense_storage(stored), held));
  }
  const StorageInfo& info = storage_info(view.storage);
  view.data += node.from * view.stride[axis] / info.block * info.block_bytes;
  view.shape[axis] = node.to - node.from;
  return view;
}

Result<View> WeightStore::select(View view, const WeightNode& node, HeldWeight& held) {
  if (view.rank < 1 || node.from < 0 || node.from >= view.shape[0]) {
    return bad_tree("a weight of shape " + show_shape(view.shape, view.rank) + " has no item " +
                    std::to_string(node.from));
  }
  if (view.join == View::PartJoin::Stack) return view.parts[node.from];
  if (view.part_count > 0 || (view.rank == 1 && storage_info(view.storage).block > 1)) {
    const Storage stored = view.part_count > 0 ? view.parts[0].storage : view.storage;
    AXON_TRY(view, densify(view, dense_storage(stored), held));
  }
  const StorageInfo& info = storage_info(view.storage);
  view.data += node.from * view.stride[0] / info.block * info.block_bytes;
  for (int a = 0; a + 1 < view.rank; ++a) {
    view.shape[a] = view.shape[a + 1];
    view.stride[a] = view.stride[a + 1];
  }
  --view.rank;
  return view;
}

Result<View> WeightStore::transpose(View view, HeldWeight& held) {
  if (view.rank < 2) return bad_tree("a weight with fewer than two axes is transposed");
  const Storage stored = view.part_count > 0 ? view.parts[0].storage : view.storage;
  if (view.part_count > 0 || storage_info(stored).block > 1) {
    AXON_TRY(view, densify(view, dense_storage(stored), held));
  }
  std::swap(view.shape[view.rank - 1], view.shape[view.rank - 2]);
  std::swap(view.stride[view.rank - 1], view.stride[view.rank - 2]);
  return view;
}

Result<View> WeightStore::densify(const View& view, Storage storage, HeldWeight& held) {
  DenseCopy copy{view, view};
  View& to = copy.to;
  to.parts = nullptr;
  to.part_count = 0;
  to.join = View::PartJoin::None;
  to.storage = storage;
  set_contiguous(to);
  const int64_t bytes = to.count() * element_bytes(to);
  AXON_TRY(Buffer buffer, Buffer::allocate(static_cast<size_t>(std::max<int64_t>(bytes, 1))));
  to.data = buffer.data();
  buffers_.push_back(std::move(buffer));
  held.dense_bytes += bytes;
  held.copies.push_back(copy);
  return to;
}

namespace {

// Integers keep all their bits; only views without parts hold them.
void copy_integers(const DenseCopy& copy, int64_t row, int64_t width) {
  int64_t rest = row, from = 0;
  for (int a = copy.from.rank - 2; a >= 0; --a) {
    from += rest % copy.from.shape[a] * copy.from.stride[a];
    rest /= copy.from.shape[a];
  }
  const int64_t step = copy.from.rank > 0 ? copy.from.stride[copy.from.rank - 1] : 1;
  const int64_t size = element_bytes(copy.from), out = element_bytes(copy.to);
  for (int64_t i = 0; i < width; ++i) {
    store_int(copy.to.storage, copy.to.out() + (row * width + i) * out,
              load_int(copy.from.storage, copy.from.data + (from + i * step) * size));
  }
}

}  // namespace

void run_copy(const DenseCopy& copy, int part, int parts) {
  const View& to = copy.to;
  const int64_t width = to.last(), rows = width > 0 ? to.count() / width : 0;
  const int64_t out = element_bytes(to);
  const bool integers =
      copy.from.part_count == 0 && !is_float(storage_info(copy.from.storage).dtype);
  const Share share = share_of(rows, 1, part, parts);
  float chunk[kRowChunk];
  for (int64_t row = share.begin; row < share.end; ++row) {
    if (integers) {
      copy_integers(copy, row, width);
      continue;
    }
    uint8_t* target = to.out() + row * width * out;
    for (int64_t i = 0; i < width; i += kRowChunk) {
      const int64_t n = std::min(kRowChunk, width - i);
      read_weight_row(copy.from, row, i, n, chunk);
      for (int64_t e = 0; e < n; ++e) store_float(to.storage, target + (i + e) * out, chunk[e]);
    }
  }
}

}  // namespace axon::runtime
