// The element-type rules named in the op table.
#include "ops/dtype_rules.h"

#include <algorithm>
#include <array>

#include "support/check.h"
#include "support/text.h"

namespace axon::ops {
namespace {

struct Query {
  const std::vector<DTypeArg>& args;
  const Interner& names;
  DType parameter;
  int output;
};
using DTypeRule = DType (*)(const Query&);

DType tensor_at(const Query& q, size_t skip) {
  for (const DTypeArg& arg : q.args) {
    if (arg.kind != TypeKind::Tensor) continue;
    if (skip == 0) return arg.dtype;
    --skip;
  }
  return DType::Unknown;
}

// The dtype that a string operand names; Unknown keeps the operand's, as null and "none" do.
DType named(const Query& q) {
  for (const DTypeArg& arg : q.args) {
    if (arg.known.kind != Known::Kind::String) continue;
    auto dtype = parse_dtype(q.names.text(arg.known.text));
    if (dtype) return *dtype;
  }
  return DType::Unknown;
}

// A name that is only known at run time leaves the result open.
bool name_is_open(const Query& q) {
  return std::any_of(q.args.begin(), q.args.end(), [](const DTypeArg& arg) {
    return arg.kind == TypeKind::String && arg.known.kind != Known::Kind::String;
  });
}

DType named_or(const Query& q, DType otherwise) {
  if (name_is_open(q)) return DType::Unknown;
  DType dtype = named(q);
  return dtype == DType::Unknown ? otherwise : dtype;
}

DType rule_None(const Query&) { return DType::Unknown; }
DType rule_Param(const Query& q) { return q.parameter; }
DType rule_First(const Query& q) { return tensor_at(q, 0); }
DType rule_Second(const Query& q) { return tensor_at(q, 1); }
DType rule_Int64(const Query&) { return DType::I64; }
DType rule_Bool(const Query&) { return DType::Bool; }
DType rule_Named(const Query& q) { return named_or(q, tensor_at(q, 0)); }
DType rule_NamedOrFirst(const Query& q) { return named_or(q, tensor_at(q, 0)); }
DType rule_NamedOrSecond(const Query& q) {
  bool tensor_value = !q.args.empty() && q.args[0].kind == TypeKind::Tensor;
  return named_or(q, tensor_at(q, tensor_value ? 1 : 0));
}
// What stands behind the two operands (the axis of concat) is none.
DType rule_Promote(const Query& q) {
  auto end = q.args.begin() + static_cast<int64_t>(std::min<size_t>(q.args.size(), 2));
  return promote_arguments({q.args.begin(), end});
}
DType rule_TrueDiv(const Query& q) {
  DType dtype = promote_arguments(q.args);
  return dtype == DType::Unknown || is_float(dtype) ? dtype : DType::F32;
}
DType rule_Float(const Query& q) {
  DType dtype = tensor_at(q, 0);
  return dtype == DType::Unknown || is_float(dtype) ? dtype : DType::F32;
}
DType rule_PromoteTail(const Query& q) {
  if (q.args.size() < 3) return DType::Unknown;
  std::vector<DTypeArg> values(q.args.begin() + 1, q.args.end());
  bool tensors = std::any_of(values.begin(), values.end(),
                             [](const DTypeArg& arg) { return arg.kind == TypeKind::Tensor; });
  if (tensors) return promote_arguments(values);
  auto has = [&](TypeKind kind) {
    return std::any_of(values.begin(), values.end(),
                       [&](const DTypeArg& arg) { return arg.kind == kind; });
  };
  if (has(TypeKind::Float)) return DType::F32;
  return has(TypeKind::Int) || has(TypeKind::Dim) ? DType::I64 : DType::Bool;
}
DType rule_SumDtype(const Query& q) {
  DType dtype = tensor_at(q, 0);
  return dtype == DType::Unknown || is_float(dtype) ? dtype : DType::I64;
}
DType rule_TopkDtype(const Query& q) { return q.output == 1 ? DType::I64 : tensor_at(q, 0); }
// The left operand is converted to the right one's floating type.
DType rule_MatmulDtype(const Query& q) {
  DType x = tensor_at(q, 0);
  DType y = tensor_at(q, 1);
  return is_float(x) && is_float(y) ? y : promote(x, y);
}
DType rule_RandomDtype(const Query& q) {
  DType dtype = tensor_at(q, 0);
  return dtype == DType::Unknown || is_float(dtype) ? dtype : DType::F32;
}

constexpr std::array<DTypeRule, kOpCount> kRules = {
#define AXON_CORE(ident, name, effect) nullptr,
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) rule_##dtype,
#define AXON_FUSED(ident, name, operands, attributes) nullptr,
#include "ops/ops.def"
};

DType infix_rule(Op op, const Query& q) {
  switch (op) {
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub:
    case Op::CoreBinaryMul:
    case Op::CoreBinaryMod:
      return rule_Promote(q);
    case Op::CoreBinaryDiv:
      return rule_TrueDiv(q);
    case Op::CoreBinaryEq:
    case Op::CoreBinaryNe:
    case Op::CoreBinaryLt:
    case Op::CoreBinaryLe:
    case Op::CoreBinaryGt:
    case Op::CoreBinaryGe:
    case Op::CoreBinaryAnd:
    case Op::CoreBinaryOr:
      return DType::Bool;
    case Op::CoreAlias:
    case Op::CoreAscribe:
      return rule_First(q);
    default:
      return DType::Unknown;
  }
}

}  // namespace

DType promote_arguments(const std::vector<DTypeArg>& args) {
  bool any = false;
  DType out = DType::Bool;
  for (const DTypeArg& arg : args) {
    if (arg.kind != TypeKind::Tensor) continue;
    if (arg.dtype == DType::Unknown) return DType::Unknown;
    out = any ? promote(out, arg.dtype) : arg.dtype;
    any = true;
  }
  if (!any) return DType::Unknown;
  for (const DTypeArg& arg : args) {
    if (arg.kind == TypeKind::Float && !is_float(out)) out = DType::F32;
    bool integer = arg.kind == TypeKind::Int || arg.kind == TypeKind::Dim;
    if (integer && out == DType::Bool) out = DType::I64;
  }
  return out;
}

DType dtype_rule(Op op, const std::vector<DTypeArg>& args, const Interner& names, DType parameter,
                 int output) {
  Query query{args, names, parameter, output};
  DTypeRule rule = kRules[static_cast<size_t>(op)];
  return rule != nullptr ? rule(query) : infix_rule(op, query);
}

}  // namespace axon::ops
