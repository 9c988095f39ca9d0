// Branch and step helpers: bodies that flattening moves into definitions of their own.
#include <algorithm>

#include "sema/callee.h"
#include "sema/flatten_body.h"
#include "support/check.h"

namespace axon::sema {

using namespace syntax;

namespace {

TypeExprId plain_type(std::string_view name, Ast& ast, Interner& names) {
  return ast.add(TypeExpr{TypeNamed{names.intern(name), {}, false}, {}});
}

void type_names(TypeExprId id, const Ast& ast, NameSet& out) {
  const TypeExpr& type = ast[id];
  switch (type.kind()) {
    case TypeExprKind::Optional:
      return type_names(type.as<TypeOptional>().inner, ast, out);
    case TypeExprKind::List:
      return type_names(type.as<TypeList>().item, ast, out);
    case TypeExprKind::Tuple:
      for (TypeExprId item : type.as<TypeTuple>().items) type_names(item, ast, out);
      return;
    case TypeExprKind::Named:
      out.insert(type.as<TypeNamed>().name);
      return;
  }
}

// `_T1`, `_T2`, … that the definition does not use yet.
class FreshTypes {
 public:
  FreshTypes(const Definition& def, Ast& ast, Interner& names) : ast_(ast), names_(names) {
    for (const Param& param : def.params) {
      if (param.type.valid()) type_names(param.type, ast, used_);
    }
    visit_body(def, ast,
               {[&](ExprId id) {
                  if (const Ascribe* node = ast_[id].get<Ascribe>()) {
                    type_names(node->type, ast_, used_);
                  }
                },
                [](StmtId) {}});
  }
  TypeExprId next() {
    while (true) {
      NameId name = names_.intern("_T" + std::to_string(++count_));
      if (!used_.count(name)) return ast_.add(TypeExpr{TypeNamed{name, {}, false}, {}});
    }
  }

