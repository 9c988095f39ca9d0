// What general programs read of a checkpoint: parameters by names that are made while they run.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/param_source.h"
#include "runtime/bind/weights.h"
#include "runtime/general/eager.h"
#include "runtime/kernels/kernel.h"
#include "support/thread_pool.h"

namespace axon::runtime {

class BoundHost : public GeneralHost {
 public:
  // The source and the pool must outlive the host.
  BoundHost(model::ParamSource& source, const KernelChoice& choice, bool pack, ThreadPool& pool)
      : source_(&source), store_(source), choice_(choice), pack_(pack), pool_(&pool) {}
  Result<std::optional<View>> param(std::string_view key, ParamUse use) override;
  bool has_root(std::string_view root) override { return source_->index().has_root(root); }
  const std::vector<const Kernel*>& kernels(Operation operation) override;
  int64_t free_memory() override;

 private:
  model::ParamSource* source_;
  WeightStore store_;
  KernelChoice choice_;
  bool pack_;
  ThreadPool* pool_;
  std::map<std::pair<std::string, ParamUse>, View, std::less<>> known_;
  std::deque<Buffer> packed_;
  std::map<Operation, std::vector<const Kernel*>> kernels_;
};

}  // namespace axon::runtime
