// Uses of weights decide how they are held; the kernels' wishes decide how they are packed.
#include "runtime/bind/model.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace axon::runtime {
namespace {

constexpr size_t kAlign = 64;
size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

enum class Slot : uint8_t { Product, Rows, Other };
Slot slot_of(Operation operation, size_t slot) {
  if (operation == Operation::Linear && slot == 1) return Slot::Product;
  if (operation == Operation::ExpertLinear && slot == 2) return Slot::Product;
  if (operation == Operation::Embedding && slot == 1) return Slot::Rows;
  return Slot::Other;
}

WeightBytes bytes_read(const View& view, int64_t packed) {
  WeightBytes out;
  const int64_t rows = view.last() > 0 ? view.count() / view.last() : 0;
  const bool joined = view.part_count > 0;
  const StorageInfo& info = storage_info(joined ? view.parts[0].storage : view.storage);
  out.row = view.last() / info.block * info.block_bytes;
  out.whole = packed > 0 ? packed : rows * out.row;
  return out;
}

// Whether single rows can be taken out of the packed form.
bool reads_rows(const PackFormat& format, const BindOptions& options) {
  const auto kernels = kernels_of(Operation::Embedding, options.kernels);
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const Kernel* kernel) { return kernel->pack_format == format.id; });
}

const WeightId* weight_of(const Value& value) {
  const auto* place = std::get_if<PlaceWeight>(&value.place);
  return place != nullptr ? &place->weight : nullptr;
}

}  // namespace

std::string_view spelling(Residency residency) {
  switch (residency) {
    case Residency::Mapped:
      return "mapped";
    case Residency::Packed:
      return "packed";
    case Residency::Dense:
      return "dense";
  }
  return {};
}

Result<std::unique_ptr<BoundModel>> BoundModel::bind(Program program, model::ParamSource& source,
                                                     const BindOptions& options) {
  std::unique_ptr<BoundModel> model(new BoundModel);
  model->program_ = std::move(program);
  model->source_ = &source;
  model->store_ = std::make_unique<WeightStore>(source);
  model->bound_.program = &model->program_;
  AXON_TRY_VOID(model->bind_weights(options));
  AXON_TRY_VOID(model->bind_constants());
  model->bind_phases(options);
  model->prepared_.assign(model->program_.phases.size(), 0);
  return model;
}

// A weight that anything but a product or a row lookup reads, or that a view cuts, must be dense.
std::vector<BoundModel::Use> BoundModel::find_uses() const {
  std::vector<Use> uses(program_.weights.size());
  for (const Phase& phase : program_.phases) {
    for (const Value& value : phase.values) {
      if (const WeightId* id = weight_of(value)) {
        uses[static_cast<size_t>(id->index)].dtype = value.dtype;
      } else if (const auto* view = std::get_if<PlaceView>(&value.place)) {
        const WeightId* base = weight_of(phase.values[view->of]);
        if (base != nullptr) uses[static_cast<size_t>(base->index)].other = true;
      }
    }
    for (const Instr& instr : phase.code) {
      for (size_t s = 0; s < instr.inputs.size(); ++s) {
        if (!instr.inputs[s].valid()) continue;
        const WeightId* id = weight_of(phase.values[instr.inputs[s]]);
        if (id == nullptr) continue;
        Use& use = uses[static_cast<size_t>(id->index)];
        switch (slot_of(instr.operation, s)) {
          case Slot::Product:
            if (!use.product) use.policy = instr.policy;
            use.product = true;
            break;
          case Slot::Rows:
            use.rows = true;
            break;
          case Slot::Other:
            use.other = true;
            break;
        }
      }
    }
    for (const Output& output : phase.outputs) {
      const WeightId* id = weight_of(phase.values[output.value]);
      if (id != nullptr) uses[static_cast<size_t>(id->index)].other = true;
    }
  }
  return uses;
}

