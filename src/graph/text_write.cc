// Writes the text form of a Graph.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "graph/builder.h"
#include "graph/text.h"
#include "graph/text_words.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using words::put_name;

class Writer {
 public:
  Writer(const Graph& graph, const TypeTable& types, const WriteOptions& options)
      : graph_(graph),
        types_(types),
        dims_(types.dims()),
        names_(types.dims().names()),
        options_(options) {}

  std::string take() { return std::move(out_); }

  void graph() {
    out_ += "graph-ir 1\n";
    for (const Pragma& pragma : graph_.pragmas) {
      AXON_CHECK(pragma.value.find('\n') == std::string::npos, "pragma of several lines");
      out_ += "pragma ";
      name(pragma.name);
      out_ += " " + pragma.value + "\n";
    }
    if (graph_.main.valid()) {
      out_ += "main ";
      module_name(graph_.main);
      out_ += "\n";
    }
    write_rigid_values();
    for (size_t i = 0; i < graph_.modules.size(); ++i) {
      out_ += "\n";
      module({static_cast<int32_t>(i)});
    }
  }

  void module(ModuleId id) {
    module_ = &graph_[id];
    out_ += module_->is_global ? "global " : "module ";
    module_name(id);
    out_ += "(";
    for (size_t i = 0; i < module_->inputs.size(); ++i) {
      if (i > 0) out_ += ", ";
      const Value& value = module_->values[module_->inputs[i]];
      value_name(module_->inputs[i]);
      if (value.optional) out_ += "?";
      out_ += ": ";
      type(value.type);
      dtype(value.dtype);
    }
    out_ += ") -> ";
    type(module_->return_type);
    out_ += " {\n";
    for (const InputDefault& d : module_->defaults) {
      out_ += "  default ";
      value_name(module_->inputs[static_cast<size_t>(d.input)]);
      out_ += " = ";
      operand(d.value);
      out_ += "\n";
    }
    for (NodeId node_id : module_->order) node(module_->nodes[node_id]);
    for (const Constraint& c : module_->constraints) constraint(c);
    returns();
    out_ += "}\n";
  }

  void set_module(const Module& module) { module_ = &module; }

  void operand(const Operand& o) {
    bool plain = o.type == natural_type(*module_, &graph_, o, types_);
    if (!plain) out_ += "(";
    bare_operand(o);
    if (!plain) {
      out_ += " :: ";
      type(o.type);
      out_ += ")";
    }
  }

  void path(const Path& p) {
    out_ += p.absolute ? "@@'" : "@'";
    path_text(p);
    out_ += "'";
  }

 private:
  void name(NameId id) {
    if (id.valid())
      put_name(out_, names_.text(id));
    else
      out_ += "_";
  }
  void value_name(ValueId id) {
    out_ += "%";
    name(module_->values[id].name);
  }
  void module_name(ModuleId id) {
    out_ += "$";
    if (!id.valid())
      out_ += "_";
    else
      name(graph_[id].name);
  }
  void dtype(DType d) {
    if (d != DType::Unknown) out_ += std::string(" ") + std::string(words::short_dtype(d));
  }

  void write_rigid_values();
  std::string origin(Span span) const;
  void node(const Node& node);
  void repeat(const RepeatInfo& info);
  void constraint(const Constraint& c);
  void fact(const Fact& f);
  void returns();
  void bare_operand(const Operand& o);
  void nested(const NestedExpr& expr);
  void attrs(const std::vector<Attr>& attrs);
  void path_text(const Path& p);
  void literal(double value);
  void type(TypeId id);
  void symbol(SymbolId id);
  void dim(DimId id) { dim_tree(dims_.tree(id), 0); }
  void dim_tree(const DimTable::Tree& tree, int outer);

  const Graph& graph_;
  const TypeTable& types_;
  const DimTable& dims_;
  const Interner& names_;
  const WriteOptions& options_;
  const Module* module_ = nullptr;
  std::string out_;
};

