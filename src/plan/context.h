// What the planning of all phases of one program shares.
#pragma once

#include <map>
#include <string>

#include "opt/specialise.h"
#include "plan/symbols.h"
#include "plan/weights.h"
#include "runtime/core/program.h"
#include "source/diag.h"
#include "source/file_table.h"

namespace axon::plan {

struct Context {
  Context(runtime::Program& program, TypeTable& types, const opt::Answers& answers, DiagSink& sink)
      : program(program),
        types(types),
        dims(types.dims()),
        names(types.dims().names()),
        sink(sink),
        symbols(program, types.dims()),
        weights(program, answers.params) {}

  runtime::Program& program;
  TypeTable& types;
  DimTable& dims;
  Interner& names;
  DiagSink& sink;
  const FileTable* files = nullptr;  // for the `source` of instructions; may be null
  Symbols symbols;
  Weights weights;
  std::map<std::string, runtime::ConstId> constants;  // by element type and bytes, for scalars
};

}  // namespace axon::plan
