// What all front-end stages of one compilation share. Passed explicitly; there is no global state.
#pragma once

#include "source/diag.h"
#include "source/file_table.h"
#include "support/interner.h"
#include "syntax/nodes.h"
#include "types/type.h"

namespace axon::sema {

struct Session {
  FileTable files;
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
  syntax::Ast ast;
  DiagSink sink;
};

}  // namespace axon::sema