Result<void> BoundModel::bind_weights(const BindOptions& options) {
  const std::vector<Use> uses = find_uses();
  weights_.resize(program_.weights.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    Bound& bound = weights_[i];
    const Use& use = uses[i];
    const Weight& weight = program_.weights[program_.weights.id_at(i)];
    AXON_TRY(bound.held, store_->hold(weight, use.other, plain_storage(use.dtype)));
    View& view = bound.held.view;
    if (use.product && options.pack) {
      bound.format = pack_format_for(view, use.policy, options.kernels);
    }
    if (bound.format != nullptr) {
      bound.packed_bytes = bound.format->bytes(view);
      view.pack_format = bound.format->id;
    }
    bound.keeps_source =
        bound.format == nullptr || use.other || (use.rows && !reads_rows(*bound.format, options));
    bound.only_rows = use.rows && !use.other && (!use.product || bound.format != nullptr);
  }
  AXON_TRY_VOID(place_packed());
  for (const Bound& bound : weights_) {
    const View& view = bound.held.view;
    bound_.weights.push_back(view);
    bound_.weight_bytes.push_back(bytes_read(view, bound.packed_bytes));
  }
  return {};
}

// All packed weights lie in one region, so that large pages hold them.
Result<void> BoundModel::place_packed() {
  int64_t end = 0;
  for (Bound& bound : weights_) {
    bound.packed_at = end;
    end += static_cast<int64_t>(aligned(static_cast<size_t>(bound.packed_bytes)));
  }
  AXON_TRY(packed_, Buffer::allocate(static_cast<size_t>(end), Buffer::Pages::Large));
  for (Bound& bound : weights_) {
    if (bound.format != nullptr) bound.held.view.packed = packed_.data() + bound.packed_at;
  }
  return {};
}

// Constants move to aligned memory of their own.
Result<void> BoundModel::bind_constants() {
  size_t bytes = 0;
  for (const Constant& constant : program_.constants) bytes += aligned(constant.bytes.size());
  AXON_TRY(constants_, Buffer::allocate(bytes));
  uint8_t* at = constants_.data();
  for (const Constant& constant : program_.constants) {
    View view;
    view.storage = plain_storage(constant.dtype);
    view.rank = static_cast<int8_t>(constant.shape.size());
    std::copy(constant.shape.begin(), constant.shape.end(), view.shape);
    set_contiguous(view);
    if (static_cast<size_t>(view.count()) * dtype_size(constant.dtype) != constant.bytes.size()) {
      return Error{"FILE-FORMAT", "a constant of the program has bytes that do not fit its shape"};
    }
    std::memcpy(at, constant.bytes.data(), constant.bytes.size());
    view.data = at;
    at += aligned(constant.bytes.size());
    bound_.constants.push_back(view);
  }
  return {};
}

void BoundModel::bind_phases(const BindOptions& options) {
  for (const Phase& phase : program_.phases) {
    BoundPhase bound;
    bound.phase = &phase;
    std::vector<uint8_t> seen(weights_.size(), 0);
    for (const Instr& instr : phase.code) {
      bound.code.push_back({kernels_of(instr.operation, options.kernels)});
    }
    for (const Value& value : phase.values) {
      const WeightId* id = weight_of(value);
      if (id == nullptr || seen[static_cast<size_t>(id->index)] != 0) continue;
      seen[static_cast<size_t>(id->index)] = 1;
      bound.weights.push_back(*id);
    }
    bound_.phases.push_back(std::move(bound));
  }
}

bool BoundModel::prepare(size_t phase, ThreadPool& pool, const CancelFlag* cancel) {
  if (prepared_[phase] != 0) return true;
  std::vector<Bound*> waiting;
  for (WeightId id : bound_.phases[phase].weights) {
    Bound& bound = weights_[static_cast<size_t>(id.index)];
    if (!bound.ready) waiting.push_back(&bound);
  }
  // One walk by all workers; source pages go back as soon as nobody reads them any more. Worker 0
  // reads the cancel flag before a barrier and all obey after it.
  bool stop[2] = {false, false};
  pool.run([&](int part, int parts) {
    int turn = 0;
    for (Bound* bound : waiting) {
      pack(*bound, part, parts, pool);
      if (bound->held.copies.empty() && bound->format == nullptr) continue;
      if (part == 0) stop[turn] = cancel != nullptr && cancel->is_set();
      pool.barrier();
      if (part == 0) {
        release(*bound);
        bound->ready = true;
      }
      if (stop[turn]) return;
      turn = 1 - turn;
    }
  });
  if (stop[0] || stop[1]) return false;
  for (Bound* bound : waiting) bound->ready = true;
  prepared_[phase] = 1;
  return true;
}

