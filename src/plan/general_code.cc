// Instructions of one definition: nodes, operands, branches, loops.
#include <fmt/format.h>

#include "ops/signature.h"
#include "plan/general.h"
#include "support/check.h"

namespace axon::plan {

using runtime::GeneralCode;
using runtime::GeneralInstr;

GeneralInstr& General::emit(GeneralInstr instr) {
  if (context_.files && span_.valid()) {
    instr.source = fmt::format("{}:{}", context_.files->path(span_.file),
                               context_.files->line_column(span_.file, span_.begin).line);
  }
  routine_.code.push_back(std::move(instr));
  return routine_.code.back();
}

bool General::node(const Node& node) {
  span_ = node.span;
  std::vector<Register> outputs;
  for (graph::ValueId output : node.outputs) outputs.push_back(output.index);
  const bool made = node.op == Op::CoreRepeat
                        ? repeat(node)
                        : apply(node.op, node.callee, node.inputs, node.attrs, node.type, outputs);
  for (graph::ValueId output : node.outputs) {
    if (node.op != Op::CoreAscribe) look_at(output.index, module_->values[output].type);
  }
  return made;
}

// A value is looked at when it is made: what nothing knew is what its type says. Lists only grow,
// so that looking at all items each time costs too much.
void General::look_at(Register value, TypeId type) {
  if (!type.valid()) return;
  if (context_.types.kind(context_.types.strip_optional(type)) == TypeKind::List) return;
  GeneralInstr instr;
  instr.op = Op::CoreAscribe;
  instr.code = GeneralCode::Ascribe;
  instr.inputs = {value};
  instr.pattern = declared(type);
  if (instr.pattern.valid()) emit(std::move(instr));
}

bool General::apply(Op op, graph::ModuleId callee, const std::vector<graph::Operand>& inputs,
                    const std::vector<graph::Attr>& attrs, TypeId type,
                    std::vector<Register> outputs) {
  if (op == Op::CoreSelect) return select(inputs, type, std::move(outputs));
  GeneralInstr instr;
  instr.op = op;
  instr.outputs = std::move(outputs);
  instr.pattern = widening(type);
  if (op_info(op).op_class == OpClass::Primitive)
    return primitive(op, inputs, attrs, std::move(instr));
  if (op_info(op).op_class == OpClass::Fused) {
    return fail(fmt::format("`{}`", axon::spelling(op)),
                "fused rows stand in flat modules only; plan the graph before fusion");
  }
  if (op == Op::CoreCall && about_config(callee) && instr.outputs.size() == 1) {
    if (answer(callee, inputs, instr.outputs[0])) return true;
    if (!about_config(id_))
      return fail(fmt::format("`{}`", context_.names.text(graph_[callee].name)),
                  "a read of the configuration is not decided");
  }
  for (const graph::Operand& input : inputs) {
    instr.inputs.push_back(-1);
    if (!operand(input, instr.inputs.back())) return false;
  }
  switch (op) {
    case Op::CoreAlias:
      instr.code = GeneralCode::Move;
      break;
    case Op::CoreAscribe:
      instr.code = GeneralCode::Ascribe;
      instr.pattern = context_.program.patterns.add(
          pattern_of(type.valid() ? type : context_.types.any(), true));
      break;
    case Op::CoreList:
      instr.code = GeneralCode::List;
      break;
    case Op::CoreTuple:
      instr.code = GeneralCode::Tuple;
      break;
    case Op::CoreCall:
      instr.code = GeneralCode::Call;
      instr.routine = routines_[static_cast<size_t>(callee.index)];
      AXON_CHECK(instr.routine.valid(), "callees stand before their callers");
      break;
    default:
      instr.code = GeneralCode::Apply;
      break;
  }
  emit(std::move(instr));
  return true;
}

bool General::primitive(Op op, const std::vector<graph::Operand>& inputs,
                        const std::vector<graph::Attr>& attrs, GeneralInstr instr) {
  // Modules that are only about such reads are answered where they are called.
  std::string_view name = axon::spelling(op);
  if (name.substr(0, 7) == "config_") {
    if (instr.outputs.size() == 1 && answer_read(op, inputs, attrs, instr.outputs[0])) return true;
    if (!about_config(id_))
      return fail(fmt::format("`{}`", name),
                  "a config read is not decided; a checkpoint is needed");
  }
  const OpSignature& signature = op_signature(op);
  instr.code = GeneralCode::Apply;
  instr.inputs.assign(signature.params.size(), -1);
  AXON_CHECK(inputs.size() <= signature.params.size(), "too many operands for a primitive");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!operand(inputs[i], instr.inputs[i])) return false;
  }
  for (const graph::Attr& attr : attrs) {
    for (size_t i = 0; i < signature.params.size(); ++i) {
      bool same = signature.params[i].name == context_.names.text(attr.name);
      if (same && !operand(attr.value, instr.inputs[i])) return false;
    }
  }
  emit(std::move(instr));
  return true;
}

