// What one check of one definition works on. Private to the typecheck sources.
#pragma once

#include <map>
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
  Span span;        // where it is bound
};

// The first error of a check that does not report by itself (one for a particular call).
struct Failure {
  std::string message;
  Span span;
  std::vector<DiagNote> notes;
  std::vector<std::pair<Span, NameId>> chain;  // calls on the way, innermost first
  int argument = -1;                           // the call's own argument is to blame
  std::optional<Mismatch> mismatch;
};

struct Equation {
  DimConstraint::Kind kind = DimConstraint::Kind::Equal;
  DimId left, right;
  Span span;
  bool guarded = false;
};

// What a check of a definition for given arguments found, in terms of the arguments' symbols.
struct Summary {
  std::vector<SymbolId> symbols;
  Value result;
  std::vector<Equation> equations;
  std::vector<std::pair<SymbolId, std::vector<Axis>>> runs;
  std::vector<std::pair<SymbolId, TypeId>> variables;
  std::vector<int> dropped;  // arguments whose `?` was dropped
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
  std::vector<std::pair<NameId, DimId>> dims;         // of dims that are values
  std::vector<std::pair<NameId, SymbolId>> promises;  // names that only the result has
};

// The locals in scope, in the order of their bindings; of equal names the last is meant.
class Locals {
 public:
  Local* find(NameId name);
  void push(Local local) { all_.push_back(std::move(local)); }
  const std::vector<Local>& all() const { return all_; }
  void restore(std::vector<Local> before);  // what `all` gave earlier

 private:
  std::vector<Local> all_;
  // Of the first `indexed_`, places by name; places beyond, or of another name, are of the past.
  std::unordered_map<NameId, std::vector<size_t>, IdHash> places_;
  size_t indexed_ = 0;
};

// One check of one definition: generic, or for a call.
struct Frame {
  Frame(size_t index, const syntax::Definition& d, TypeTable& types)
      : definition(index), def(d), u(types) {}
  size_t definition;
  const syntax::Definition& def;
  Unifier u;
  bool generic = false;                  // names stand for themselves; otherwise for fresh symbols
  bool reports = false;                  // diagnostics go to the sink
  bool record = false;                   // types of expressions are kept
  std::vector<NameId> bad_placeholders;  // reported already: a prefix is part of many paths
  int muted = 0;                 // > 0: a branch that is not taken, or a round that is not the last
  int maybe = 0;                 // > 0: a branch or loop body that may not be run
  std::map<NameId, DimId> dims;  // names in types
  std::map<NameId, DimId> dim_values;  // dims that are values by now
  std::set<SymbolId> declared;         // dims of the parameters' types
  std::map<NameId, SymbolId> runs;
  std::map<NameId, TypeId> variables;
  Locals locals;
  std::vector<Value> params;
  int versions = 0;
  std::vector<TypedGuard> open_guards;          // of the branches that are being checked
  std::vector<std::vector<TypedGuard>> guards;  // of each branch, by DimConstraint::branch
  std::optional<Value> returned;
  std::vector<std::pair<NameId, SymbolId>> promises;  // sizes that the signature says are the same
  std::vector<Value> yielded;
  std::vector<int> dropped;
  std::optional<Failure> failure;
  std::vector<Span> origins;  // of constraints, by DimConstraint::origin
  std::vector<Recorded> recorded;
  std::vector<Header> headers;
};

}  // namespace axon::sema::types
