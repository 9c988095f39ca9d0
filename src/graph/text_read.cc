// Reads the text form of a Graph.
#include <limits>
#include <unordered_map>

#include "graph/builder.h"
#include "graph/text.h"
#include "graph/text_cursor.h"
#include "graph/text_words.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using ValueNames = std::unordered_map<NameId, ValueId, IdHash>;

class Reader {
 public:
  Reader(std::string_view text, TypeTable& types, FileId file)
      : in_(text, types), file_(file), types_(types), names_(types.dims().names()) {}

  Result<Graph> read() {
    std::vector<size_t> bodies = headers();
    preamble();
    for (size_t i = 0; i < bodies.size() && in_.ok(); ++i) {
      in_.seek(bodies[i]);
      enter(i);
      body();
      in_.skip();
      if (in_.ok() && i + 1 < bodies.size() && !in_.at_header()) in_.fail("expected a module");
      if (in_.ok() && i + 1 == bodies.size() && !in_.at_end()) in_.fail("text after the graph");
    }
    if (!in_.ok()) return in_.error();
    return std::move(graph_);
  }

 private:
  Module& module() { return graph_.modules[current_]; }
  void enter(size_t index) {
    current_ = index;
    values_ = &value_names_[index];
  }

  std::vector<size_t> headers();
  void header();
  void preamble();
  void body();
  void node();
  void repeat(Node& node);
  std::vector<int32_t> indices();
  void constraint();
  Fact fact();
  void returns();
  ValueId add_value(NameId name, TypeId type, DType dtype);
  ValueId value_ref();
  ModuleId module_ref();
  NameId optional_name();
  Operand operand();
  Operand parenthesised();
  Operand word_operand();
  Operand natural(Operand operand) {
    if (!in_.ok()) return {};
    operand.type = natural_type(module(), &graph_, operand, types_);
    return operand;
  }
  Op op();
  std::vector<Operand> inputs();
  std::vector<Attr> attrs();
  Path path(bool absolute);
  PathPiece placeholder();
  DType dtype();

  size_t begin() {
    in_.skip();
    return in_.position();
  }
  Span span_from(size_t begin) const {
    if (!file_.valid()) return {};
    return {file_, static_cast<int32_t>(begin), static_cast<int32_t>(in_.token_end())};
  }

  Cursor in_;
  FileId file_;
  TypeTable& types_;
  Interner& names_;
  Graph graph_;
  std::vector<ValueNames> value_names_;
  ValueNames* values_ = nullptr;
  size_t current_ = 0;
};

// Reads every module's head first, so that bodies may refer to any module.
std::vector<size_t> Reader::headers() {
  std::vector<size_t> bodies;
  for (size_t line : in_.header_lines()) {
    in_.seek(line);
    if (!in_.ok()) break;
    graph_.modules.emplace_back();
    value_names_.emplace_back();
    // Vectors may have moved.
    enter(graph_.modules.size() - 1);
    header();
    bodies.push_back(in_.position());
  }
  if (in_.ok()) in_.seek(0);
  return bodies;
}

void Reader::header() {
  const size_t from = begin();
  module().is_global = in_.word() == "global";
  in_.expect("$");
  module().name = in_.name();
  for (size_t i = 0; i + 1 < graph_.modules.size() && in_.ok(); ++i) {
    if (graph_.modules[i].name == module().name) in_.fail("module occurs twice");
  }
  in_.expect("(");
  while (in_.ok() && !in_.accept(")")) {
    if (!module().inputs.empty()) in_.expect(",");
    in_.expect("%");
    NameId name = in_.name();
    bool optional = in_.accept("?");
    in_.expect(":");
    TypeId type = in_.type();
    ValueId value = add_value(name, type, dtype());
    module().values[value].optional = optional;
    module().inputs.push_back(value);
  }
  in_.expect("->");
  module().return_type = in_.type();
  module().span = span_from(from);
  in_.expect("{");
}

