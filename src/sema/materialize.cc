// Replaces reads of the configuration by literals (language.md 10.3).
#include "sema/const_eval.h"
#include "sema/stages.h"
#include "sema/validate.h"
#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

class Materializer : public Rewriter {
 public:
  Materializer(const Program& program, const Answers& answers, Session& session)
      : Rewriter(session.ast, session.names),
        answers_(answers),
        session_(session),
        eval_(program, answers, session) {}

  std::vector<ConfigRead> reads;

 protected:
  ExprId expr(ExprId id) override {
    if (ast_[id].kind() == ExprKind::Pipe) return pipe(id);
    ExprId inner = children(id);
    const Expr node = ast_[inner];
    if (const Call* call = node.get<Call>()) return replace(inner, *call, {}, node.span);
    // A literal needs no parentheses where its call did.
    const Paren* paren = node.get<Paren>();
    if (paren && inner != id && is_literal(paren->inner)) return paren->inner;
    const Name* name = node.get<Name>();
    if (name && !name->suffixes.empty()) {
      return replace(inner, Call{name->name, node.span, name->suffixes, {}}, {}, node.span);
    }
    return inner;
  }

 private:
  bool is_literal(ExprId id) const {
    switch (ast_[id].kind()) {
      case ExprKind::Int:
      case ExprKind::Float:
      case ExprKind::Bool:
      case ExprKind::Null:
      case ExprKind::String:
      case ExprKind::List:
        return true;
      default:
        return false;
    }
  }

  // The literal for a read whose answer is known, else `id`.
  ExprId replace(ExprId id, const Call& call, ExprId piped, Span span) {
    KnownCall known = eval_.known_call(call.callee);
    if (!reads_config(known) || locals_.contains(call.callee)) return id;
    auto answer = eval_.config_call(call, piped, locals_);
    if (!answer) return id;
    record(known, *answer, span);
    if (!answers_.config || !answer->value) return id;
    return eval_.literal(*answer->value, span);
  }

  void record(KnownCall known, const ConfigAnswer& answer, Span span) {
    if (known == KnownCall::ConfigHasKey || known == KnownCall::ConfigHasValue) return;
    ConfigRead read{answer.key, ConfigRead::Outcome::Read, answer.shown, span};
    if (!answer.present) {
      bool fallback = answer.has_default || answer.value.has_value();
      read.outcome = fallback ? ConfigRead::Outcome::Defaulted : ConfigRead::Outcome::Missing;
      read.value.clear();
      if (answer.value && answer.value->kind == ConstValue::Kind::Int)
        read.value = std::to_string(answer.value->integer);
    }
    reads.push_back(std::move(read));
    if (answer.converted_from.empty()) return;
    session_.sink.report(Diag::WConfigConv, span,
                         {answer.key, answer.converted_from, "an integer"});
  }

  // A key that is piped into its read.
  ExprId pipe(ExprId id) {
    Expr node = ast_[id];
    Pipe& pipe = std::get<Pipe>(node.data);
    pipe.value = expr(pipe.value);
    bool first = true;
    std::vector<ExprId> stages;
    for (ExprId stage : pipe.stages) {
      ExprId form = strip_parens(stage, ast_);
      ExprId now = children(form);
      Expr inner = ast_[now];
      Call call;
      if (const Name* name = inner.get<Name>())
        call = Call{name->name, inner.span, name->suffixes, {}};
      if (const Call* written = inner.get<Call>()) call = *written;
      bool is_first = first;
      first = false;
      if (is_first && call.callee.valid()) {
        ExprId value = replace(now, call, pipe.value, inner.span);
        if (value != now) {
          pipe.value = value;
          first = true;
          continue;
        }
      }
      stages.push_back(now);
    }
    if (stages.empty()) return pipe.value;
    if (stages == pipe.stages && pipe.value == ast_[id].as<Pipe>().value) return id;
    pipe.stages = std::move(stages);
    return ast_.add(std::move(node));
  }

  const Answers& answers_;
  Session& session_;
  ConstEval eval_;
};

}  // namespace

Materialized materialize(const ClosedProgram& closed, const Answers& answers, Session& session) {
  Materialized out{closed, {}};
  Materializer materializer(closed.program, answers, session);
  for (Definition& def : out.closed.program.definitions) materializer.definition(def);
  out.config_reads = std::move(materializer.reads);
  if (!session.sink.has_errors()) validate_closed(out.closed.program, session);
  return out;
}

}  // namespace axon::sema