// A part of a weight's copies, then of its packed form.
void BoundModel::pack(const Bound& bound, int part, int parts, ThreadPool& pool) {
  for (const DenseCopy& copy : bound.held.copies) {  // a later copy may read an earlier one
    run_copy(copy, part, parts);
    pool.barrier();
  }
  if (bound.format == nullptr) return;
  bound.format->pack(bound.held.view, packed_.data() + bound.packed_at, part, parts);
}

void BoundModel::release(const Bound& bound) {
  if (bound.held.copies.empty() && bound.keeps_source) return;
  for (const std::string& name : bound.held.stored) source_->release(name);
}

std::vector<WeightReport> BoundModel::weights() const {
  std::vector<WeightReport> reports;
  for (const Bound& bound : weights_) {
    WeightReport report;
    report.name = bound.held.stored.empty() ? std::string() : bound.held.stored[0];
    const View& view = bound.held.view;
    report.storage = view.part_count > 0 ? view.parts[0].storage : view.storage;
    const bool dense = !bound.held.copies.empty();
    report.residency = bound.format != nullptr ? Residency::Packed
                       : dense                 ? Residency::Dense
                                               : Residency::Mapped;
    if (bound.format != nullptr) report.form = bound.format->name;
    report.own_bytes = bound.held.dense_bytes + bound.packed_bytes;
    if (bound.keeps_source && !dense) report.stored_bytes = bound.held.stored_bytes;
    reports.push_back(std::move(report));
  }
  return reports;
}

// Pages come in windows: what is mapped in place brings its surroundings along.
int64_t BoundModel::window_bytes() const {
  constexpr uintptr_t kAround = uintptr_t{64} << 10;
  std::set<uintptr_t> windows;
  for (const Bound& bound : weights_) {
    const View& view = bound.held.view;
    if (!bound.keeps_source || !bound.held.copies.empty() || bound.only_rows) continue;
    const View* parts = view.part_count > 0 ? view.parts : &view;
    for (int32_t p = 0; p < std::max(view.part_count, 1); ++p) {
      const auto at = reinterpret_cast<uintptr_t>(parts[p].data);
      const auto bytes = static_cast<uintptr_t>(bytes_read(parts[p], 0).whole);
      for (uintptr_t w = at / kAround; w * kAround < at + bytes; ++w) windows.insert(w);
    }
  }
  return static_cast<int64_t>(windows.size() * kAround);
}

// Packing goes from weight to weight, and the source of each is there until it is done.
int64_t BoundModel::passing_bytes() const {
  int64_t held = 0, most = 0;
  for (const Bound& bound : weights_) {
    const int64_t own = bound.packed_bytes + bound.held.dense_bytes;
    const bool stays = bound.keeps_source && bound.held.copies.empty();
    if (own > 0) most = std::max(most, held + own + bound.held.stored_bytes);
    held += own + (stays && !bound.only_rows ? bound.held.stored_bytes : 0);
  }
  return std::max<int64_t>(0, most - held);
}

MemoryAnswer BoundModel::memory() const {
  MemoryAnswer answer;
  std::vector<std::string_view> mapped;  // tied weights share their stored tensor
  for (const Bound& bound : weights_) {
    answer.packed += bound.packed_bytes;
    answer.dense += bound.held.dense_bytes;
    if (!bound.keeps_source || !bound.held.copies.empty() || bound.held.stored.empty()) continue;
    if (std::find(mapped.begin(), mapped.end(), bound.held.stored[0]) != mapped.end()) continue;
    mapped.push_back(bound.held.stored[0]);
    answer.mapped += bound.held.stored_bytes;
    if (bound.only_rows) answer.looked_up += bound.held.stored_bytes;
  }
  answer.passing = passing_bytes();
  answer.around = std::max<int64_t>(0, window_bytes() - (answer.mapped - answer.looked_up));
  answer.constants = static_cast<int64_t>(constants_.size());
  return answer;
}

}  // namespace axon::runtime
