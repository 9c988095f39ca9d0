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

bool IntTable::divides_by_zero(IntId id) const {
  using Kind = IntExpr::Kind;
  if (!id.valid()) return false;
  const auto count = static_cast<size_t>(id.index) + 1;
  std::vector<uint8_t> part(count, 0);
  part[count - 1] = 1;
  for (size_t i = count; i-- > 0;) {  // operands come before their users
    const IntId here = program_->ints.id_at(i);
    const IntExpr& e = program_->ints[here];
    if (part[i] == 0 || known(here) || e.kind == Kind::Const || e.kind == Kind::Sym) continue;
    const bool divides = e.kind == Kind::FloorDiv || e.kind == Kind::CeilDiv || e.kind == Kind::Mod;
    if (divides && known(e.b) && (*this)[e.b] == 0) return true;
    part[static_cast<size_t>(e.a.index)] = part[static_cast<size_t>(e.b.index)] = 1;
  }
  return false;
}

}  // namespace axon::runtime
