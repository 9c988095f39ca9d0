// Loading, running phases, and single calls by name.
#include "runtime/gen/model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/core/number.h"
#include "runtime/gen/roles.h"
#include "runtime/gen/states.h"
#include "source/diag.h"
#include "support/check.h"

namespace axon::runtime {

bool has_symbol(const Bindings& bindings, SymId symbol) {
  const auto index = static_cast<size_t>(symbol.index);
  return index < bindings.known.size() && bindings.known[index];
}

bool bind_shape(const Program& program, const std::vector<IntId>& shape, const int64_t* actual,
                Bindings& bindings) {
  for (size_t a = 0; a < shape.size(); ++a) {
    const IntExpr& e = program.ints[shape[a]];
    if (e.kind != IntExpr::Kind::Sym) continue;
    const bool agrees = !has_symbol(bindings, e.sym) ||
                        bindings.values[static_cast<size_t>(e.sym.index)] == actual[a];
    if (!agrees) return false;
    bindings.set(e.sym, actual[a]);
  }
  return true;
}

Result<std::unique_ptr<Model>> Model::load(Program program, model::ParamSource& source,
                                           const ModelOptions& options,
                                           std::unique_ptr<ThreadPool> pool) {
  std::unique_ptr<Model> model(new Model);
  model->options_ = options;
  BindOptions bind;
  if (options.check_memory) AXON_TRY_VOID(check_plan(program, available_memory()));
  AXON_TRY(bind.kernels, choose_kernels(options.isa));
  bind.pack = options.pack;
  if (options.store == DType::Unknown) model->options_.store = store_of(options.math.preset);
  apply_math(program, options.math, bind.kernels);
  AXON_TRY(model->bound_, BoundModel::bind(std::move(program), source, bind));
  model->pool_ = pool ? std::move(pool) : std::make_unique<ThreadPool>(options.threads);
  model->executors_.resize(model->bound_->program().phases.size());
  const auto& phases = model->program().phases;
  if (!phases.empty() && phases[0].routine.valid()) {
    model->general_ = std::make_unique<GeneralModel>(model->program(), source, bind.kernels,
                                                     bind.pack, *model->pool_);
  }
  return model;
}

Executor& Model::executor(int phase) {
  auto& executor = executors_[static_cast<size_t>(phase)];
  if (executor == nullptr) {
    executor =
        std::make_unique<Executor>(bound_->bound(), static_cast<size_t>(phase), *pool_, arena_);
  }
  return *executor;
}

int Model::phase_index(std::string_view name, bool masked) const {
  const auto& phases = program().phases;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].name == name && phases[i].masked == masked) return static_cast<int>(i);
  }
  return -1;
}

Result<RunStatus> Model::run(int phase, const Bindings& bindings, const View* inputs,
                             const View* states, const CancelFlag* cancel) {
  if (!bound_->prepare(static_cast<size_t>(phase), *pool_, cancel)) return RunStatus::Cancelled;
  return executor(phase).run(bindings, inputs, states, cancel);
}

// Sizes of what the encoder reads, which its results have too.
void bind_source(const Program& program, int64_t rows, int64_t source, Bindings& bindings) {
  const int64_t shape[] = {rows, source};
  for (const Phase& phase : program.phases) {
    if (phase.name != "encode") continue;
    for (const Input& input : phase.inputs) {
      if (input.shape.size() == 2) bind_shape(program, input.shape, shape, bindings);
    }
  }
}

