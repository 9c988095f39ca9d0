// The validator of typed programs.
#include "sema/validate_typed.h"

#include <algorithm>
#include <set>

#include "sema/callee.h"
#include "syntax/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

class TypedValidator {
 public:
  TypedValidator(const TypedProgram& typed, Session& session, bool values_bind)
      : typed_(typed),
        s_(session),
        t_(session.types),
        d_(session.dims),
        values_bind_(values_bind) {}

  void run() {
    const auto& definitions = typed_.flat.program.definitions;
    if (typed_.definitions.size() != definitions.size()) {
      s_.sink.report(Diag::BugStage, {},
                     {std::string("typecheck"), std::string("definitions are missing")});
      return;
    }
    for (size_t i = 0; i < definitions.size(); ++i)
      definition(definitions[i], typed_.definitions[i]);
    run_names();
  }

  void run_names() {
    const auto& definitions = typed_.flat.program.definitions;
    for (size_t i = 0; i < definitions.size(); ++i) names_of(definitions[i], typed_.definitions[i]);
  }

 private:
  void fail(Span span, const std::string& what) {
    std::string text = what + " in `" + std::string(s_.names.text(def_->name)) + "`";
    s_.sink.report(Diag::BugStage, span, {std::string("typecheck"), text});
  }

  void definition(const Definition& def, const TypedDefinition& typed) {
    def_ = &def;
    bound_.clear();
    if (typed.params.size() != def.params.size()) fail(def.name_span, "parameters are missing");
    for (const TypedParam& param : typed.params) {
      if (!param.type.valid()) {
        fail(def.name_span, "a parameter has no type");
        return;
      }
      bind(param.type);
      bound_.insert(d_.symbol(param.name, SymbolKind::Param));
    }
    for (const auto& [name, dim] : typed.dim_values) {
      for (SymbolId symbol : d_.symbols(dim)) bound_.insert(symbol);
    }
    if (values_bind_) bind_values(def);
    for (const TypedParam& param : typed.params) dims(param.type, def.name_span);
    if (!typed.return_type.valid()) {
      fail(def.name_span, "the result has no type");
      return;
    }
    if (values_bind_) bound_.merge(shared_symbols(typed.return_type, t_));
    dims(typed.return_type, def.name_span);
    walk(def, s_.ast, {[&](ExprId id, const Expr& e) { expr(id, e); }, [](StmtId, const Stmt&) {}});
  }

  void names_of(const Definition& def, const TypedDefinition& typed) {
    def_ = &def;
    known_.clear();
    // Defaults of the interface stand before everything: they read global bindings alone.
    if (def.name == typed_.flat.program.main) {
      for (const auto& [param, value] : typed_.flat.main_defaults) reads(value);
    }
    known_.clear();
    for (const TypedParam& param : typed.params) {
      known_.insert(param.name);
      know_dims(param.type);
    }
    for (const auto& [name, dim] : typed.dim_values) known_.insert(name);
    for (StmtId id : def.body) names(s_.ast[id]);
  }

  // Every name has a value where it is read: a local, a dim or a global binding.
  void names(const Stmt& stmt) {
    auto targets = [&](const std::vector<Target>& all) {
      for (const Target& target : all) known_.insert(target.name);
    };
    if (const Bind* bind = stmt.get<Bind>()) {
      reads(bind->scope, stmt.span);
      reads(bind->value);
      targets(bind->targets);
    } else if (const Return* result = stmt.get<Return>()) {
      for (ExprId value : result->values) reads(value);
    } else if (const Yield* next = stmt.get<Yield>()) {
      for (ExprId value : next->values) reads(value);
    } else if (const Loop* loop = stmt.get<Loop>()) {
      reads(loop->lexical_scope, stmt.span);
      for (ExprId bound : {loop->from, loop->to, loop->step}) {
        if (bound.valid()) reads(bound);
      }
      for (const Target& carry : loop->carry) read(carry.name, carry.span);
      std::set<NameId> outside = known_;
      known_.insert(loop->var);
      targets(loop->carry);
      for (StmtId id : loop->body) names(s_.ast[id]);
      known_ = std::move(outside);
      targets(loop->targets);
      targets(loop->carry);
    }
  }

  void read(NameId name, Span span) {
    if (known_.count(name) > 0) return;
    const Definition* global = find_definition(typed_.flat.program, name);
    if (global && global->is_global) return;
    fail(span, "name `" + std::string(s_.names.text(name)) + "` has no value");
  }

