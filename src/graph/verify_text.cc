// What a Graph that is read from text must not have, beside the contracts of every Graph.
#include <unordered_map>
#include <unordered_set>

#include "graph/builder.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/signature.h"

namespace axon::graph {
namespace {

class TextVerifier {
 public:
  TextVerifier(const Graph& graph, const Module& module, const TypeTable& types,
               std::vector<Fault>& out)
      : graph_(graph), m_(module), types_(types), dims_(types.dims()), out_(out) {}

  void run() {
    collect();
    for (const Value& v : m_.values) names(v.type);
    for (const NestedExpr& e : m_.nested) application(e, e.span);
    for (NodeId id : m_.order) node(m_.nodes[id]);
    for (const InputDefault& d : m_.defaults) operand(d.value, m_.span);
    for (const Constraint& c : m_.constraints) {
      fact(c.fact, c.span);
      for (const Fact& guard : c.guards) fact(guard, c.span);
    }
    for (const Operand& o : m_.outputs) operand(o, m_.span);
    result();
  }

 private:
  std::string text(NameId name) const {
    return name.valid() ? "`" + std::string(dims_.names().text(name)) + "`" : "`_`";
  }
  void fault(const std::string& message, Span span) {
    out_.push_back({"module " + text(m_.name) + ": " + message, span});
  }

  // Names of sizes that inputs and operations bring.
  void collect() {
    auto bring = [&](SymbolId symbol) { brought_.insert(symbol); };
    for (ValueId input : m_.inputs) each_symbol(m_.values[input].type, bring);
    for (NodeId id : m_.order) {
      const Node& n = m_.nodes[id];
      if (n.op != Op::CoreAlias && n.op != Op::CoreRepeat) each_symbol(n.type, bring);
    }
  }

  template <class Visit>
  void each_symbol(TypeId type, const Visit& visit) const {
    if (!type.valid()) return;
    const TypeData& data = types_.get(type);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : dims_.symbols(axis.dim)) visit(symbol);
    }
    for (TypeId item : data.items) each_symbol(item, visit);
  }

  void names(TypeId type) {
    each_symbol(type, [&](SymbolId symbol) {
      const Symbol& s = dims_.symbol(symbol);
      if (s.kind != SymbolKind::Variable || s.value || !brought_.insert(symbol).second) return;
      fault("nothing binds " + text(s.name), m_.span);
    });
  }

  // A name that the result gives to several sizes says that they are one; nothing else need bind
  // it.
  void result() {
    std::unordered_map<SymbolId, int, IdHash> sizes;
    each_symbol(m_.return_type, [&](SymbolId symbol) { ++sizes[symbol]; });
    for (const auto& [symbol, count] : sizes) {
      if (count > 1) brought_.insert(symbol);
    }
    names(m_.return_type);
  }

  void node(const Node& n) {
    application(n, n.span);
    path(n.scope, n.span);
    if (n.op == Op::CoreAlias && n.inputs[0].type != n.type)
      fault("alias of " + types_.show(n.inputs[0].type) + " has type " + types_.show(n.type),
            n.span);
  }

  // Operands of primitives stand in their places, and every one does.
  template <class Use>
  void application(const Use& use, Span span) {
    names(use.type);
    for (const Operand& o : use.inputs) operand(o, span);
    for (const Attr& attr : use.attrs) operand(attr.value, span);
    const std::string op = "`" + std::string(spelling(use.op)) + "`";
    if (op_info(use.op).op_class == OpClass::Fused)
      return fault(op + " is of optimised graphs alone", span);
    if (op_info(use.op).op_class != OpClass::Primitive) return;
    if (!use.attrs.empty())
      return fault("operand " + text(use.attrs[0].name) + " of " + op + " is given by name", span);
    const std::vector<OpParam>& params = op_signature(use.op).params;
    if (use.inputs.size() < params.size())
      fault(
          "operand `" + std::string(params[use.inputs.size()].name) + "` of " + op + " is missing",
          span);
  }

  void operand(const Operand& o, Span span) {
    names(o.type);
    if (const Path* p = o.get<Path>()) path(*p, span);
  }

  void fact(const Fact& f, Span span) {
    for (const Operand* o : {&f.left, &f.right}) {
      if (const Path* p = o->get<Path>()) path(*p, span);
    }
  }

  void path(const Path& p, Span span) {
    if (!p.absolute) fault("path " + show_path(graph_, m_, p, types_) + " is relative", span);
  }

  const Graph& graph_;
  const Module& m_;
  const TypeTable& types_;
  const DimTable& dims_;
  std::vector<Fault>& out_;
  std::unordered_set<SymbolId, IdHash> brought_;
};

}  // namespace

std::vector<Fault> find_text_faults(const Graph& graph, const TypeTable& types) {
  std::vector<Fault> out;
  const std::vector<bool> reached = reached_modules(graph);
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    const Module& m = graph.modules[i];
    auto name = [&](const Module& module) {
      return "`" + std::string(types.dims().names().text(module.name)) + "`";
    };
    if (!reached[i])
      out.push_back({"module " + name(m) + ": the main module does not reach it", m.span});
    for_each_module(m, [&](ModuleId used) {
      if (static_cast<size_t>(used.index) <= i) return;
      out.push_back({"module " + name(m) + ": " + name(graph[used]) + " stands behind it", m.span});
    });
    TextVerifier(graph, m, types, out).run();
  }
  return out;
}

}  // namespace axon::graph