Result<MemoryAnswer> Model::memory(int64_t rows, int64_t capacity, int64_t chunk, int64_t source) {
  MemoryAnswer answer = bound_->memory();
  const Program& program = this->program();
  Bindings sizes;
  const bool cached = phase_index("extend", false) >= 0 || phase_index("extend", true) >= 0;
  Bindings fixed;
  bind_source(program, rows, source, fixed);
  for (size_t p = 0; p < program.phases.size(); ++p) {
    // Sessions do not call it.
    if ((cached || encodes()) && program.phases[p].name == "score") continue;
    const bool encode = program.phases[p].name == "encode";
    Bindings bindings = fixed;
    for (const Input& input : program.phases[p].inputs) {
      const InputRole role = role_of(input);
      if (role == InputRole::Capacity && input.is_scalar) bindings.set(input.symbol, capacity);
      if (!encode &&
          (role == InputRole::Ids || role == InputRole::DecoderIds || role == InputRole::Mask)) {
        const int64_t shape[] = {rows, chunk};
        bind_shape(program, input.shape, shape, bindings);
      }
      if (role == InputRole::LogitRows) bind_shape(program, input.shape, &rows, bindings);
      if (role == InputRole::MaskStore) {
        const int64_t shape[] = {rows, capacity};
        bind_shape(program, input.shape, shape, bindings);
      }
    }
    for (const State& state : program.states) {
      if (state.token_axis < 0) continue;
      const IntExpr& e = program.ints[state.shape[static_cast<size_t>(state.token_axis)]];
      if (e.kind == IntExpr::Kind::Sym) bindings.set(e.sym, capacity);
    }
    Executor trial(bound_->bound(), p, *pool_, arena_);
    AXON_TRY(const int64_t bytes, trial.measure(bindings));
    answer.arena = std::max(answer.arena, bytes);
    if (!program.phases[p].masked) answer.tables += Executor::table_bytes(program.phases[p]);
    if (sizes.values.empty() || (!encode && program.phases[p].name == "start")) sizes = bindings;
  }
  AXON_TRY(const StateSet states, StateSet::plan(program, sizes, options_.store));
  answer.states = states.bytes();
  return answer;
}