void Reader::preamble() {
  if (in_.ok() && (in_.word() != "graph-ir" || in_.integer() != 1)) {
    in_.fail("expected `graph-ir 1`");
  }
  while (in_.ok()) {
    in_.skip();
    if (in_.at_end() || in_.at_header()) return;
    std::string_view word = in_.word();
    if (word == "pragma") {
      NameId name = in_.name();
      if (in_.ok()) name = names_.intern(lower_ascii(names_.text(name)));
      graph_.pragmas.push_back({name, in_.rest_of_line()});
    } else if (word == "main") {
      graph_.main = module_ref();
    } else if (word == "rigid") {
      SymbolId symbol = in_.symbol();
      in_.expect("=");
      int64_t value = in_.integer();
      if (in_.ok()) types_.dims().set_value(symbol, value);
    } else {
      in_.fail("expected `pragma`, `main`, `rigid` or a module");
    }
  }
}

void Reader::body() {
  while (in_.ok()) {
    in_.skip();
    if (in_.accept("}")) return;
    if (in_.peek() == '%' || in_.peek() == '=') {
      node();
      continue;
    }
    std::string_view word = in_.word();
    if (word == "return") {
      returns();
    } else if (word == "constraint") {
      constraint();
    } else if (word == "default") {
      ValueId value = value_ref();
      int32_t index = -1;
      for (size_t i = 0; i < module().inputs.size(); ++i) {
        if (module().inputs[i] == value) index = static_cast<int32_t>(i);
      }
      if (in_.ok() && index < 0) in_.fail("default of a value that is no input");
      in_.expect("=");
      module().defaults.push_back({index, operand()});
    } else {
      in_.fail("expected a node, `constraint`, `default`, `return` or `}`");
    }
  }
}

ValueId Reader::add_value(NameId name, TypeId type, DType dtype) {
  Value value;
  value.name = name;
  value.type = type;
  value.dtype = dtype;
  ValueId id = module().values.add(value);
  if (!values_->emplace(name, id).second && in_.ok()) in_.fail("value is defined twice");
  return id;
}

ValueId Reader::value_ref() {
  in_.expect("%");
  NameId name = in_.name();
  if (!in_.ok()) return {};
  auto found = values_->find(name);
  if (found == values_->end()) {
    in_.fail("value `%" + std::string(names_.text(name)) + "` is not defined before its use");
    return {};
  }
  return found->second;
}

ModuleId Reader::module_ref() {
  in_.expect("$");
  NameId name = in_.name();
  if (!in_.ok()) return {};
  ModuleId id = find_module(graph_, name);
  if (!id.valid()) in_.fail("module `" + std::string(names_.text(name)) + "` is not in the graph");
  return id;
}

NameId Reader::optional_name() { return in_.accept_blank() ? NameId{} : in_.name(); }

DType Reader::dtype() {
  size_t before = in_.position();
  if (auto found = words::read_dtype(in_.peek_word())) {
    in_.word();
    return *found;
  }
  in_.seek(before);
  return DType::Unknown;
}

void Reader::node() {
  struct Output {
    NameId name;
    TypeId type;
    DType dtype = DType::Unknown;
  };
  std::vector<Output> outputs;
  bool typed = false;
  const size_t from = begin();
  while (in_.ok() && in_.peek() == '%') {
    in_.expect("%");
    Output output;
    output.name = in_.name();
    if (in_.accept(":")) {
      typed = true;
      output.type = in_.type();
      output.dtype = dtype();
    }
    outputs.push_back(output);
    if (!in_.accept(",")) break;
  }
  in_.expect("=");
  Node node;
  node.source = module().name;
  node.op = op();
  if (node.op == Op::CoreCall) node.callee = module_ref();
  node.inputs = inputs();
  if (in_.peek_word() == "loop") repeat(node);
  node.attrs = attrs();
  in_.expect(":");
  node.type = in_.type();
  if (!typed && outputs.size() == 1) {
    outputs[0].type = node.type;
    outputs[0].dtype = dtype();
  } else if (!typed && !outputs.empty() && in_.ok()) {
    in_.fail("several outputs need a type each");
  }
  if (in_.accept("@")) {
    bool relative = in_.peek_word() == "relative";
    if (relative) in_.word();
    node.scope = path(!relative);
  }
  if (in_.peek_word() == "from") {
    in_.word();
    node.source = optional_name();
  }
  node.span = span_from(from);
  if (!in_.ok()) return;
  NodeId id = module().nodes.add(std::move(node));
  module().order.push_back(id);
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueId value = add_value(outputs[i].name, outputs[i].type, outputs[i].dtype);
    module().values[value].producer = id;
    module().values[value].output_index = static_cast<int32_t>(i);
    module().nodes[id].outputs.push_back(value);
  }
}