// Rigid dims whose value is known are declared once, in order of first mention in a value's type;
// those of one size by name, for the order of its terms is that in which they came up.
void Writer::write_rigid_values() {
  std::vector<SymbolId> seen;
  auto visit_dim = [&](DimId dim_id) {
    std::vector<SymbolId> symbols = dims_.symbols(dim_id);
    std::sort(symbols.begin(), symbols.end(), [&](SymbolId x, SymbolId y) {
      return names_.text(dims_.symbol(x).name) < names_.text(dims_.symbol(y).name);
    });
    for (SymbolId id : symbols) {
      const Symbol& s = dims_.symbol(id);
      if (!s.value) continue;
      bool known = false;
      for (SymbolId other : seen) known = known || other == id;
      if (known) continue;
      seen.push_back(id);
      out_ += "rigid ";
      symbol(id);
      out_ += " = " + std::to_string(*s.value) + "\n";
    }
  };
  auto visit_type = [&](auto&& self, TypeId id) -> void {
    if (!id.valid()) return;
    const TypeData& data = types_.get(id);
    for (const Axis& axis : data.axes) {
      if (!axis.is_run()) visit_dim(axis.dim);
    }
    for (TypeId item : data.items) self(self, item);
  };
  auto visit_operand = [&](const Operand& o) {
    if (const DimRef* d = o.get<DimRef>()) visit_dim(d->dim);
    visit_type(visit_type, o.type);
  };
  for (const Module& m : graph_.modules) {
    for (ValueId input : m.inputs) visit_type(visit_type, m.values[input].type);
    for (NodeId id : m.order) {
      for (const Operand& o : m.nodes[id].inputs) visit_operand(o);
      visit_type(visit_type, m.nodes[id].type);
    }
    for (const NestedExpr& e : m.nested) {
      for (const Operand& o : e.inputs) visit_operand(o);
    }
    for (const Constraint& c : m.constraints) {
      visit_operand(c.fact.left);
      visit_operand(c.fact.right);
    }
  }
}

// The comment that says where a node was written. What comes from a graph text says what that text
// said.
std::string Writer::origin(Span span) const {
  const FileTable& files = *options_.files;
  int line = files.line_column(span.file, span.begin).line;
  if (!starts_with(files.text(span.file), "graph-ir "))
    return "  -- " + files.path(span.file) + ":" + std::to_string(line);
  std::string_view text = files.line_text(span.file, line);
  size_t begin = text.rfind("  -- ");
  if (begin == text.npos) return {};
  std::string_view comment = text.substr(begin);
  size_t colon = comment.rfind(':');
  bool place = colon != comment.npos && comment.find('"') == comment.npos &&
               parse_int(comment.substr(colon + 1)).has_value();
  return place ? std::string(comment) : std::string();
}

void Writer::node(const Node& n) {
  out_ += "  ";
  bool simple = n.outputs.size() == 1 && module_->values[n.outputs[0]].type == n.type;
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (i > 0) out_ += ", ";
    value_name(n.outputs[i]);
    if (simple) continue;
    out_ += ": ";
    type(module_->values[n.outputs[i]].type);
    dtype(module_->values[n.outputs[i]].dtype);
  }
  out_ += n.outputs.empty() ? "= " : " = ";
  out_ += spelling(n.op);
  if (n.op == Op::CoreCall) {
    out_ += " ";
    module_name(n.callee);
  }
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    out_ += i > 0 ? ", " : " ";
    operand(n.inputs[i]);
  }
  if (n.repeat >= 0) repeat(module_->repeats[static_cast<size_t>(n.repeat)]);
  attrs(n.attrs);
  out_ += " : ";
  type(n.type);
  if (simple) dtype(module_->values[n.outputs[0]].dtype);
  if (!n.scope.pieces.empty() || !n.scope.absolute) {
    out_ += n.scope.absolute ? " @ '" : " @ relative '";
    path_text(n.scope);
    out_ += "'";
  }
  if (n.source != module_->name) {
    out_ += " from ";
    name(n.source);
  }
  if (options_.files && n.span.valid()) out_ += origin(n.span);
  out_ += "\n";
}

