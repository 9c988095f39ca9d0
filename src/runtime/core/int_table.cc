// Which expressions depend on data symbols.
#include "runtime/core/int_table.h"

namespace axon::runtime {

IntTable::IntTable(const Program& program) : program_(&program), data_(program.ints.size(), 0) {
  for (size_t i = 0; i < program.ints.size(); ++i) {
    const IntExpr& e = program.ints[program.ints.id_at(i)];
    if (e.kind == IntExpr::Kind::Sym) {
      data_[i] = program.symbols[e.sym].kind == SymKind::Data;
    } else if (e.kind != IntExpr::Kind::Const) {
      data_[i] = is_data(e.a) || is_data(e.b);
    }
  }
}

}  // namespace axon::runtime
