// Feeding: chunks, inputs by role, scalars that follow.
#include "runtime/gen/session.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/number.h"

namespace axon::runtime {
namespace {

constexpr std::string_view kUncached = "score";

void set_view(View& view, DType dtype, std::initializer_list<int64_t> shape, const void* data) {
  view = {};
  view.storage = plain_storage(dtype);
  view.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  set_contiguous(view);
  view.data = static_cast<const uint8_t*>(data);
}

int logits_output(const Phase& phase) {
  for (size_t o = 0; o < phase.outputs.size(); ++o) {
    if (phase.outputs[o].name == "logits") return static_cast<int>(o);
  }
  return -1;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(Model& model, const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session(model));
  session->options_ = options;
  session->options_.chunk = std::max<int64_t>(1, std::min(options.chunk, options.capacity));
  if (options.capacity < 1 || options.rows < 1) {
    return Error{"USE-CONTEXT", "a session needs at least one row and one position"};
  }
  AXON_TRY_VOID(session->find_phases());
  if (model.options().check_memory) {
    AXON_TRY(const MemoryAnswer answer,
             model.memory(options.rows, options.capacity, session->options_.chunk, options.source));
    AXON_TRY_VOID(check_fits(answer, available_memory()));
  }
  AXON_TRY_VOID(session->allocate());
  return session;
}

Result<void> Session::find_phases() {
  if (model_->general() != nullptr) return find_general();
  const Program& program = model_->program();
  cached_ = model_->phase_index("extend", false) >= 0 || model_->phase_index("extend", true) >= 0;
  encodes_ = model_->encodes();
  bool found = false;
  for (const Phase& phase : program.phases) {
    const bool encode = phase.name == "encode";
    const bool used =
        cached_ ? phase.name == "start" || phase.name == "extend" || phase.name == "step" || encode
                : (phase.name == kUncached && !encodes_) || phase.name == "start" || encode;
    if (!used) continue;
    AXON_TRY_VOID(check_inputs(phase));
    inputs_.resize(std::max(inputs_.size(), phase.inputs.size()));
    if (encode) continue;
    const int output = logits_output(phase);
    if (output < 0)
      return Error{"RUN-INPUT", "the program has no output `logits` to choose tokens by"};
    const Value& logits = phase.values[phase.outputs[static_cast<size_t>(output)].value];
    const IntExpr& width = program.ints[logits.shape.back()];
    if (width.kind != IntExpr::Kind::Const)
      return Error{"RUN-SHAPE", "the width of `logits` is not fixed"};
    vocabulary_ = width.value;
    found = true;
  }
  if (!found) return Error{"RUN-INPUT", "the program has no phase that generation can call"};
  return {};
}

Result<void> Session::check_inputs(const Phase& phase) const {
  for (const Input& input : phase.inputs) {
    if (role_of(input) != InputRole::Other) continue;
    return Error{"RUN-INPUT", "generation has nothing to give for input `" + input.name + "`"};
  }
  return {};
}

Result<void> Session::allocate() {
  const Program& program = model_->program();
  if (encodes_ && options_.source < 1)
    return Error{"RUN-INPUT", "the program has an encoder, which needs tokens of its own"};
  bind_source(program, options_.rows, options_.source, bindings_);
  for (const State& state : program.states) {
    const IntExpr& row = program.ints[state.shape[static_cast<size_t>(state.row_axis)]];
    if (row.kind == IntExpr::Kind::Sym) bindings_.set(row.sym, options_.rows);
    if (state.token_axis < 0) continue;
    const IntExpr& token = program.ints[state.shape[static_cast<size_t>(state.token_axis)]];
    if (token.kind == IntExpr::Kind::Sym) bindings_.set(token.sym, options_.capacity);
  }
  for (const Phase& phase : program.phases) {
    for (const Input& input : phase.inputs) {
      if (role_of(input) != InputRole::Capacity) continue;
      if (input.is_scalar) bindings_.set(input.symbol, options_.capacity);
    }
  }
  AXON_TRY(states_, StateSet::plan(program, bindings_, model_->options().store));
  AXON_TRY_VOID(states_.allocate());
  const auto rows = static_cast<size_t>(options_.rows),
             capacity = static_cast<size_t>(options_.capacity);
  ids_.resize(rows * (cached_ ? static_cast<size_t>(options_.chunk) : capacity));
  mask_.assign(rows * capacity, 0);
  mask_bytes_.resize(rows * capacity * sizeof(int64_t));
  wanted_.resize(rows * std::max<size_t>(static_cast<size_t>(options_.chunk), 1));
  logits_.assign(rows * static_cast<size_t>(vocabulary_), 0.0f);
  scalars_.resize(program.scalars.size());
  advances_.assign(program.scalars.size(), 0);
  reset();
  return {};
}

void Session::reset() {
  for (int64_t row = 0; row < options_.rows && (length_ > 0 || encoded_); ++row) states_.reset(row);
  length_ = 0;
  encoded_ = source_padded_ = false;
  masked_ = always_masked();
  forget_cache();
  std::fill(mask_.begin(), mask_.end(), 0);
  for (size_t i = 0; i < scalars_.size(); ++i) scalars_[i] = model_->program().scalars[i].initial;
}

// The first call starts the stores; one token more is a step where the program has that phase.
int Session::choose_phase(int64_t count, bool masked) const {
  if (encodes_) {  // padding of the decoder's own tokens is no input
    const int step = masked ? -1 : model_->phase_index("extend", source_padded_);
    return cached_ && length_ > 0 ? step
           : masked               ? -1
                                  : model_->phase_index("start", source_padded_);
  }
  const auto find = [&](std::string_view name) {
    const int exact = model_->phase_index(name, masked);
    return exact < 0 && !masked ? model_->phase_index(name, true) : exact;
  };
  if (!cached_) return find(kUncached) >= 0 ? find(kUncached) : find("start");
  if (length_ == 0) return find("start");
  const int step = count == 1 ? find("step") : -1;
  return step >= 0 ? step : find("extend");
}

int64_t Session::last_real(const uint8_t* valid, int64_t stride, int64_t row, int64_t count) const {
  if (valid == nullptr) return count - 1;
  for (int64_t t = count - 1; t >= 0; --t) {
    if (valid[row * stride + t] != 0) return t;
  }
  return -1;
}

void Session::mark(int64_t count, const uint8_t* valid, int64_t stride) {
  for (int64_t row = 0; row < options_.rows; ++row) {
    uint8_t* to = mask_.data() + row * options_.capacity + length_;
    for (int64_t t = 0; t < count; ++t) {
      to[t] = valid == nullptr || valid[row * stride + t] != 0 ? 1 : 0;
      masked_ = masked_ || to[t] == 0;
    }
  }
}

// Views and symbols for a call that brings the session from length_ to length_ + count.
void Session::write_inputs(const Phase& phase, int64_t count, int64_t rows_wanted) {
  const int64_t rows = options_.rows, total = length_ + count;
  for (size_t i = 0; i < phase.inputs.size(); ++i) {
    const Input& input = phase.inputs[i];
    const InputRole role = role_of(input);
    if (role == InputRole::MaskLength) bindings_.set(input.symbol, total);
    if (role == InputRole::Capacity && input.is_scalar)
      bindings_.set(input.symbol, options_.capacity);
    if (input.is_scalar) continue;
    if (role == InputRole::Ids || role == InputRole::DecoderIds)
      set_view(inputs_[i], input.dtype, {rows, count}, ids_.data());
    if (role == InputRole::LogitRows)
      set_view(inputs_[i], input.dtype, {rows_wanted}, wanted_.data());
    if (role == InputRole::Mask || role == InputRole::MaskStore) {
      const int64_t width = role == InputRole::Mask ? total : options_.capacity;
      set_view(inputs_[i], input.dtype, {rows, width}, mask_bytes_.data());
      const Storage storage = plain_storage(input.dtype);
      const auto size = static_cast<int64_t>(dtype_size(input.dtype));
      for (int64_t n = 0; n < rows * width; ++n) {
        store_int(storage, reinterpret_cast<uint8_t*>(mask_bytes_.data()) + n * size,
                  mask_[static_cast<size_t>(n / width * options_.capacity + n % width)]);
      }
    }
    for (size_t a = 0; a < input.shape.size(); ++a) {  // symbols follow the shapes of this call
      const IntExpr& e = model_->program().ints[input.shape[a]];
      if (e.kind == IntExpr::Kind::Sym) bindings_.set(e.sym, inputs_[i].shape[a]);
    }
  }
  for (size_t s = 0; s < scalars_.size(); ++s) {
    bindings_.set(model_->program().scalars[s].symbol, scalars_[s]);
  }
}

void Session::keep_logits(const View& logits, bool selected, int64_t count, const uint8_t* valid,
                          int64_t stride) {
  const int64_t size = storage_info(logits.storage).block_bytes;
  int64_t next = 0;
  for (int64_t row = 0; row < options_.rows; ++row) {
    const int64_t t = last_real(valid, stride, row, count);
    if (t < 0) continue;
    const int64_t from =
        selected ? next++ * logits.stride[0] : row * logits.stride[0] + t * logits.stride[1];
    const int64_t step = logits.stride[logits.rank - 1];
    for (int64_t v = 0; v < vocabulary_; ++v) {
      logits_[static_cast<size_t>(row * vocabulary_ + v)] =
          load_float(logits.storage, logits.data + (from + v * step) * size);
    }
  }
}

void Session::advance(int phase, int64_t count) {
  const Executor& executor = model_->executor(phase);
  const auto& updates = model_->program().phases[static_cast<size_t>(phase)].updates;
  std::fill(advances_.begin(), advances_.end(), 0);
  for (size_t u = 0; u < updates.size(); ++u) {
    const auto scalar = static_cast<size_t>(updates[u].scalar);
    const int64_t now = executor.update(u);
    advances_[scalar] = now == length_ + count ? 1 : 0;
    scalars_[scalar] = now;
  }
}

Result<RunStatus> Session::run_chunk(const int64_t* ids, int64_t stride, int64_t count,
                                     const uint8_t* valid, bool all, EachChunk* each, int64_t first,
                                     const CancelFlag* cancel) {
  if (encodes_ && !encoded_) return Error{"RUN-INPUT", "the encoder has not been given its tokens"};
  mark(count, valid, stride);
  const int index = choose_phase(count, masked_);
  if (index < 0) {
    return Error{"RUN-INPUT", masked_ ? "the program does not take padded input"
                                      : "the program has no phase for this call"};
  }
  last_phase_ = index;
  const Phase& phase = model_->program().phases[static_cast<size_t>(index)];
  for (int64_t row = 0; row < options_.rows; ++row) {
    std::copy_n(ids + row * stride, count, ids_.data() + row * count);
  }
  int64_t wanted = 0;
  if (all) {
    for (; wanted < options_.rows * count; ++wanted) wanted_[static_cast<size_t>(wanted)] = wanted;
  } else {
    for (int64_t row = 0; row < options_.rows; ++row) {
      const int64_t t = last_real(valid, stride, row, count);
      if (t >= 0) wanted_[static_cast<size_t>(wanted++)] = row * count + t;
    }
    if (wanted == 0)
      wanted_[static_cast<size_t>(wanted++)] = 0;  // no logits of interest: one row runs
  }
  write_inputs(phase, count, wanted);
  AXON_TRY(const RunStatus status,
           model_->run(index, bindings_, inputs_.data(), states_.views(), cancel));
  if (status == RunStatus::Cancelled) return status;
  View logits = model_->executor(index).output(static_cast<size_t>(logits_output(phase)));
  if (all && phase.selects_rows) {  // [R,V] with all rows is [rows,count,V]
    logits.shape[2] = logits.shape[1];
    logits.stride[2] = logits.stride[1];
    logits.shape[0] = options_.rows;
    logits.shape[1] = count;
    logits.stride[1] = logits.stride[0];
    logits.stride[0] *= count;
    logits.rank = 3;
  }
  keep_logits(logits, phase.selects_rows && !all, count, valid, stride);
  if (each != nullptr) {  // what a rerun repeats is not handed on
    const int64_t known = std::max<int64_t>(0, -first);
    logits.data += known * logits.stride[1] * storage_info(logits.storage).block_bytes;
    logits.shape[1] -= known;
    (*each)(first + known, count - known, logits);
  }
  advance(index, count);
  length_ += count;
  tokens_run_ += static_cast<uint64_t>(options_.rows * count);
  return status;
}

// A program without states sees everything from the start each time.
Result<RunStatus> Session::rerun_history(const int64_t* ids, int64_t count, const uint8_t* valid,
                                         EachChunk* each, const CancelFlag* cancel) {
  const int64_t rows = options_.rows, total = length_ + count;
  std::vector<int64_t> history(static_cast<size_t>(rows * total));
  std::vector<uint8_t> marks(history.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t t = 0; t < total; ++t) {
      const auto at = static_cast<size_t>(row * total + t);
      const bool old = t < length_;
      history[at] =
          old ? ids_[static_cast<size_t>(row * length_ + t)] : ids[row * count + t - length_];
      marks[at] = old ? mask_[static_cast<size_t>(row * options_.capacity + t)]
                      : valid == nullptr || valid[row * count + t - length_] != 0;
    }
  }
  if (model_->general() != nullptr)
    return run_general(history, marks, length_, total, each, cancel);
  if (each != nullptr) wanted_.resize(std::max(wanted_.size(), history.size()));
  const int64_t before = length_;
  length_ = 0;
  const auto status =
      run_chunk(history.data(), total, total, marks.data(), each != nullptr, each, -before, cancel);
  if (!status || *status == RunStatus::Cancelled) length_ = before;
  return status;
}

Result<RunStatus> Session::feed_chunks(const int64_t* ids, int64_t count, const uint8_t* valid,
                                       EachChunk* each, const CancelFlag* cancel) {
  if (count < 1) return Error{"USE-PROMPT", "there are no tokens to run"};
  if (length_ + count > options_.capacity) {
    return Error{"USE-CONTEXT", std::to_string(length_ + count) +
                                    " positions are needed, the session has " +
                                    std::to_string(options_.capacity)};
  }
  if (!cached_) return rerun_history(ids, count, valid, each, cancel);
  for (int64_t first = 0; first < count;) {
    const int64_t n = std::min(options_.chunk, count - first);
    const uint8_t* marks = valid != nullptr ? valid + first : nullptr;
    AXON_TRY(const RunStatus status,
             run_chunk(ids + first, count, n, marks, each != nullptr, each, first, cancel));
    if (status == RunStatus::Cancelled) return status;
    first += n;
  }
  return RunStatus::Done;
}

void Session::set_source_inputs(const Phase& phase, const int64_t* ids, const uint8_t* valid,
                                std::string& mask) {
  const int64_t rows = options_.rows, count = options_.source;
  for (size_t i = 0; i < phase.inputs.size(); ++i) {
    const Input& input = phase.inputs[i];
    if (role_of(input) == InputRole::Ids) {
      set_view(inputs_[i], input.dtype, {rows, count}, ids);
      continue;
    }
    const auto size = static_cast<int64_t>(dtype_size(input.dtype));
    mask.resize(static_cast<size_t>(rows * count * size));
    for (int64_t n = 0; n < rows * count; ++n) {
      store_int(plain_storage(input.dtype), reinterpret_cast<uint8_t*>(mask.data()) + n * size,
                valid == nullptr || valid[n] != 0);
    }
    set_view(inputs_[i], input.dtype, {rows, count}, mask.data());
  }
}

Result<RunStatus> Session::feed_source(const int64_t* ids, int64_t count, const uint8_t* valid,
                                       const CancelFlag* cancel) {
  if (!encodes_) return Error{"RUN-INPUT", "the program has no encoder"};
  if (count != options_.source) {
    return Error{"RUN-INPUT", "the encoder is given " + std::to_string(count) +
                                  " tokens, the session has " + std::to_string(options_.source)};
  }
  reset();
  source_padded_ =
      valid != nullptr && (options_.marked || std::find(valid, valid + options_.rows * count, 0) !=
                                                  valid + options_.rows * count);
  const int index = model_->phase_index("encode", source_padded_);
  if (index < 0) return Error{"RUN-INPUT", "the program does not take padded input"};
  const Phase& phase = model_->program().phases[static_cast<size_t>(index)];
  std::string mask;
  set_source_inputs(phase, ids, valid, mask);
  AXON_TRY(const RunStatus status,
           model_->run(index, bindings_, inputs_.data(), states_.views(), cancel));
  encoded_ = status == RunStatus::Done;
  return status;
}

Result<RunStatus> Session::feed(const int64_t* ids, int64_t count, const uint8_t* valid,
                                const CancelFlag* cancel) {
  return feed_chunks(ids, count, valid, nullptr, cancel);
}

Result<RunStatus> Session::feed_all(const int64_t* ids, int64_t count, const uint8_t* valid,
                                    EachChunk each, const CancelFlag* cancel) {
  return feed_chunks(ids, count, valid, &each, cancel);
}

}  // namespace axon::runtime
