// The interpreter of untyped integer programs.
#include "interpreter.h"

#include <functional>

#include "sema/callee.h"
#include "sema/prefix.h"
#include "sema/walk.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::sema::testing {

using namespace syntax;
using Kind = Value::Kind;

namespace {

constexpr int64_t kModulus = 1000003;

Value integer(int64_t number) {
  return {Kind::Int, ((number % kModulus) + kModulus) % kModulus, {}, {}};
}

Value one_or_tuple(std::vector<Value> values) {
  if (values.size() == 1) return values[0];
  return {Kind::Tuple, 0, {}, std::move(values)};
}

std::string joined(const std::string& prefix, const std::string& rest) {
  if (prefix.empty() || rest.empty()) return prefix + rest;
  return prefix + "." + rest;
}

}  // namespace

std::string show(const Value& value) {
  switch (value.kind) {
    case Kind::Int:
      return std::to_string(value.number);
    case Kind::Null:
      return "null";
    case Kind::Bool:
      return value.number ? "true" : "false";
    case Kind::Path:
      return "@@" + value.path;
    case Kind::Tuple: {
      std::string out = "(";
      for (const Value& item : value.items) out += show(item) + " ";
      return out + ")";
    }
  }
  return {};
}

Value Interpreter::call(NameId name, std::vector<Value> args, const std::string& caller_prefix) {
  std::string_view text = session_.names.text(name);
  if (text == "_params_param") {
    reads.push_back(args.at(0).path);
    return integer(static_cast<int64_t>(std::hash<std::string>()(args.at(0).path) % kModulus));
  }
  const Definition* def = find_definition(program_, name);
  AXON_CHECK(def, "unknown callee");
  if (++calls_ > kMaxCalls) return integer(0);
  Frame frame;
  size_t at = 0;
  for (NameId param : def->path_params) frame.env[param] = args.at(at++);
  for (const Param& param : def->params) frame.env[param.name] = args.at(at++);
  switch (prefix_kind(*def, program_, session_.ast, session_.names)) {
    case PrefixKind::Empty:
      break;
    case PrefixKind::PathParam:
      frame.prefix = args.at(0).path;
      break;
    case PrefixKind::Caller:
      frame.prefix = caller_prefix;
      break;
  }
  if (!def->statement_body) return expr(def->body_expr, frame);
  return one_or_tuple(block(def->body, frame));
}

Value Interpreter::name(NameId name, Frame& frame) {
  auto found = frame.env.find(name);
  if (found != frame.env.end()) return found->second;
  return call(name, {}, "");
}

std::string Interpreter::path(const PathLit& lit, Frame& frame) {
  std::string text;
  for (const PathPiece& piece : lit.pieces) {
    if (!piece.joined && !text.empty()) text += '.';
    if (!piece.placeholder) {
      text += session_.names.text(piece.text);
      continue;
    }
    Value value = name(piece.text, frame);
    text += value.kind == Kind::Path ? value.path : std::to_string(value.number);
  }
  std::string out;
  for (std::string_view segment : split(text, '.')) {
    if (!segment.empty()) out = joined(out, std::string(segment));
  }
  return lit.absolute ? out : joined(frame.prefix, out);
}

Value Interpreter::binary(const Binary& node, Frame& frame) {
  Value a = expr(node.left, frame);
  Value b = expr(node.right, frame);
  if (node.op == BinaryOp::Eq) return {Kind::Bool, a == b, {}, {}};
  if (node.op == BinaryOp::Ne) return {Kind::Bool, !(a == b), {}, {}};
  switch (node.op) {
    case BinaryOp::Add:
      return integer(a.number + b.number);
    case BinaryOp::Sub:
      return integer(a.number - b.number);
    case BinaryOp::Mul:
      return integer(a.number * b.number);
    case BinaryOp::Mod:
      return integer(b.number == 0 ? 0 : a.number % b.number);
    default:
      AXON_UNREACHABLE("operator of the generator");
  }
}

bool Interpreter::truth(ExprId id, Frame& frame) { return expr(id, frame).number != 0; }

