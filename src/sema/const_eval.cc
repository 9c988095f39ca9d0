// Evaluation of constant bodies and of calls that read the config.
#include "sema/const_eval.h"

#include <array>
#include <cmath>

#include "sema/callee.h"
#include "support/arithmetic.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;
using Kind = ConstValue::Kind;

namespace {

struct KnownRow {
  std::string_view name;
  KnownCall call;
};
constexpr std::array<KnownRow, 20> kKnown = {{{"Config.int", KnownCall::ConfigInt},
                                              {"Config.dim", KnownCall::ConfigDim},
                                              {"Config.float", KnownCall::ConfigFloat},
                                              {"Config.str", KnownCall::ConfigStr},
                                              {"Config.bool", KnownCall::ConfigBool},
                                              {"Config.list", KnownCall::ConfigList},
                                              {"Config.value", KnownCall::ConfigValue},
                                              {"Config.has_key", KnownCall::ConfigHasKey},
                                              {"Config.has_value", KnownCall::ConfigHasValue},
                                              {"Params.has_root", KnownCall::HasRoot},
                                              {"Math.sqrt", KnownCall::Sqrt},
                                              {"Math.log", KnownCall::Log},
                                              {"Math.exp", KnownCall::Exp},
                                              {"Math.sin", KnownCall::Sin},
                                              {"Math.cos", KnownCall::Cos},
                                              {"Math.pow", KnownCall::Pow},
                                              {"Math.abs", KnownCall::Abs},
                                              {"Math.min", KnownCall::Min},
                                              {"Math.max", KnownCall::Max},
                                              {"Math.floor", KnownCall::Floor}}};

std::optional<ConstValue> from_config(const model::ConfigValue& value) {
  using CK = model::ConfigValue::Kind;
  switch (value.kind) {
    case CK::Null:
      return ConstValue();
    case CK::Bool:
      return ConstValue::of(value.boolean);
    case CK::Int:
      return ConstValue::of(value.integer);
    case CK::Float:
      return ConstValue::of(value.number);
    case CK::String:
      return ConstValue::of(value.text);
    case CK::List: {
      ConstValue out;
      out.kind = Kind::List;
      for (const model::ConfigValue& item : value.items) {
        auto one = from_config(item);
        if (!one) return {};
        out.items.push_back(std::move(*one));
      }
      return out;
    }
    case CK::Map:
      return {};
  }
  return {};
}

// The conversions of language.md 8.7.
std::optional<ConstValue> convert(KnownCall call, const model::ConfigValue& value, bool& inexact) {
  using CK = model::ConfigValue::Kind;
  switch (call) {
    case KnownCall::ConfigInt:
    case KnownCall::ConfigDim: {
      if (value.kind == CK::Int) return ConstValue::of(value.integer);
      if (value.kind == CK::String) {
        auto number = parse_int(value.text);
        if (number) return ConstValue::of(*number);
      }
      bool integral = value.kind == CK::Float && std::nearbyint(value.number) == value.number &&
                      std::fabs(value.number) < 9e18;
      if (!integral) return {};
      inexact = true;
      return ConstValue::of(static_cast<int64_t>(value.number));
    }
    case KnownCall::ConfigFloat: {
      if (value.kind == CK::Float) return ConstValue::of(value.number);
      if (value.kind == CK::Int) return ConstValue::of(static_cast<double>(value.integer));
      auto number = value.kind == CK::String ? parse_double(value.text) : std::nullopt;
      if (!number) return {};
      return ConstValue::of(*number);
    }
    case KnownCall::ConfigStr:
      if (value.kind != CK::String) return {};
      return ConstValue::of(value.text);
    case KnownCall::ConfigBool: {
      if (value.kind == CK::Bool) return ConstValue::of(value.boolean);
      std::string text = value.kind == CK::String ? lower_ascii(value.text) : "";
      if (text != "true" && text != "false") return {};
      return ConstValue::of(text == "true");
    }
    case KnownCall::ConfigList:
      if (value.kind != CK::List) return {};
      return from_config(value);
    default:
      return from_config(value);
  }
}

// A default as the read would hand it on.
std::optional<ConstValue> as_result(KnownCall call, const ConstValue& value) {
  switch (call) {
    case KnownCall::ConfigInt:
    case KnownCall::ConfigDim:
      if (value.kind != Kind::Int) return {};
      return value;
    case KnownCall::ConfigFloat:
      if (value.kind == Kind::Int) return ConstValue::of(static_cast<double>(value.integer));
      if (value.kind != Kind::Float) return {};
      return value;
    case KnownCall::ConfigStr:
      if (value.kind != Kind::String) return {};
      return value;
    case KnownCall::ConfigBool:
      if (value.kind != Kind::Bool) return {};
      return value;
    case KnownCall::ConfigList:
      if (value.kind != Kind::List) return {};
      return value;
    default:
      return value;
  }
}

}  // namespace