  void reads(ExprId id) {
    walk(id, s_.ast,
         {[&](ExprId inner, const Expr& e) {
            if (const Name* name = e.get<Name>()) read(name->name, e.span);
            if (const PathExpr* path = e.get<PathExpr>()) reads(path->path, e.span);
            auto index = static_cast<size_t>(inner.index);
            if (index < typed_.type_of.size() && typed_.type_of[index].valid())
              know_dims(typed_.type_of[index]);
          },
          [](StmtId, const Stmt&) {}});
  }

  void reads(const PathLit& path, Span span) {
    for (const PathPiece& piece : path.pieces) {
      if (piece.placeholder) read(piece.text, span);
    }
  }

  // Sizes of values can be read by their names from then on.
  void know_dims(TypeId id) {
    const TypeData& data = t_.get(id);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : d_.symbols(axis.dim)) known_.insert(d_.symbol(symbol).name);
    }
    for (TypeId item : data.items) know_dims(item);
  }

  // Dims of parameter types are bound by the arguments.
  void bind(TypeId id) {
    const TypeData& data = t_.get(id);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId s : d_.symbols(axis.dim)) bound_.insert(s);
    }
    for (TypeId item : data.items) bind(item);
  }

  void bind_values(const Definition& def) {
    walk(def, s_.ast,
         {[](ExprId, const Expr&) {},
          [&](StmtId, const Stmt& s) {
            const Bind* binding = s.get<Bind>();
            if (!binding) return;
            auto index = static_cast<size_t>(binding->value.index);
            if (index < typed_.type_of.size() && typed_.type_of[index].valid())
              bind(typed_.type_of[index]);
          }});
  }

  void dims(TypeId id, Span span) {
    const TypeData& data = t_.get(id);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : d_.symbols(axis.dim)) {
        SymbolKind kind = d_.symbol(symbol).kind;
        bool fits =
            kind == SymbolKind::Rigid || kind == SymbolKind::Unknown || bound_.count(symbol) > 0;
        if (!fits)
          fail(span, "nothing binds `" + std::string(s_.names.text(d_.symbol(symbol).name)) + "`");
      }
    }
    for (TypeId item : data.items) dims(item, span);
  }

  // What is called is a definition or a primitive: the checker has refused every other name.
  void callee(NameId name, Span span) {
    if (find_callee(name, typed_.flat.program, s_.ast, s_.names).known()) return;
    fail(span, "callee `" + std::string(s_.names.text(name)) + "` is unknown");
  }

  void expr(ExprId id, const Expr& e) {
    auto index = static_cast<size_t>(id.index);
    if (index >= typed_.type_of.size() || !typed_.type_of[index].valid()) {
      fail(e.span, "an expression has no type");
      return;
    }
    TypeId type = typed_.type_of[index];
    const TypeData& data = t_.get(type);
    const Tuple* tuple = e.get<Tuple>();
    bool pair = tuple && tuple->items.size() >= 2;
    if (pair && (data.kind != TypeKind::Tuple || data.items.size() != tuple->items.size())) {
      fail(e.span, "a tuple has type " + t_.show(type));
    }
    if (const Call* call = e.get<Call>()) callee(call->callee, e.span);
    dims(type, e.span);
  }

  const TypedProgram& typed_;
  Session& s_;
  TypeTable& t_;
  DimTable& d_;
  const Definition* def_ = nullptr;
  bool values_bind_;
  std::set<SymbolId> bound_;
  std::set<NameId> known_;
};

}  // namespace

std::set<SymbolId> shared_symbols(TypeId type, const TypeTable& types) {
  std::set<SymbolId> once, shared;
  auto look = [&](auto& self, TypeId id) -> void {
    if (!id.valid()) return;
    const TypeData data = types.get(id);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : types.dims().symbols(axis.dim)) {
        if (!once.insert(symbol).second) shared.insert(symbol);
      }
    }
    for (TypeId item : data.items) self(self, item);
  };
  look(look, type);
  return shared;
}

void validate_typed(const TypedProgram& typed, Session& session, bool values_bind) {
  TypedValidator(typed, session, values_bind).run();
}

void validate_names(const TypedProgram& typed, Session& session) {
  TypedValidator(typed, session, false).run_names();
}

}  // namespace axon::sema
