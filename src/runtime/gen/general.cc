// From named tensors to register values and back.
#include "runtime/gen/general.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/core/number.h"
#include "runtime/gen/model.h"
#include "runtime/gen/roles.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

const NamedTensor* find(const std::vector<NamedTensor>& given, std::string_view name) {
  for (const NamedTensor& t : given) {
    if (t.name == name || (is_mask_name(name) && is_mask_name(t.name))) return &t;
  }
  return nullptr;
}

bool has_leaves(const std::vector<NamedTensor>& given, const std::string& name) {
  return std::any_of(given.begin(), given.end(), [&](const NamedTensor& t) {
    return t.name == name || starts_with(t.name, name + ".");
  });
}

int64_t count_of(const NamedTensor& t) {
  int64_t count = 1;
  for (int64_t extent : t.shape) count *= extent;
  return count;
}

const uint8_t* data_of(const NamedTensor& t) {
  return reinterpret_cast<const uint8_t*>(t.bytes.data());
}

View view_of(const NamedTensor& t) {
  View view;
  view.storage = plain_storage(t.dtype);
  view.rank = static_cast<int8_t>(t.shape.size());
  std::copy(t.shape.begin(), t.shape.end(), view.shape);
  set_contiguous(view);
  view.data = data_of(t);
  return view;
}

NamedTensor scalar(std::string name, DType dtype, double number, int64_t integer) {
  NamedTensor t{std::move(name), dtype, {}, std::string(dtype_size(dtype), '\0')};
  auto* at = reinterpret_cast<uint8_t*>(t.bytes.data());
  if (is_float(dtype))
    store_float(plain_storage(dtype), at, static_cast<float>(number));
  else
    store_int(plain_storage(dtype), at, integer);
  return t;
}

NamedTensor tensor(std::string name, const Tensor& value) {
  NamedTensor t{std::move(name), value.dtype(), value.shape(), {}};
  const auto size = static_cast<size_t>(storage_info(value.view.storage).block_bytes);
  const int64_t count = value.count();
  t.bytes.resize(static_cast<size_t>(count) * size);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(t.bytes.data() + static_cast<size_t>(i) * size, value.view.data + value.offset(i),
                size);
  return t;
}

void add_leaves(const std::string& name, const Datum& value, std::vector<NamedTensor>& out,
                std::vector<NamedText>* rest) {
  switch (value.kind) {
    case Datum::Kind::Tensor:
      out.push_back(tensor(name, *value.tensor));
      return;
    case Datum::Kind::Bool:
      out.push_back(scalar(name, DType::Bool, 0, value.truth));
      return;
    case Datum::Kind::Int:
      out.push_back(scalar(name, DType::I64, 0, value.integer));
      return;
    case Datum::Kind::Float:
      out.push_back(scalar(name, DType::F32, value.number, 0));
      return;
    case Datum::Kind::List:
    case Datum::Kind::Tuple:
      for (size_t i = 0; i < value.size(); ++i)
        add_leaves(name + "." + std::to_string(i), value[i], out, rest);
      if (value.size() == 0 && rest != nullptr) rest->push_back({name, "an empty list"});
      return;
    default:
      if (rest != nullptr) rest->push_back({name, show(value)});
      return;
  }
}

Error missing(const std::string& name) { return run_error(Diag::RunInput, {name, "is missing"}); }

}  // namespace

bool is_cache_name(std::string_view output) {
  return output == "new_kv" || output == "past_kv" || output == "cache";
}

Datum GeneralModel::borrowed(const View& view) {
  auto out = std::make_shared<Tensor>();
  out->view = view;
  return Datum::of(std::move(out));
}

Result<Datum> GeneralModel::leaf(const Pattern& pattern, const std::string& name,
                                 const NamedTensor& tensor) {
  const Storage storage = plain_storage(tensor.dtype);
  const bool one = tensor.shape.empty();
  switch (pattern.kind) {
    case Pattern::Kind::Int:
    case Pattern::Kind::Bool:
    case Pattern::Kind::Float:
      if (count_of(tensor) != 1)
        return run_error(Diag::RunInput, {name, "has several elements, needs one"});
      if (pattern.kind == Pattern::Kind::Float)
        return Datum::of(static_cast<double>(load_float(storage, data_of(tensor))));
      if (pattern.kind == Pattern::Kind::Bool) {
        AXON_TRY(const bool truth, truth_of(tensor));
        return Datum::of(truth);
      } else {
        AXON_TRY(const int64_t integer, integer_of(tensor));
        return Datum::of(integer);
      }
    case Pattern::Kind::Any:
      if (one && !is_float(tensor.dtype)) return Datum::of(load_int(storage, data_of(tensor)));
      break;
    case Pattern::Kind::Tensor:
      break;
    default:
      return run_error(Diag::RunInput, {name, "has a type that no tensor can give"});
  }
  if (tensor.shape.size() > static_cast<size_t>(kMaxRank))
    return run_error(Diag::RunRank, {name, tensor.shape.size(), size_t{kMaxRank}});
  return borrowed(view_of(tensor));
}

