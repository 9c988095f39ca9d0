// Writers and readers of stage texts.
#include "sema/stage_text.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "sema/dim_names.h"
#include "sema/program_text.h"
#include "sema/stage_calls.h"
#include "sema/stage_pragmas.h"
#include "sema/type_read.h"
#include "sema/type_syntax.h"
#include "sema/validate.h"
#include "sema/validate_typed.h"
#include "support/text.h"
#include "syntax/parse.h"
#include "syntax/render.h"
#include "syntax/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

// ---- writing -------------------------------------------------------------------------------

ExprId text_literal(std::string_view text, Session& session) {
  return session.ast.add(Expr{String{session.names.intern(text)}, {}});
}

void put_pragma(Module& module, std::string_view name, const std::vector<std::string>& texts,
                Session& session) {
  if (texts.empty()) return;
  List list;
  for (const std::string& text : texts) list.items.push_back(text_literal(text, session));
  Pragma pragma;
  pragma.name = session.names.intern(name);
  pragma.value = session.ast.add(Expr{std::move(list), {}});
  module.pragmas.push_back(pragma);
}

// The program as a module: its stage first, MAIN's interface defaults in its head.
Module module_of(const Program& program, const MainDefaults& main_defaults, Level level,
                 std::string_view stage, Session& session) {
  Module out = as_module(program);
  std::erase_if(out.pragmas,
                [&](const Pragma& p) { return is_stage_pragma(session.names.text(p.name)); });
  Pragma mark;
  mark.name = session.names.intern("stage");
  mark.value = text_literal(stage, session);
  out.pragmas.insert(out.pragmas.begin(), mark);
  put_pragma(out, "overlays", program.overlays, session);
  put_pragma(out, "library", library_of(program, session.names), session);
  if (level >= Level::Flat) {
    put_pragma(out, "helpers", helpers_of(program, session.names), session);
    put_pragma(out, "scopes", scopes_of(program, session), session);
  }
  for (Definition& def : out.definitions) {
    if (def.name != program.main) continue;
    for (const auto& [name, value] : main_defaults) {
      for (Param& param : def.params) {
        if (param.name == name) param.default_value = value;
      }
    }
  }
  return out;
}

// ---- reading -------------------------------------------------------------------------------

// The strings of a pragma; nothing when it holds anything else.
std::optional<std::vector<std::string>> strings(ExprId id, const Session& session) {
  std::vector<ExprId> items{id};
  if (const List* list = session.ast[id].get<List>()) items = list->items;
  std::vector<std::string> out;
  for (ExprId item : items) {
    const String* text = session.ast[item].get<String>();
    if (!text) return {};
    out.emplace_back(session.names.text(text->value));
  }
  return out;
}

struct Reading {
  FileId file;
  std::string stage;
  Session& session;
  bool failed = false;
  StageFacts facts = {};

  void fail(Span span, const std::string& what) {
    if (failed) return;
    failed = true;
    session.sink.report(Diag::LoadStage, span, {stage, what});
  }
  Span whole() const { return {file, 0, 0}; }
};

std::vector<std::string>* facts_of(StageFacts& facts, std::string_view name) {
  if (name == "overlays") return &facts.overlays;
  if (name == "library") return &facts.library;
  if (name == "helpers") return &facts.helpers;
  if (name == "scopes") return &facts.scopes;
  if (name == "constraints") return &facts.constraints;
  return nullptr;
}

// Splits the pragmas into those of the program and those of the stage.
void read_pragmas(const Module& module, Program& program, Reading& r) {
  for (const Pragma& pragma : module.pragmas) {
    std::string_view name = r.session.names.text(pragma.name);
    if (!is_stage_pragma(name)) {
      program.pragmas.push_back(pragma);
      const String* main = r.session.ast[pragma.value].get<String>();
      if (name == "main" && main) program.main = main->value;
      continue;
    }
    auto texts = strings(pragma.value, r.session);
    if (!texts) return r.fail(pragma.span, "pragma `" + std::string(name) + "` holds no strings");
    std::vector<std::string>* into = facts_of(r.facts, name);
    if (into) into->insert(into->end(), texts->begin(), texts->end());
  }
}

