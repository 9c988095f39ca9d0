// Reads of the configuration that earlier stages left in a structured Graph: those with known keys
// are answered here.
#include <algorithm>
#include <utility>

#include "graph/builder.h"
#include "graph/evaluate.h"
#include "ops/signature.h"
#include "plan/general.h"
#include "support/text.h"

namespace axon::plan {

using graph::EvalValue;

namespace {

bool reads_config(Op op) { return starts_with(axon::spelling(op), "config_"); }

// Whether the module only passes on what it is given to reads of the configuration.
bool is_about_config(const graph::Graph& graph, graph::ModuleId id) {
  const graph::Module& module = graph[id];
  bool reads = false, calls = true;
  auto about = [&](Op op, graph::ModuleId callee) {
    reads |= reads_config(op);
    if (op == Op::CoreCall) {
      const bool same = is_about_config(graph, callee);
      reads |= same;
      return same;
    }
    return reads_config(op) || op == Op::CoreAscribe || op == Op::CoreAlias || op == Op::CoreSelect;
  };
  // Storage may hold nodes that passes took out, with callees of before.
  for (graph::NodeId node : module.order)
    calls = calls && about(module.nodes[node].op, module.nodes[node].callee);
  for (const graph::NestedExpr& e : module.nested) calls = calls && about(e.op, e.callee);
  return calls && reads && module.outputs.size() == 1;
}

}  // namespace

bool General::about_config(graph::ModuleId id) {
  auto [known, fresh] = about_config_.try_emplace(id, false);
  if (fresh) known->second = is_about_config(graph_, id);
  return known->second;
}

// What an operand is before anything runs.
std::optional<EvalValue> General::known(const graph::Operand& operand) {
  using graph::OperandKind;
  switch (operand.kind()) {
    case OperandKind::Null:
      return EvalValue::null();
    case OperandKind::Bool:
      return EvalValue::of(operand.as<graph::LitBool>().value);
    case OperandKind::Int:
      return EvalValue::of(operand.as<graph::LitInt>().value);
    case OperandKind::Float:
      return EvalValue::of(operand.as<graph::LitFloat>().value);
    case OperandKind::String:
      return EvalValue::of(std::string(context_.names.text(operand.as<graph::LitString>().value)));
    case OperandKind::Path: {
      const auto& path = operand.as<graph::Path>();
      std::string text;
      for (const graph::PathPiece& piece : path.pieces) {
        if (piece.placeholder) return std::nullopt;
        if (!text.empty() && !piece.joined) text += '.';
        text += context_.names.text(piece.text);
      }
      return EvalValue::path(std::move(text), path.absolute);
    }
    case OperandKind::Global: {
      const graph::ModuleId id = operand.as<graph::GlobalRef>().module;
      return about_config(id) ? asked(id, {}) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// Nothing where it has no answer, which is an error when it is asked for.
std::optional<EvalValue> General::asked(graph::ModuleId id, std::vector<EvalValue> inputs) {
  graph::EvalOptions options;
  options.config = config_;
  auto found = graph::evaluate_module(graph_, id, context_.types, std::move(inputs), options);
  if (!found || found->size() != 1) return std::nullopt;
  return std::move((*found)[0]);
}

// The call of a module about the configuration, or such a global, by what it comes to.
bool General::answer(graph::ModuleId id, const std::vector<graph::Operand>& operands,
                     Register out) {
  if (!config_ || !about_config(id)) return false;
  std::vector<EvalValue> inputs;
  for (const graph::Operand& operand : operands) {
    std::optional<EvalValue> value = known(operand);
    if (!value) return false;
    inputs.push_back(std::move(*value));
  }
  std::optional<EvalValue> value = asked(id, std::move(inputs));
  return value && write(*value, out);
}

// A read by itself, of a known key.
bool General::answer_read(Op op, const std::vector<graph::Operand>& inputs,
                          const std::vector<graph::Attr>& attrs, Register out) {
  if (!config_) return false;
  const OpSignature& signature = op_signature(op);
  std::vector<EvalValue> values(signature.params.size());
  auto put = [&](size_t i, const graph::Operand& operand) {
    std::optional<EvalValue> value = known(operand);
    if (value) values[i] = std::move(*value);
    return value.has_value();
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!put(i, inputs[i])) return false;
  }
  for (const graph::Attr& attr : attrs) {
    for (size_t i = 0; i < values.size(); ++i) {
      bool same = signature.params[i].name == context_.names.text(attr.name);
      if (same && !put(i, attr.value)) return false;
    }
  }
  graph::EvalOptions options;
  options.config = config_;
  auto value = graph::evaluate_op(op, std::move(values), options);
  return value && write(*value, out);
}

bool General::write(const EvalValue& value, Register out) {
  const TypeTable& types = context_.types;
  using Kind = EvalValue::Kind;
  switch (value.kind) {
    case Kind::Null:
      return operand_into(graph::lit_null(types), out);
    case Kind::Bool:
      return operand_into(graph::lit_bool(value.boolean, types), out);
    case Kind::Int:
      return operand_into(graph::lit_int(value.integer, types), out);
    case Kind::Float:
      return operand_into(graph::lit_float(value.number, types), out);
    case Kind::String:
      return operand_into(graph::lit_string(context_.names.intern(value.text), types), out);
    case Kind::List: {
      runtime::GeneralInstr list;
      list.op = Op::CoreList;
      list.code = runtime::GeneralCode::List;
      list.outputs = {out};
      for (const EvalValue& item : value.items) {
        list.inputs.push_back(temporary());
        if (!write(item, list.inputs.back())) return false;
      }
      emit(std::move(list));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace axon::plan
