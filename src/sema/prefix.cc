// Fixpoints over the call graph: configuration keys and dependence on the caller's prefix.
#include "sema/prefix.h"

#include <algorithm>
#include <deque>

#include "ops/op.h"
#include "sema/callee.h"
#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

PrefixKind prefix_kind(const Definition& def, const Program& program, const Ast& ast,
                       const Interner& names) {
  if (!def.path_params.empty()) return PrefixKind::PathParam;
  if (def.is_global || def.name == program.main) return PrefixKind::Empty;
  return leading_paths(def, ast, names) > 0 ? PrefixKind::Empty : PrefixKind::Caller;
}

namespace {

bool reads_config(std::string_view primitive) {
  auto op = find_primitive(primitive);
  if (!op) return false;
  switch (*op) {
    case Op::ConfigInt:
    case Op::ConfigDim:
    case Op::ConfigFloat:
    case Op::ConfigBool:
    case Op::ConfigStr:
    case Op::ConfigList:
    case Op::ConfigValue:
    case Op::ConfigHas:
    case Op::ConfigHasValue:
      return true;
    default:
      return false;
  }
}

struct Use {
  NameId callee;
  size_t index = 0;
};

// How the ordinary parameters of a definition are used: as arguments of which calls, or otherwise.
class ParamUses : public Rewriter {
 public:
  ParamUses(const Definition& def, Ast& ast, Interner& names) : Rewriter(ast, names) {
    for (const Param& param : def.params) uses_[param.name];
    Definition copy = def;
    definition(copy);
  }
  struct Uses {
    std::vector<Use> arguments;
    bool other = false;
  };
  const Uses& of(NameId param) const { return uses_.at(param); }

 protected:
  void default_value(Param&) override {}
  ExprId expr(ExprId id) override {
    const Expr& node = ast_[id];
    if (const Name* name = node.get<Name>()) mark_other(name->name);
    const Call* source = node.get<Call>();
    if (!source) return children(id);
    Call call = *source;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const Name* name = ast_[strip_parens(call.args[i].value, ast_)].get<Name>();
      auto found = name ? uses_.find(name->name) : uses_.end();
      if (found != uses_.end() && locals_.depth(name->name) == 1) {
        found->second.arguments.push_back({call.callee, i});
      } else {
        expr(call.args[i].value);
      }
    }
    return id;
  }
  PathLit path(const PathLit& path) override {
    for (const PathPiece& piece : path.pieces) {
      if (piece.placeholder) mark_other(piece.text);
    }
    return path;
  }

 private:
  void mark_other(NameId name) {
    auto found = uses_.find(name);
    if (found != uses_.end()) found->second.other = true;
  }
  std::unordered_map<NameId, Uses, IdHash> uses_;
};

// Calls and relative paths of one body, each with what its prefix is made of.
struct PrefixedCall {
  NameId callee;
  bool from_base = false;  // the prefix starts with the definition's own
  bool extended = false;   // something was added to it, or it is absolute and not empty
};

class PrefixScan : public Rewriter {
 public:
  PrefixScan(const Definition& def, const PrefixFacts& facts, Ast& ast, Interner& names)
      : Rewriter(ast, names), facts_(facts) {
    Definition copy = def;
    definition(copy);
  }
  std::vector<PrefixedCall> calls;
  bool relative = false;  // a path, scope or loop scope relative to the definition's own prefix