bool reads_config(KnownCall call) {
  return call >= KnownCall::ConfigInt && call <= KnownCall::ConfigHasValue;
}

// Only definitions of the library count, or of a program that was written out whole.
ConstEval::ConstEval(const Program& program, const Answers& answers, Session& session)
    : program_(program), answers_(answers), session_(session) {
  const Definition* main = find_definition(program, program.main);
  for (const KnownRow& row : kKnown) {
    NameId name = session.names.find(row.name);
    const Definition* def = name.valid() ? find_definition(program, name) : nullptr;
    if (!def || !(def->from_library || (main && def->origin == main->origin))) continue;
    known_.emplace(name, row.call);
  }
}

KnownCall ConstEval::known_call(NameId callee) const {
  auto found = known_.find(callee);
  return found == known_.end() ? KnownCall::None : found->second;
}

std::optional<ConstValue> ConstEval::constant(NameId name) {
  auto known = constants_.find(name);
  if (known != constants_.end()) return known->second;
  const Definition* def = find_definition(program_, name);
  if (!def || !is_constant(*def) || !open_.insert(name).second) return {};
  std::vector<Frame> frames;
  frames.swap(frames_);
  const LocalScope* locals = locals_;
  locals_ = nullptr;
  std::optional<ConstValue> value = eval_body(*def);
  locals_ = locals;
  frames_.swap(frames);
  open_.erase(name);
  constants_.emplace(name, value);
  return value;
}

std::optional<ConstValue> ConstEval::eval_body(const Definition& def) {
  return def.statement_body ? eval_block(def.body) : eval(def.body_expr);
}

// Binds of single names and a return; anything else is not known.
std::optional<ConstValue> ConstEval::eval_block(const std::vector<StmtId>& body) {
  frames_.emplace_back();
  std::optional<ConstValue> out;
  for (StmtId id : body) {
    const Stmt stmt = session_.ast[id];
    if (const Bind* bound = stmt.get<Bind>()) {
      std::optional<ConstValue> value = eval(bound->value);
      bool single = bound->targets.size() == 1;
      for (const Target& target : bound->targets) {
        frames_.back()[target.name] = single ? value : std::nullopt;
      }
      continue;
    }
    const Return* ret = stmt.get<Return>();
    if (ret && ret->values.size() == 1) out = eval(ret->values[0]);
    break;
  }
  frames_.pop_back();
  return out;
}

std::optional<ConstValue> ConstEval::eval_name(NameId name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    auto found = frame->find(name);
    if (found != frame->end()) return found->second;
  }
  if (locals_ && locals_->contains(name)) return {};
  return constant(name);
}