void Writer::repeat(const RepeatInfo& info) {
  out_ += " loop(";
  module_name(info.callee);
  out_ += "; var ";
  name(info.var);
  out_ += "; carry";
  for (NameId carry : info.carry_names) {
    out_ += " ";
    name(carry);
  }
  out_ += "; args";
  for (const RepeatArg& arg : info.args) {
    switch (arg.kind) {
      case RepeatArg::Kind::Iter:
        out_ += " iter";
        break;
      case RepeatArg::Kind::Carry:
        out_ += " carry:" + std::to_string(arg.index);
        break;
      case RepeatArg::Kind::Input:
        out_ += " input:" + std::to_string(arg.index);
        break;
    }
  }
  auto marks = [&](std::string_view word, const std::vector<int32_t>& indices) {
    if (indices.empty()) return;
    out_ += "; " + std::string(word);
    for (int32_t i : indices) out_ += " " + std::to_string(i);
  };
  marks("scan", info.scan_inputs);
  marks("stack", info.stack_carries);
  out_ += ")";
}

void Writer::fact(const Fact& f) {
  operand(f.left);
  out_ += " ";
  out_ += words::relation(f.relation);
  if (words::is_unary(f.relation)) return;
  out_ += " ";
  operand(f.right);
}

void Writer::constraint(const Constraint& c) {
  out_ += "  constraint ";
  fact(c.fact);
  for (size_t i = 0; i < c.guards.size(); ++i) {
    out_ += i == 0 ? " if " : " and ";
    fact(c.guards[i]);
  }
  out_ += "\n";
}

void Writer::returns() {
  out_ += "  return";
  for (size_t i = 0; i < module_->outputs.size(); ++i) {
    out_ += i > 0 ? ", " : " ";
    operand(module_->outputs[i]);
    if (i < module_->output_names.size()) {
      out_ += " as ";
      name(module_->output_names[i]);
    }
  }
  out_ += "\n";
}

void Writer::literal(double value) {
  if (std::isnan(value))
    out_ += "nan";
  else if (std::isinf(value))
    out_ += value > 0 ? "inf" : "-inf";
  else
    out_ += show_double(value);
}

void Writer::bare_operand(const Operand& o) {
  switch (o.kind()) {
    case OperandKind::Ref:
      return value_name(o.as<Ref>().value);
    case OperandKind::Global:
      return module_name(o.as<GlobalRef>().module);
    case OperandKind::Dim:
      out_ += "<";
      dim(o.as<DimRef>().dim);
      out_ += ">";
      return;
    case OperandKind::Null:
      out_ += "null";
      return;
    case OperandKind::Bool:
      out_ += o.as<LitBool>().value ? "true" : "false";
      return;
    case OperandKind::Int:
      out_ += std::to_string(o.as<LitInt>().value);
      return;
    case OperandKind::Float:
      return literal(o.as<LitFloat>().value);
    case OperandKind::String:
      out_ += '"';
      words::put_escaped(out_, names_.text(o.as<LitString>().value), "\"");
      out_ += '"';
      return;
    case OperandKind::Path:
      return path(o.as<Path>());
    case OperandKind::Nested:
      return nested(module_->nested[o.as<Nested>().expr]);
  }
}

void Writer::nested(const NestedExpr& expr) {
  out_ += "(";
  out_ += spelling(expr.op);
  if (expr.op == Op::CoreCall) {
    out_ += " ";
    module_name(expr.callee);
  }
  for (size_t i = 0; i < expr.inputs.size(); ++i) {
    out_ += i > 0 ? ", " : " ";
    operand(expr.inputs[i]);
  }
  attrs(expr.attrs);
  out_ += " : ";
  type(expr.type);
  out_ += ")";
}

void Writer::attrs(const std::vector<Attr>& attrs) {
  if (attrs.empty()) return;
  out_ += " {";
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (i > 0) out_ += ", ";
    name(attrs[i].name);
    out_ += "=";
    operand(attrs[i].value);
  }
  out_ += "}";
}

void Writer::path_text(const Path& p) {
  for (size_t i = 0; i < p.pieces.size(); ++i) {
    const PathPiece& piece = p.pieces[i];
    if (i > 0)
      out_ += piece.joined ? (piece.placeholder || p.pieces[i - 1].placeholder ? "" : "\\+") : ".";
    if (!piece.placeholder) {
      words::put_escaped(out_, names_.text(piece.text), "'{}.");
      continue;
    }
    out_ += "{";
    name(piece.text);
    if (piece.global.valid()) {
      out_ += "=";
      module_name(piece.global);
    } else if (piece.dim.valid()) {
      out_ += "=<";
      dim(piece.dim);
      out_ += ">";
    } else if (!piece.value.valid()) {
      out_ += "=";
    } else if (module_->values[piece.value].name != piece.text) {
      out_ += "=";
      value_name(piece.value);
    }
    out_ += "}";
  }
}

