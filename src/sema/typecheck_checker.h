// The type checker's state (language.md 6, 10.8). Private to the typecheck sources.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/type_rules.h"
#include "sema/stages.h"

namespace axon::sema::types {

using ops::Known;
using syntax::ExprId;
using syntax::StmtId;

struct Value {
  TypeId type;
  Known known;
};

// `name` (in the version that was current) is null, or is not null.
struct NullFact {
  NameId name;
  int version = 0;
  bool null = false;
};
// What a condition tells of names in its two outcomes.
struct Outcome {
  std::vector<NullFact> when_true, when_false;
};

struct Local {
  NameId name;
  Value value;
  int version = 0;
  Outcome outcome;  // of a local bound to a condition
};

// The first error of a check that does not report by itself (one for a particular call).
struct Failure {
  std::string message;
  Span span;
  std::vector<DiagNote> notes;
  std::vector<std::pair<Span, NameId>> chain;  // calls on the way, innermost first
  int argument = -1;                            // the call's own argument is to blame
  std::optional<Mismatch> mismatch;
};

struct Equation {
  DimConstraint::Kind kind = DimConstraint::Kind::Equal;
  DimId left, right;
  Span span;
};

// What a check of a definition for given arguments found, in terms of the arguments' symbols.
struct Summary {
  std::vector<SymbolId> symbols;
  Value result;
  std::vector<Equation> equations;
  std::vector<std::pair<SymbolId, std::vector<Axis>>> runs;
  std::vector<std::pair<SymbolId, TypeId>> variables;
  std::vector<int> dropped;   // arguments whose `?` was dropped
  std::optional<Failure> failure;
};

// A type recorded for an expression, to be shown in its definition's terms when all is known.
struct Recorded {
  size_t definition = 0;
  ExprId expr;
  TypeId type;
};
// The header that a check found for a definition.
struct Header {
  size_t definition = 0;
  std::vector<Value> params;
  TypeId result;
  std::vector<std::pair<NameId, DimId>> dims;   // of dims that are values
};

// One check of one definition: generic, or for a call.
struct Frame {
  Frame(size_t index, const syntax::Definition& d, TypeTable& types) : definition(index), def(d), u(types) {}
  size_t definition;
  const syntax::Definition& def;
  Unifier u;
  bool generic = false;    // names stand for themselves; otherwise for fresh symbols
  bool reports = false;    // diagnostics go to the sink
  bool record = false;     // types of expressions are kept
  int muted = 0;           // > 0: a branch that is not taken, or a round that is not the last
  std::map<NameId, DimId> dims;       // names in types
  std::map<NameId, DimId> dim_values; // dims that are values by now
  std::set<SymbolId> declared;        // dims of the parameters' types
  std::map<NameId, SymbolId> runs;
  std::map<NameId, TypeId> variables;
  std::vector<Local> locals;
  std::vector<Value> params;
  int versions = 0;
  std::optional<Value> returned;
  std::vector<Value> yielded;
  std::vector<int> dropped;
  std::optional<Failure> failure;
  std::vector<Span> origins;          // of constraints, by DimConstraint::origin
  std::vector<Recorded> recorded;
  std::vector<Header> headers;
};

class Checker {
 public:
  Checker(const FlatProgram& flat, Session& session);
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
  std::vector<std::string> constraint_texts(Frame& f);
  void check_body(Frame& f);
  void apply_return(Frame& f);

  // typecheck_types.cc: types as written
  TypeId type_of(Frame& f, syntax::TypeExprId id);
  TypeId named_type(Frame& f, const syntax::TypeNamed& named, Span span);
  DimId dim_of(Frame& f, syntax::DimExprId id);
  DimId dim_name(Frame& f, NameId name, Span span);
  SymbolId run_of(Frame& f, NameId name);
  std::optional<size_t> rigid_definition(const Frame& f, NameId name) const;
  DimId rigid(NameId name);
  void declare(Frame& f, const std::vector<Value>* arguments);
  void make_dims_values(Frame& f, TypeId type);