std::optional<ConstValue> ConstEval::eval_path(const PathLit& path) {
  std::string text;
  for (const PathPiece& piece : path.pieces) {
    std::string part(session_.names.text(piece.text));
    if (piece.placeholder) {
      auto value = eval_name(piece.text);
      if (!value) return {};
      if (value->kind == Kind::Int) {
        part = std::to_string(value->integer);
      } else if (value->kind == Kind::String || value->kind == Kind::Path) {
        part = value->text;
      } else {
        return {};
      }
    }
    if (!piece.joined) text += '.';
    text += part;
  }
  ConstValue out;
  out.kind = Kind::Path;
  for (std::string_view segment : split(text, '.')) {
    if (segment.empty()) continue;
    if (!out.text.empty()) out.text += '.';
    out.text += segment;
  }
  return out;
}

std::optional<ConstValue> ConstEval::eval_choice(ExprId cond, ExprId a, ExprId b) {
  auto test = eval(cond);
  if (!test || (test->kind != Kind::Bool && test->kind != Kind::Null)) return {};
  return eval(test->kind == Kind::Bool && test->boolean ? a : b);
}

std::optional<ConstValue> ConstEval::eval_ascription(const Ascribe& node) {
  auto value = eval(node.value);
  if (!value || value->kind != Kind::Int) return value;
  TypeExprId type_id = node.type;
  if (session_.ast[type_id].kind() == TypeExprKind::Optional) {
    type_id = session_.ast[type_id].as<TypeOptional>().inner;
  }
  const TypeExpr& type = session_.ast[type_id];
  if (type.kind() != TypeExprKind::Named) return value;
  std::string_view name = session_.names.text(type.as<TypeNamed>().name);
  if (name != "Float" && name != "F") return value;
  return ConstValue::of(static_cast<double>(value->integer));
}

std::optional<ConstValue> ConstEval::eval(ExprId id) {
  const Expr node = session_.ast[id];
  switch (node.kind()) {
    case ExprKind::Name: {
      const Name& name = node.as<Name>();
      if (name.suffixes.empty()) return eval_name(name.name);
      return eval_call(Call{name.name, node.span, name.suffixes, {}}, {});
    }
    case ExprKind::Int:
      return ConstValue::of(node.as<Int>().value);
    case ExprKind::Float:
      return ConstValue::of(node.as<Float>().value);
    case ExprKind::Bool:
      return ConstValue::of(node.as<Bool>().value);
    case ExprKind::Null:
      if (node.as<Null>().unread) return {};
      return ConstValue();
    case ExprKind::String:
      return ConstValue::of(std::string(session_.names.text(node.as<String>().value)));
    case ExprKind::Path:
      return eval_path(node.as<PathExpr>().path);
    case ExprKind::List: {
      ConstValue out;
      out.kind = Kind::List;
      for (ExprId item : node.as<List>().items) {
        auto value = eval(item);
        if (!value) return {};
        out.items.push_back(std::move(*value));
      }
      return out;
    }
    case ExprKind::Call:
      return eval_call(node.as<Call>(), {});
    case ExprKind::Pipe:
      return eval_pipe(node.as<Pipe>());
    case ExprKind::BindExpr: {
      const BindExpr& bound = node.as<BindExpr>();
      auto value = eval(bound.value);
      frames_.emplace_back();
      frames_.back()[bound.var] = value;
      auto out = eval(bound.body);
      frames_.pop_back();
      return out;
    }
    case ExprKind::If:
      return eval_choice(node.as<If>().cond, node.as<If>().then_value, node.as<If>().else_value);
    case ExprKind::Ternary:
      return eval_choice(node.as<Ternary>().cond, node.as<Ternary>().then_value,
                         node.as<Ternary>().else_value);
    case ExprKind::Binary: {
      auto left = eval(node.as<Binary>().left);
      auto right = eval(node.as<Binary>().right);
      if (!left || !right) return {};
      return binary_value(node.as<Binary>().op, *left, *right);
    }
    case ExprKind::Paren:
      return eval(node.as<Paren>().inner);
    case ExprKind::Ascribe:
      return eval_ascription(node.as<Ascribe>());
    case ExprKind::Do:
      return eval_block(node.as<Do>().body);
    case ExprKind::Tuple:
    case ExprKind::Lambda:
      return {};
  }
  return {};
}

