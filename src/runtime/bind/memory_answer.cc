// How much memory a model will need, and whether the machine has it.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bind/model.h"
#include "source/diag.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

std::string mebibytes(int64_t bytes) {
  const int64_t tenths = (bytes * 10 + (1 << 19)) / (1 << 20);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// The number after `key` in a text of lines `key: number kB`; -1: absent.
int64_t field_kb(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    if (!starts_with(line, key)) continue;
    std::string_view rest = trim(line.substr(key.size()));
    return parse_int(rest.substr(0, rest.find(' '))).value_or(-1);
  }
  return -1;
}

int64_t number_in(const char* path) {
  const auto text = read_file(path);
  return text ? parse_int(trim(*text)).value_or(-1) : -1;
}

// For each expression whether it never falls when a symbol grows: what it is for ones is its least.
std::vector<bool> find_rising(const Program& program) {
  using Kind = IntExpr::Kind;
  std::vector<bool> rises;
  for (const IntExpr& e : program.ints) {  // operands come first
    auto of = [&](IntId id) { return rises[static_cast<size_t>(id.index)]; };
    auto positive = [&](IntId id) {
      return program.ints[id].kind == Kind::Const && program.ints[id].value > 0;
    };
    bool up = false;
    if (e.kind == Kind::Const) up = e.value >= 0;
    if (e.kind == Kind::Sym) up = program.symbols[e.sym].kind == SymKind::Shape;
    if (e.kind == Kind::Add || e.kind == Kind::Mul || e.kind == Kind::Min || e.kind == Kind::Max)
      up = of(e.a) && of(e.b);
    if (e.kind == Kind::FloorDiv || e.kind == Kind::CeilDiv) up = of(e.a) && positive(e.b);
    rises.push_back(up);
  }
  return rises;
}

// The least working memory of a phase; INT64_MAX: more than can be counted, nothing: not known.
std::optional<int64_t> least_arena(const Program& program, const Phase& phase,
                                   const std::vector<bool>& rises) {
  const IntId arena = phase.arena_bytes;
  if (phase.routine.valid() || !arena.valid() || !rises[static_cast<size_t>(arena.index)])
    return {};
  Bindings ones;
  for (size_t i = 0; i < program.symbols.size(); ++i) ones.set(program.symbols.id_at(i), 1);
  int64_t bytes = 0;
  return evaluate(program, ones, arena, bytes) ? bytes : INT64_MAX;
}

}  // namespace

Result<void> check_plan(const Program& program, int64_t available) {
  int64_t least = INT64_MAX;
  const std::vector<bool> rises = find_rising(program);
  for (const Phase& phase : program.phases) {
    const std::optional<int64_t> bytes = least_arena(program, phase, rises);
    if (!bytes || *bytes <= available) return {};
    least = std::min(least, *bytes);
  }
  if (available <= 0 || program.phases.empty()) return {};
  // What no machine gives is said in the same words on every one.
  constexpr int64_t kAddressable = int64_t{1} << 47;
  std::string given = std::to_string(available);
  if (least > kAddressable)
    given = std::to_string(kAddressable) + " at most, whatever the machine has";
  const DiagInfo& info = diag_info(Diag::PlanMemory);
  const std::string needed = (least == INT64_MAX ? "more than " : "") + std::to_string(least);
  return Error{std::string(info.code),
               format_message(info.format, {needed, given}),
               {},
               -1,
               "tensors of fixed sizes in the program need as much for one row and one token"};
}

std::string MemoryAnswer::show() const {
  return mebibytes(total()) + " (mapped weights " + mebibytes(mapped) + ", packed " +
         mebibytes(packed) + ", converted " + mebibytes(dense) + ", constants " +
         mebibytes(constants) + ", states " + mebibytes(states) + ", working memory " +
         mebibytes(arena + tables) + ")";
}

int64_t available_memory() {
  int64_t available = 0;
  const auto info = read_file("/proc/meminfo");
  if (info) available = std::max<int64_t>(0, field_kb(*info, "MemAvailable:") * 1024);
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const int64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) {
    const int64_t left = std::max<int64_t>(0, limit - used);
    available = available > 0 ? std::min(available, left) : left;
  }
  return available;
}

Result<void> check_fits(const MemoryAnswer& answer, int64_t available) {
  const int64_t needed = answer.total() - answer.mapped;
  if (available <= 0 || needed <= available) return {};
  return Error{"MEM-LIMIT",
               "the model needs " + answer.show() + ", and " + mebibytes(available) + " are free",
               {},
               -1,
               "a smaller context (`--ctx`) or batch needs less"};
}

}  // namespace axon::runtime
