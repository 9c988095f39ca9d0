// Parameters, calls and loops of a block's function.
#include "emit/torch/function.h"

#include "emit/py/template.h"
#include "emit/torch/forward.h"
#include "emit/torch/root.h"
#include "emit/torch/rows.h"
#include "emit/write/labels.h"
#include "support/text.h"

namespace axon::emit::torch {

using graph::Operand;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

namespace {

// Elements of lists are modules of any kind: what is within them is asked for by name.
Expr reach(Expr from, const std::vector<std::string_view>& segments, std::string_view asked) {
  auto is_number = [](std::string_view s) { return s[0] >= '0' && s[0] <= '9'; };
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    if (!is_number(segments[i])) continue;
    std::vector<std::string> path(segments.begin(), segments.end());
    return py::call(py::attribute(std::move(from), asked), {py::text(join(path, "."))});
  }
  for (std::string_view segment : segments) {
    if (is_number(segment))
      from = py::index(std::move(from), {py::atom(segment)});
    else
      from = py::attribute(std::move(from), segment);
  }
  return from;
}

}  // namespace

Result<Stmt> Function::write() {
  count_uses();
  count_joints();
  if (!p_.is_root(id_) && block_.outputs.size() == 1) scope_.keep_waiting(block_.outputs[0]);
  if (p_.is_root(id_) && p_.joined.outputs.size() == 1 && !p_.calls.cached) {
    if (const auto* ref = p_.joined.outputs[0].second.get<graph::Ref>())
      scope_.keep_waiting(ref->value);
  }
  std::vector<py::Param> params = parameters();
  std::vector<Stmt> body = {py::docstring(function_doc(p_, id_, scope_))};
  scope_.redirect(&body);
  if (p_.is_root(id_)) begin();
  if (p_.is_root(id_) && p_.outline.encode.valid()) take_encoded();
  bind_sizes();
  AXON_TRY_VOID(write_items(block_.items));
  std::optional<Expr> result = finish();
  Stmt out = py::def(function_name(id_), std::move(params), std::move(result), std::move(body));
  return out;
}

std::optional<Expr> Function::expression(const graph::Node& node) {
  bool head = p_.head.valid() && &node == &p_.joined.steps[p_.head].node;
  if (!head || !shared_table(p_)) return rounded_factor(node, row(node, *this));
  Expr table = param(params_of(node, names())[0]);
  if (table.kind != Expr::Kind::Attribute) return row(node, *this);  // it lies elsewhere
  helper("torch/tied_linear");
  return expand("tied_linear({0}, {1})", {value(node.inputs[1]), table.items[0]});
}

// `F.rms_norm` is told the width.
std::vector<DimId> Function::spelled(const graph::Node& node) const {
  if (node.op != Op::Rmsnorm && node.op != Op::FusedRmsNorm) return {};
  const auto* x = node.inputs[0].get<graph::Ref>();
  if (!x) return {};
  const std::vector<DimId> shape = p_.types.dims_of(p_.joined.values[x->value].type);
  return shape.empty() ? shape : std::vector<DimId>{shape.back()};
}

// Sines and cosines that rotations alone read have the model's element type.
std::optional<Expr> Function::rounded_factor(const graph::Node& node, std::optional<Expr> made) {
  bool factor = p_.is_root(id_) && made && node.outputs.size() == 1 &&
                p_.rope_factors.count(node.outputs[0].index) != 0;
  if (!factor) return made;
  if (dtype_.empty()) {
    dtype_ = scope_.fresh("dtype");
    scope_.statement(py::assign(py::atom(dtype_), expand("next(self.parameters()).dtype")));
  }
  return py::call(py::attribute(std::move(*made), "to"), {py::atom(dtype_)});
}

Expr Function::param(const std::string& path) {
  auto foreign = foreign_.find(path);
  if (foreign != foreign_.end()) return py::atom(foreign->second);
  std::string_view rest = path;
  if (!block_.path.empty()) rest.remove_prefix(block_.path.size() + 1);
  return reach(py::atom("self"), split(rest, '.'), "get_parameter");
}

