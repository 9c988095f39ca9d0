// The store views and the row table of an attention.
#include "runtime/core/kernel.h"

#include <algorithm>

#include "support/check.h"

namespace axon::runtime {

void complete_attention(KernelArgs& args) {
  constexpr Operation op = Operation::Attention;
  auto store_of = [](const View& v) {
    StoreView store;
    store.data = v.data;
    store.storage = v.storage;
    store.block_size = v.shape[2];
    store.block_stride = v.shape[0] == 1 ? 0 : v.stride[0];
    store.head_stride = v.stride[1];
    store.token_stride = v.stride[2];
    store.heads = v.shape[1];
    store.width = v.shape[3];
    return store;
  };
  AXON_CHECK(args.in[1].stride[3] == 1 || args.in[1].shape[3] == 1, "keys must be contiguous rows");
  AXON_CHECK(args.in[2].stride[3] == 1 || args.in[2].shape[3] == 1,
             "values must be contiguous rows");
  args.keys = store_of(args.in[1]);
  args.values = store_of(args.in[2]);
  args.rows = {};
  args.rows.rows = args.in[0].shape[0];
  args.rows.tokens = args.in[0].shape[2];
  args.rows.q_first = args.integer(param(op, "offset"), 0);
  args.rows.k_count =
      std::min(args.integer(param(op, "length"), args.in[1].shape[2]), args.in[1].shape[2]);
}

}  // namespace axon::runtime
