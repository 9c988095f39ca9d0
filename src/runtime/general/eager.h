// Memory and kernels for operations that run one at a time on sizes known only now.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/core/kernel.h"
#include "runtime/general/datum.h"
#include "support/thread_pool.h"

namespace axon::runtime {

// How a parameter's bytes are wanted.
enum class ParamUse : uint8_t {
  Dense,    // one dense block: f32, or integers as they are stored
  Stored,   // as it is in the checkpoint, possibly in blocks or parts
  Product,  // for a product with rows: stored, or packed for the best kernel
};

// What a general program asks of whoever bound it.
class GeneralHost {
 public:
  virtual ~GeneralHost() = default;
  // The parameter by the key resolution of checkpoints, ready to be read; nothing when there is
  // none. Views live as long as the host.
  virtual Result<std::optional<View>> param(std::string_view key, ParamUse use) = 0;
  virtual bool has_root(std::string_view root) = 0;
  // Best first; the last supports everything.
  virtual const std::vector<const Kernel*>& kernels(Operation operation) = 0;
  // Bytes that the machine has left; 0: not known.
  virtual int64_t free_memory() { return 0; }
};

using TensorPtr = std::shared_ptr<Tensor>;

class Eager {
 public:
  Eager(GeneralHost& host, ThreadPool& pool) : host_(&host), pool_(&pool), heap_(make_heap()) {}

  GeneralHost& host() { return *host_; }
  // Memory with unspecified contents, row-major. Errors: MEM-ALLOC, MEM-LIMIT, RUN-VALUE
  // (too many axes).
  Result<TensorPtr> make(DType dtype, const Shape& shape);
  Result<TensorPtr> filled(DType dtype, const Shape& shape, const Datum& number);
  Result<TensorPtr> number(DType dtype, const Datum& value);  // no axes
  // Itself, or converted.
  Result<TensorPtr> converted(const TensorPtr& x, DType dtype);
  // Itself, or a copy with strides that the layout allows.
  Result<TensorPtr> fit(const TensorPtr& x, Layout layout);
  Result<TensorPtr> copied(const TensorPtr& x);  // always dense memory of its own
  // The same memory under another view.
  static TensorPtr viewed(const TensorPtr& x, const View& view);
  // Broadcast by strides of 0; the shape must fit.
  static TensorPtr expanded(const TensorPtr& x, const Shape& shape);
  static TensorPtr sliced(const TensorPtr& x, size_t axis, int64_t from, int64_t to);

  // Runs a kernel. Null inputs are absent operands; inputs are laid out as the operation wants
  // them.
  Result<void> run(Operation operation, std::vector<TensorPtr> inputs,
                   std::initializer_list<TensorPtr> outputs, std::initializer_list<Param> params);

 private:
  struct Heap;
  static std::shared_ptr<Heap> make_heap();
  const Kernel* choose(const KernelArgs& args);

  GeneralHost* host_;
  ThreadPool* pool_;
  std::shared_ptr<Heap> heap_;
  std::shared_ptr<uint8_t> scratch_;
  int64_t scratch_bytes_ = 0;
};

// The shape of an elementwise result: RUN-SHAPE when two extents differ and neither is 1.
Result<Shape> broadcast(const Shape& a, const Shape& b);
int64_t count_of(const Shape& shape);

}  // namespace axon::runtime
