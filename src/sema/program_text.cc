// Programs as modules.
#include "sema/program_text.h"

namespace axon::sema {

syntax::Module as_module(const Program& program) {
  syntax::Module out;
  out.pragmas = program.pragmas;
  out.aliases = program.aliases;
  out.definitions = program.definitions;
  return out;
}

}  // namespace axon::sema
