// The `forward` of a block as PyTorch writes it.
#pragma once

#include <map>

#include "emit/write/block_writer.h"

namespace axon::emit::torch {

class Function : public BlockWriter {
 public:
  using BlockWriter::BlockWriter;
  Result<py::Stmt> write();
  py::Expr param(const std::string& path) override;

 private:
  // signature.cc
  std::vector<py::Param> parameters();
  void count_joints();
  std::optional<py::Expr> rounded_factor(const graph::Node& node, std::optional<py::Expr> made);
  bool is_optional_input(graph::ValueId value) const;
  std::vector<py::Param> root_parameters(std::vector<py::Param> out);
  void begin();
  void take_encoded();
  void begin_cache();
  std::optional<py::Expr> finish();
  std::optional<py::Expr> finish_root();
  // caches.cc
  void keep(const Step& step) override;
  py::Expr biased(const graph::Node& node);
  py::Expr keep_mask(const Step& step);
  Result<void> write_stores(const Step& step) override;
  void narrow(const graph::Operand& operand) override;
  int32_t store_within(BlockId id) const;
  // function.cc
  std::string_view target() const override { return "torch"; }
  std::optional<py::Expr> expression(const graph::Node& node) override;
  std::vector<DimId> spelled(const graph::Node& node) const override;
  Result<void> call(BlockId called) override;
  void call_joint(const Joint& joint);
  Result<void> loop(int32_t index) override;
  py::Stmt loop_head(int32_t index, std::vector<py::Stmt> body);
  py::Expr module_of(BlockId called) const;
  const char* function_name(BlockId id) const;
  bool is_of_list(BlockId called) const;
  void add_extras(std::vector<py::Expr>& args, BlockId called, const Needs& needs);

  std::map<std::string, std::string> foreign_;  // parameters that lie elsewhere: their names here
  std::string past_, element_, dtype_;
  bool in_store_loop_ = false;
};

}  // namespace axon::emit::torch
