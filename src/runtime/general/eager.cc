// A heap that keeps blocks for reuse, views, and one kernel at a time.
#include "runtime/general/eager.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <mutex>

namespace axon::runtime {
namespace {

constexpr size_t kAlign = 64;
constexpr int kClasses = 40;               // blocks of 64 << class bytes
constexpr size_t kKept = size_t{1} << 28;  // bytes kept for reuse
constexpr size_t kLarge = size_t{1}
                          << 28;     // bytes from which the machine is asked whether it has them
constexpr int64_t kSmall = 1 << 13;  // elements below which one thread does it all

int class_of(size_t bytes) {
  const size_t units = std::max<size_t>((bytes + kAlign - 1) / kAlign, 1);
  return std::bit_width(units - 1);
}

bool fits(const View& view, Layout layout) {
  if (view.part_count > 0 || view.packed != nullptr) return true;  // weights: kernels judge
  switch (layout) {
    case Layout::Any:
      return true;
    case Layout::Dense:
      return view.contiguous();
    case Layout::UnitLast:
      return view.rank > 0 && (view.last() == 1 || view.stride[view.rank - 1] == 1);
    case Layout::Matrix:
      break;
  }
  if (view.rank == 0 || (view.last() != 1 && view.stride[view.rank - 1] != 1)) return false;
  int64_t step = 0;  // rows of the axes behind, times their stride
  for (int a = view.rank - 2; a >= 0; --a) {
    if (view.shape[a] == 1) continue;
    if (step != 0 && view.stride[a] != step) return false;
    step = view.stride[a] * view.shape[a];
  }
  return true;
}

void set_param(Operation operation, KernelArgs& args, const Param& p) {
  const int slot = find_param(operation, p.name);
  AXON_CHECK(slot >= 0 && slot < kMaxParams, "parameter of another operation");
  ParamSlot& out = args.params[slot];
  out.present = true;
  if (const auto* real = std::get_if<double>(&p.value)) {
    out.is_float = true;
    out.f = *real;
    out.i = *real >= -9e18 && *real <= 9e18 ? static_cast<int64_t>(*real) : 0;
    return;
  }
  if (const auto* flag = std::get_if<bool>(&p.value)) out.i = *flag ? 1 : 0;
  if (const auto* integer = std::get_if<int64_t>(&p.value)) out.i = *integer;
  out.f = static_cast<double>(out.i);
}

}  // namespace

// Blocks come back from any thread that drops the last reference.
struct Eager::Heap {
  std::mutex mutex;
  std::vector<uint8_t*> free[kClasses];
  size_t kept = 0;
  ~Heap() {
    for (const auto& list : free) {
      for (uint8_t* block : list) std::free(block);
    }
  }
  uint8_t* take(int size) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto& list = free[size];
    if (list.empty()) return static_cast<uint8_t*>(std::aligned_alloc(kAlign, kAlign << size));
    uint8_t* block = list.back();
    list.pop_back();
    kept -= kAlign << size;
    return block;
  }
  void give(uint8_t* block, int size) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (kept + (kAlign << size) > kKept) return std::free(block);
    kept += kAlign << size;
    free[size].push_back(block);
  }
};

std::shared_ptr<Eager::Heap> Eager::make_heap() { return std::make_shared<Heap>(); }

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  return overflow ? INT64_MAX : count;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (size_t i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return run_error(Diag::RunShape, {"one operand", show_shape(a), "the other", show_shape(b)});
    }
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

Result<TensorPtr> Eager::make(DType dtype, const Shape& shape) {
  auto out = std::make_shared<Tensor>();
  View& view = out->view;
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    return run_error(Diag::RunValue,
                     {"a tensor would have " + std::to_string(shape.size()) +
                      " axes; the runtime has room for " + std::to_string(kMaxRank)});
  }
  view.storage = plain_storage(dtype);
  view.rank = static_cast<int8_t>(shape.size());
  size_t bytes = dtype_size(dtype);
  bool overflow = false;
  for (size_t a = 0; a < shape.size(); ++a) {
    AXON_CHECK(shape[a] >= 0, "sizes are not negative");
    view.shape[a] = shape[a];
    overflow |= __builtin_mul_overflow(bytes, static_cast<size_t>(shape[a]), &bytes);
  }
  set_contiguous(view);
  if (!overflow && bytes >= kLarge) {
    const int64_t left = host_->free_memory();
    if (left > 0 && bytes > static_cast<size_t>(left)) {
      return Error{"MEM-LIMIT", "a tensor of shape " + show_shape(shape) + " needs " +
                                    std::to_string(bytes >> 20) + " MiB, and " +
                                    std::to_string(left >> 20) + " MiB are free"};
    }
  }
  const int size = overflow ? kClasses : class_of(bytes);
  uint8_t* block = size < kClasses ? heap_->take(size) : nullptr;
  if (block == nullptr) {
    return Error{"MEM-ALLOC", "a tensor of shape " + show_shape(shape) + " does not fit in memory"};
  }
  out->memory = std::shared_ptr<uint8_t>(
      block, [heap = heap_, size](uint8_t* memory) { heap->give(memory, size); });
  view.data = block;
  return out;
}