void Reader::repeat(Node& node) {
  RepeatInfo info;
  in_.word();
  in_.expect("(");
  info.callee = module_ref();
  in_.expect(";");
  if (in_.word() != "var" && in_.ok()) in_.fail("expected `var`");
  info.var = optional_name();
  while (in_.accept(";")) {
    std::string_view section = in_.word();
    if (section == "carry") {
      while (in_.ok() && in_.peek() != ';' && in_.peek() != ')') {
        info.carry_names.push_back(optional_name());
      }
    } else if (section == "args") {
      while (in_.ok() && in_.peek() != ';' && in_.peek() != ')') {
        std::string_view role = in_.word();
        RepeatArg arg;
        if (role == "carry")
          arg.kind = RepeatArg::Kind::Carry;
        else if (role == "input")
          arg.kind = RepeatArg::Kind::Input;
        else if (role != "iter" && in_.ok())
          in_.fail("expected `iter`, `carry:n` or `input:n`");
        if (role != "iter") {
          in_.expect(":");
          arg.index = static_cast<int32_t>(in_.integer());
        }
        info.args.push_back(arg);
      }
    } else if (section == "scan") {
      info.scan_inputs = indices();
    } else if (section == "stack") {
      info.stack_carries = indices();
    } else if (in_.ok()) {
      in_.fail("expected `carry`, `args`, `scan` or `stack`");
    }
  }
  in_.expect(")");
  node.repeat = static_cast<int32_t>(module().repeats.size());
  module().repeats.push_back(std::move(info));
}

std::vector<int32_t> Reader::indices() {
  std::vector<int32_t> out;
  while (in_.ok() && in_.peek() >= '0' && in_.peek() <= '9') {
    out.push_back(static_cast<int32_t>(in_.integer()));
  }
  return out;
}

void Reader::constraint() {
  Constraint c;
  const size_t from = begin();
  c.fact = fact();
  while (in_.peek_word() == (c.guards.empty() ? "if" : "and")) {
    in_.word();
    c.guards.push_back(fact());
  }
  c.span = span_from(from);
  module().constraints.push_back(std::move(c));
}

Fact Reader::fact() {
  Fact f;
  f.left = operand();
  if (in_.peek_word() == "is") {
    in_.word();
    std::string_view what = in_.word();
    if (what == "true")
      f.relation = Relation::IsTrue;
    else if (what == "false")
      f.relation = Relation::IsFalse;
    else if (what == "null")
      f.relation = Relation::IsNull;
    else if (what == "not" && in_.word() == "null")
      f.relation = Relation::NotNull;
    else if (in_.ok())
      in_.fail("expected `true`, `false`, `null` or `not null`");
    return f;
  }
  if (in_.accept("=="))
    f.relation = Relation::Eq;
  else if (in_.accept("!="))
    f.relation = Relation::Ne;
  else if (in_.accept("<="))
    f.relation = Relation::Le;
  else if (in_.accept("<"))
    f.relation = Relation::Lt;
  else if (in_.ok())
    in_.fail("expected a relation");
  f.right = operand();
  return f;
}

void Reader::returns() {
  in_.skip();
  while (in_.ok() && in_.peek() != '}') {
    if (!module().outputs.empty()) in_.expect(",");
    module().outputs.push_back(operand());
    if (in_.peek_word() != "as") continue;
    in_.word();
    module().output_names.push_back(optional_name());
  }
}

Op Reader::op() {
  std::string_view word = in_.op_word();
  auto found = find_op(word);
  if (!found && in_.ok()) in_.fail("operation `" + std::string(word) + "` is not known");
  return found.value_or(Op::CoreAlias);
}

