// Folding in structured graphs: literals meet literals, the checkpoint answers, known selects
// choose.
#include <optional>
#include <unordered_map>

#include "graph/builder.h"
#include "opt/passes.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace axon::opt {
namespace {

using graph::Operand;
using graph::OperandKind;

bool is_literal(const Operand& operand) {
  switch (operand.kind()) {
    case OperandKind::Null:
    case OperandKind::Bool:
    case OperandKind::Int:
    case OperandKind::Float:
    case OperandKind::String:
      return true;
    default:
      return false;
  }
}

std::optional<Order> order_of(Op op) {
  switch (op) {
    case Op::CoreBinaryLt:
      return Order::Lt;
    case Op::CoreBinaryLe:
      return Order::Le;
    case Op::CoreBinaryGt:
      return Order::Gt;
    case Op::CoreBinaryGe:
      return Order::Ge;
    default:
      return {};
  }
}

std::optional<Arith> arith_of(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
      return Arith::Add;
    case Op::CoreBinarySub:
      return Arith::Sub;
    case Op::CoreBinaryMul:
      return Arith::Mul;
    default:
      return {};
  }
}

class Folder {
 public:
  explicit Folder(PassContext& context)
      : context_(context), globals_(context.graph.modules.size()) {}

  bool run() {
    for (size_t i = 0; i < context_.graph.modules.size(); ++i) {
      graph::Module& module = context_.graph.modules[i];
      module_ = &module;
      known_.clear();
      for (graph::NodeId id : module.order) fold_node(module.nodes[id]);
      for (Operand& output : module.outputs) replace(output);
      if (module.is_global && module.outputs.size() == 1 && is_literal(module.outputs[0]))
        globals_[i] = module.outputs[0];
    }
    return changed_;
  }

 private:
  // A literal where the operand is known to be one; selects within nested expressions choose.
  void replace(Operand& operand) {
    if (auto* ref = operand.get<graph::Ref>()) {
      auto it = known_.find(ref->value);
      if (it != known_.end()) assign(operand, it->second);
    } else if (auto* global = operand.get<graph::GlobalRef>()) {
      const std::optional<Operand>& literal = globals_[static_cast<size_t>(global->module.index)];
      if (literal) assign(operand, *literal);
    } else if (auto* nested = operand.get<graph::Nested>()) {
      graph::NestedExpr& expr = module_->nested[nested->expr];
      for (Operand& input : expr.inputs) replace(input);
      for (graph::Attr& attr : expr.attrs) replace(attr.value);
      if (const Operand* chosen = choice(expr.op, expr.inputs)) {
        Operand copy = *chosen;
        copy.type = operand.type;
        operand = std::move(copy);
        changed_ = true;
      } else if (std::optional<Operand> literal = fold(expr.op, expr.inputs, expr.type)) {
        assign(operand, *literal);
      }
    }
  }

  void assign(Operand& operand, const Operand& literal) {
    TypeId type = operand.type;
    operand = literal;
    if (type.valid()) operand.type = type;
    changed_ = true;
  }

  static const Operand* choice(Op op, const std::vector<Operand>& inputs) {
    if (op != Op::CoreSelect || inputs.size() != 3) return nullptr;
    if (auto* b = inputs[0].get<graph::LitBool>()) return &inputs[b->value ? 1 : 2];
    return inputs[0].kind() == OperandKind::Null ? &inputs[2] : nullptr;
  }

  void fold_node(graph::Node& node) {
    for (Operand& input : node.inputs) replace(input);
    for (graph::Attr& attr : node.attrs) replace(attr.value);
    if (const Operand* chosen = choice(node.op, node.inputs)) {
      choose(node, Operand(*chosen));
      changed_ = true;
    }
    if (node.outputs.size() != 1) return;
    std::optional<Operand> literal;
    if (node.op == Op::CoreAlias && node.inputs.size() == 1 && is_literal(node.inputs[0]))
      literal = node.inputs[0];
    else
      literal = fold(node.op, node.inputs, node.type);
    if (literal) known_.emplace(node.outputs[0], *literal);
  }

