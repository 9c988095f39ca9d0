// Symbolic dims of the compiler as integer expressions of a Program.
#pragma once

#include <unordered_map>
#include <vector>

#include "runtime/core/program.h"
#include "types/dim.h"

namespace axon::plan {

class Symbols {
 public:
  Symbols(runtime::Program& program, DimTable& dims) : program_(program), dims_(dims) {}
  runtime::IntId expr(DimId dim);
  std::vector<runtime::IntId> exprs(const std::vector<DimId>& dims);
  // The program's symbol of that name, made when it is new.
  runtime::SymId symbol(SymbolId symbol);

 private:
  runtime::IntId translate(const DimTable::Tree& tree);

  runtime::Program& program_;
  DimTable& dims_;
  std::unordered_map<DimId, runtime::IntId, IdHash> known_;
  std::unordered_map<SymbolId, runtime::SymId, IdHash> symbols_;
};

}  // namespace axon::plan
