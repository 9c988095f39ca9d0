// Runs generated programs on random sizes.
#include "fuzz/soundness.h"

#include <algorithm>
#include <map>

#include "fuzz/pipeline.h"
#include "fuzz/programs.h"
#include "graph/evaluate.h"

namespace axon::fuzz {
namespace {

using graph::EvalTensor, graph::EvalValue;
using Sizes = std::map<SymbolId, int64_t>;

// What may happen at run time to a program that checks: nothing about shapes.
bool is_allowed(const std::string& code) {
  return code == "RUN-INDEX" || code == "RUN-DIM" || code == "RUN-NULL" || code == "RUN-DIV-ZERO" ||
         code == "RUN-OVERFLOW" || code == "RUN-DESTRUCTURE";
}

bool mentions_unknown(const TypeTable& types, TypeId type) {
  const TypeData& data = types.get(type);
  bool any = data.kind == TypeKind::Any || (data.kind == TypeKind::Tensor && !data.known_rank);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types.dims().symbols(axis.dim))
      any = any || types.dims().symbol(symbol).kind == SymbolKind::Unknown;
  }
  for (TypeId item : data.items) any = any || mentions_unknown(types, item);
  return any;
}

void collect(const TypeTable& types, TypeId type, std::vector<SymbolId>& out) {
  const TypeData& data = types.get(type);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types.dims().symbols(axis.dim)) out.push_back(symbol);
  }
  for (TypeId item : data.items) collect(types, item, out);
}

class Runner {
 public:
  Runner(const Compiled& f, Random& random)
      : f_(f), types_(f.session->types), main_((*f.graph)[f.graph->main]), r_(random) {}

  std::string run(Counts& counts) {
    std::vector<SymbolId> symbols;
    for (graph::ValueId input : main_.inputs) collect(types_, main_.values[input].type, symbols);
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    bool satisfied = false;
    for (int tries = 0; tries < 120 && (!satisfied || tries < 12); ++tries) {
      Sizes sizes;
      int64_t common = 1 + static_cast<int64_t>(r_.below(4));
      for (SymbolId symbol : symbols) {
        bool alike = tries % 3 == 2;
        sizes[symbol] = alike ? common : 1 + static_cast<int64_t>(r_.below(4));
      }
      graph::NamedValues inputs;
      if (!make_inputs(sizes, inputs)) continue;
      graph::EvalOptions options;
      options.check_types = true;
      auto out = graph::evaluate(*f_.graph, types_, inputs, options);
      bool refused = !out && out.error().hint.empty();
      if (refused) continue;
      satisfied = true;
      ++counts.runs;
      if (out || is_allowed(out.error().code) || at_unknown(out.error())) continue;
      std::string shown;
      for (const auto& [name, value] : inputs) shown += name + " = " + graph::show(value) + "\n";
      return out.error().code + " " + out.error().message + " " + out.error().hint + "\n" + shown;
    }
    counts.satisfied += satisfied ? 1 : 0;
    return "";
  }

 private:
  // An operation on sizes that no type knows may fail, as long as no type says otherwise: the
  // error's place is "at `VALUE`, OP in `MODULE`".
  bool at_unknown(const Error& error) {
    if (error.message.find("a result of type") != error.message.npos) return false;
    std::string_view hint = error.hint;
    size_t first = hint.find('`'), second = hint.find('`', first + 1);
    size_t third = hint.find('`', second + 1);
    if (third == hint.npos) return false;
    std::string_view value = hint.substr(first + 1, second - first - 1);
    std::string_view module = hint.substr(third + 1, hint.size() - third - 2);
    for (const graph::Module& m : f_.graph->modules) {
      if (f_.session->names.text(m.name) != module) continue;
      for (graph::NodeId id : m.order) {
        const graph::Node& n = m.nodes[id];
        if (n.outputs.empty() || f_.session->names.text(m.values[n.outputs[0]].name) != value)
          continue;
        for (const graph::Operand& o : n.inputs) {
          if (o.type.valid() && mentions_unknown(types_, o.type)) return true;
        }
      }
    }
    return false;
  }

  bool make_inputs(const Sizes& sizes, graph::NamedValues& out) {
    for (graph::ValueId input : main_.inputs) {
      const graph::Value& value = main_.values[input];
      TypeId type = types_.strip_optional(value.type);
      std::string name(f_.session->names.text(value.name));
      if (value.optional && r_.chance(50)) continue;
      const TypeData& data = types_.get(type);
      if (data.kind == TypeKind::Bool) {
        out.emplace_back(name, EvalValue::of(r_.chance(50)));
      } else if (data.kind == TypeKind::Dim || data.kind == TypeKind::Int) {
        out.emplace_back(name, EvalValue::of(size_of(value.name, sizes)));
      } else if (data.kind == TypeKind::Tensor) {
        if (!tensor(data, sizes, name, out)) return false;
      } else {
        return false;
      }
    }
    return true;
  }

  // An integer input whose name is a dim is of that size.
  int64_t size_of(NameId name, const Sizes& sizes) {
    for (const auto& [symbol, size] : sizes) {
      const Symbol& s = types_.dims().symbol(symbol);
      if (s.kind == SymbolKind::Param && s.name == name) return size;
    }
    return 1 + static_cast<int64_t>(r_.below(4));
  }

  bool tensor(const TypeData& data, const Sizes& sizes, const std::string& name,
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
    EvalTensor made = EvalTensor::make(DType::F32, shape);
    for (int64_t i = 0; i < made.count(); ++i) made.set(i, static_cast<double>(r_.below(5)) - 2);
    out.emplace_back(name, EvalValue::of(std::move(made)));
    return true;
  }

  const Compiled& f_;
  TypeTable& types_;
  const graph::Module& main_;
  Random& r_;
};

}  // namespace

std::string try_text(const std::string& text, Random& random, Counts& counts) {
  ++counts.programs;
  Compiled f = compile(text);
  if (std::string bug = f.bug(); !bug.empty()) return bug;
  if (!f.graph) return "";
  ++counts.checked;
  return Runner(f, random).run(counts);
}

std::string try_program(Random& random, Counts& counts) {
  std::string text = make_program(random);
  std::string wrong = try_text(text, random, counts);
  return wrong.empty() ? "" : wrong + "\n" + text;
}

}  // namespace axon::fuzz
