// Sessions of programs on general instructions: the history is kept, and the cache as the program
// made it where that goes on from the history.
#include <algorithm>
#include <utility>

#include "runtime/gen/session.h"

namespace axon::runtime {
namespace {

bool is_cache_input(std::string_view name) { return name == "past_kv" || name == "past_cache"; }

View view_of(DType dtype, std::initializer_list<int64_t> shape, const void* data) {
  View view;
  view.storage = plain_storage(dtype);
  view.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  set_contiguous(view);
  view.data = static_cast<const uint8_t*>(data);
  return view;
}

}  // namespace

void Session::forget_cache() {
  cache_ = Datum();
  cache_length_ = 0;
}

Result<void> Session::find_general() {
  const Program& program = model_->program();
  const Routine& main = model_->general()->main();
  bool takes_cache = false;
  for (const RoutineInput& in : main.inputs) {
    takes_cache = takes_cache || is_cache_input(in.name);
    const bool known = in.name == "input_ids" || is_mask_name(in.name) || in.name == "capacity" ||
                       in.name == "use_cache" || is_cache_input(in.name);
    if (known || in.optional || in.has_default) continue;
    return Error{"RUN-INPUT", "generation has nothing to give for input `" + in.name + "`"};
  }
  for (size_t o = 0; o < main.outputs.size(); ++o) {
    if (main.outputs[o].name == "logits") logits_output_ = static_cast<int>(o);
    if (takes_cache && is_cache_name(main.outputs[o].name)) cache_output_ = static_cast<int>(o);
  }
  if (logits_output_ < 0)
    return Error{"RUN-INPUT", "the program has no output `logits` to choose tokens by"};
  const PatternId type = main.outputs[static_cast<size_t>(logits_output_)].pattern;
  const Pattern* pattern = type.valid() ? &program.patterns[type] : nullptr;
  const bool sized = pattern != nullptr && !pattern->axes.empty() && pattern->axes.back().valid() &&
                     program.ints[pattern->axes.back()].kind == IntExpr::Kind::Const;
  // Else the first call tells.
  if (sized) vocabulary_ = program.ints[pattern->axes.back()].value;
  return {};
}

// For a call on positions [from, total) of the history in `ids_`.
Result<std::vector<Datum>> Session::general_inputs(int64_t from, int64_t total,
                                                   std::vector<int64_t>& ids,
                                                   std::vector<uint8_t>& mask) {
  const int64_t rows = options_.rows, count = total - from, capacity = options_.capacity;
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = ids_.begin() + row * total;
    ids.insert(ids.end(), begin + from, begin + total);
  }
  std::vector<Datum> out;
  bool takes_mask = false;
  for (const RoutineInput& in : model_->general()->main().inputs) {
    const Pattern* type = in.pattern.valid() ? &model_->program().patterns[in.pattern] : nullptr;
    Datum value;
    if (in.name == "input_ids") {
      value = GeneralModel::borrowed(view_of(DType::I64, {rows, count}, ids.data()));
    } else if (in.name == "capacity") {
      value = Datum::of(capacity);
    } else if (in.name == "use_cache") {
      value = Datum::of(cache_output_ >= 0);
    } else if (is_cache_input(in.name) && from > 0) {
      value = std::move(cache_);
    } else if (is_mask_name(in.name)) {
      takes_mask = true;
      if (masked_ || !in.optional) {
        const bool store = type != nullptr && type->kind == Pattern::Kind::Tuple;
        const int64_t width = store ? capacity : total;
        mask.resize(static_cast<size_t>(rows * width));
        for (int64_t n = 0; n < rows * width; ++n)
          mask[static_cast<size_t>(n)] =
              mask_[static_cast<size_t>(n / width * capacity + n % width)];
        value = GeneralModel::borrowed(view_of(DType::Bool, {rows, width}, mask.data()));
        if (store) value = Datum::tuple({std::move(value), Datum::of(total)});
      }
    }
    out.push_back(std::move(value));
  }
  if (masked_ && !takes_mask) return Error{"RUN-INPUT", "the program does not take padded input"};
  return out;
}

// Brings the session from `known` to `total` positions.
Result<RunStatus> Session::run_general(const std::vector<int64_t>& history,
                                       const std::vector<uint8_t>& marks, int64_t known,
                                       int64_t total, EachChunk* each, const CancelFlag* cancel) {
  const int64_t from = cache_.kind != Datum::Kind::Unset && cache_length_ == known ? known : 0;
  const int64_t count = total - from;
  length_ = 0;
  mark(total, marks.data(), total);
  length_ = known;
  const std::vector<int64_t> before = ids_;
  std::copy(history.begin(), history.end(), ids_.begin());
  std::vector<int64_t> ids;
  std::vector<uint8_t> mask;
  auto back = [&] { ids_ = before; };
  auto inputs = general_inputs(from, total, ids, mask);
  if (!inputs) {
    back();
    return inputs.error();
  }
  forget_cache();  // its contents may be used up
  auto results = model_->general()->call(std::move(*inputs), cancel);
  if (!results || !*results) {
    back();
    if (!results) return results.error();
    return RunStatus::Cancelled;
  }
  const Datum& logits = (**results)[static_cast<size_t>(logits_output_)];
  const bool fits = logits.is_tensor() && logits.tensor->view.rank == 3 &&
                    logits.tensor->view.shape[0] == options_.rows &&
                    logits.tensor->view.shape[1] == count &&
                    (vocabulary_ == 0 || logits.tensor->view.shape[2] == vocabulary_);
  if (!fits) {
    back();
    return Error{"RUN-SHAPE", "`logits` is " + show(logits) + ", needs rows, tokens, vocabulary"};
  }
  View view = logits.tensor->view;
  vocabulary_ = view.shape[2];
  logits_.resize(static_cast<size_t>(options_.rows * vocabulary_));
  keep_logits(view, false, count, marks.data() + from, total);
  if (each != nullptr) {
    const int64_t skipped = known - from;
    view.data += skipped * view.stride[1] * storage_info(view.storage).block_bytes;
    view.shape[1] -= skipped;
    (*each)(0, total - known, view);
  }
  if (cache_output_ >= 0) {
    cache_ = (**results)[static_cast<size_t>(cache_output_)];
    if (cache_.is_null()) forget_cache();
    cache_length_ = total;
  }
  length_ = total;
  tokens_run_ += static_cast<uint64_t>(options_.rows * count);
  return RunStatus::Done;
}

}  // namespace axon::runtime
