// The function of a block as JAX writes it: pure, with what it writes to the cache among its
// results.
#pragma once

#include <map>

#include "emit/jax/weights.h"
#include "emit/write/block_writer.h"

namespace axon::emit::jax {

class Function : public BlockWriter {
 public:
  Function(Program& program, const Weights& weights, BlockId id)
      : BlockWriter(program, id), weights_(weights) {}
  // The definition, named `name`. Errors: BACK-UNSUPPORTED, with the operation and where it stands.
  Result<py::Stmt> write(const std::string& name);
  py::Expr param(const std::string& path) override;
  // Compilation moves signs to where they cost least.
  bool all_signed() override { return false; }
  bool is_signed(graph::ValueId) override { return false; }
  bool may_be_none(graph::ValueId) override { return false; }  // no row asks twice

 private:
  // signature.cc
  std::vector<py::Param> parameters();
  std::vector<py::Param> root_parameters(std::vector<py::Param> out);
  void begin();
  void begin_cache();
  void take_encoded();
  bool is_optional_input(graph::ValueId value) const;
  py::Expr finish();
  py::Expr finish_root();
  // caches.cc
  void keep(const Step& step) override;
  py::Expr keep_mask(const graph::Node& node);
  Result<void> write_stores(const Step& step) override;
  void narrow(const graph::Operand& operand) override;
  int32_t store_within(BlockId id) const;
  bool has_many() const;                      // the function deals with the stores of all layers
  py::Expr store_place(int32_t store) const;  // where one layer's store is
  // function.cc
  std::string_view target() const override { return "jax"; }
  std::optional<py::Expr> expression(const graph::Node& node) override;
  std::vector<DimId> spelled(const graph::Node& node) const override;
  Result<void> call(BlockId called) override;
  void bind_results(BlockId called, Built built);
  py::Expr subtree(BlockId called) const;
  std::optional<py::Expr> beside_stack(const std::string& path) const;
  void add_extras(std::vector<py::Expr>& args, BlockId called, const Needs& needs);
  // rounds.cc
  Result<void> loop(int32_t index) override;
  Result<std::vector<py::Stmt>> round(int32_t index, const std::vector<std::string>& carried);
  void count_rounds(int32_t index, std::vector<py::Stmt> body);
  void return_made(const LoopBlock& loop);
  struct Given {  // the rounds of a loop, when it is scanned
    std::vector<py::Expr> names, stacks;
    std::string whole;  // all names as one parameter, of this type, and how it is taken apart
    py::Expr type;
    std::vector<py::Stmt> opening;
  };
  Given given_of(int32_t index);
  void scan_rounds(int32_t index, const std::vector<std::string>& carried,
                   std::vector<py::Stmt> body);
  void map_rounds(int32_t index, std::vector<py::Stmt> body);

  const Weights& weights_;
  std::map<std::string, std::string> foreign_;  // parameters that lie elsewhere: their names here
  std::map<int32_t, std::string> carried_;      // names of values that rounds hand on
  std::string past_, element_, number_;         // number_: of the round
  int32_t first_store_ = -1;                    // of the loop whose rounds are being written
  bool scanning_ = false;
};

// `Array`, `Array | None`, `list[Array]`.
py::Expr annotation(const Program& program, graph::ValueId value);
// What `encode` gives: an array, or several under their names.
py::Expr encoded_type(const Program& program);

}  // namespace axon::emit::jax
