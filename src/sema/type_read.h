// Types as a checked program writes them, back to types: names mean what the printed form of a
// definition makes of them (language.md 6.2, 10.8).
#pragma once

#include <string>

#include "sema/callee.h"
#include "sema/walk.h"

namespace axon::sema {

class TypeReader {
 public:
  TypeReader(const syntax::Definition& def, const Program& program, Session& session);

  TypeId type(syntax::TypeExprId id);
  DimId dim(syntax::DimExprId id);
  SymbolId symbol(NameId name);  // of a dim
  // What could not be read; empty when all is well.
  const std::string& error() const { return error_; }

 private:
  TypeId named(const syntax::TypeNamed& node);
  TypeId tensor(const syntax::TypeNamed& node);
  TypeId fail(const std::string& what);

  const syntax::Definition& def_;
  const Program& program_;
  Session& s_;
  TypeTable& t_;
  DimTable& d_;
  NameSet integers_;  // parameters that are sizes
  std::string error_;
};

}  // namespace axon::sema