// The module of a called block, seen from here.
Expr Function::module_of(BlockId called) const {
  std::vector<std::string> segments = p_.outline.relative(id_, called);
  if (p_.block(called).is_item) segments.pop_back();  // the list itself is called
  Expr from = py::atom("self");
  std::vector<std::string_view> rest;
  for (const std::string& segment : segments) {
    if (segment[0] == '{') {
      from = py::atom(element_);
      rest.clear();
    } else {
      rest.push_back(segment);
    }
  }
  return reach(std::move(from), rest, "get_submodule");
}

// What calls the module of a block: the module itself, or the function that runs once.
const char* Function::function_name(BlockId id) const {
  return p_.block(id).twin_of.valid() ? "encode" : "forward";
}

// Whether the way to a module leads through a list, whose elements have no declared type.
bool Function::is_of_list(BlockId called) const {
  for (const std::string& segment : p_.outline.relative(id_, called)) {
    if (segment[0] == '{' || (segment[0] >= '0' && segment[0] <= '9')) return true;
  }
  return false;
}

// What several layers read is mentioned once.
void Function::count_joints() {
  for (const Joint& joint : p_.joints) {
    if (joint.owner != id_) continue;
    scope_.add_use(p_.block(joint.layers[0]).inputs[0], 1 - static_cast<int>(joint.layers.size()));
  }
}

// `q, k, v = joined(x, self.q_proj, self.k_proj, self.v_proj)`
void Function::call_joint(const Joint& joint) {
  helper("torch/joined");
  Operand x;
  x.data = graph::Ref{p_.block(joint.layers[0]).inputs[0]};
  reads_.clear();
  std::vector<Expr> args = {value(x)};
  std::vector<ValueId> made;
  for (BlockId layer : joint.layers) {
    args.push_back(module_of(layer));
    made.push_back(p_.block(layer).outputs[0]);
  }
  scope_.define_all(made, {py::call(py::atom("joined"), std::move(args)), std::move(reads_)});
  reads_.clear();
}

Result<void> Function::call(BlockId called) {
  if (const Joint* joint = p_.joint_of(id_, called)) {
    if (joint->layers[0] == called) call_joint(*joint);
    return {};
  }
  const Block& block = p_.block(called);
  const Needs& needs = p_.needs[called];
  reads_.clear();
  bool framework = block.kind == Block::Kind::Layer && !p_.classes.count(called);
  if (framework && needs.last) {
    Operand x;
    x.data = graph::Ref{block.inputs[0]};
    narrow(x);
  }
  std::vector<Expr> args;
  std::vector<ValueId> reads = call_reads(p_, called);
  make_room(reads);
  for (ValueId value : reads) {
    Operand operand;
    operand.data = graph::Ref{value};
    args.push_back(this->value(operand));
  }
  if (!framework) add_extras(args, called, needs);
  Expr function = module_of(called);
  if (block.twin_of.valid() && is_of_list(called)) {
    p_.prelude.use("torch/encode");
    args.insert(args.begin(), std::move(function));
    function = py::atom("encode");
  } else if (block.twin_of.valid()) {
    function = py::attribute(std::move(function), function_name(called));
  }
  Built built{py::call(std::move(function), std::move(args)), std::move(reads_)};
  reads_.clear();
  if (block.outputs.size() == 1)
    scope_.define(block.outputs[0], std::move(built));
  else if (!block.outputs.empty())
    scope_.define_all(block.outputs, std::move(built));
  else
    scope_.statement(py::evaluate(std::move(built.expr)));
  return {};
}

void Function::add_extras(std::vector<Expr>& args, BlockId called, const Needs& needs) {
  for (SymbolId s : needs.symbols) args.push_back(symbol(s));
  for (const std::string& path : needs.params) args.push_back(param(path));
  if (needs.slots) args.push_back(py::atom("slots"));
  if (needs.stores == Needs::Stores::Many) args.push_back(py::atom("stores"));
  if (needs.stores == Needs::Stores::One) {
    bool many = needs_.stores == Needs::Stores::Many && !in_store_loop_;
    args.push_back(many ? expand("stores[{0}]", {py::integer(store_within(called))})
                        : py::atom("past"));
  }
  if (needs.last) args.push_back(py::atom("last"));
}

