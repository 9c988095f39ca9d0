// Values, views and instructions of a phase, and the literals of operands.
#include <fmt/format.h>

#include <cstring>

#include "plan/lower.h"
#include "support/check.h"

namespace axon::plan {
namespace {

size_t hash_view(const View& v) {
  size_t h = hash_mix(static_cast<size_t>(v.base.index), static_cast<size_t>(v.offset.index));
  for (DimId d : v.dims) h = hash_mix(h, static_cast<size_t>(d.index));
  for (DimId d : v.strides) h = hash_mix(h, static_cast<size_t>(d.index));
  return h;
}

bool same_view(const View& a, const View& b) {
  return a.base == b.base && a.offset == b.offset && a.dims == b.dims && a.strides == b.strides;
}

}  // namespace

// ---- sizes ---------------------------------------------------------------------------------

std::vector<DimId> Lowering::dims_of(graph::ValueId value) const {
  return types_.dims_of(module_.values[value].type);
}

std::vector<DimId> Lowering::result_dims(const Node& node, size_t output) const {
  std::vector<DimId> dims = dims_of(node.outputs[output]);
  if (!rows_.contains(node_id_)) return dims;
  dims.erase(dims.begin());
  dims[0] = request_.rows;
  return dims;
}

bool Lowering::is_tensor(const graph::Operand& operand) const {
  const graph::Ref* ref = operand.get<graph::Ref>();
  return ref && types_.is_tensor(module_.values[ref->value].type);
}

// ---- views and values ----------------------------------------------------------------------

View Lowering::view_of(const graph::Operand& operand) {
  graph::ValueId value = operand.as<graph::Ref>().value;
  const View& view = view_[static_cast<size_t>(value.index)];
  AXON_CHECK(view.base.valid(), "operand is computed before its use");
  if (!rows_.contains(node_id_) || rows_.contains(module_.values[value].producer)) return view;
  std::vector<DimId> head = dims_of(request_.head);
  bool has_rows = view.dims.size() >= 3 && view.dims[0] == head[0] && view.dims[1] == head[1];
  if (!has_rows) return view;
  auto known = selected_.find(value);
  if (known != selected_.end()) return known->second;
  View rows = selected(view);
  selected_.emplace(value, rows);
  return rows;
}

View Lowering::selected(const View& view) {
  std::vector<DimId> dims(view.dims.begin() + 1, view.dims.end());
  dims[0] = request_.rows;
  runtime::ValId from = use(view, runtime::Layout::Matrix);
  View to = buffer(dims, view.dtype);
  runtime::ValId rows;
  for (size_t i = 0; i < phase_.values.size(); ++i) {
    runtime::ValId id = phase_.values.id_at(i);
    auto* input = std::get_if<runtime::PlaceInput>(&phase_.values[id].place);
    if (input && input->input == request_.rows_input) rows = id;
  }
  if (!rows.valid()) {
    runtime::Value made;
    made.dtype = DType::I64;
    made.shape = context_.symbols.exprs({request_.rows});
    made.place = runtime::PlaceInput{request_.rows_input};
    made.name = phase_.inputs[static_cast<size_t>(request_.rows_input)].name;
    rows = phase_.values.add(std::move(made));
  }
  emit(runtime::Operation::SelectRows, {from, rows}, {to.base});
  return to;
}

Lowering::NamedView* Lowering::named(const View& view) {
  auto [from, to] = named_.equal_range(hash_view(view));
  for (auto it = from; it != to; ++it) {
    if (same_view(it->second.view, view)) return &it->second;
  }
  return nullptr;
}

Lowering::NamedView& Lowering::name(const View& view) {
  if (NamedView* known = named(view)) return *known;
  return named_.emplace(hash_view(view), NamedView{view, {}, {}})->second;
}

void Lowering::forget_copies(runtime::ValId base) {
  for (auto& [hash, entry] : named_) {
    if (entry.view.base == base) entry.dense = View{};
  }
}

runtime::ValId Lowering::value_of(const View& view) {
  const runtime::Value& base = phase_.values[view.base];
  bool whole = view.offset == dims_.integer(0) && views_.is_dense(view) &&
               base.shape == context_.symbols.exprs(view.dims);
  if (whole) return view.base;
  NamedView& known = name(view);
  if (known.value.valid()) return known.value;
  runtime::Value made;
  made.dtype = view.dtype;
  made.shape = context_.symbols.exprs(view.dims);
  made.place = runtime::PlaceView{view.base, context_.symbols.expr(view.offset),
                                  context_.symbols.exprs(view.strides)};
  known.value = phase_.values.add(std::move(made));
  return known.value;
}

View Lowering::buffer(std::vector<DimId> dims, DType dtype, std::string_view name) {
  runtime::Value made;
  made.dtype = dtype;
  made.shape = context_.symbols.exprs(dims);
  made.name = std::string(name);
  runtime::ValId id = phase_.values.add(std::move(made));
  DimId bytes = dims_.integer(static_cast<int64_t>(dtype_size(dtype)));
  for (DimId d : dims) bytes = dims_.value_mul(bytes, views_.factor(d));
  buffer_of_.emplace(id, buffers_.size());
  buffers_.push_back({id, bytes, phase_.code.size(), phase_.code.size()});
  return views_.dense(id, std::move(dims), dtype);
}

View Lowering::dense(const View& view) {
  if (views_.is_dense(view)) return view;
  NamedView& known = name(view);
  if (known.dense.base.valid()) return known.dense;
  View to = buffer(view.dims, view.dtype);
  copy(view, to);
  name(view).dense = to;
  return to;
}

runtime::ValId Lowering::use(const View& view, runtime::Layout layout) {
  return value_of(views_.fits(view, layout) ? view : dense(view));
}

runtime::ValId Lowering::in(const graph::Operand& operand, runtime::Operation operation) {
  return use(view_of(operand), runtime::operation_info(operation)->in);
}

View Lowering::converted(const View& view, DType dtype) {
  if (view.dtype == dtype) return view;
  runtime::ValId from = value_of(view);
  View to = buffer(view.dims, dtype);
  emit(runtime::Operation::Cast, {from}, {to.base});
  return to;
}

View Lowering::constant(double value, DType dtype) {
  runtime::Constant made;
  made.dtype = dtype;
  auto put = [&](auto v) { made.bytes.assign(reinterpret_cast<const char*>(&v), sizeof v); };
  if (dtype == DType::Bool)
    put(static_cast<uint8_t>(value != 0));
  else if (dtype == DType::I64)
    put(static_cast<int64_t>(value));
  else if (dtype == DType::I32)
    put(static_cast<int32_t>(value));
  else
    put(static_cast<float>(value));
  if (is_float(dtype)) made.dtype = DType::F32;
  std::string key = fmt::format("{}:{}", axon::spelling(made.dtype), made.bytes);
  auto [it, fresh] = context_.constants.emplace(key, runtime::ConstId{});
  if (fresh) it->second = context_.program.constants.add(made);
  auto [value_it, first] = constant_values_.emplace(it->second, runtime::ValId{});
  if (first) {
    runtime::Value v;
    v.dtype = made.dtype;
    v.place = runtime::PlaceConstant{it->second};
    value_it->second = phase_.values.add(std::move(v));
  }
  return views_.dense(value_it->second, {}, made.dtype);
}

// A number as a tensor of rank 0; a data dim is written by a fill.
View Lowering::scalar_view(const graph::Operand& operand, DType dtype) {
  if (auto* b = operand.get<graph::LitBool>()) return constant(b->value, dtype);
  if (auto* f = operand.get<graph::LitFloat>()) return constant(f->value, dtype);
  if (auto* i = operand.get<graph::LitInt>()) return constant(static_cast<double>(i->value), dtype);
  View to = buffer({}, dtype);
  runtime::Instr& instr = emit(runtime::Operation::Fill, {}, {to.base});
  runtime::ParamValue value = int64_t{0};
  scalar_param(operand, value);
  param(instr, "value", value);
  return to;
}

void Lowering::set(const Node& node, size_t output, View view) {
  view_[static_cast<size_t>(node.outputs[output].index)] = std::move(view);
}

View Lowering::result(const Node& node, size_t output) {
  View to = buffer(result_dims(node, output), dtype_of(node.outputs[output]),
                   context_.names.text(module_.values[node.outputs[output]].name));
  set(node, output, to);
  return to;
}

// ---- instructions --------------------------------------------------------------------------

void Lowering::touch(runtime::ValId value) {
  if (!value.valid()) return;
  if (auto* view = std::get_if<runtime::PlaceView>(&phase_.values[value].place)) value = view->of;
  auto it = buffer_of_.find(value);
  if (it == buffer_of_.end()) return;
  Buffer& buffer = buffers_[it->second];
  buffer.last = phase_.code.size();
  bool outside = current_ >= 0 && buffer.first < written_[static_cast<size_t>(current_)].begin;
  if (outside) outer_reads_.push_back(it->second);
}

runtime::Instr& Lowering::emit(runtime::Operation operation, std::vector<runtime::ValId> inputs,
                               std::vector<runtime::ValId> outputs) {
  for (runtime::ValId v : inputs) touch(v);
  for (runtime::ValId v : outputs) touch(v);
  runtime::Instr instr;
  instr.operation = operation;
  instr.inputs = std::move(inputs);
  instr.outputs = std::move(outputs);
  if (node_) {
    instr.source = source_of(*node_);
    instr.scope = scope_of(*node_);
    if (current_ >= 0) scope_paths_[phase_.code.size()] = &node_->scope;
  }
  phase_.code.push_back(std::move(instr));
  return phase_.code.back();
}

void Lowering::copy(const View& from, const View& to) {
  forget_copies(to.base);
  runtime::ValId a = value_of(from), b = value_of(to);
  emit(runtime::Operation::Copy, {a}, {b});
}

void Lowering::param(runtime::Instr& instr, std::string_view name, runtime::ParamValue value) {
  instr.params.push_back({std::string(name), std::move(value)});
}

std::string Lowering::source_of(const Node& node) const {
  if (!context_.files || !node.span.valid()) return {};
  return fmt::format("{}:{}", context_.files->path(node.span.file),
                     context_.files->line_column(node.span.file, node.span.begin).line);
}

std::string Lowering::scope_of(const Node& node) const { return text_of(node.scope); }

// ---- literals ------------------------------------------------------------------------------

std::optional<DimId> Lowering::integer(const graph::Operand& operand) const {
  if (auto* i = operand.get<graph::LitInt>()) return dims_.integer(i->value);
  if (auto* d = operand.get<graph::DimRef>()) return d->dim;
  return std::nullopt;
}

std::optional<int64_t> Lowering::constant_integer(const graph::Operand& operand) const {
  std::optional<DimId> dim = integer(operand);
  return dim ? dims_.as_integer(*dim) : std::nullopt;
}

std::optional<size_t> Lowering::axis(const graph::Operand& operand, size_t rank) const {
  bool null = operand.kind() == graph::OperandKind::Null;
  std::optional<int64_t> value = null ? -1 : constant_integer(operand);
  auto n = static_cast<int64_t>(rank);
  if (!value || *value < -n || *value >= n) return std::nullopt;
  return static_cast<size_t>(*value < 0 ? *value + n : *value);
}

bool Lowering::flag(const graph::Operand& operand) const {
  auto* b = operand.get<graph::LitBool>();
  return b && b->value;
}

std::vector<graph::Operand> Lowering::list(const graph::Operand& operand) const {
  const graph::Ref* ref = operand.get<graph::Ref>();
  graph::NodeId producer = ref ? module_.values[ref->value].producer : graph::NodeId{};
  if (!producer.valid() || module_.nodes[producer].op != Op::CoreList) return {};
  return module_.nodes[producer].inputs;
}

std::vector<DimId> Lowering::size_list(const graph::Operand& operand) const {
  std::vector<DimId> out;
  for (const graph::Operand& item : list(operand))
    out.push_back(integer(item).value_or(dims_.integer(0)));
  return out;
}

const graph::Operand* Lowering::attr(const Node& node, std::string_view name) const {
  for (const graph::Attr& a : node.attrs) {
    if (context_.names.text(a.name) == name) return &a.value;
  }
  return nullptr;
}

std::string Lowering::key_of(const graph::Operand& operand) const {
  const graph::Path* path = operand.get<graph::Path>();
  return path ? text_of(*path) : std::string();
}

bool Lowering::scalar_param(const graph::Operand& operand, runtime::ParamValue& out) const {
  if (auto* f = operand.get<graph::LitFloat>())
    out = f->value;
  else if (auto* b = operand.get<graph::LitBool>())
    out = int64_t{b->value};
  else if (auto* i = operand.get<graph::LitInt>())
    out = i->value;
  else if (auto* d = operand.get<graph::DimRef>())
    out = context_.symbols.expr(d->dim);
  else
    return false;
  return true;
}

}  // namespace axon::plan
