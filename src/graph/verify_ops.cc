// Contracts of single operations: number, names and types of operands and attributes.
#include "graph/verify_ops.h"

#include "ops/signature.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using Faults = std::vector<std::string>;

bool is_truth(TypeId type, const TypeTable& types) {
  if (!type.valid()) return true;
  switch (types.kind(types.strip_optional(type))) {
    case TypeKind::Bool:
    case TypeKind::Null:
    case TypeKind::Any:
    case TypeKind::Variable:
    case TypeKind::Tensor:
      return true;
    default:
      return false;
  }
}

void need_inputs(const Application& use, size_t count, Faults& out) {
  if (use.inputs.size() != count) {
    out.push_back("takes " + std::to_string(count) + " operands, found " +
                  std::to_string(use.inputs.size()));
  }
  if (!use.attrs.empty()) out.push_back("has attributes");
}

void check_items(const Application& use, const TypeTable& types, Compatibility how, Faults& out) {
  if (!use.attrs.empty()) out.push_back("has attributes");
  if (!use.type.valid()) return;
  const TypeData& data = types.get(types.strip_optional(use.type));
  bool list = use.op == Op::CoreList;
  if (data.kind == TypeKind::Any || data.kind == TypeKind::Variable) return;
  bool right = list ? data.kind == TypeKind::List || data.kind == TypeKind::Tuple
                    : data.kind == TypeKind::Tuple;
  if (!right || (data.kind == TypeKind::Tuple && data.items.size() != use.inputs.size())) {
    out.push_back("makes " + types.show(use.type) + " of " + std::to_string(use.inputs.size()) +
                  " items");
    return;
  }
  for (size_t i = 0; i < use.inputs.size(); ++i) {
    TypeId item = data.items[data.kind == TypeKind::List ? 0 : i];
    if (!compatible(use.inputs[i].type, item, types, how)) {
      out.push_back("item " + std::to_string(i) + " does not fit " + types.show(use.type));
    }
  }
}

void check_core(const Application& use, const TypeTable& types, Compatibility how, Faults& out) {
  switch (use.op) {
    case Op::CoreAlias:
    case Op::CoreAscribe:
      return need_inputs(use, 1, out);
    case Op::CoreList:
    case Op::CoreTuple:
      return check_items(use, types, how, out);
    case Op::CoreSelect:
      need_inputs(use, 3, out);
      if (!out.empty()) return;
      if (!is_truth(use.inputs[0].type, types)) out.push_back("the condition is no truth value");
      for (size_t i = 1; i < 3; ++i) {
        if (!compatible(use.inputs[i].type, use.type, types, how)) {
          out.push_back("a branch of type " + types.show(use.inputs[i].type) + " in a select of " +
                        types.show(use.type));
        }
      }
      return;
    case Op::CoreRepeat:
      if (!use.attrs.empty()) out.push_back("has attributes");
      return;
    default:
      return need_inputs(use, 2, out);
  }
}

size_t find_param(const OpSignature& signature, std::string_view name) {
  for (size_t i = 0; i < signature.params.size(); ++i) {
    if (signature.params[i].name == name) return i;
  }
  return signature.params.size();
}

void check_primitive(const Application& use, const TypeTable& types, Compatibility how,
                     Faults& out) {
  const OpSignature& signature = op_signature(use.op);
  const Interner& names = types.dims().names();
  std::vector<int> given(signature.params.size(), 0);
  if (use.inputs.size() > given.size()) {
    out.push_back("takes " + std::to_string(given.size()) + " operands, found " +
                  std::to_string(use.inputs.size()));
    return;
  }
  for (size_t i = 0; i < use.inputs.size(); ++i) ++given[i];
  for (const Attr& attr : use.attrs) {
    std::string_view name = attr.name.valid() ? names.text(attr.name) : "";
    size_t index = find_param(signature, name);
    if (index == given.size()) {
      out.push_back("operand `" + std::string(name) + "` is unknown");
    } else if (++given[index] > 1) {
      out.push_back("operand `" + std::string(name) + "` is duplicate");
    }
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const OpParam& param = signature.params[i];
    if (given[i] == 0 && !param.optional) {
      out.push_back("operand `" + std::string(param.name) + "` is missing");
    }
    // In optimised graphs a null may stand in a branch that is never taken.
    bool null = how == Compatibility::Strict && i < use.inputs.size() &&
                use.inputs[i].kind() == OperandKind::Null;
    if (null && !param.optional && !param.nullable) {
      out.push_back("operand `" + std::string(param.name) + "` is null");
    }
  }
}

void check_fused(const Application& use, const TypeTable& types, Faults& out) {
  const OpInfo& info = op_info(use.op);
  std::vector<std::string_view> operands = split(info.signature, ',');
  if (use.inputs.size() != operands.size()) {
    out.push_back("takes " + std::to_string(operands.size()) + " operands, found " +
                  std::to_string(use.inputs.size()));
    return;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string_view name = trim(operands[i]);
    if (use.inputs[i].kind() == OperandKind::Null && name[0] != '?') {
      out.push_back("operand `" + std::string(name) + "` is null");
    }
  }
  const Interner& names = types.dims().names();
  for (const Attr& attr : use.attrs) {
    std::string_view name = attr.name.valid() ? names.text(attr.name) : "";
    bool found = false;
    for (std::string_view known : split(info.attributes, ',')) found = found || trim(known) == name;
    if (!found) out.push_back("attribute `" + std::string(name) + "` is unknown");
  }
}

}  // namespace

std::vector<std::string> operation_faults(const Application& use, const TypeTable& types,
                                          Compatibility how) {
  Faults out;
  switch (op_info(use.op).op_class) {
    case OpClass::Core:
      check_core(use, types, how, out);
      break;
    case OpClass::Primitive:
      check_primitive(use, types, how, out);
      break;
    case OpClass::Fused:
      check_fused(use, types, out);
      break;
  }
  return out;
}

}  // namespace axon::graph
