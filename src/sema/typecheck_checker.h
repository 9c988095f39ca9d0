// The type checker (language.md 6, 10.8). Private to the typecheck sources.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/signature.h"
#include "sema/typecheck_frame.h"

namespace axon::sema::types {

class Checker {
 public:
  Checker(const FlatProgram& flat, const Answers& answers, Session& session);
  TypedProgram run();

 private:
  // typecheck.cc
  enum class State : uint8_t { New, Running, Done };
  std::vector<size_t> callees_first() const;
  void check_generic(size_t index);
  void finish_generic(Frame& f);
  void note_global(size_t index, const Value& result);
  std::vector<std::pair<NameId, DimId>> merged_dims(Frame& f);
  void warn_merged(Frame& f);
  std::vector<TypedConstraint> constraints_of(Frame& f);
  void check_body(Frame& f);
  void apply_return(Frame& f);
  bool has_error(TypeId type) const;

  // typecheck_types.cc: types as written
  TypeId type_of(Frame& f, syntax::TypeExprId id);
  TypeId named_type(Frame& f, const syntax::TypeNamed& named, Span span);
  DimId dim_of(Frame& f, syntax::DimExprId id);
  DimId dim_name(Frame& f, NameId name, Span span);
  SymbolId run_of(Frame& f, NameId name);
  std::optional<size_t> rigid_definition(const Frame& f, NameId name) const;
  DimId rigid(NameId name);
  void declare(Frame& f, const std::vector<Value>* arguments);
  std::vector<Known> integer_parameters(Frame& f, const std::vector<Value>* arguments);
  bool declares_integer(const syntax::Param& param) const;
  Value bind_argument(Frame& f, size_t index, TypeId formal, const Value& arg,
                      const Known& integer);
  void make_dims_values(Frame& f, TypeId type);

  // typecheck_promise.cc: sizes that the signature alone says are the same
  TypeId promised(Frame& f, TypeId body, TypeId declared, TypeId result,
                  const std::map<NameId, DimId>& before);

  // typecheck_expr.cc
  Value eval(Frame& f, ExprId id);
  Value eval_data(Frame& f, ExprId id, const syntax::Expr& e);
  Value eval_name(Frame& f, NameId name, Span span);
  Value eval_list(Frame& f, const std::vector<ExprId>& items, bool tuple, Span span);
  Value eval_binary(Frame& f, const syntax::Binary& b, Span span);
  Value eval_ascribe(Frame& f, const syntax::Ascribe& a, Span span);
  Value eval_if(Frame& f, ExprId cond, ExprId yes, ExprId no, Span span);
  Value branch(Frame& f, ExprId id, const std::vector<NullFact>& facts);
  Value undecided(Frame& f, ExprId cond, bool taken, ExprId id, const std::vector<NullFact>& facts);
  std::vector<TypedGuard> guards_of(Frame& f, ExprId cond, bool taken,
                                    const std::vector<NullFact>& facts);
  Outcome outcome_of(Frame& f, ExprId cond);
  void check_condition(Frame& f, const Value& cond, Span span);
  void check_path(Frame& f, const syntax::PathLit& path, Span span);
  Value join_values(Frame& f, const Value& a, const Value& b, Span span);
  void record(Frame& f, ExprId id, TypeId type);
  void retype_literal(Frame& f, ExprId id, TypeId needed);
  Value sized(Frame& f, Value value);
  Local* find_local(Frame& f, NameId name);
  void bind_local(Frame& f, NameId name, Value value, Span span, Outcome outcome = {});

  // typecheck_constant.cc: arithmetic that has no result
  bool is_certain(const Frame& f) const;
  std::optional<int64_t> constant(Frame& f, DimId dim);
  bool report_no_result(Frame& f, const syntax::Binary& b, const Value& left, const Value& right,
                        Span span);
  void check_constant(Frame& f, size_t index, Span span);
  void check_size(Frame& f, DimId size, Span span);
  void check_divisor(Frame& f, DimId divisor, Span span);

