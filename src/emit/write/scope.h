// Values and names within one Python function: what is bound to a name, what is still an
// expression.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emit/outline/outline.h"
#include "emit/py/names.h"
#include "emit/py/tree.h"

namespace axon::emit {

// An expression and the values whose names it reads.
struct Built {
  py::Expr expr;
  std::vector<graph::ValueId> reads;
};

// A value with one use stays an expression until its use, unless the line would get long; a name is
// used again when the value that had it is dead. Invariant: every name that a pending expression
// reads still holds the value that it means.
class Scope {
 public:
  Scope(const Joined& joined, const TypeTable& types, py::NamePlan names)
      : joined_(joined), types_(types), names_(std::move(names)) {}

  void add_use(graph::ValueId value, int count = 1) { uses_[value] += count; }
  int uses(graph::ValueId value) const;

  std::string parameter(graph::ValueId value);  // gives the value a parameter's name
  std::string fresh(std::string_view wanted) { return names_.unique(wanted); }
  // The value becomes what the name holds; the name must be free or its holder dead.
  void bind(graph::ValueId value, const std::string& name);
  Built use(graph::ValueId value);  // its expression; a pending one is taken out
  // Defines a value: as a pending expression, or by a statement.
  void define(graph::ValueId value, Built built, bool may_wait = true);
  void keep_waiting(graph::ValueId value) { waits_.insert(value); }         // however long it gets
  void define_all(const std::vector<graph::ValueId>& values, Built built);  // by one statement
  // Pending expressions that the values are become statements.
  void settle(const std::vector<graph::ValueId>& values);
  void statement(py::Stmt s) { out_->push_back(std::move(s)); }
  // What the last statement gives to just these names; the statement is taken out.
  std::optional<py::Expr> take_last(const py::Expr& names);
  size_t pending_width(graph::ValueId value) const;  // 0: not pending
  void spend(const Built& built);  // what an emitted statement read has one use less
  const std::string* name_of(graph::ValueId value) const;
  std::string name_for(graph::ValueId value);  // free now, or of a dead value
  bool is_free(const std::string& name) const;

  // Where statements go; gives where they went.
  std::vector<py::Stmt>* redirect(std::vector<py::Stmt>* to);
  // The name in the source: `x__g2` and `x_12` are forms of `x`.
  static std::string base_name(std::string_view source_name);

 private:
  const Joined& joined_;
  const TypeTable& types_;
  py::NamePlan names_;
  std::vector<py::Stmt>* out_ = nullptr;
  std::unordered_map<graph::ValueId, int, IdHash> uses_;
  std::unordered_map<graph::ValueId, Built, IdHash> pending_;
  std::unordered_map<graph::ValueId, std::string, IdHash> bound_;
  std::unordered_map<std::string, graph::ValueId> holder_;
  std::unordered_set<graph::ValueId, IdHash> waits_;
};

}  // namespace axon::emit
