// Random sizes and contents.
#include "fuzz/inputs.h"

#include <algorithm>

#include "graph/builder.h"
#include "graph/evaluate.h"
#include "support/text.h"

namespace axon::fuzz {
namespace {

using graph::EvalTensor, graph::EvalValue;

void collect(const TypeTable& types, TypeId type, std::vector<SymbolId>& out) {
  const TypeData& data = types.get(type);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types.dims().symbols(axis.dim)) out.push_back(symbol);
  }
  for (TypeId item : data.items) collect(types, item, out);
}

}  // namespace

DType dtype_of(const std::string& text, std::string_view input) {
  for (std::string_view line : split(text, '\n')) {
    if (!starts_with(line, "-- dtype ")) continue;
    std::vector<std::string_view> words = split(line, ' ');
    auto dtype = words.size() == 4 && words[2] == input ? parse_dtype(words[3]) : std::nullopt;
    if (dtype) return *dtype;
  }
  return DType::F32;
}

InputMaker::InputMaker(const graph::Graph& graph, const TypeTable& types, const std::string& text,
                       const model::ConfigValue* config, Random& random)
    : types_(types), text_(text), main_(graph[graph.main]), r_(random) {
  for (graph::ValueId input : main_.inputs) collect(types_, main_.values[input].type, symbols_);
  std::sort(symbols_.begin(), symbols_.end());
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
  // Constants have one size, which the configuration may say late.
  std::erase_if(symbols_, [&](SymbolId id) {
    const Symbol& s = types.dims().symbol(id);
    if (s.kind != SymbolKind::Rigid) return false;
    known_[id] = s.value.value_or(1);
    if (s.value) return true;
    late_.push_back(id);
    graph::ModuleId global = graph::find_module(graph, s.name);
    if (!global.valid() || !graph[global].inputs.empty()) return true;
    graph::EvalOptions options;
    options.config = config;
    auto value = graph::evaluate_module(graph, global, types, {}, options);
    if (value && (*value)[0].kind == EvalValue::Kind::Int) known_[id] = (*value)[0].integer;
    return true;
  });
}

std::optional<graph::NamedValues> InputMaker::make() {
  Sizes sizes = known_;
  if (r_.chance(15)) {  // to be refused
    for (SymbolId symbol : late_) sizes[symbol] = 1 + static_cast<int64_t>(r_.below(4));
  }
  int64_t common = 1 + static_cast<int64_t>(r_.below(4));
  bool alike = made_++ % 3 == 2;
  for (SymbolId symbol : symbols_)
    sizes[symbol] = alike ? common : 1 + static_cast<int64_t>(r_.below(4));
  graph::NamedValues out;
  for (graph::ValueId input : main_.inputs) {
    const graph::Value& value = main_.values[input];
    TypeId type = types_.strip_optional(value.type);
    std::string name(types_.dims().names().text(value.name));
    if (value.optional && r_.chance(50)) continue;
    const TypeData& data = types_.get(type);
    if (data.kind == TypeKind::Bool) {
      out.emplace_back(name, EvalValue::of(r_.chance(50)));
    } else if (data.kind == TypeKind::Dim || data.kind == TypeKind::Int) {
      out.emplace_back(name, EvalValue::of(size_of(value.name, sizes)));
    } else if (data.kind == TypeKind::Float) {
      out.emplace_back(name, EvalValue::of(0.25 * static_cast<double>(r_.below(9)) - 1.0));
    } else if (data.kind != TypeKind::Tensor || !tensor(data, sizes, name, out)) {
      return {};
    }
  }
  return out;
}

// An integer input whose name is a dim is of that size.
int64_t InputMaker::size_of(NameId name, const Sizes& sizes) {
  for (const auto& [symbol, size] : sizes) {
    const Symbol& s = types_.dims().symbol(symbol);
    if (s.kind == SymbolKind::Param && s.name == name) return size;
  }
  return 1 + static_cast<int64_t>(r_.below(4));
}

bool InputMaker::tensor(const TypeData& data, const Sizes& sizes, const std::string& name,
                        graph::NamedValues& out) {
  std::vector<int64_t> shape;
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) return false;
    auto size = types_.dims().evaluate(axis.dim, [&](SymbolId s) -> std::optional<int64_t> {
      auto found = sizes.find(s);
      if (found == sizes.end()) return {};
      return found->second;
    });
    if (!size || *size < 1 || *size > 64) return false;
    shape.push_back(*size);
  }
  EvalTensor made = EvalTensor::make(dtype_of(text_, name), shape);
  // Small whole numbers meet ties and exact sums, others rounding.
  bool whole = r_.chance(30);
  for (int64_t i = 0; i < made.count(); ++i) {
    if (!made.real()) {
      made.set_int(i, static_cast<int64_t>(r_.below(made.dtype == DType::Bool ? 2 : 3)));
    } else if (whole) {
      made.set(i, static_cast<double>(r_.below(5)) - 2);
    } else {
      made.set(i, static_cast<double>(r_.next() >> 11) * 0x1p-52 - 1);
    }
  }
  out.emplace_back(name, EvalValue::of(std::move(made)));
  return true;
}

}  // namespace axon::fuzz