 protected:
  void default_value(Param&) override {}
  ExprId expr(ExprId id) override {
    Expr node = ast_[id];
    if (const PathExpr* path = node.get<PathExpr>()) {
      if (!path->path.absolute) relative |= from_base_;
      return id;
    }
    const Call* call = node.get<Call>();
    if (!call) return children(id);
    calls.push_back({call->callee, from_base_, extended_});
    for (size_t i = 0; i < call->args.size(); ++i) {
      ExprId value = strip_parens(call->args[i].value, ast_);
      if (ast_[value].kind() == ExprKind::Path && facts_.config_key(call->callee, i)) continue;
      expr(call->args[i].value);
    }
    return id;
  }
  void loop(StmtId id, Loop node, std::vector<StmtId>& out) override {
    expr(node.from);
    expr(node.to);
    expr(node.step);
    bool from_base = from_base_, extended = extended_;
    if (node.has_scope) {
      relative |= from_base_;
      extended_ = true;
    }
    for (StmtId inner : node.body) stmt(inner, out);
    from_base_ = from_base;
    extended_ = extended;
    out.push_back(id);
  }
  void scope_bind(StmtId id, ScopeBind node, std::vector<StmtId>& out) override {
    bool from_base = from_base_, extended = extended_;
    if (node.path.absolute) {
      from_base_ = false;
      extended_ = !node.path.pieces.empty();
    } else {
      relative |= from_base_;
      extended_ = true;
    }
    for (StmtId inner : node.body) stmt(inner, out);
    from_base_ = from_base;
    extended_ = extended;
    out.push_back(id);
  }

 private:
  const PrefixFacts& facts_;
  bool from_base_ = true;
  bool extended_ = false;
};

}  // namespace

PrefixFacts::PrefixFacts(const Program& program, Session& session)
    : program_(program), names_(session.names) {
  find_config_keys(session);
  find_hidden(session);
}

bool PrefixFacts::hidden(NameId def) const {
  auto found = program_.by_name.find(def);
  return found != program_.by_name.end() && hidden_[found->second];
}

bool PrefixFacts::config_key(NameId callee, size_t index) const {
  auto found = program_.by_name.find(callee);
  if (found == program_.by_name.end()) return index == 0 && reads_config(names_.text(callee));
  const std::vector<bool>& keys = config_keys_[found->second];
  return index < keys.size() && keys[index];
}

void PrefixFacts::find_config_keys(Session& session) {
  const auto& defs = program_.definitions;
  std::deque<ParamUses> uses;
  for (const Definition& def : defs) {
    uses.emplace_back(def, session.ast, session.names);
    config_keys_.emplace_back(def.path_params.size() + def.params.size(), false);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t d = 0; d < defs.size(); ++d) {
      for (size_t p = 0; p < defs[d].params.size(); ++p) {
        size_t formal = defs[d].path_params.size() + p;
        if (config_keys_[d][formal]) continue;
        const ParamUses::Uses& use = uses[d].of(defs[d].params[p].name);
        bool key = !use.other && !use.arguments.empty() &&
                   std::all_of(use.arguments.begin(), use.arguments.end(),
                               [&](const Use& at) { return config_key(at.callee, at.index); });
        if (!key) continue;
        config_keys_[d][formal] = true;
        changed = true;
      }
    }
  }
}

void PrefixFacts::find_hidden(Session& session) {
  const auto& defs = program_.definitions;
  std::deque<PrefixScan> scans;
  std::vector<PrefixKind> kinds;
  std::vector<bool> depends, called_inside(defs.size(), false);
  for (const Definition& def : defs) {
    scans.emplace_back(def, *this, session.ast, session.names);
    kinds.push_back(prefix_kind(def, program_, session.ast, session.names));
    depends.push_back(kinds.back() == PrefixKind::Caller && scans.back().relative);
  }
  auto index_of = [&](NameId name) {
    auto found = program_.by_name.find(name);
    return found == program_.by_name.end() ? defs.size() : found->second;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t d = 0; d < defs.size(); ++d) {
      if (depends[d] || kinds[d] != PrefixKind::Caller) continue;
      for (const PrefixedCall& call : scans[d].calls) {
        size_t callee = index_of(call.callee);
        if (callee == defs.size() || !depends[callee] || !call.from_base) continue;
        depends[d] = true;
        changed = true;
        break;
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t d = 0; d < defs.size(); ++d) {
      bool base = kinds[d] == PrefixKind::PathParam || (depends[d] && called_inside[d]);
      for (const PrefixedCall& call : scans[d].calls) {
        size_t callee = index_of(call.callee);
        if (callee == defs.size() || called_inside[callee]) continue;
        if (!call.extended && !(call.from_base && base)) continue;
        called_inside[callee] = true;
        changed = true;
      }
    }
  }
  for (size_t d = 0; d < defs.size(); ++d) hidden_.push_back(depends[d] && called_inside[d]);
}

}  // namespace axon::sema
