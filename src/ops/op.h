// Op: every operation of the Graph, from ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace axon {

enum class Effect : uint8_t { TotalPure, PartialPure, Effectful };

enum class Op : uint16_t {
#define AXON_CORE(ident, name, effect) Core##ident,
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) ident,
#define AXON_FUSED(ident, name, operands, attributes) ident,
#include "ops/ops.def"
  Count
};
constexpr size_t kOpCount = static_cast<size_t>(Op::Count);

enum class OpClass : uint8_t { Core, Primitive, Fused };

struct OpInfo {
  std::string_view name;  // without the leading underscore of primitives
  OpClass op_class = OpClass::Core;
  Effect effect = Effect::TotalPure;
  std::string_view signature;   // primitives: signature text; fused: operand names
  std::string_view attributes;  // fused only
};
const OpInfo& op_info(Op op);
std::string_view spelling(Op op);                  // "matmul", "core.binary.+"
std::optional<Op> find_op(std::string_view name);  // by that spelling
// A primitive by its source spelling (`_matmul`); also the old alias `_param`.
std::optional<Op> find_primitive(std::string_view source_name);

}  // namespace axon