std::optional<ConstValue> ConstEval::eval_pipe(const Pipe& pipe) {
  if (pipe.stages.size() != 1) return {};
  const Expr stage = session_.ast[strip_parens(pipe.stages[0], session_.ast)];
  if (const Name* name = stage.get<Name>()) {
    return eval_call(Call{name->name, stage.span, name->suffixes, {}}, pipe.value);
  }
  if (stage.kind() == ExprKind::Call) return eval_call(stage.as<Call>(), pipe.value);
  return {};
}

std::optional<std::vector<std::optional<ConstValue>>> ConstEval::arguments(const Call& call,
                                                                           ExprId piped) {
  Callee callee = find_callee(call.callee, program_, session_.ast, session_.names);
  std::vector<std::optional<ConstValue>> out(callee.formals.size());
  size_t next = 0;
  bool ok = true;
  auto put = [&](size_t at, std::optional<ConstValue> value) {
    ok = ok && at < out.size() && value.has_value() && !out[at];
    if (ok) out[at] = std::move(value);
  };
  for (const PathLit& suffix : call.suffixes) put(next++, eval_path(suffix));
  if (piped.valid()) put(next++, eval(piped));
  for (const Arg& arg : call.args) {
    if (!arg.keyword.valid()) put(next++, eval(arg.value));
  }
  for (const Arg& arg : call.args) {
    if (!arg.keyword.valid()) continue;
    size_t at = 0;
    while (at < callee.formals.size() && callee.formals[at].name != arg.keyword) ++at;
    put(at, eval(arg.value));
  }
  if (!ok) return {};
  return out;
}

std::optional<ConstValue> ConstEval::eval_call(const Call& call, ExprId piped) {
  if (locals_ && locals_->contains(call.callee)) return {};
  KnownCall known = known_call(call.callee);
  if (known == KnownCall::None) {
    bool bare = call.args.empty() && call.suffixes.empty() && !piped.valid();
    return bare ? constant(call.callee) : std::nullopt;
  }
  auto args = arguments(call, piped);
  if (!args || args->empty() || !(*args)[0]) return {};
  if (known == KnownCall::HasRoot) {
    const ConstValue& root = *(*args)[0];
    if (!answers_.params || (root.kind != Kind::String && root.kind != Kind::Path)) return {};
    return ConstValue::of(answers_.params->has_root(root.text));
  }
  if (reads_config(known)) {
    if (!answers_.config || (*args)[0]->kind != Kind::Path) return {};
    std::optional<ConstValue> fallback = args->size() > 1 ? (*args)[1] : std::nullopt;
    return read(known, (*args)[0]->text, fallback).value;
  }
  std::vector<ConstValue> values;
  for (auto& arg : *args) {
    if (!arg) return {};
    values.push_back(std::move(*arg));
  }
  return math(known, values);
}

std::optional<ConfigAnswer> ConstEval::config_call(const Call& call, ExprId piped,
                                                   const LocalScope& locals) {
  locals_ = &locals;
  auto args = arguments(call, piped);
  locals_ = nullptr;
  if (!args || args->empty() || !(*args)[0] || (*args)[0]->kind != Kind::Path) return {};
  std::optional<ConstValue> fallback = args->size() > 1 ? (*args)[1] : std::nullopt;
  return read(known_call(call.callee), (*args)[0]->text, fallback);
}