  // The node does what the chosen side says.
  void choose(graph::Node& node, Operand chosen) {
    const graph::Nested* nested = chosen.get<graph::Nested>();
    if (!nested) {
      node.op = Op::CoreAlias;
      node.inputs = {std::move(chosen)};
      return;
    }
    const graph::NestedExpr expr = module_->nested[nested->expr];
    node.op = expr.op;
    node.callee = expr.callee;
    node.inputs = expr.inputs;
    node.attrs = expr.attrs;
    if (expr.span.valid()) node.span = expr.span;
  }

  std::optional<Operand> fold(Op op, const std::vector<Operand>& inputs, TypeId type) {
    if (op == Op::ParamsHasRoot) return has_root(inputs);
    if (inputs.size() != 2) return std::nullopt;
    const Operand &a = inputs[0], &b = inputs[1];
    std::optional<bool> truth = compare(op, a, b);
    if (truth) return graph::lit_bool(*truth, context_.types);
    auto *x = a.get<graph::LitBool>(), *y = b.get<graph::LitBool>();
    if (x && y && op == Op::CoreBinaryAnd)
      return graph::lit_bool(x->value && y->value, context_.types);
    if (x && y && op == Op::CoreBinaryOr)
      return graph::lit_bool(x->value || y->value, context_.types);
    return arithmetic(op, a, b);
  }

  static std::optional<bool> compare(Op op, const Operand& a, const Operand& b) {
    bool equality = op == Op::CoreBinaryEq || op == Op::CoreBinaryNe;
    if (equality && is_literal(a) && is_literal(b)) {
      bool nulls = a.kind() == OperandKind::Null || b.kind() == OperandKind::Null;
      std::optional<bool> equal;
      if (nulls)
        equal = a.kind() == b.kind();
      else if (a.kind() != b.kind())
        return std::nullopt;
      else if (auto* t = a.get<graph::LitBool>())
        equal = t->value == b.as<graph::LitBool>().value;
      else if (auto* s = a.get<graph::LitString>())
        equal = s->value == b.as<graph::LitString>().value;
      else if (auto* n = a.get<graph::LitInt>())
        equal = n->value == b.as<graph::LitInt>().value;
      if (equal) return *equal == (op == Op::CoreBinaryEq);
    }
    auto *x = a.get<graph::LitInt>(), *y = b.get<graph::LitInt>();
    if (!x || !y) return std::nullopt;
    std::optional<Order> order = order_of(op);
    if (!order) return std::nullopt;
    return holds(*order, x->value, y->value);
  }

  std::optional<Operand> arithmetic(Op op, const Operand& a, const Operand& b) {
    auto *x = a.get<graph::LitInt>(), *y = b.get<graph::LitInt>();
    std::optional<Arith> arith = arith_of(op);
    if (!x || !y || !arith) return std::nullopt;
    bool whole = context_.types.kind(a.type) != TypeKind::Float &&
                 context_.types.kind(b.type) != TypeKind::Float;
    int64_t result = 0;
    if (!whole || whole_arithmetic(*arith, x->value, y->value, result) != ArithFault::None)
      return std::nullopt;
    return graph::lit_int(result, context_.types);
  }

  std::optional<Operand> has_root(const std::vector<Operand>& inputs) {
    if (!context_.answers.params || inputs.size() != 1) return std::nullopt;
    const Interner& names = context_.types.dims().names();
    std::string root;
    if (auto* s = inputs[0].get<graph::LitString>()) {
      root = names.text(s->value);
    } else if (auto* path = inputs[0].get<graph::Path>()) {
      for (const graph::PathPiece& piece : path->pieces) {
        if (piece.placeholder) return std::nullopt;
        if (!root.empty() && !piece.joined) root += '.';
        root += names.text(piece.text);
      }
    } else {
      return std::nullopt;
    }
    return graph::lit_bool(context_.answers.params->has_root(root), context_.types);
  }

  PassContext& context_;
  graph::Module* module_ = nullptr;
  std::unordered_map<graph::ValueId, Operand, IdHash> known_;
  std::vector<std::optional<Operand>> globals_;
  bool changed_ = false;
};

}  // namespace

bool pass_fold(PassContext& context) { return Folder(context).run(); }

}  // namespace axon::opt