namespace {

constexpr int64_t kChecked = int64_t{1} << 28;  // bytes up to which calls are not checked

// The inputs of one call as views over memory of their own.
struct CallInputs {
  std::vector<View> views;
  std::vector<std::string> bytes;
  Bindings bindings;
};

// Converts element by element, into a larger zeroed shape where `shape` is one.
std::string converted(const NamedTensor& t, DType dtype, const std::vector<int64_t>& shape) {
  const Storage from = plain_storage(t.dtype), to = plain_storage(dtype);
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::string out(static_cast<size_t>(count) * dtype_size(dtype), '\0');
  const int64_t width = t.shape.empty() ? 1 : t.shape.back();
  const int64_t wide = shape.empty() ? 1 : shape.back();
  const auto total = static_cast<int64_t>(t.bytes.size() / dtype_size(t.dtype));
  for (int64_t i = 0; i < total; ++i) {
    const auto* at = reinterpret_cast<const uint8_t*>(t.bytes.data()) +
                     static_cast<size_t>(i) * dtype_size(t.dtype);
    auto* target = reinterpret_cast<uint8_t*>(out.data()) +
                   static_cast<size_t>(i / width * wide + i % width) * dtype_size(dtype);
    if (is_float(t.dtype)) {
      store_float(to, target, load_float(from, at));
    } else {
      store_int(to, target, load_int(from, at));
    }
  }
  return out;
}

bool is_for(const NamedTensor& t, std::string_view name) {
  const std::string_view main = main_name(name);
  return t.name == name || t.name == main || (is_mask_name(main) && is_mask_name(t.name));
}

const NamedTensor* find_input(const std::vector<NamedTensor>& given, std::string_view name) {
  for (const NamedTensor& t : given) {
    if (is_for(t, name)) return &t;
  }
  return nullptr;
}

bool has_zero(const NamedTensor& t) {
  const size_t size = dtype_size(t.dtype);
  for (size_t i = 0; i + size <= t.bytes.size(); i += size) {
    if (load_int(plain_storage(t.dtype), reinterpret_cast<const uint8_t*>(t.bytes.data()) + i) ==
        0) {
      return true;
    }
  }
  return false;
}

// Whether a tensor says no more than which tokens are real.
bool only_marks(const NamedTensor& t) {
  const Storage storage = plain_storage(t.dtype);
  const size_t size = dtype_size(t.dtype);
  for (size_t i = 0; i + size <= t.bytes.size(); i += size) {
    const auto* at = reinterpret_cast<const uint8_t*>(t.bytes.data()) + i;
    const double value = is_float(t.dtype) ? static_cast<double>(load_float(storage, at))
                                           : static_cast<double>(load_int(storage, at));
    if (value != 0 && value != 1) return false;
  }
  return true;
}

Error rank_error(const Input& input, const NamedTensor& t) {
  return Error{"RUN-RANK", "input `" + input.name + "` has " + std::to_string(t.shape.size()) +
                               " axes, the program reads " + std::to_string(input.shape.size())};
}

// Positions that a mask store has room for: the capacity of the call where the phase has one, else
// the mask's own width.
Result<int64_t> store_width(const Phase& phase, const std::vector<NamedTensor>& given,
                            const NamedTensor& mask) {
  const bool asks = std::any_of(phase.inputs.begin(), phase.inputs.end(), [](const Input& input) {
    return role_of(input) == InputRole::Capacity;
  });
  const NamedTensor* capacity = asks ? find_input(given, "capacity") : nullptr;
  const int64_t width = mask.shape.empty() ? 0 : mask.shape.back();
  if (capacity == nullptr) return width;
  AXON_TRY(const int64_t asked, integer_of(*capacity));
  return std::max(asked, width);
}

Result<void> bind_scalar(const Input& input, const std::vector<NamedTensor>& given,
                         CallInputs& call) {
  const NamedTensor* t = find_input(given, input.name);
  const InputRole role = role_of(input);
  if (t == nullptr && role == InputRole::Capacity) {
    t = find_input(given, "input_ids");
    if (t != nullptr && !t->shape.empty()) {
      call.bindings.set(input.symbol, t->shape.back());
      return {};
    }
  }
  if (t == nullptr) return Error{"RUN-INPUT", "input `" + input.name + "` is missing"};
  if (role == InputRole::MaskLength && t->name != input.name) {
    call.bindings.set(input.symbol, t->shape.empty() ? 0 : t->shape.back());
  } else {
    AXON_TRY(const int64_t value, integer_of(*t));
    call.bindings.set(input.symbol, value);
  }
  return {};
}

std::string axis_text(size_t axis, const std::string& input) {
  return "axis " + std::to_string(axis) + " of input `" + input + "`";
}

// What bind_shape() met: the axis, its size, and the axis that gave the dimension another.
Error clash_error(const Program& program, const Phase& phase, size_t index,
                  const std::vector<int64_t>& actual, const Bindings& bindings) {
  const Input& input = phase.inputs[index];
  auto symbol_at = [&](const Input& of, size_t axis) {
    const IntExpr& e = program.ints[of.shape[axis]];
    return e.kind == IntExpr::Kind::Sym ? e.sym : SymId{};
  };
  for (size_t a = 0; a < input.shape.size(); ++a) {
    const SymId symbol = symbol_at(input, a);
    if (!symbol.valid() || !has_symbol(bindings, symbol)) continue;
    const int64_t bound = bindings.values[static_cast<size_t>(symbol.index)];
    if (bound == actual[a]) continue;
    std::string from;
    for (size_t i = 0; i <= index && from.empty(); ++i) {
      const Input& other = phase.inputs[i];
      for (size_t b = 0; b < other.shape.size() && from.empty(); ++b) {
        if (symbol_at(other, b) == symbol && (i < index || b < a))
          from = " (" + axis_text(b, other.name) + ")";
      }
    }
    const std::vector<DiagArg> args{axis_text(a, input.name), actual[a],
                                    "`" + program.symbols[symbol].name + "`",
                                    std::to_string(bound) + from};
    return Error{"RUN-SHAPE", format_message(diag_info(Diag::RunShape).format, args)};
  }
  AXON_UNREACHABLE("sizes that clash");
}

Result<void> bind_tensor(const Program& program, const Phase& phase, size_t index,
                         const std::vector<NamedTensor>& given, CallInputs& call) {
  const Input& input = phase.inputs[index];
  const NamedTensor* t = find_input(given, input.name);
  NamedTensor rows;
  if (t == nullptr && role_of(input) == InputRole::LogitRows) {  // all rows are wanted
    const NamedTensor* ids = find_input(given, "input_ids");
    if (ids != nullptr && ids->shape.size() == 2) {
      rows = {input.name, DType::I64, {ids->shape[0] * ids->shape[1]}, {}};
      for (int64_t r = 0; r < rows.shape[0]; ++r) {
        rows.bytes.append(reinterpret_cast<const char*>(&r), sizeof r);
      }
      t = &rows;
    }
  }
  if (t == nullptr) return Error{"RUN-INPUT", "input `" + input.name + "` is missing"};
  if (t->shape.size() != input.shape.size()) return rank_error(input, *t);
  std::vector<int64_t> shape = t->shape;
  if (role_of(input) == InputRole::MaskStore && t->name != input.name) {
    AXON_TRY(shape.back(), store_width(phase, given, *t));
  }
  if (!bind_shape(program, input.shape, shape.data(), call.bindings)) {
    return clash_error(program, phase, index, shape, call.bindings);
  }
  call.bytes[index] = converted(*t, input.dtype, shape);
  View& view = call.views[index];
  view.storage = plain_storage(input.dtype);
  view.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  set_contiguous(view);
  view.data = reinterpret_cast<const uint8_t*>(call.bytes[index].data());
  return {};
}

// Whether something given is an input of the fullest phase only, which takes all optional inputs.
bool takes_more(const Phase& plain, const Phase& masked, const std::vector<NamedTensor>& given) {
  auto takes = [](const Phase& phase, std::string_view name) {
    return std::any_of(phase.inputs.begin(), phase.inputs.end(),
                       [&](const Input& input) { return main_name(input.name) == name; });
  };
  return std::any_of(given.begin(), given.end(), [&](const NamedTensor& t) {
    const std::string_view name = main_name(t.name);
    return !is_mask_name(name) && takes(masked, name) && !takes(plain, name);
  });
}

// The last masked phase of a name: plans list the one that takes every optional input after the
// others.
int fullest_phase(const Program& program, std::string_view name) {
  for (size_t i = program.phases.size(); i > 0; --i) {
    const Phase& phase = program.phases[i - 1];
    if (phase.name == name && phase.masked) return static_cast<int>(i - 1);
  }
  return -1;
}

// Of the unmasked phases of a name, which differ in the optional inputs that they take, the one
// that takes most of what is given and nothing else; -1: none has all it takes.
int fitting_phase(const Program& program, std::string_view name,
                  const std::vector<NamedTensor>& given) {
  int best = -1;
  size_t most = 0;
  for (size_t i = 0; i < program.phases.size(); ++i) {
    const Phase& phase = program.phases[i];
    if (phase.name != name || phase.masked) continue;
    bool has_all = std::all_of(phase.inputs.begin(), phase.inputs.end(), [&](const Input& input) {
      return find_input(given, input.name) != nullptr;
    });
    if (!has_all || (best >= 0 && phase.inputs.size() <= most)) continue;
    best = static_cast<int>(i);
    most = phase.inputs.size();
  }
  return best;
}

// A mask without padding, of the ids' shape.
void add_full_mask(std::vector<NamedTensor>& given) {
  const NamedTensor* ids = find_input(given, "input_ids");
  if (ids == nullptr || ids->shape.size() != 2) return;
  given.push_back({"attn_mask", DType::Bool, ids->shape,
                   std::string(static_cast<size_t>(ids->shape[0] * ids->shape[1]), '\1')});
}

NamedTensor read_output(const std::string& name, const View& view) {
  NamedTensor t;
  t.name = name;
  t.dtype = storage_info(view.storage).dtype;
  t.shape.assign(view.shape, view.shape + view.rank);
  const int64_t size = storage_info(view.storage).block_bytes;
  t.bytes.reserve(static_cast<size_t>(view.count() * size));
  for (int64_t n = 0; n < view.count(); ++n) {
    int64_t rest = n, offset = 0;
    for (int a = view.rank - 1; a >= 0; --a) {
      offset += rest % view.shape[a] * view.stride[a];
      rest /= view.shape[a];
    }
    t.bytes.append(reinterpret_cast<const char*>(view.data + offset * size),
                   static_cast<size_t>(size));
  }
  return t;
}

}  // namespace