// Copies flat code without the parentheses that its text needs, and, for a typed text, without the
// outermost ascription of each expression, which is its type.
class FlatCopy {
 public:
  FlatCopy(Reading& reading, TypeReader* types, std::vector<TypeId>* type_of)
      : r_(reading), ast_(reading.session.ast), types_(types), type_of_(type_of) {}

  void definition(Definition& def) {
    for (StmtId& id : def.body) id = statement(id);
    if (def.body_expr.valid()) def.body_expr = expr(def.body_expr);
  }

  ExprId default_value(ExprId id) {
    bool typed = types_ && ast_[strip_parens(id, ast_)].kind() == ExprKind::Ascribe;
    return typed ? expr(id) : strip_parens(id, ast_);
  }

 private:
  ExprId expr(ExprId id) {
    constexpr int kMaxDepth = 2000;
    id = strip_parens(id, ast_);
    if (depth_ > kMaxDepth) {
      r_.fail(ast_[id].span, "an expression is nested too deeply");
      return id;
    }
    TypeId type;
    if (types_) {
      const Ascribe* mark = ast_[id].get<Ascribe>();
      if (!mark) {
        r_.fail(ast_[id].span, "an expression has no type");
        return id;
      }
      type = types_->type(mark->type);
      id = strip_parens(mark->value, ast_);
    }
    ++depth_;
    ExprId out = ast_.add(parts(ast_[id]));
    --depth_;
    note(out, type);
    return out;
  }

  void note(ExprId id, TypeId type) {
    if (!type_of_) return;
    if (type_of_->size() < ast_.exprs.size()) type_of_->resize(ast_.exprs.size());
    (*type_of_)[static_cast<size_t>(id.index)] = type;
  }

  Expr parts(Expr node) {
    if (List* list = std::get_if<List>(&node.data)) {
      for (ExprId& item : list->items) item = expr(item);
    } else if (Tuple* tuple = std::get_if<Tuple>(&node.data)) {
      for (ExprId& item : tuple->items) item = expr(item);
    } else if (Call* call = std::get_if<Call>(&node.data)) {
      for (Arg& arg : call->args) arg.value = expr(arg.value);
    } else if (Binary* binary = std::get_if<Binary>(&node.data)) {
      binary->left = expr(binary->left);
      binary->right = expr(binary->right);
    } else if (Ternary* ternary = std::get_if<Ternary>(&node.data)) {
      ternary->cond = expr(ternary->cond);
      ternary->then_value = expr(ternary->then_value);
      ternary->else_value = expr(ternary->else_value);
    } else if (Ascribe* ascribe = std::get_if<Ascribe>(&node.data)) {
      ascribe->value = expr(ascribe->value);
    }
    return node;  // anything else is an atom, or what the validator will not let pass
  }

  StmtId statement(StmtId id) {
    Stmt node = ast_[id];
    PathLit none;
    none.absolute = true;
    if (Bind* bind = std::get_if<Bind>(&node.data)) {
      bind->value = expr(bind->value);
      bind->scope = none;
    } else if (Return* ret = std::get_if<Return>(&node.data)) {
      for (ExprId& value : ret->values) value = expr(value);
    } else if (Yield* yield = std::get_if<Yield>(&node.data)) {
      for (ExprId& value : yield->values) value = expr(value);
    } else if (Loop* loop = std::get_if<Loop>(&node.data)) {
      loop->from = expr(loop->from);
      loop->to = expr(loop->to);
      loop->step = step(loop->step);
      loop->lexical_scope = none;
      for (StmtId& inner : loop->body) inner = statement(inner);
    }
    return ast_.add(std::move(node));
  }