ConfigAnswer ConstEval::read(KnownCall call, const std::string& key,
                             const std::optional<ConstValue>& fallback) const {
  ConfigAnswer out;
  out.key = key;
  out.has_default = fallback && fallback->kind != Kind::Null;
  model::Lookup found;
  if (answers_.config) found = model::lookup(*answers_.config, key);
  bool is_found = found.state == model::LookupState::Found;
  bool is_null = is_found && found.value->kind == model::ConfigValue::Kind::Null;
  out.present = is_found && !is_null;
  if (is_found) out.shown = found.value->show();
  if (call == KnownCall::ConfigHasKey || call == KnownCall::ConfigHasValue) {
    out.value = ConstValue::of(call == KnownCall::ConfigHasKey ? is_found : out.present);
    return out;
  }
  if (found.state == model::LookupState::NotAMap) return out;
  if (out.present) {
    bool inexact = false;
    out.value = convert(call, *found.value, inexact);
    if (inexact) out.converted_from = out.shown;
    return out;
  }
  if (out.has_default) {
    out.value = as_result(call, *fallback);
  } else if (call == KnownCall::ConfigList) {
    out.value.emplace();
    out.value->kind = Kind::List;
  } else if (call == KnownCall::ConfigValue) {
    out.value.emplace();
  }
  return out;
}

std::optional<ConstValue> ConstEval::math(KnownCall call,
                                          const std::vector<ConstValue>& args) const {
  for (const ConstValue& arg : args) {
    if (arg.kind != Kind::Int && arg.kind != Kind::Float) return {};
  }
  auto number = [&](size_t i) {
    return args[i].kind == Kind::Int ? static_cast<double>(args[i].integer) : args[i].number;
  };
  double x = number(0);
  auto finite = [](double value) -> std::optional<ConstValue> {
    if (!std::isfinite(value)) return {};
    return ConstValue::of(value);
  };
  switch (call) {
    case KnownCall::Sqrt:
      return finite(std::sqrt(x));
    case KnownCall::Log:
      return finite(std::log(x));
    case KnownCall::Exp:
      return finite(std::exp(x));
    case KnownCall::Sin:
      return finite(std::sin(x));
    case KnownCall::Cos:
      return finite(std::cos(x));
    case KnownCall::Floor:
      if (args[0].kind == Kind::Int) return args[0];
      if (std::fabs(x) > 9e18) return {};
      return ConstValue::of(static_cast<int64_t>(std::floor(x)));
    case KnownCall::Abs:
      if (args[0].kind == Kind::Float) return finite(std::fabs(x));
      if (args[0].integer == INT64_MIN) return {};
      return ConstValue::of(args[0].integer < 0 ? -args[0].integer : args[0].integer);
    case KnownCall::Pow:
      if (args.size() != 2) return {};
      if (args[0].kind == Kind::Int && args[1].kind == Kind::Int) {
        int64_t out = 0;
        ArithFault fault = whole_arithmetic(Arith::Pow, args[0].integer, args[1].integer, out);
        if (fault != ArithFault::None) return {};
        return ConstValue::of(out);
      }
      return finite(std::pow(x, number(1)));
    case KnownCall::Min:
    case KnownCall::Max: {
      if (args.size() != 2) return {};
      bool first = call == KnownCall::Min ? x <= number(1) : x >= number(1);
      return args[first ? 0 : 1];
    }
    default:
      return {};
  }
}

ExprId ConstEval::literal(const ConstValue& value, Span span) const {
  Ast& ast = session_.ast;
  switch (value.kind) {
    case Kind::Null:
      return ast.add(Expr{Null{}, span});
    case Kind::Bool:
      return ast.add(Expr{Bool{value.boolean}, span});
    case Kind::Int:
      return ast.add(Expr{Int{value.integer}, span});
    case Kind::Float:
      return ast.add(
          Expr{Float{value.number, session_.names.intern(show_double(value.number))}, span});
    case Kind::String:
      return ast.add(Expr{String{session_.names.intern(value.text)}, span});
    case Kind::List: {
      List list;
      for (const ConstValue& item : value.items) list.items.push_back(literal(item, span));
      return ast.add(Expr{std::move(list), span});
    }
    case Kind::Path: {
      PathLit path;
      path.absolute = true;
      path.span = span;
      for (std::string_view segment : split(value.text, '.')) {
        path.pieces.push_back({session_.names.intern(segment), false, false});
      }
      return ast.add(Expr{PathExpr{std::move(path)}, span});
    }
  }
  return {};
}

}  // namespace axon::sema
