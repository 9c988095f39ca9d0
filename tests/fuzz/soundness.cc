// Runs programs on random sizes.
#include "fuzz/soundness.h"

#include <algorithm>

#include "fuzz/all_ways.h"
#include "fuzz/inputs.h"
#include "fuzz/subject.h"
#include "support/text.h"

namespace axon::fuzz {
namespace {

using driver::Frontend;

// What may happen at run time to a program that checks: nothing about shapes.
bool is_allowed(const std::string& code) {
  if (code == "RUN-CONFIG" || code == "RUN-CONFIG-TYPE") return true;
  return code == "RUN-INDEX" || code == "RUN-DIM" || code == "RUN-NULL" || code == "RUN-DIV-ZERO" ||
         code == "RUN-OVERFLOW" || code == "RUN-DESTRUCTURE";
}

bool mentions_unknown(const TypeTable& types, TypeId type) {
  const TypeData& data = types.get(type);
  bool any = data.kind == TypeKind::Any || data.kind == TypeKind::Variable ||
             (data.kind == TypeKind::Tensor && !data.known_rank);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types.dims().symbols(axis.dim))
      any = any || types.dims().symbol(symbol).kind == SymbolKind::Unknown;
  }
  for (TypeId item : data.items) any = any || mentions_unknown(types, item);
  return any;
}

// An operation on sizes that no type knows may fail, as long as no type says otherwise: the error's
// place is "at `VALUE`, OP in `MODULE`".
bool at_unknown(const Frontend& f, const Error& error) {
  if (error.message.find("a result of type") != error.message.npos) return false;
  std::string_view hint = error.hint;
  size_t first = hint.find('`'), second = hint.find('`', first + 1);
  size_t third = hint.find('`', second + 1);
  if (third == hint.npos) return false;
  std::string_view value = hint.substr(first + 1, second - first - 1);
  std::string_view module = hint.substr(third + 1, hint.size() - third - 2);
  for (const graph::Module& m : f.graph->modules) {
    if (f.session->names.text(m.name) != module) continue;
    for (graph::NodeId id : m.order) {
      const graph::Node& n = m.nodes[id];
      if (n.outputs.empty() || f.session->names.text(m.values[n.outputs[0]].name) != value)
        continue;
      for (const graph::Operand& o : n.inputs) {
        if (o.type.valid() && mentions_unknown(f.session->types, o.type)) return true;
      }
    }
  }
  return false;
}

uint64_t seed_of(const std::string& text) {
  uint64_t hash = 1469598103934665603ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

NamedTensors read_params(const std::string& text, uint64_t state) {
  NamedTensors out;
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 4 || words[0] != "--" || words[1] != "param") continue;
    std::vector<int64_t> shape;
    for (std::string_view extent : split(words[3], ',')) {
      shape.push_back(std::clamp<int64_t>(parse_int(extent).value_or(1), 1, 64));
    }
    out.emplace_back(words[2], random_tensor(DType::F32, std::move(shape), state));
  }
  return out;
}

// Lines `-- config KEY VALUE` are the configuration; with a line `-- late` the front end does not
// see it, and keys are read when the program is planned or runs.
model::ConfigValue read_config(const std::string& text) {
  model::ConfigValue out;
  out.kind = model::ConfigValue::Kind::Map;
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 4 || words[0] != "--" || words[1] != "config") continue;
    std::string_view value = words[3];
    model::ConfigValue made = model::ConfigValue::of(std::string(value));
    if (auto integer = parse_int(value))
      made = model::ConfigValue::of(*integer);
    else if (auto number = parse_double(value))
      made = model::ConfigValue::of(*number);
    if (value == "true" || value == "false") made = model::ConfigValue::of(value == "true");
    if (value == "null") made = model::ConfigValue::null();
    out.set(std::string(words[2]), std::move(made));
  }
  return out;
}

bool is_late(const std::string& text) {
  std::vector<std::string_view> lines = split(text, '\n');
  return std::find(lines.begin(), lines.end(), "-- late") != lines.end();
}