Result<TensorPtr> Eager::filled(DType dtype, const Shape& shape, const Datum& number) {
  AXON_TRY(TensorPtr out, make(dtype, shape));
  Param value{"value", number.kind == Datum::Kind::Float  ? ParamValue(number.number)
                       : number.kind == Datum::Kind::Bool ? ParamValue(number.truth)
                                                          : ParamValue(number.integer)};
  AXON_TRY_VOID(run(Operation::Fill, {}, {out}, {value}));
  return out;
}

Result<TensorPtr> Eager::number(DType dtype, const Datum& value) {
  AXON_TRY(TensorPtr out, make(dtype, {}));
  if (value.kind == Datum::Kind::Float)
    out->set(0, value.number);
  else
    out->set_int(0, value.kind == Datum::Kind::Bool ? value.truth : value.integer);
  return out;
}

Result<TensorPtr> Eager::converted(const TensorPtr& x, DType dtype) {
  if (x->view.storage == plain_storage(dtype)) return x;
  AXON_TRY(TensorPtr out, make(dtype, x->shape()));
  AXON_TRY_VOID(run(Operation::Cast, {x}, {out}, {}));
  return out;
}

Result<TensorPtr> Eager::copied(const TensorPtr& x) {
  AXON_TRY(TensorPtr out, make(x->dtype(), x->shape()));
  AXON_TRY_VOID(run(Operation::Copy, {x}, {out}, {}));
  return out;
}

Result<TensorPtr> Eager::fit(const TensorPtr& x, Layout layout) {
  return fits(x->view, layout) ? Result<TensorPtr>(x) : copied(x);
}

TensorPtr Eager::viewed(const TensorPtr& x, const View& view) {
  auto out = std::make_shared<Tensor>();
  out->view = view;
  out->memory = x->memory;
  return out;
}

TensorPtr Eager::expanded(const TensorPtr& x, const Shape& shape) {
  View view = x->view;
  view.rank = static_cast<int8_t>(shape.size());
  const int lead = view.rank - x->view.rank;
  for (int a = 0; a < view.rank; ++a) {
    const bool own = a >= lead && x->view.shape[a - lead] != 1;
    view.shape[a] = shape[static_cast<size_t>(a)];
    view.stride[a] = own ? x->view.stride[a - lead] : 0;
  }
  return viewed(x, view);
}

TensorPtr Eager::sliced(const TensorPtr& x, size_t axis, int64_t from, int64_t to) {
  View view = x->view;
  view.data += from * view.stride[axis] * storage_info(view.storage).block_bytes;
  view.shape[axis] = to - from;
  return viewed(x, view);
}

const Kernel* Eager::choose(const KernelArgs& args) {
  const View& weight = args.in[args.operation == Operation::ExpertLinear ? 2 : 1];
  for (const Kernel* kernel : host_->kernels(args.operation)) {
    if (kernel->pack_format != 0 && weight.pack_format != kernel->pack_format) continue;
    if (kernel->supports(args)) return kernel;
  }
  AXON_UNREACHABLE("an operation without a reference kernel");
}

Result<void> Eager::run(Operation operation, std::vector<TensorPtr> inputs,
                        std::initializer_list<TensorPtr> outputs,
                        std::initializer_list<Param> params) {
  KernelArgs args;
  args.operation = operation;
  const OperationInfo& info = *operation_info(operation);
  int64_t work = 0;
  for (const TensorPtr& output : outputs) {
    args.out[args.output_count++] = output->view;
    work = std::max(work, output->count());
  }
  if (work == 0) return {};
  for (TensorPtr& input : inputs) {
    if (input != nullptr) {
      AXON_TRY(input, fit(input, info.in));
      args.in[args.input_count] = input->view;
      if (input->view.data != nullptr) work = std::max(work, input->count());
    }
    ++args.input_count;
  }
  for (const Param& p : params) set_param(operation, args, p);
  const Kernel* kernel = choose(args);
  const int parts = work < kSmall ? 1 : pool_->threads();
  if (kernel->workspace != nullptr) {
    const int64_t part = (kernel->workspace(args, parts) + 63) / 64 * 64;
    if (part * parts > scratch_bytes_) {
      AXON_TRY(TensorPtr block, make(DType::I64, {(part * parts + 7) / 8}));
      scratch_ = block->memory;
      scratch_bytes_ = part * parts;
    }
    args.workspace = scratch_.get();
    args.workspace_part = part;
  }
  if (parts == 1) {
    kernel->run(args, 0, 1);
  } else {
    pool_->run([&](int part, int all) { kernel->run(args, part, all); });
  }
  return {};
}

}  // namespace axon::runtime