  // typecheck_expr.cc
  Value eval(Frame& f, ExprId id);
  Value eval_data(Frame& f, ExprId id, const syntax::Expr& e);
  Value eval_name(Frame& f, NameId name, Span span);
  Value eval_list(Frame& f, const std::vector<ExprId>& items, bool tuple, Span span);
  Value eval_binary(Frame& f, const syntax::Binary& b, Span span);
  Value eval_ascribe(Frame& f, const syntax::Ascribe& a, Span span);
  Value eval_if(Frame& f, ExprId cond, ExprId yes, ExprId no, Span span);
  Value branch(Frame& f, ExprId id, const std::vector<NullFact>& facts);
  Outcome outcome_of(Frame& f, ExprId cond);
  void check_condition(Frame& f, const Value& cond, Span span);
  void check_path(Frame& f, const syntax::PathLit& path, Span span);
  Value join_values(Frame& f, const Value& a, const Value& b, Span span);
  void record(Frame& f, ExprId id, TypeId type);
  void retype_literal(Frame& f, ExprId id, TypeId needed);
  Value sized(Frame& f, Value value);
  Local* find_local(Frame& f, NameId name);
  void bind_local(Frame& f, NameId name, Value value, Span span, Outcome outcome = {});

  // typecheck_call.cc
  Value eval_call(Frame& f, const syntax::Call& call, Span span);
  Value call_primitive(Frame& f, Op op, const syntax::Call& call, const std::vector<Value>& args, Span span);
  Value call_definition(Frame& f, size_t callee, const syntax::Call& call, std::vector<Value> args, Span span);
  Value call_helper(Frame& f, size_t callee, const std::vector<Value>& args, const syntax::Call& call, Span span);
  void check_arguments(Frame& f, const Summary& summary, const std::vector<Value>& args, const syntax::Call& call,
                       size_t callee, Span span);
  Summary check_call(Frame& caller, size_t callee, const std::vector<Value>& args, bool record);
  void export_facts(Frame& f, Summary& out);
  Value apply_summary(Frame& f, const Summary& summary, const std::vector<SymbolId>& actual, Span span);
  std::vector<SymbolId> symbols_of(const std::vector<Value>& args);
  void collect_symbols(TypeId type, std::vector<SymbolId>& out);
  void collect_symbols(const Known& known, std::vector<SymbolId>& out);
  std::string key_of(size_t callee, const std::vector<Value>& args, const std::vector<SymbolId>& symbols);
  Value resolve(Frame& f, const Value& value);
  Known resolve(Frame& f, const Known& known);

  // typecheck_stmt.cc
  void run_block(Frame& f, const std::vector<StmtId>& body);
  void run_stmt(Frame& f, StmtId id);
  void run_bind(Frame& f, const syntax::Bind& bind, Span span);
  void run_loop(Frame& f, const syntax::Loop& loop, Span span);
  std::vector<Value> run_round(Frame& f, const syntax::Loop& loop, const std::vector<Value>& carries, size_t count);
  void run_if(Frame& f, const syntax::IfStmt& stmt, Span span);
  std::vector<Value> split(Frame& f, const Value& value, size_t count, Span span);

  // typecheck_report.cc
  Diagnostic* report(Frame& f, Diag id, Span span, std::vector<DiagArg> args);
  void warn(Frame& f, Diag id, Span span, std::vector<DiagArg> args);
  void report_mismatch(Frame& f, const Mismatch& m, const std::string& place, Span span,
                       std::optional<std::pair<Diag, std::vector<DiagArg>>> otherwise = {},
                       Span expected = {});
  void report_rule(Frame& f, const ops::RuleError& e, Op op, const syntax::Call* call, Span span);
  void report_call(Frame& f, const Failure& failure, size_t callee, Span span);
  std::string show(Frame& f, TypeId type);
  std::string show(Frame& f, DimId dim);
  int origin(Frame& f, Span span);

  // typecheck_present.cc: results in each definition's own names
  void present(Frame& f);
  Header header_of(Frame& f);

  const FlatProgram& flat_;
  const Program& program_;
  Session& s_;
  TypeTable& t_;
  DimTable& d_;
  std::vector<State> states_;
  std::vector<bool> failed_;
  std::vector<Value> generic_results_;            // of globals and definitions without parameters
  std::map<SymbolId, DimId> rigid_meanings_;
  std::map<std::string, std::unique_ptr<Summary>> memo_;
  int depth_ = 0;                                 // nested checks
  std::vector<int> running_;                      // checks of each definition in progress
  TypedProgram out_;
};

}  // namespace axon::sema::types