Result<void> Function::loop(int32_t index) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  std::vector<ValueId> outer = outer_values(index);
  scope_.settle(outer);
  for (ValueId value : outer) scope_.add_use(value);  // they live through all rounds
  std::vector<std::string> carried;
  for (const LoopBlock::Carry& carry : loop.carries) carried.push_back(enter(carry));
  open_lists(index, expand("list[Tensor]"));
  std::vector<Stmt> body;
  if (loop.list.valid()) element_ = scope_.fresh(singular(p_.block(loop.list).segment));
  bind_settings(index);
  std::vector<Stmt>* around = scope_.redirect(&body);
  in_store_loop_ = loop.first_store >= 0;
  AXON_TRY_VOID(write_items(loop.items));
  in_store_loop_ = false;
  fill_lists(index);
  leave(loop.carries, carried);
  scope_.redirect(around);
  for (ValueId value : outer) scope_.add_use(value, -1);
  scope_.statement(loop_head(index, std::move(body)));
  for (ValueId value : setting_reads(p_.joined, index)) scope_.add_use(value, -1);
  return {};
}

// What differs from round to round: the element of the list, its store, its settings.
Stmt Function::loop_head(int32_t index, std::vector<Stmt> body) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  std::vector<Expr> targets, lists;
  if (loop.list.valid()) {
    std::vector<std::string> relative = p_.outline.relative(id_, loop.list);
    targets.push_back(py::atom(element_));
    lists.push_back(reach(py::atom("self"), {relative.begin(), relative.end()}, "get_submodule"));
  }
  if (loop.first_store >= 0) {
    bool all = loop.count == p_.joined.stores.size();
    Expr from = py::integer(loop.first_store);
    Expr to = py::integer(loop.first_store + static_cast<int64_t>(loop.count));
    targets.push_back(py::atom("past"));
    lists.push_back(all ? py::atom("stores") : expand("stores[{0}:{1}]", {from, to}));
  }
  for (auto& [name, numbers] : settings_of(index)) {
    targets.push_back(py::atom(name));
    lists.push_back(std::move(numbers));
  }
  if (lists.empty()) {
    targets.push_back(py::atom("_"));
    lists.push_back(expand("range({0})", {py::integer(static_cast<int64_t>(loop.count))}));
  }
  if (lists.size() == 1)
    return py::for_(std::move(targets[0]), std::move(lists[0]), std::move(body));
  return py::for_(py::tuple(std::move(targets)), py::call(py::atom("zip"), std::move(lists)),
                  std::move(body));
}

Result<std::vector<Stmt>> write_functions(Program& program, BlockId id) {
  std::vector<Stmt> out;
  for (BlockId one : {program.block(id).twin, id}) {
    if (!one.valid()) continue;
    AXON_TRY(Stmt function, Function(program, one).write());
    out.push_back(std::move(function));
  }
  return out;
}

std::optional<Expr> layer_constructor(Program& program, BlockId id) {
  const Block& block = program.block(id);
  Function context(program, id);
  return layer(program.joined.steps[block.items[0].step].node, block.params, context);
}

Expr annotation(const Program& program, ValueId value) {
  bool optional = program.joined.values[value].optional;
  for (const JoinedInput& input : program.joined.inputs)
    optional |= input.value == value && input.optional;
  TypeKind kind = program.types.kind(program.joined.values[value].type);
  if (kind == TypeKind::Int || kind == TypeKind::Float)
    return py::atom(kind == TypeKind::Int ? "int" : "float");
  if (kind == TypeKind::List) return expand("list[Tensor]");
  return expand(optional ? "Tensor | None" : "Tensor");
}

}  // namespace axon::emit::torch