  // typecheck_call.cc
  Value eval_call(Frame& f, const syntax::Call& call, Span span);
  bool check_dtypes(Frame& f, const OpSignature& signature, const std::vector<ops::RuleArg>& args,
                    const syntax::Call& call, Span span);
  Value call_primitive(Frame& f, Op op, const syntax::Call& call, const std::vector<Value>& args,
                       Span span);
  Value call_definition(Frame& f, size_t callee, const syntax::Call& call, std::vector<Value> args,
                        Span span);
  Value call_helper(Frame& f, size_t callee, const std::vector<Value>& args,
                    const syntax::Call& call, Span span);
  void check_arguments(Frame& f, const Summary& summary, const std::vector<Value>& args,
                       const syntax::Call& call, size_t callee, Span span);
  void suggest_path(Diagnostic& report, const Mismatch& m, Span where);
  Summary check_call(Frame& caller, size_t callee, const std::vector<Value>& args, bool record);
  void discharge(Frame& g);
  void apply_equation(Frame& f, const Equation& e, DimId left, DimId right, Span span);
  void export_facts(Frame& f, Summary& out);
  const Summary& summary_for(Frame& f, size_t callee, const std::vector<Value>& args,
                             std::vector<SymbolId>& symbols, std::map<SymbolId, DimId>& meant);
  Value apply_summary(Frame& f, const Summary& summary, const std::vector<SymbolId>& actual,
                      Span span, const std::map<SymbolId, DimId>& meant = {});
  std::vector<SymbolId> symbols_of(const std::vector<Value>& args);
  void collect_symbols(TypeId type, std::vector<SymbolId>& out);
  void collect_symbols(const Known& known, std::vector<SymbolId>& out);
  std::string key_of(size_t callee, const std::vector<Value>& args,
                     const std::vector<SymbolId>& symbols);
  Value resolve(Frame& f, const Value& value);
  Known resolve(Frame& f, const Known& known);

  // typecheck_stmt.cc
  void run_block(Frame& f, const std::vector<StmtId>& body);
  void run_stmt(Frame& f, StmtId id);
  void run_bind(Frame& f, const syntax::Bind& bind, Span span);
  void run_loop(Frame& f, const syntax::Loop& loop);
  bool settle(Frame& f, const syntax::Loop& loop, std::vector<Value>& carries);
  std::vector<Value> run_round(Frame& f, const syntax::Loop& loop,
                               const std::vector<Value>& carries, size_t count);
  std::vector<Value> split(Frame& f, const Value& value, size_t count, Span span, ExprId from = {});
  void note_source(Frame& f, Diagnostic& report, ExprId from, TypeId type);

  // typecheck_report.cc
  Diagnostic* report(Frame& f, Diag id, Span span, std::vector<DiagArg> args);
  Diagnostic* warn(Frame& f, Diag id, Span span, std::vector<DiagArg> args);
  // The report, or null where it is kept for later.
  Diagnostic* report_mismatch(Frame& f, const Mismatch& m, const std::string& place, Span span,
                              std::optional<std::pair<Diag, std::vector<DiagArg>>> otherwise = {},
                              Span expected = {});
  void report_rule(Frame& f, const ops::RuleError& e, Op op, const syntax::Call* call, Span span,
                   const syntax::Binary* infix = nullptr);
  void report_call(Frame& f, const Failure& failure, size_t callee, Span span);
  std::string show(Frame& f, TypeId type);
  std::string show(Frame& f, DimId dim);
  int origin(Frame& f, Span span);
  // The definition that somebody wrote, and a definition in words: helpers are parts of theirs.
  static NameId home_of(const syntax::Definition& def);
  std::string title(const syntax::Definition& def) const;
  void note_type(Frame& f, Diagnostic& report, Span where, TypeId type);
  Diagnostic* report_remainder(Frame& f, const Mismatch& m, const std::string& what, Span span);

  // typecheck_present.cc: results in each definition's own names
  void present(Frame& f);
  void refine_header(syntax::Definition& def, const TypedDefinition& typed);
  Header header_of(Frame& f);

  const FlatProgram& flat_;
  const Answers& answers_;
  const Program& program_;
  Session& s_;
  TypeTable& t_;
  DimTable& d_;
  std::vector<State> states_;
  std::vector<bool> failed_;
  std::vector<bool> result_failed_;     // the body gives something else than the signature says
  std::vector<Value> generic_results_;  // of globals and definitions without parameters
  std::map<SymbolId, DimId> rigid_meanings_;
  std::map<std::string, std::unique_ptr<Summary>> memo_;
  std::vector<int> summaries_;  // how many there are of each definition
  bool unread_ = false;         // some value of the program stands for text that cannot be read
  std::set<size_t> told_constants_;  // that are no sizes, though types have their names
  int depth_ = 0;                    // nested checks
  std::vector<int> running_;         // checks of each definition in progress
  TypedProgram out_;
};

}  // namespace axon::sema::types