// Loops in loops may make sizes of sizes. An evaluation that makes this many elements ends there,
// for its operations get null from then on, and says nothing.
constexpr int64_t kMostElements = 100'000;

class Work : public graph::EvalObserver {
 public:
  void operands(Op, std::vector<graph::EvalValue>&) override {}
  void result(Op, graph::EvalValue& value) override {
    elements_ += 1 + (value.is_tensor() ? value.tensor->count() : 0);
    if (over()) value = graph::EvalValue::null();
  }
  bool over() const { return elements_ > kMostElements; }

 private:
  int64_t elements_ = 0;
};

constexpr int kTries = 120;       // for inputs that the entry lets pass
constexpr size_t kMostLarge = 4;  // of them, that come to too much
constexpr size_t kRuns = 12;      // evaluations, when some are found
constexpr size_t kCompared = 2;   // of them, all ways

// Evaluates with types checked. Adds to `given` some inputs that pass and one that does not.
std::string evaluate_all(const Frontend& f, const std::string& text, const NamedTensors& params,
                         const model::ConfigValue* config, Counts& counts,
                         std::vector<Given>& given) {
  Random random(seed_of(text));
  InputMaker maker(*f.graph, f.session->types, text, config, random);
  size_t runs = 0, large = 0;
  bool refused = false;
  for (int tries = 0; tries < kTries && (runs == 0 || tries < static_cast<int>(kRuns)); ++tries) {
    auto inputs = maker.make();
    if (!inputs) continue;
    graph::MemoryParams memory;
    for (const auto& [name, tensor] : params) memory.set(name, tensor);
    graph::EvalOptions options;
    options.check_types = true;
    options.params = &memory;
    options.config = config;
    Work work;
    options.observer = &work;
    auto out = graph::evaluate(*f.graph, f.session->types, *inputs, options);
    if (work.over() && ++large == kMostLarge) break;
    if (work.over()) continue;
    if (!out && out.error().hint.empty()) {
      if (!refused) given.push_back({*inputs, params, config, true});
      refused = true;
      continue;
    }
    if (runs++ < kCompared) given.push_back({*inputs, params, config});
    counts.failures += out ? 0 : 1;
    if (out || is_allowed(out.error().code) || at_unknown(f, out.error())) continue;
    std::string shown;
    for (const auto& [name, value] : *inputs) shown += name + " = " + graph::show(value) + "\n";
    return "unsound: " + out.error().code + " " + out.error().message + " " + out.error().hint +
           "\n" + shown;
  }
  counts.runs += runs;
  counts.satisfied += runs > 0 ? 1 : 0;
  return "";
}

}  // namespace

std::string try_text(const std::string& text, Counts& counts) {
  ++counts.programs;
  Subject subject = read_subject("program", text);
  subject.begin_run = counts.begin_run;
  NamedTensors params = read_params(text, seed_of(text));
  model::ParamIndex index(infos(params));
  subject.options.answers.params = &index;
  const model::ConfigValue config = read_config(text);
  if (!is_late(text)) subject.options.answers.config = &config;
  Frontend f = run_frontend(subject.options);
  if (std::string wrong = bug(f); !wrong.empty()) return "front end: " + wrong;
  if (!f.ok() || !f.graph) return "";
  ++counts.checked;
  if (std::string wrong = unstable(subject, f, false); !wrong.empty()) return wrong;
  std::vector<Given> given;
  counts.begin_run();
  std::string wrong = evaluate_all(f, text, params, &config, counts, given);
  if (!wrong.empty() || given.empty()) return wrong;
  // What types do not say of the inputs and a caller knows.
  graph::Module& main = (*f.graph)[f.graph->main];
  for (graph::ValueId input : main.inputs) {
    graph::Value& value = main.values[input];
    TypeKind kind = f.session->types.kind(f.session->types.strip_optional(value.type));
    if (kind == TypeKind::Tensor) value.dtype = dtype_of(text, f.session->names.text(value.name));
  }
  return try_all_ways(f, index, given, counts);
}

}  // namespace axon::fuzz
