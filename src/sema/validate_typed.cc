// The validator of typed programs.
#include "sema/validate_typed.h"

#include <algorithm>
#include <set>

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
    dims(typed.return_type, def.name_span);
    walk(def, s_.ast, {[&](ExprId id, const Expr& e) { expr(id, e); }, [](StmtId, const Stmt&) {}});
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
    dims(type, e.span);
  }

  const TypedProgram& typed_;
  Session& s_;
  TypeTable& t_;
  DimTable& d_;
  const Definition* def_ = nullptr;
  std::set<SymbolId> bound_;
  bool values_bind_;
};

}  // namespace

void validate_typed(const TypedProgram& typed, Session& session, bool values_bind) {
  TypedValidator(typed, session, values_bind).run();
}

}  // namespace axon::sema