// Only the side that is chosen runs.
bool General::select(const std::vector<graph::Operand>& inputs, TypeId type,
                     std::vector<Register> outputs) {
  Register cond = -1, chosen = outputs.size() == 1 ? outputs[0] : temporary();
  if (!operand(inputs[0], cond)) return false;
  GeneralInstr branch;
  branch.code = GeneralCode::Branch;
  branch.inputs = {cond};
  emit(std::move(branch));
  size_t at_branch = routine_.code.size() - 1;
  if (!operand_into(inputs[1], chosen)) return false;
  GeneralInstr jump;
  jump.code = GeneralCode::Jump;
  emit(std::move(jump));
  size_t at_jump = routine_.code.size() - 1;
  routine_.code[at_branch].target = static_cast<int32_t>(routine_.code.size());
  if (!operand_into(inputs[2], chosen)) return false;
  routine_.code[at_jump].target = static_cast<int32_t>(routine_.code.size());
  runtime::PatternId wide = widening(type);
  if (outputs.size() == 1 && !wide.valid()) return true;
  GeneralInstr move;
  move.code = GeneralCode::Move;
  move.inputs = {chosen};
  move.outputs = std::move(outputs);
  move.pattern = wide;
  emit(std::move(move));
  return true;
}

bool General::repeat(const Node& node) {
  const graph::RepeatInfo& info = module_->repeats[static_cast<size_t>(node.repeat)];
  GeneralInstr loop;
  loop.code = GeneralCode::Loop;
  loop.routine = routines_[static_cast<size_t>(info.callee.index)];
  AXON_CHECK(loop.routine.valid(), "callees stand before their callers");
  for (const graph::Operand& input : node.inputs) {
    loop.inputs.push_back(-1);
    if (!operand(input, loop.inputs.back())) return false;
  }
  for (const graph::RepeatArg& arg : info.args)
    loop.args.push_back({static_cast<runtime::LoopArg::Kind>(arg.kind), arg.index});
  loop.carries = static_cast<int32_t>(info.carry_names.size());
  for (graph::ValueId output : node.outputs) loop.outputs.push_back(output.index);
  loop.pattern = widening(node.type);
  emit(std::move(loop));
  return true;
}

// ---- operands ------------------------------------------------------------------------------

bool General::operand(const graph::Operand& o, Register& out) {
  if (const auto* r = o.get<graph::Ref>()) {
    out = r->value.index;
    return true;
  }
  out = temporary();
  return operand_into(o, out);
}

bool General::operand_into(const graph::Operand& o, Register out) {
  using graph::OperandKind;
  GeneralInstr instr;
  instr.outputs = {out};
  switch (o.kind()) {
    case OperandKind::Ref:
      instr.code = GeneralCode::Move;
      instr.inputs = {o.as<graph::Ref>().value.index};
      break;
    case OperandKind::Global:
      global(o.as<graph::GlobalRef>().module, out);
      return true;
    case OperandKind::Dim:
      dim(o.as<graph::DimRef>().dim, out);
      routine_.code.back().pattern = widening(o.type);
      return true;
    case OperandKind::Null:
      break;
    case OperandKind::Bool:
      instr.literal = o.as<graph::LitBool>().value;
      break;
    case OperandKind::Int:
      instr.literal = o.as<graph::LitInt>().value;
      instr.pattern = widening(o.type);
      break;
    case OperandKind::Float:
      instr.literal = o.as<graph::LitFloat>().value;
      break;
    case OperandKind::String:
      instr.literal = std::string(context_.names.text(o.as<graph::LitString>().value));
      break;
    case OperandKind::Path:
      return path(o.as<graph::Path>(), out);
    case OperandKind::Nested: {
      const graph::NestedExpr& e = module_->nested[o.as<graph::Nested>().expr];
      if (!apply(e.op, e.callee, e.inputs, e.attrs, e.type, {out})) return false;
      if (e.op != Op::CoreAscribe) look_at(out, e.type);
      return true;
    }
  }
  emit(std::move(instr));
  return true;
}

void General::global(graph::ModuleId id, Register out) {
  if (answer(id, {}, out)) return;
  GeneralInstr instr;
  instr.code = GeneralCode::Global;
  instr.routine = routines_[static_cast<size_t>(id.index)];
  AXON_CHECK(instr.routine.valid(), "globals stand before what reads them");
  instr.outputs = {out};
  emit(std::move(instr));
}

void General::dim(DimId dim, Register out) {
  GeneralInstr instr;
  instr.code = GeneralCode::Dim;
  instr.dim = expr(dim);
  instr.outputs = {out};
  emit(std::move(instr));
}

bool General::path(const graph::Path& path, Register out) {
  GeneralInstr instr;
  instr.code = GeneralCode::Path;
  instr.absolute = path.absolute;
  instr.outputs = {out};
  for (const graph::PathPiece& piece : path.pieces) {
    runtime::PathPart part;
    part.text = std::string(context_.names.text(piece.text));
    part.joined = piece.joined;
    if (piece.placeholder && piece.global.valid()) {
      part.from = temporary();
      global(piece.global, part.from);
    } else if (piece.placeholder && piece.dim.valid()) {
      part.from = temporary();
      dim(piece.dim, part.from);
    } else if (piece.placeholder) {
      part.from = piece.value.index;
    }
    instr.path.push_back(std::move(part));
  }
  emit(std::move(instr));
  return true;
}

}  // namespace axon::plan