// A plain mask where the program takes a store and a length.
Result<Datum> GeneralModel::mask(const Pattern& pattern, const NamedTensor& tensor,
                                 const std::vector<NamedTensor>& given) {
  const int64_t width = tensor.shape.empty() ? 0 : tensor.shape.back();
  const NamedTensor* capacity = find(given, "capacity");
  int64_t room = width;
  if (capacity != nullptr) {
    AXON_TRY(const int64_t asked, integer_of(*capacity));
    room = std::max(width, asked);
  }
  AXON_TRY(Datum plain, leaf(pattern.items[0], tensor.name, tensor));
  if (room > width) {
    Shape shape = tensor.shape;
    shape.back() = room;
    Eager& eager = machine_.eager();
    AXON_TRY(TensorPtr store, eager.filled(tensor.dtype, shape, Datum::of(int64_t{0})));
    AXON_TRY_VOID(eager.run(Operation::Copy, {plain.tensor},
                            {Eager::sliced(store, shape.size() - 1, 0, width)}, {}));
    plain = Datum::of(std::move(store));
  }
  return Datum::tuple({std::move(plain), Datum::of(width)});
}

Result<Datum> GeneralModel::input(const Pattern& pattern, const std::string& name, bool required,
                                  const std::vector<NamedTensor>& given) {
  const NamedTensor* exact = find(given, name);
  const bool tuple = pattern.kind == Pattern::Kind::Tuple;
  if (exact != nullptr && tuple && is_mask_name(name) && pattern.items.size() == 2)
    return mask(pattern, *exact, given);
  if (exact != nullptr) return leaf(pattern, name, *exact);
  const bool list = pattern.kind == Pattern::Kind::List;
  if ((!tuple && !list) || !(has_leaves(given, name) || required)) {
    if (required) return missing(name);
    return Datum();
  }
  std::vector<Datum> items;
  for (size_t i = 0; list || i < pattern.items.size(); ++i) {
    const std::string inner = name + "." + std::to_string(i);
    if (list && !has_leaves(given, inner)) break;
    const Pattern& item = pattern.items[list ? 0 : i];
    AXON_TRY(Datum value, input(item, inner, !item.optional, given));
    if (value.kind == Datum::Kind::Unset) value = Datum::null();
    items.push_back(std::move(value));
  }
  return list ? Datum::list(std::move(items)) : Datum::tuple(std::move(items));
}

Result<std::vector<NamedTensor>> GeneralModel::forward(std::string_view phase,
                                                       const std::vector<NamedTensor>& inputs,
                                                       const CancelFlag* cancel,
                                                       std::vector<NamedText>* rest) {
  std::vector<Datum> data;
  const NamedTensor* ids = find(inputs, "input_ids");
  const Pattern any;
  auto is_cache_input = [](const RoutineInput& in) {
    return in.name == "past_kv" || in.name == "past_cache";
  };
  const bool cached = std::any_of(main().inputs.begin(), main().inputs.end(), is_cache_input);
  // Who gives a part of the caching by hand gets its results.
  const bool by_hand =
      std::any_of(main().inputs.begin(), main().inputs.end(), [&](const RoutineInput& in) {
        return (is_cache_input(in) || in.name == "use_cache") && has_leaves(inputs, in.name);
      });
  for (const RoutineInput& in : main().inputs) {
    const Pattern& pattern = in.pattern.valid() ? program_->patterns[in.pattern] : any;
    const bool given = has_leaves(inputs, in.name) || find(inputs, in.name) != nullptr;
    const bool nullable = in.optional || pattern.optional || in.has_default;
    if (!given && cached && in.name == "use_cache") {
      data.push_back(Datum::of(phase != "score"));
    } else if (!given && in.name == "capacity" && ids != nullptr && !ids->shape.empty()) {
      data.push_back(Datum::of(ids->shape.back()));
    } else {
      AXON_TRY(Datum value, input(pattern, in.name, !nullable, inputs));
      data.push_back(std::move(value));
    }
  }
  AXON_TRY(auto results, call(std::move(data), cancel));
  if (!results) return run_error(Diag::RunInterrupted);
  std::vector<NamedTensor> out;
  for (size_t i = 0; i < results->size(); ++i) {
    const std::string& name = main().outputs[i].name;
    if (!cached || by_hand || !is_cache_name(name)) add_leaves(name, (*results)[i], out, rest);
  }
  return out;
}

}  // namespace axon::runtime