  // A step of 1 is not written, and so has no type.
  ExprId step(ExprId id) {
    const Int* one = ast_[id].get<Int>();
    if (!types_ || !one || one->value != 1) return expr(id);
    Expr copy = ast_[id];
    ExprId out = ast_.add(std::move(copy));
    note(out, r_.session.types.int_());
    return out;
  }

  Reading& r_;
  Ast& ast_;
  TypeReader* types_;
  std::vector<TypeId>* type_of_;
  int depth_ = 0;
};

// MAIN keeps its defaults, as those of its interface; the others' say only that they may be left
// out.
void take_defaults(Definition& def, StagedProgram& out, FlatCopy* copy) {
  for (Param& param : def.params) {
    ExprId value = param.default_value;
    param.default_value = {};
    if (!value.valid() || def.name != out.program.main) continue;
    out.main_defaults.emplace_back(param.name, copy ? copy->default_value(value) : value);
  }
}

void read_module(StagedProgram& out, Reading& r) {
  Session& s = r.session;
  Module module = parse(r.file, s.files, s.names, s.ast, s.sink);
  if (s.sink.has_errors()) {
    r.failed = true;
    return;
  }
  if (!module.imports.empty())
    return r.fail(module.imports[0].span,
                  "it imports `" + std::string(s.names.text(module.imports[0].module)) + "`");
  read_pragmas(module, out.program, r);
  out.program.aliases = std::move(module.aliases);
  out.program.definitions = std::move(module.definitions);
  for (size_t i = 0; i < out.program.definitions.size(); ++i)
    out.program.by_name.emplace(out.program.definitions[i].name, i);
  out.program.overlays = r.facts.overlays;
  apply_library(r.facts.library, out.program, s.names);
}

// The validators report bugs of the compiler; here the text is to blame.
void blame_text(size_t before, std::string_view stage, Session& session) {
  std::vector<Diagnostic>& all = session.sink.all();
  for (size_t i = before; i < all.size(); ++i) {
    if (all[i].id != Diag::BugStage) continue;
    all[i].id = Diag::LoadStage;
    all[i].args[0] = DiagArg(std::string(stage));
  }
}

void validate(const Program& program, Level level, Session& session) {
  switch (level) {
    case Level::Closed:
      return validate_closed(program, session);
    case Level::Normalized:
      return validate_normalized(program, session);
    case Level::Elaborated:
      return validate_elaborated(program, session);
    case Level::Flat:
    case Level::Typed:
      return validate_flat(program, session);
  }
}

// ---- typed texts ---------------------------------------------------------------------------

// The dims of constraints, through the parser of types.
void read_constraints(TypedProgram& out, Reading& r) {
  Session& s = r.session;
  std::vector<ConstraintText> parts;
  std::string wrong = split_constraints(r.facts.constraints, out.flat.program, s.names, parts);
  if (!wrong.empty()) return r.fail(r.whole(), wrong);
  if (parts.empty()) return;
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    text += "type Fact" + std::to_string(i) + " = Tensor[" + std::string(parts[i].left) + "," +
            std::string(parts[i].right) + "]\n";
  }
  FileId file = s.files.add("constraints of a program", text);
  Module module = parse(file, s.files, s.names, s.ast, s.sink);
  if (s.sink.has_errors() || module.aliases.size() != parts.size()) {
    r.failed = true;
    return;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const Definition& def = out.flat.program.definitions[parts[i].definition];
    TypeReader types(def, out.flat.program, s);
    const std::vector<DimId> dims = s.types.dims_of(types.type(module.aliases[i].type));
    if (!types.error().empty() || dims.size() != 2)
      return r.fail(def.name_span, "a constraint cannot be read");
    TypedDefinition& typed = out.definitions[parts[i].definition];
    auto symbol = s.dims.as_symbol(dims[0]);
    auto value = s.dims.as_integer(dims[1]);
    if (is_constant(def) && symbol && s.dims.symbol(*symbol).name == def.name && value) {
      s.dims.set_value(*symbol, *value);
      continue;
    }
    typed.constraints.push_back(
        {dims[0], dims[1], parts[i].or_one, parts[i].guarded, parts[i].guards});
  }
}

