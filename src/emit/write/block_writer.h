// The function of one block, as far as all targets write it alike: names, sizes, branches, the
// order of statements. A target derives from it and says how operations, parameters, calls, loops
// and caches look.
//
// Names that the statements rely on: `slots`, the positions that the call writes; `key_count`, how
// many keys it sees; `past` and `stores`, the stores of one layer and of all.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emit/write/program.h"
#include "emit/write/row_context.h"
#include "emit/write/scope.h"

namespace axon::emit {

class BlockWriter : public RowContext {
 public:
  BlockWriter(Program& program, BlockId id);

  // ---- rows ----
  py::Expr value(const graph::Operand& operand) override;
  py::Expr dim(DimId dim) override { return dim_tree(dims_.tree(dim)); }
  std::vector<py::Expr> items(const graph::Operand& operand) override;
  std::vector<DimId> shape(const graph::Operand& operand) override;
  std::optional<py::Expr> places(DimId from, DimId to) override;
  void helper(std::string_view prelude) override { p_.prelude.use(prelude); }
  bool all_signed() override { return !p_.signed_sines.empty(); }
  bool is_signed(graph::ValueId value) override { return p_.signed_sines.count(value.index) != 0; }
  bool may_be_none(graph::ValueId value) override { return p_.joined.values[value].optional; }
  DType dtype(const graph::Operand& operand) override;
  const Interner& names() override { return dims_.names(); }
  DimTable& dims() override { return dims_; }

 protected:
  // ---- what targets say ----
  virtual std::string_view target() const = 0;
  // The expression of an operation; nothing when the target has none.
  virtual std::optional<py::Expr> expression(const graph::Node& node) = 0;
  virtual Result<void> call(BlockId called) = 0;
  virtual Result<void> loop(int32_t index) = 0;
  virtual Result<void> write_stores(const Step& step) = 0;
  virtual void keep(const Step& step) = 0;  // of kind Keep or Bias
  // Sizes that the expression spells out although no operand is one; mostly none.
  virtual std::vector<DimId> spelled(const graph::Node&) const { return {}; }
  // Only the last positions of what the head reads go on.
  virtual void narrow(const graph::Operand& operand) = 0;

  // ---- what all targets do ----
  Result<void> write_items(const std::vector<Item>& all);
  void count_uses();
  void bind_sizes();  // `B, S, _ = x.shape`
  py::Expr symbol(SymbolId id);
  void make_room(const std::vector<graph::ValueId>& operands);
  void reserve(const char* name) { scope_.fresh(name); }
  // Values from outside of a loop that its rounds read: they live through all rounds.
  std::vector<graph::ValueId> outer_values(int32_t loop) const;
  std::string enter(const LoopBlock::Carry& carry);  // the name of a carried value
  void leave(const std::vector<LoopBlock::Carry>& carries, const std::vector<std::string>& names);
  // Lists of what the rounds make: empty ones before the loop, one more element in each round.
  void open_lists(int32_t loop, const py::Expr& type);
  void fill_lists(int32_t loop);
  void bind_settings(int32_t loop);
  // The setting's numbers, round by round, beside their names; lists of an earlier loop too.
  std::vector<std::pair<std::string, py::Expr>> settings_of(int32_t loop);

  Program& p_;
  BlockId id_;
  const Block& block_;
  const Needs& needs_;
  DimTable& dims_;
  Scope scope_;
  std::vector<graph::ValueId> reads_;  // of the expression being made

 private:
  py::Expr dim_tree(const DimTable::Tree& tree);
  std::vector<SymbolId> mentioned_sizes();
  bool slice_of_slots(const graph::Node& node);
  void count_items(const std::vector<Item>& all);
  Result<void> put(const Item& item);
  Span use_of(const graph::Node& node) const;
  Error no_row(const graph::Node& node) const;
  Result<void> step(graph::NodeId id);
  bool is_slots(const graph::Node& node);
  py::Expr slots_of(const graph::Node& node);

  // Steps that only one side of a choice needs are written within it.
  using Side = std::pair<graph::NodeId, int>;
  using Readers = std::unordered_map<graph::ValueId, std::vector<Side>, IdHash>;
  Readers readers_of(const std::vector<Item>& all) const;
  void find_branches(const std::vector<Item>& all);
  std::optional<Side> side_of(graph::NodeId id, Readers& readers) const;
  void settle_shared(graph::NodeId choice);
  Result<void> choice(graph::NodeId id);
  Result<std::vector<py::Stmt>> branch(graph::NodeId id, int side, std::string& name);

  std::unordered_map<SymbolId, std::string, IdHash> sizes_;
  std::unordered_map<graph::NodeId, Side, IdHash> branch_of_;
};

}  // namespace axon::emit