std::vector<Operand> Reader::inputs() {
  std::vector<Operand> out;
  char c = in_.peek();
  if (c == ':' || c == '{' || in_.peek_word() == "loop") return out;
  do {
    out.push_back(operand());
  } while (in_.accept(","));
  return out;
}

std::vector<Attr> Reader::attrs() {
  std::vector<Attr> out;
  if (!in_.accept("{")) return out;
  do {
    NameId name = in_.name();
    in_.expect("=");
    out.push_back({name, operand()});
  } while (in_.accept(","));
  in_.expect("}");
  return out;
}

Operand Reader::operand() {
  if (!in_.ok()) return {};
  switch (in_.peek()) {
    case '%': {
      ValueId value = value_ref();
      return value.valid() ? natural({Ref{value}, {}}) : Operand{};
    }
    case '$':
      return natural({GlobalRef{module_ref()}, {}});
    case '<': {
      in_.expect("<");
      DimId dim = in_.dim();
      in_.expect(">");
      return natural({DimRef{dim}, {}});
    }
    case '"':
      return natural({LitString{names_.intern(in_.string())}, {}});
    case '@': {
      in_.expect("@");
      return natural({path(in_.accept("@")), {}});
    }
    case '(':
      return parenthesised();
    default:
      return word_operand();
  }
}

Operand Reader::word_operand() {
  std::string_view word = in_.peek_word();
  if (word == "null" || word == "true" || word == "false") {
    in_.word();
    if (word == "null") return natural({LitNull{}, {}});
    return natural({LitBool{word == "true"}, {}});
  }
  Cursor::Number number = in_.number();
  if (number.is_float) return natural({LitFloat{number.real}, {}});
  return natural({LitInt{number.integer}, {}});
}

// `(op inputs {attrs} : T)`, or an operand with a type of its own: `(operand :: T)`.
Operand Reader::parenthesised() {
  const size_t from = begin();
  in_.expect("(");
  std::string_view word = in_.peek_word();
  bool literal =
      word == "null" || word == "true" || word == "false" || word == "inf" || word == "nan";
  if (word.empty() || literal) {
    Operand inner = operand();
    in_.expect("::");
    inner.type = in_.type();
    in_.expect(")");
    return inner;
  }
  NestedExpr expr;
  expr.op = op();
  if (expr.op == Op::CoreCall) expr.callee = module_ref();
  expr.inputs = inputs();
  expr.attrs = attrs();
  in_.expect(":");
  expr.type = in_.type();
  in_.expect(")");
  expr.span = span_from(from);
  return natural({Nested{module().nested.add(std::move(expr))}, {}});
}

Path Reader::path(bool absolute) {
  Path out;
  out.absolute = absolute;
  in_.expect("'");
  bool joined = false;
  while (in_.ok() && !in_.raw_accept('\'')) {
    if (in_.raw_accept('.')) {
      joined = false;
      continue;
    }
    PathPiece piece;
    if (in_.raw_accept('{')) {
      piece = placeholder();
    } else {
      piece.text = names_.intern(in_.path_text());
    }
    piece.joined = joined;
    joined = true;
    out.pieces.push_back(piece);
  }
  return out;
}

// After `{`: a value by its own name, or `name=` and what it reads.
PathPiece Reader::placeholder() {
  PathPiece piece;
  piece.placeholder = true;
  piece.text = optional_name();
  if (in_.accept("=")) {
    if (in_.peek() == '$')
      piece.global = module_ref();
    else if (in_.peek() == '%')
      piece.value = value_ref();
    else if (in_.accept("<")) {
      piece.dim = in_.dim();
      in_.expect(">");
    }
  } else if (in_.ok()) {
    auto found = values_->find(piece.text);
    if (found == values_->end())
      in_.fail("placeholder names no value");
    else
      piece.value = found->second;
  }
  in_.expect("}");
  return piece;
}

}  // namespace

Result<Graph> read_graph(std::string_view text, TypeTable& types, FileId file) {
  return Reader(text, types, file).read();
}

}  // namespace axon::graph