void keep_symbols(TypeId id, const TypeTable& types, std::set<SymbolId>& out) {
  const TypeData& data = types.get(id);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types.dims().symbols(axis.dim)) out.insert(symbol);
  }
  for (TypeId item : data.items) keep_symbols(item, types, out);
}

// What dim names mean: those of the header, those that were made equal to others, those of
// ascriptions.
void name_dims(const Definition& def, const TypedProgram& program, TypedDefinition& typed,
               Session& session) {
  DimNames names(session.ast, session.types);
  // A name that the parameters still have is itself; of others a constraint says what became of
  // them.
  std::set<SymbolId> kept;
  for (const TypedParam& param : typed.params) keep_symbols(param.type, session.types, kept);
  for (const TypedConstraint& c : typed.constraints) {
    auto symbol = session.dims.as_symbol(c.left);
    bool plain = symbol && !c.or_one && kept.count(*symbol) == 0 &&
                 session.dims.symbol(*symbol).kind == SymbolKind::Variable;
    if (plain) names.tell(session.dims.symbol(*symbol).name, c.right);
  }
  for (const TypedParam& param : typed.params) names.learn_symbols(param.type);
  for (SymbolId symbol : shared_symbols(typed.return_type, session.types))
    names.tell(session.dims.symbol(symbol).name, session.dims.of(symbol));
  walk(def, session.ast,
       {[&](ExprId id, const Expr& e) {
          if (const Ascribe* a = e.get<Ascribe>())
            names.learn(a->type, program.type_of[static_cast<size_t>(id.index)]);
        },
        [](StmtId, const Stmt&) {}});
  for (const auto& known : names.all()) {
    const Definition* same = find_definition(program.flat.program, known.first);
    if (same && is_constant(*same)) continue;
    typed.dim_values.push_back(known);
  }
}

// The result of a global binding, which has no header: what it returns.
TypeId result_of(const Definition& def, const TypedProgram& program, Session& session) {
  if (def.body.empty()) return {};
  const Return* ret = session.ast[def.body.back()].get<Return>();
  if (!ret) return {};
  std::vector<TypeId> types;
  for (ExprId value : ret->values)
    types.push_back(program.type_of[static_cast<size_t>(value.index)]);
  return types.size() == 1 ? types[0] : session.types.tuple(std::move(types));
}

void type_definition(size_t index, TypedProgram& out, StagedProgram& staged, Reading& r) {
  Session& s = r.session;
  Definition& def = out.flat.program.definitions[index];
  TypedDefinition& typed = out.definitions[index];
  TypeReader types(def, out.flat.program, s);
  FlatCopy copy(r, &types, &out.type_of);
  copy.definition(def);
  take_defaults(def, staged, &copy);
  for (const Param& param : def.params) {
    if (!param.type.valid()) return r.fail(def.name_span, "a parameter has no type");
    TypeId type = types.type(param.type);
    if (param.optional) type = s.types.optional(type);
    typed.params.push_back({param.name, type, param.optional});
  }
  if (def.return_type.valid()) {
    typed.return_type = types.type(def.return_type);
  } else if (def.is_global && !r.failed) {
    typed.return_type = result_of(def, out, s);
  }
  if (!typed.return_type.valid()) r.fail(def.name_span, "a result has no type");
  if (!types.error().empty()) r.fail(def.name_span, types.error());
}

}  // namespace