Value Interpreter::expr(ExprId id, Frame& frame) {
  const Expr& node = session_.ast[id];
  switch (node.kind()) {
    case ExprKind::Name:
      return name(node.as<Name>().name, frame);
    case ExprKind::Int:
      return integer(node.as<Int>().value);
    case ExprKind::Null:
      return {Kind::Null, 0, {}, {}};
    case ExprKind::Path:
      return {Kind::Path, 0, path(node.as<PathExpr>().path, frame), {}};
    case ExprKind::Tuple: {
      std::vector<Value> items;
      for (ExprId item : node.as<Tuple>().items) items.push_back(expr(item, frame));
      return one_or_tuple(std::move(items));
    }
    case ExprKind::Call: {
      std::vector<Value> args;
      for (const Arg& arg : node.as<Call>().args) args.push_back(expr(arg.value, frame));
      return call(node.as<Call>().callee, std::move(args), frame.prefix);
    }
    case ExprKind::BindExpr: {
      Frame inner = frame;
      inner.env[node.as<BindExpr>().var] = expr(node.as<BindExpr>().value, frame);
      return expr(node.as<BindExpr>().body, inner);
    }
    case ExprKind::If:
      return truth(node.as<If>().cond, frame) ? expr(node.as<If>().then_value, frame)
                                              : expr(node.as<If>().else_value, frame);
    case ExprKind::Ternary:
      return truth(node.as<Ternary>().cond, frame) ? expr(node.as<Ternary>().then_value, frame)
                                                   : expr(node.as<Ternary>().else_value, frame);
    case ExprKind::Binary:
      return binary(node.as<Binary>(), frame);
    case ExprKind::Paren:
      return expr(node.as<Paren>().inner, frame);
    case ExprKind::Ascribe:
      return expr(node.as<Ascribe>().value, frame);
    case ExprKind::Do: {
      Frame inner = frame;
      return one_or_tuple(block(node.as<Do>().body, inner));
    }
    default:
      AXON_UNREACHABLE("expression of the generator");
  }
}

void Interpreter::bind(const std::vector<Target>& targets, const Value& value, Frame& frame) {
  if (targets.size() == 1 || value.items.size() < targets.size()) {
    if (targets.size() > 1) AXON_CHECK(exhausted(), "too few values");
    for (size_t i = 1; i < targets.size(); ++i) frame.env[targets[i].name] = value;
    frame.env[targets[0].name] = value;
    return;
  }
  for (size_t i = 0; i < targets.size(); ++i) frame.env[targets[i].name] = value.items.at(i);
}

std::vector<Value> Interpreter::block(const std::vector<StmtId>& body, Frame& frame) {
  for (StmtId id : body) {
    const Stmt& stmt = session_.ast[id];
    std::vector<Value> values;
    switch (stmt.kind()) {
      case StmtKind::Bind:
        bind(stmt.as<Bind>().targets, expr(stmt.as<Bind>().value, frame), frame);
        break;
      case StmtKind::Return:
        for (ExprId value : stmt.as<Return>().values) values.push_back(expr(value, frame));
        return values;
      case StmtKind::Yield:
        for (ExprId value : stmt.as<Yield>().values) values.push_back(expr(value, frame));
        return values;
      case StmtKind::If:
        if_stmt(stmt.as<IfStmt>(), frame);
        break;
      case StmtKind::Loop:
        loop(stmt.as<Loop>(), frame);
        break;
      case StmtKind::ScopeBind:
        scope_bind(stmt.as<ScopeBind>(), frame);
        break;
    }
  }
  return {};
}

void Interpreter::loop(const Loop& loop, Frame& frame) {
  int64_t from = expr(loop.from, frame).number, to = expr(loop.to, frame).number;
  std::vector<Value> carry;
  for (const Target& target : loop.carry) carry.push_back(name(target.name, frame));
  std::string scope = loop.has_scope ? path(loop.scope, frame) : frame.prefix;
  for (int64_t i = from; i < to; ++i) {
    Frame inner = frame;
    inner.env[loop.var] = integer(i);
    for (size_t k = 0; k < carry.size(); ++k) inner.env[loop.carry[k].name] = carry[k];
    inner.prefix = loop.has_scope ? joined(scope, std::to_string(i)) : scope;
    std::vector<Value> values = block(loop.body, inner);
    if (exhausted()) break;
    if (values.size() == 1 && carry.size() > 1) values = values[0].items;
    if (!carry.empty()) carry = values;
  }
  for (size_t k = 0; k < carry.size(); ++k) frame.env[loop.targets[k].name] = carry[k];
}

void Interpreter::if_stmt(const IfStmt& node, Frame& frame) {
  auto known = [&](NameId name) { return frame.env.count(name) > 0; };
  std::vector<NameId> a = bound_names(node.then_body, session_.ast, session_.names, known);
  std::vector<NameId> b = bound_names(node.else_body, session_.ast, session_.names, known);
  Frame inner = frame;
  block(truth(node.cond, frame) ? node.then_body : node.else_body, inner);
  for (NameId name : a) {
    for (NameId other : b) {
      if (name == other) frame.env[name] = inner.env.at(name);
    }
  }
}

void Interpreter::scope_bind(const ScopeBind& node, Frame& frame) {
  Frame inner = frame;
  inner.prefix = path(node.path, frame);
  std::vector<Value> values = block(node.body, inner);
  for (auto& [name, value] : frame.env) value = inner.env.at(name);
  bind(node.targets, one_or_tuple(values), frame);
}

}  // namespace axon::sema::testing