 private:
  Ast& ast_;
  Interner& names_;
  NameSet used_;
  int count_ = 0;
};

}  // namespace

// ---- what a condition proves ---------------------------------------------------------------

bool BodyFlattener::null_test(ExprId cond, NullTest& out) const {
  const Expr& node = ast_[cond];
  if (const Paren* paren = node.get<Paren>()) return null_test(paren->inner, out);
  if (const Ascribe* ascribe = node.get<Ascribe>()) return null_test(ascribe->value, out);
  if (const Name* name = node.get<Name>()) {
    auto known = null_tests_.find(name->name);
    if (known == null_tests_.end()) return false;
    out = known->second;
    return true;
  }
  const Binary* binary = node.get<Binary>();
  if (!binary || (binary->op != BinaryOp::Eq && binary->op != BinaryOp::Ne)) return false;
  const Expr& left = ast_[strip_parens(binary->left, ast_)];
  const Expr& right = ast_[strip_parens(binary->right, ast_)];
  const Name* subject = left.get<Name>();
  const Expr* other = &right;
  if (!subject) {
    subject = right.get<Name>();
    other = &left;
  }
  if (!subject || !is_null(*other)) return false;
  out = {subject->name, binary->op == BinaryOp::Eq};
  return true;
}

// Source names that are not null when the condition has the given outcome.
std::vector<NameId> BodyFlattener::non_null(ExprId cond, bool holds) const {
  cond = strip_parens(cond, ast_);
  NullTest test;
  if (null_test(cond, test)) {
    if (test.is_null == holds) return {};
    return {test.subject};
  }
  const Binary* binary = ast_[cond].get<Binary>();
  if (!binary || binary->op != (holds ? BinaryOp::And : BinaryOp::Or)) return {};
  std::vector<NameId> out = non_null(binary->left, holds);
  std::vector<NameId> more = non_null(binary->right, holds);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void BodyFlattener::record_null_test(NameId target, ExprId value) {
  NullTest test;
  if (is_discard(target, names_) || !null_test(value, test) || test.subject == target) return;
  null_tests_[target] = test;
}

// ---- branches ------------------------------------------------------------------------------

bool BodyFlattener::branch_is_flat(const Branch& branch) const {
  if (branch.value.valid()) return is_flat(branch.value);
  const Return* last =
      branch.suite->size() == 1 ? ast_[branch.suite->front()].get<Return>() : nullptr;
  if (!last) return false;
  if (last->values.size() == 1) return is_flat(last->values[0]);
  return std::all_of(last->values.begin(), last->values.end(),
                     [&](ExprId value) { return is_atom(value); });
}

ExprId BodyFlattener::branch(const Branch& branch) {
  return branch_is_flat(branch) ? inline_branch(branch) : branch_helper(branch);
}

ExprId BodyFlattener::inline_branch(const Branch& branch) {
  size_t before = out_.size();
  ExprId out;
  if (branch.value.valid()) {
    out = flat(branch.value);
  } else {
    std::vector<ExprId> values = ast_[branch.suite->front()].as<Return>().values;
    out = values.size() == 1 ? flat(values[0]) : add({Tuple{atoms(values)}, branch.span});
  }
  AXON_CHECK(out_.size() == before, "a flat branch has no prelude");
  return out;
}

void BodyFlattener::inherit(const BodyFlattener& outer) {
  locals_ = outer.locals_;
  renames_ = outer.renames_;
  visible_ = outer.visible_;
  valued_dims_ = outer.valued_dims_;
  facts_ = outer.facts_;
  null_tests_ = outer.null_tests_;
  for (NameId name : ctx_.path_names) own_names_.insert(name);
}

// `base1`, `base2`, …: the first that no definition of the program has.
std::string BodyFlattener::helper_name(const std::string& base) {
  while (true) {
    std::string name = base + std::to_string(++ctx_.helper_count);
    if (!find_definition(ctx_.program, names_.intern(name))) return name;
  }
}

Definition BodyFlattener::helper(HelperKind kind, const std::string& name, Span span) const {
  Definition out;
  out.name = names_.intern(name);
  out.name_span = span;
  out.span = span;
  out.has_signature = true;
  out.statement_body = true;
  out.return_type = plain_type("Any", ast_, names_);
  out.origin = ctx_.def.origin;
  out.from_library = ctx_.def.from_library;
  out.helper = {kind, ctx_.def.name, {}};
  for (NameId path : ctx_.path_names) {
    out.params.push_back({path, false, plain_type("Path", ast_, names_), {}, {}});
  }
  return out;
}

// Parameters of the source definition that dims may name (language.md 6.2 rule 2).
NameSet BodyFlattener::dependent_params() const {
  NameSet out;
  for (const auto& [name, fact] : facts_) {
    if (!fact.type.valid()) continue;
    const TypeExpr& type = ast_[fact.type];
    if (type.kind() != TypeExprKind::Named) continue;
    std::string_view text = names_.text(type.as<TypeNamed>().name);
    if (text == "Dim" || text == "Int") out.insert(name);
  }
  return out;
}

// Whether dims of the source definition's types may say the name without meaning a value of it. A
// formal of a helper that had this name would turn such a dim into itself.
bool BodyFlattener::means_dim(NameId name) const {
  if (ctx_.signature_dims.count(name)) return true;
  const Definition* constant = find_definition(ctx_.program, name);
  return constant && constant->params.empty();
}

std::vector<NameId> BodyFlattener::captured(const std::vector<StmtId>& body,
                                            const std::vector<NameId>& bound) const {
  std::vector<NameId> out;
  auto outer = [&](NameId name) { return visible_.count(name) || valued_dims_.count(name); };
  for (NameId name : free_in(body, ast_, bound, dependent_params(), outer)) {
    // Names of definitions mean the same everywhere.
    if (visible_.count(name) || !find_definition(ctx_.program, name)) out.push_back(name);
  }
  return out;
}

ExprId BodyFlattener::branch_helper(const Branch& branch) {
  std::string label = branch.kind == HelperKind::BranchTrue ? "__cond_true_" : "__cond_else_";
  std::string name = helper_name(std::string(names_.text(ctx_.def.name)) + label);
  BodyFlattener inner(ctx_, prefix_);
  inner.inherit(*this);
  NameSet proven;
  for (NameId source : branch.non_null) proven.insert(value_name(source));
  for (auto& [flat_name, fact] : inner.facts_) fact.optional &= !proven.count(flat_name);
  std::vector<ExprId> values;
  const Do* block =
      branch.value.valid() ? ast_[strip_parens(branch.value, ast_)].get<Do>() : nullptr;
  if (block) {
    std::vector<StmtId> body = block->body;
    values = inner.values_of(body);
  } else if (branch.value.valid()) {
    ExprId value = inner.atom(branch.value);
    const Tuple* tuple = ast_[value].get<Tuple>();
    values = tuple ? tuple->items : std::vector<ExprId>{value};
  } else if (returns(*branch.suite)) {
    values = inner.values_of(*branch.suite);
  } else {
    inner.statements(*branch.suite);
    for (NameId joined : branch.joined) {
      values.push_back(add({Name{inner.value_name(joined), {}}, branch.span}));
    }
    if (values.empty()) values.push_back(add({Null{}, branch.span}));
  }
  std::vector<StmtId> body = std::move(inner.out_);
  body.push_back(ast_.add(Stmt{Return{std::move(values)}, branch.span}));

  Definition def = helper(branch.kind, name, branch.span);
  Call call{def.name, branch.span, {}, {}};
  for (NameId path : ctx_.path_names) {
    call.args.push_back({{}, add({Name{path, {}}, branch.span}), {}});
  }
  Renames map;
  NameSet formals(ctx_.path_names.begin(), ctx_.path_names.end());
  std::vector<NameId> free = captured(body, ctx_.path_names);
  std::vector<size_t> untyped;
  for (size_t i = 0; i < free.size(); ++i) {
    NameId param;
    size_t number = i + 1;  // a name that the program has itself is passed over
    do {
      param = names_.intern("__arg_" + std::string(names_.text(free[i])) + "_" +
                            std::to_string(number));
      number += free.size();
    } while (ctx_.used_names.count(param));
    map.emplace(free[i], param);
    formals.insert(param);
    Param out{param, false, {}, {}, {}};
    auto outer_fact = facts_.find(free[i]);
    if (outer_fact != facts_.end() && outer_fact->second.type.valid()) {
      out.type = outer_fact->second.type;
      out.optional = outer_fact->second.optional && !proven.count(free[i]);
    } else if (!visible_.count(free[i])) {
      out.type = plain_type("Dim", ast_, names_);
    } else {
      untyped.push_back(def.params.size());
    }
    def.params.push_back(out);
    call.args.push_back({{}, add({Name{free[i], {}}, branch.span}), {}});
  }
  def.body = trim_scopes(substitute(body, map, dependent_params(), ast_), formals, ast_);
  FreshTypes fresh(def, ast_, names_);
  for (size_t index : untyped) def.params[index].type = fresh.next();
  ctx_.helpers.push_back(std::move(def));
  return add({std::move(call), branch.span});
}

// ---- loops ---------------------------------------------------------------------------------

// One yield of one call with plain names: nothing to move.
bool BodyFlattener::is_flat_loop(const Loop& node) const {
  if (node.has_scope || node.body.size() != 1) return false;
  const Yield* yield = ast_[node.body[0]].get<Yield>();
  if (!yield || yield->values.size() != 1) return false;
  const Call* call = ast_[strip_parens(yield->values[0], ast_)].get<Call>();
  if (!call || ctx_.facts.hidden(call->callee)) return false;
  if (!find_definition(ctx_.program, call->callee)) return false;  // a primitive is no step
  return std::all_of(call->args.begin(), call->args.end(), [&](const Arg& arg) {
    return ast_[strip_parens(arg.value, ast_)].kind() == ExprKind::Name;
  });
}

std::vector<StmtId> BodyFlattener::loop_call(const Loop& node, NameId var,
                                             const std::vector<Target>& carry, Span span) {
  ExprId call =
      is_flat_loop(node) ? flat_step(node, var, carry) : step_helper(node, var, carry, span);
  return {ast_.add(Stmt{Yield{{call}}, ast_[node.body.back()].span})};
}

// In the loop's own call the carries go by the names of the header.
ExprId BodyFlattener::flat_step(const Loop& node, NameId var, const std::vector<Target>& carry) {
  Renames renames = renames_;
  locals_.push();
  auto put = [&](NameId source, NameId flat_name) {
    locals_.bind(source);
    if (source == flat_name) {
      renames_.erase(source);
    } else {
      renames_[source] = flat_name;
    }
  };
  put(node.var, var);
  for (size_t i = 0; i < carry.size(); ++i) put(node.carry[i].name, carry[i].name);
  ExprId out = flat(ast_[node.body[0]].as<Yield>().values[0]);
  locals_.pop();
  renames_ = std::move(renames);
  return out;
}

std::string BodyFlattener::loop_label(const Loop& node) const {
  if (!node.has_scope) return std::string(names_.text(node.var));
  std::string out;
  for (const PathPiece& piece : node.scope.pieces) {
    if (!out.empty() && !piece.joined) out += '_';
    std::string text(names_.text(piece.text));
    out += piece.placeholder ? "_" + text + "_" : text;
  }
  return out;
}

// A formal of the helper itself: what the outer body knows of the name does not hold for it.
void BodyFlattener::bind_own(NameId source, NameId flat_name) {
  locals_.bind(source);
  visible_.insert(flat_name);
  own_names_.insert(flat_name);
  facts_.erase(flat_name);
  null_tests_.erase(source);
  for (auto it = null_tests_.begin(); it != null_tests_.end();) {
    it = it->second.subject == source ? null_tests_.erase(it) : std::next(it);
  }
  if (source == flat_name) {
    renames_.erase(source);
  } else {
    renames_[source] = flat_name;
  }
}

ExprId BodyFlattener::step_helper(const Loop& node, NameId var, const std::vector<Target>& carry,
                                  Span span) {
  std::string name = helper_name(std::string(names_.text(ctx_.def.name)) + "__loop_" +
                                 loop_label(node) + "_step_");
  Definition def = helper(HelperKind::LoopStep, name, span);
  def.helper.loop_var = var;
  PathLit prefix = prefix_;
  if (node.has_scope) {
    prefix = extended(node.scope);
    prefix.pieces.push_back({var, true, false});
  }
  BodyFlattener inner(ctx_, std::move(prefix));
  inner.inherit(*this);
  inner.bind_own(node.var, var);
  inner.facts_[var] = {plain_type("Int", ast_, names_), false};
  def.params.push_back({var, false, plain_type("Int", ast_, names_), {}, {}});
  std::vector<NameId> bound = ctx_.path_names;
  bound.push_back(var);
  std::vector<size_t> untyped;
  for (const Target& source : node.carry) {
    NameId formal = source.name;
    bool taken = std::find(bound.begin(), bound.end(), formal) != bound.end();
    if (taken || inner.in_prefix(formal) || means_dim(formal)) formal = ctx_.fresh(formal);
    inner.bind_own(source.name, formal);
    bound.push_back(formal);
    untyped.push_back(def.params.size());
    def.params.push_back({formal, false, {}, {}, {}});
  }
  std::vector<ExprId> values = inner.values_of(node.body);
  std::vector<StmtId> body = std::move(inner.out_);
  body.push_back(ast_.add(Stmt{Return{std::move(values)}, ast_[node.body.back()].span}));

  Call call{def.name, span, {}, {}};
  auto pass = [&](NameId actual) { call.args.push_back({{}, add({Name{actual, {}}, span}), {}}); };
  for (NameId path : ctx_.path_names) pass(path);
  pass(var);
  for (const Target& target : carry) pass(target.name);
  Renames renamed;
  NameSet same = dependent_params();  // there the value is the dim, as where the name is no value's
  for (NameId free : captured(body, bound)) {
    NameId formal = free;
    if (means_dim(free) && visible_.count(free) && !same.count(free)) {
      formal = ctx_.fresh(free);
      renamed.emplace(free, formal);
    }
    untyped.push_back(def.params.size());
    def.params.push_back({formal, false, {}, {}, {}});
    bound.push_back(formal);
    pass(free);
  }
  if (!renamed.empty()) body = substitute(body, renamed, {}, ast_);
  def.body = trim_scopes(body, NameSet(bound.begin(), bound.end()), ast_);
  FreshTypes fresh(def, ast_, names_);
  for (size_t index : untyped) def.params[index].type = fresh.next();
  ctx_.helpers.push_back(std::move(def));
  return add({std::move(call), span});
}

}  // namespace axon::sema
