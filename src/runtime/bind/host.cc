// Parameters of general programs, copied or packed at their first use.
#include "runtime/bind/host.h"

#include "runtime/bind/model.h"
#include "runtime/core/weight_tree.h"

namespace axon::runtime {

const std::vector<const Kernel*>& BoundHost::kernels(Operation operation) {
  auto [it, fresh] = kernels_.try_emplace(operation);
  if (fresh) it->second = kernels_of(operation, choice_);
  return it->second;
}

int64_t BoundHost::free_memory() { return available_memory(); }

Result<std::optional<View>> BoundHost::param(std::string_view key, ParamUse use) {
  const std::pair<std::string, ParamUse> id(key, use);
  const auto known = known_.find(id);
  if (known != known_.end()) return std::optional<View>(known->second);
  const std::optional<model::Resolved> resolved = source_->index().resolve(key);
  if (!resolved) return std::optional<View>();
  Weight weight;
  weight.source = weight_tree(*resolved);
  weight.shape = resolved->shape;
  weight.storage = resolved->storage;
  const DType stored = storage_info(resolved->storage).dtype;
  const Storage dense = is_float(stored) ? Storage::F32 : plain_storage(stored);
  AXON_TRY(HeldWeight held, store_.hold(weight, use == ParamUse::Dense, dense));
  for (const DenseCopy& copy : held.copies)
    pool_->run([&](int part, int parts) { run_copy(copy, part, parts); });
  if (use == ParamUse::Product && pack_ && held.view.rank == 2) {
    const PackFormat* format = pack_format_for(held.view, NumericPolicy{}, choice_);
    if (format != nullptr) {
      AXON_TRY(Buffer packed, Buffer::allocate(static_cast<size_t>(format->bytes(held.view))));
      const View source = held.view;
      pool_->run([&](int part, int parts) { format->pack(source, packed.data(), part, parts); });
      held.view.packed = packed.data();
      held.view.pack_format = format->id;
      packed_.push_back(std::move(packed));
    }
  }
  return std::optional<View>(known_.emplace(id, held.view).first->second);
}

}  // namespace axon::runtime
