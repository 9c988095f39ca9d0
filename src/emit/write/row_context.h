// What the row of an operation may ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/outline/outline.h"
#include "emit/py/tree.h"

namespace axon::emit {

class RowContext {
 public:
  virtual ~RowContext() = default;
  virtual py::Expr value(const graph::Operand& operand) = 0;  // tensor, number, flag, null
  virtual py::Expr dim(DimId dim) = 0;
  virtual py::Expr param(const std::string& path) = 0;                     // a parameter's tensor
  virtual std::vector<py::Expr> items(const graph::Operand& operand) = 0;  // of a list
  virtual std::vector<DimId> shape(const graph::Operand& operand) = 0;
  // The places `from` … `to` of a cache's axis, where only the device knows them; else nothing.
  virtual std::optional<py::Expr> places(DimId from, DimId to) = 0;
  virtual void helper(std::string_view prelude) = 0;  // `torch/rope`
  virtual bool all_signed() = 0;                      // every rotation's sines carry the sign
  virtual bool is_signed(graph::ValueId value) = 0;   // these sines do
  virtual bool may_be_none(graph::ValueId value) = 0;
  virtual DType dtype(const graph::Operand& operand) = 0;
  virtual const Interner& names() = 0;
  virtual DimTable& dims() = 0;
};

}  // namespace axon::emit
