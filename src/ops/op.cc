// The op table's facts by Op.
#include "ops/op.h"

#include <iterator>
#include <unordered_map>

namespace axon {
namespace {

using enum Effect;

constexpr OpInfo kOps[] = {
#define AXON_CORE(ident, name, effect) {name, OpClass::Core, effect, "", ""},
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) \
  {name, OpClass::Primitive, effect, signature, ""},
#define AXON_FUSED(ident, name, operands, attributes) \
  {name, OpClass::Fused, TotalPure, operands, attributes},
#include "ops/ops.def"
};
static_assert(std::size(kOps) == kOpCount);

const std::unordered_map<std::string_view, Op>& by_name() {
  static const auto* const kByName = [] {
    auto* map = new std::unordered_map<std::string_view, Op>();
    for (size_t i = 0; i < kOpCount; ++i) map->emplace(kOps[i].name, static_cast<Op>(i));
    return map;
  }();
  return *kByName;
}

}  // namespace

const OpInfo& op_info(Op op) { return kOps[static_cast<size_t>(op)]; }
std::string_view spelling(Op op) { return kOps[static_cast<size_t>(op)].name; }

std::optional<Op> find_op(std::string_view name) {
  auto found = by_name().find(name);
  if (found == by_name().end()) return {};
  return found->second;
}

std::optional<Op> find_primitive(std::string_view source_name) {
  if (source_name.size() < 2 || source_name[0] != '_' || source_name[1] == '_') return {};
  std::string_view name = source_name.substr(1);
  if (name == "param") name = "params_param";
  auto op = find_op(name);
  if (!op || op_info(*op).op_class != OpClass::Primitive) return {};
  return op;
}

}  // namespace axon