std::optional<std::string> stage_of(std::string_view text) {
  size_t at = starts_with(text, "\xEF\xBB\xBF") ? 3 : 0;
  auto blanks = [&](bool comments) {
    while (at < text.size()) {
      if (std::isspace(static_cast<unsigned char>(text[at]))) {
        ++at;
      } else if (comments && text.substr(at, 2) == "--") {
        at = std::min(text.find('\n', at), text.size());
      } else {
        return;
      }
    }
  };
  blanks(true);
  if (text.substr(at, 3) != "{-#") return {};
  at += 3;
  blanks(false);
  if (lower_ascii(text.substr(at, 5)) != "stage") return {};
  at += 5;
  blanks(false);
  if (at >= text.size() || text[at] != '"') return {};
  size_t end = text.find('"', at + 1);
  if (end == text.npos) return {};
  return std::string(text.substr(at + 1, end - at - 1));
}

std::string write_program(const StagedProgram& staged, Level level, std::string_view stage,
                          Session& session) {
  Module module = module_of(staged.program, staged.main_defaults, level, stage, session);
  return render(module, session.ast, session.names);
}

std::string write_typed(const TypedProgram& typed, std::string_view stage, Session& session) {
  Module module =
      module_of(typed.flat.program, typed.flat.main_defaults, Level::Typed, stage, session);
  put_pragma(module, "constraints", constraints_of(typed, session), session);
  std::vector<TypeExprId> types = types_to_syntax(typed, session);
  RenderOptions options;
  options.types = &types;
  return render(module, session.ast, session.names, options);
}

StagedProgram read_program(FileId file, Level level, std::string_view stage, Session& session) {
  StagedProgram out;
  Reading r{file, std::string(stage), session};
  read_module(out, r);
  if (r.failed) return out;
  if (level >= Level::Normalized) restore_calls(out.program, session);
  FlatCopy copy(r, nullptr, nullptr);
  for (Definition& def : out.program.definitions) {
    if (level >= Level::Flat) copy.definition(def);
    if (level >= Level::Elaborated) take_defaults(def, out, level >= Level::Flat ? &copy : nullptr);
  }
  std::string wrong = apply_helpers(r.facts.helpers, out.program, session.names);
  if (wrong.empty()) wrong = apply_scopes(r.facts.scopes, out.program, session);
  if (!wrong.empty()) r.fail(r.whole(), wrong);
  if (r.failed) return out;
  size_t before = session.sink.all().size();
  validate(out.program, level, session);
  validate_acyclic(out.program, session);
  blame_text(before, stage, session);
  return out;
}

TypedProgram read_typed(FileId file, std::string_view stage, Session& session) {
  TypedProgram out;
  StagedProgram staged;
  Reading r{file, std::string(stage), session};
  read_module(staged, r);
  if (r.failed) return out;
  restore_calls(staged.program, session);
  out.flat.program = staged.program;
  Program& program = out.flat.program;
  out.definitions.resize(program.definitions.size());
  for (size_t i = 0; i < program.definitions.size() && !r.failed; ++i)
    type_definition(i, out, staged, r);
  out.flat.main_defaults = staged.main_defaults;
  std::string wrong = apply_helpers(r.facts.helpers, program, session.names);
  if (wrong.empty()) wrong = apply_scopes(r.facts.scopes, program, session);
  if (!wrong.empty()) r.fail(r.whole(), wrong);
  out.type_of.resize(session.ast.exprs.size());
  if (!r.failed) read_constraints(out, r);
  if (r.failed) return out;
  for (size_t i = 0; i < program.definitions.size(); ++i)
    name_dims(program.definitions[i], out, out.definitions[i], session);
  size_t before = session.sink.all().size();
  validate_flat(program, session);
  validate_acyclic(program, session);
  if (!session.sink.has_errors()) validate_typed(out, session, stage == "final");
  blame_text(before, stage, session);
  return out;
}

void check_names(const TypedProgram& typed, std::string_view stage, Session& session) {
  size_t before = session.sink.all().size();
  validate_names(typed, session);
  blame_text(before, stage, session);
}

}  // namespace axon::sema