// A mask that is given is what the program sees, zeros in it or not: it may tell one of ones from
// null. Only a program that takes none has no use for one of ones.
int Model::choose_phase(std::string_view name, const std::vector<NamedTensor>& inputs) const {
  const NamedTensor* mask = find_input(inputs, "attn_mask");
  const int plain = phase_index(name, false), masked = phase_index(name, true);
  const int least = plain >= 0 ? plain : masked, full = fullest_phase(program(), name);
  const bool more = least >= 0 && full >= 0 &&
                    takes_more(program().phases[static_cast<size_t>(least)],
                               program().phases[static_cast<size_t>(full)], inputs);
  if (more) return full;
  if (mask != nullptr && (masked >= 0 || has_zero(*mask))) return masked;
  const int fitting = fitting_phase(program(), name, inputs);
  return fitting >= 0 ? fitting : least;
}

namespace {

// Whether an input of a phase can hold all that a tensor says.
bool holds(const Input& input, const NamedTensor& t) {
  if (input.is_scalar || input.dtype == t.dtype) return true;
  if (input.dtype == DType::Bool) return only_marks(t);
  return input.dtype == DType::I64 && (t.dtype == DType::I32 || t.dtype == DType::Bool);
}

}  // namespace

bool Model::takes_exactly(std::string_view phase_name,
                          const std::vector<NamedTensor>& inputs) const {
  if (general_ != nullptr) return true;  // looks at what is given when it is
  const int index = choose_phase(phase_name, inputs);
  if (index < 0) return false;
  const Phase& phase = program().phases[static_cast<size_t>(index)];
  const bool taken = std::all_of(inputs.begin(), inputs.end(), [&](const NamedTensor& t) {
    return std::any_of(phase.inputs.begin(), phase.inputs.end(), [&](const Input& input) {
      return is_for(t, input.name) && holds(input, t);
    });
  });
  const bool given = std::all_of(phase.inputs.begin(), phase.inputs.end(), [&](const Input& in) {
    const InputRole role = role_of(in);
    return role == InputRole::LogitRows || role == InputRole::Capacity ||
           find_input(inputs, in.name) != nullptr;
  });
  return taken && given;
}