// ---- types and dims ------------------------------------------------------------------------

void Writer::symbol(SymbolId id) {
  const Symbol& s = dims_.symbol(id);
  name(s.name);
  out_ += words::mark(s.kind);
}

void Writer::type(TypeId id) {
  if (!id.valid()) {
    out_ += "_";
    return;
  }
  const TypeData& data = types_.get(id);
  switch (data.kind) {
    case TypeKind::Variable:
      return symbol(data.variable);
    case TypeKind::Optional:
      out_ += "?";
      return type(data.items[0]);
    case TypeKind::List:
      out_ += "List[";
      type(data.items[0]);
      out_ += "]";
      return;
    case TypeKind::Tuple:
      for (size_t i = 0; i < data.items.size(); ++i) {
        out_ += i > 0 ? ", " : "(";
        type(data.items[i]);
      }
      out_ += ")";
      return;
    case TypeKind::Tensor:
      out_ += "Tensor";
      if (!data.known_rank) return;
      for (size_t i = 0; i < data.axes.size(); ++i) {
        out_ += i > 0 ? "," : "[";
        if (data.axes[i].is_run()) {
          out_ += "..";
          symbol(data.axes[i].run);
        } else {
          dim(data.axes[i].dim);
        }
      }
      out_ += "]";
      return;
    default:
      out_ += words::plain_type(data.kind);
      return;
  }
}

// Strength: 1 sums, 2 products, 3 atoms. `outer` is what the context needs.
void Writer::dim_tree(const DimTable::Tree& tree, int outer) {
  using Kind = DimTable::Tree::Kind;
  auto chain = [&](std::string_view op, int strength, int right) {
    if (strength < outer) out_ += "(";
    for (size_t i = 0; i < tree.operands.size(); ++i) {
      if (i > 0) out_ += op;
      dim_tree(tree.operands[i], i == 0 ? strength : right);
    }
    if (strength < outer) out_ += ")";
  };
  auto call = [&](std::string_view word) {
    out_ += word;
    for (size_t i = 0; i < tree.operands.size(); ++i) {
      out_ += i > 0 ? "," : "(";
      dim_tree(tree.operands[i], 0);
    }
    out_ += ")";
  };
  switch (tree.kind) {
    case Kind::Integer:
      out_ += tree.value < 0 ? "(" + std::to_string(tree.value) + ")" : std::to_string(tree.value);
      return;
    case Kind::Symbol:
      return symbol(tree.symbol);
    case Kind::Add:
      return chain("+", 1, 2);
    case Kind::Sub:
      return chain("-", 1, 2);
    case Kind::Mul:
      return chain("*", 2, 3);
    case Kind::Div:
      return chain("/", 2, 3);
    case Kind::Mod:
      return chain("%", 2, 3);
    case Kind::Min:
      return call("min");
    case Kind::Max:
      return call("max");
  }
}

}  // namespace

std::string write_graph(const Graph& graph, const TypeTable& types, const WriteOptions& options) {
  Writer writer(graph, types, options);
  writer.graph();
  return writer.take();
}

std::string write_module(const Graph& graph, ModuleId module, const TypeTable& types,
                         const WriteOptions& options) {
  Writer writer(graph, types, options);
  writer.module(module);
  return writer.take();
}

std::string show_operand(const Graph& graph, const Module& module, const Operand& operand,
                         const TypeTable& types) {
  WriteOptions options;
  Writer writer(graph, types, options);
  writer.set_module(module);
  writer.operand(operand);
  return writer.take();
}

std::string show_path(const Graph& graph, const Module& module, const Path& path,
                      const TypeTable& types) {
  WriteOptions options;
  Writer writer(graph, types, options);
  writer.set_module(module);
  writer.path(path);
  return writer.take();
}

}  // namespace axon::graph
