// Runs the fusion patterns over a flat module.
#include "opt/fuse.h"

#include "graph/builder.h"
#include "opt/fuse_context.h"
#include "opt/simplify.h"

namespace axon::opt {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;

FuseContext::FuseContext(graph::Graph& graph, TypeTable& types,
                         function_ref<std::optional<int64_t>(SymbolId)> lower)
    : graph_(graph),
      module_(graph[graph.main]),
      types_(types),
      lower_(lower),
      functions_(module_, types, lower) {
  count_uses();
}

void FuseContext::count_uses() {
  uses_.assign(module_.values.size(), 0);
  auto count = [&](const Operand& operand) {
    graph::for_each_value(module_, operand,
                          [&](graph::ValueId v) { ++uses_[static_cast<size_t>(v.index)]; });
  };
  for (NodeId id : module_.order) {
    const Node& node = module_.nodes[id];
    for (const Operand& input : node.inputs) count(input);
    for (const graph::Attr& attr : node.attrs) count(attr.value);
  }
  for (const Operand& output : module_.outputs) count(output);
}

const Node* FuseContext::def(const Operand& operand) const {
  const auto* ref = operand.get<graph::Ref>();
  if (!ref) return nullptr;
  NodeId producer = module_.values[ref->value].producer;
  return producer.valid() ? &module_.nodes[producer] : nullptr;
}

const Node* FuseContext::def(const Operand& operand, Op op) const {
  const Node* node = def(operand);
  return node && node->op == op ? node : nullptr;
}

Operand FuseContext::peel(const Operand& operand) const {
  Operand out = operand;
  while (const Node* node = def(out)) {
    if (node->op != Op::Cast && node->op != Op::CastLike) break;
    auto inner = value(node->inputs[0]);
    auto outer = value(out);
    if (!inner || module_.values[*inner].dtype != module_.values[*outer].dtype) break;
    out = node->inputs[0];
  }
  return out;
}

bool FuseContext::is_add(const Node& node) const {
  return node.op == Op::Add || node.op == Op::CoreBinaryAdd;
}
bool FuseContext::is_mul(const Node& node) const {
  return node.op == Op::Mul || node.op == Op::CoreBinaryMul;
}

std::optional<double> FuseContext::number(const Operand& operand) const {
  if (const auto* lit = operand.get<graph::LitFloat>()) return lit->value;
  if (auto whole = integer(operand)) return static_cast<double>(*whole);
  return {};
}

std::optional<int64_t> FuseContext::integer(const Operand& operand) const {
  if (const auto* lit = operand.get<graph::LitInt>()) return lit->value;
  if (const auto* dim = operand.get<graph::DimRef>()) return types_.dims().as_integer(dim->dim);
  return {};
}

std::optional<graph::ValueId> FuseContext::value(const Operand& operand) const {
  const auto* ref = operand.get<graph::Ref>();
  return ref ? std::optional(ref->value) : std::nullopt;
}

bool FuseContext::same(const Operand& a, const Operand& b) const {
  auto x = value(a), y = value(b);
  return x && y && *x == *y;
}

std::vector<DimId> FuseContext::shape(const Operand& operand) const {
  auto v = value(operand);
  return v ? types_.dims_of(module_.values[*v].type) : std::vector<DimId>();
}

bool FuseContext::used_once(const Operand& operand) const {
  auto v = value(operand);
  return v && uses(*v) == 1;
}

int FuseContext::axis(const Operand& operand, size_t rank) const {
  auto literal = integer(operand);
  if (!literal) return -1;
  return static_cast<int>(*literal < 0 ? *literal + static_cast<int64_t>(rank) : *literal);
}

void FuseContext::replace(NodeId root, Op op, std::vector<Operand> inputs,
                          std::vector<std::pair<std::string_view, Operand>> attrs,
                          std::initializer_list<const Node*> parts) {
  Node& node = module_.nodes[root];
  for (const Node* part : parts) {
    if (part && part != &node && part->span.valid()) node.more_spans.push_back(part->span);
  }
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs.clear();
  for (auto& [name, value] : attrs) {
    node.attrs.push_back({types_.dims().names().intern(name), std::move(value)});
  }
}

Operand FuseContext::null() const { return graph::lit_null(types_); }
Operand FuseContext::boolean(bool v) const { return graph::lit_bool(v, types_); }
Operand FuseContext::real(double v) const { return graph::lit_float(v, types_); }
Operand FuseContext::whole(int64_t v) const { return graph::lit_int(v, types_); }
Operand FuseContext::dim(DimId v) const { return graph::dim_operand(v, types_); }
Operand FuseContext::text(std::string_view v) const {
  return graph::lit_string(types_.dims().names().intern(v), types_);
}
Operand FuseContext::ref(graph::ValueId v) const { return graph::ref(module_, v); }

namespace {

using Pattern = bool (*)(FuseContext&, NodeId);

size_t sweep(FuseContext& ctx, Pattern pattern) {
  size_t made = 0;
  std::vector<NodeId> order = ctx.module().order;
  for (NodeId id : order) made += pattern(ctx, id);
  if (made) {
    remove_dead(ctx.module());
    ctx.count_uses();
  }
  return made;
}

}  // namespace

size_t run_fuse(graph::Graph& graph, TypeTable& types, const FusionSet& set,
                function_ref<std::optional<int64_t>(SymbolId)> lower) {
  FuseContext ctx(graph, types, lower);
  size_t made = 0;
  if (set.attention) made += sweep(ctx, fuse_attention);
  if (set.rms_norm) made += sweep(ctx, fuse_rms_norm);
  if (set.rope) made += sweep(ctx, fuse_rope) + sweep(ctx, fuse_rope_prefix);
  if (set.linear) {
    made += sweep(ctx, fuse_linear_start);
    while (size_t more = sweep(ctx, fuse_linear_epilogue)) made += more;
  }
  return made;
}

}  // namespace axon::opt