Result<std::vector<NamedTensor>> Model::forward(std::string_view phase_name,
                                                const std::vector<NamedTensor>& inputs,
                                                const CancelFlag* cancel,
                                                std::vector<NamedText>* rest) {
  if (general_ != nullptr) return general_->forward(phase_name, inputs, cancel, rest);
  const NamedTensor* mask = find_input(inputs, "attn_mask");
  const bool padded = mask != nullptr && has_zero(*mask);
  const int index = choose_phase(phase_name, inputs);
  if (index < 0) {
    return Error{"RUN-INPUT", "the program has no phase `" + std::string(phase_name) + "`" +
                                  (padded ? " for padded input" : "")};
  }
  const Phase& phase = program().phases[static_cast<size_t>(index)];
  std::vector<NamedTensor> given = inputs;
  if (phase.masked && mask == nullptr) add_full_mask(given);
  CallInputs call;
  call.views.resize(phase.inputs.size());
  call.bytes.resize(phase.inputs.size());
  for (size_t i = 0; i < phase.inputs.size(); ++i) {
    const Input& input = phase.inputs[i];
    if (input.is_scalar) {
      AXON_TRY_VOID(bind_scalar(input, given, call));
    } else {
      AXON_TRY_VOID(bind_tensor(program(), phase, i, given, call));
    }
  }
  for (const StateScalar& scalar : program().scalars) {
    if (!has_symbol(call.bindings, scalar.symbol)) call.bindings.set(scalar.symbol, scalar.initial);
  }
  // A phase may write states (start does): they live for this call only.
  bool stateful = std::any_of(phase.values.begin(), phase.values.end(),
                              [](const Value& v) { return v.place_kind() == PlaceKind::State; });
  Result<StateSet> states = stateful ? StateSet::plan(program(), call.bindings, options_.store)
                                     : Result<StateSet>(StateSet{});
  if (!states) return states.error();
  AXON_TRY(const int64_t working, executor(index).measure(call.bindings));
  MemoryAnswer needs;
  needs.arena = working;
  needs.states = stateful ? states->bytes() : 0;
  if (options_.check_memory && needs.total() > kChecked)
    AXON_TRY_VOID(check_fits(needs, available_memory()));
  if (stateful) AXON_TRY_VOID(states->allocate());
  AXON_TRY(const RunStatus status, run(index, call.bindings, call.views.data(),
                                       stateful ? states->views() : nullptr, cancel));
  if (status == RunStatus::Cancelled) return Error{"RUN-INTERRUPTED", "interrupted"};
  std::vector<NamedTensor> outputs;
  for (size_t o = 0; o < phase.outputs.size(); ++o) {
    outputs.push_back(read_output(phase.outputs[o].name, executor(index).output(o)));
  }
  return outputs;
}

}  // namespace axon::runtime
