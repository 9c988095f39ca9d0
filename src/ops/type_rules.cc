// Entry of the typing rules: checks arguments against the signature, then applies the op's rule.
#include "ops/type_rules.h"

#include <array>

#include "ops/rule_call.h"
#include "ops/signature.h"
#include "support/check.h"

namespace axon::ops {
namespace {

// A primitive whose rule does not exist does not compile.
constexpr std::array<Rule, kOpCount> kRules = {
#define AXON_CORE(ident, name, effect) nullptr,
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) rule_##rule,
#define AXON_FUSED(ident, name, operands, attributes) nullptr,
#include "ops/ops.def"
};

// The type that a parameter of a primitive needs; the shape's details are the rule's matter.
// Invalid: anything goes.
TypeId needed_type(std::string_view text, Unifier& u) {
  TypeTable& t = u.types();
  if (text == "Int") return t.int_();
  if (text == "Dim") return t.dim();
  if (text == "Float") return t.float_();
  if (text == "Bool") return t.bool_();
  if (text == "String") return t.string();
  if (text == "Path") return t.path();
  if (text == "List[Dim]") return t.list(t.dim());
  if (text == "List[T]") {
    return t.list(t.variable(u.dims().fresh("T", SymbolKind::Type)));
  }
  if (text.substr(0, 6) == "Tensor") {
    return t.tensor({Axis{{}, u.dims().fresh("R", SymbolKind::Run)}});
  }
  return {};
}

// Checks one argument and strips its optional; false when `out.error` was set.
bool check_argument(const OpParam& param, int index, RuleArg& arg, Unifier& u, RuleResult& out) {
  TypeTable& t = u.types();
  arg.type = u.resolve(arg.type);
  TypeId needed = needed_type(param.type, u);
  if (!needed.valid()) return true;
  bool null = t.kind(arg.type) == TypeKind::Null;
  if (null && param.nullable) return true;
  if (null) {
    out.error = RuleError{RuleError::Kind::Null, index, {}, std::string(param.type)};
    out.error->mismatch.right = needed;
    return false;
  }
  TypeId result;
  UnifyNotes notes;
  auto bad = u.unify(arg.type, param.nullable ? t.optional(needed) : needed, result, notes);
  if (bad) {
    out.error = RuleError{RuleError::Kind::Mismatch, index, *bad, {}};
    return false;
  }
  if (notes.dropped_optional && !param.nullable) out.optional_arguments.push_back(index);
  bool keeps_tuple = t.kind(t.strip_optional(arg.type)) == TypeKind::Tuple;
  // A nullable argument keeps its `?`, so that a rule can tell that it may be null.
  if (!keeps_tuple && t.kind(result) != TypeKind::Error) arg.type = result;
  if (!param.nullable) arg.type = t.strip_optional(arg.type);
  return true;
}

}  // namespace

RuleResult type_rule(Op op, const std::vector<RuleArg>& args, Unifier& unifier) {
  RuleCall call(op, args, unifier);
  RuleResult out;
  out.type = unifier.types().error();
  for (RuleArg& arg : call.args) arg.type = unifier.resolve(arg.type);
  if (op_info(op).op_class == OpClass::Core) return rule_binary(call);
  const OpSignature& signature = op_signature(op);
  for (size_t i = 0; i < call.args.size() && i < signature.params.size(); ++i) {
    if (!check_argument(signature.params[i], static_cast<int>(i), call.args[i], unifier, out))
      return out;
  }
  RuleResult result = kRules[static_cast<size_t>(op)](call);
  result.optional_arguments.insert(result.optional_arguments.begin(),
                                   out.optional_arguments.begin(), out.optional_arguments.end());
  return result;
}

// ---- helpers of rules ----------------------------------------------------------------------

bool RuleCall::is_open(size_t i) const {
  TypeKind k = kind(i);
  return k == TypeKind::Any || k == TypeKind::Variable || k == TypeKind::Error;
}

Axes RuleCall::axes(size_t i) const {
  if (!is_tensor(i)) return {};
  return u.resolve(types.get(args[i].type).axes);
}

std::optional<DimId> RuleCall::dim(size_t i) const {
  if (i >= args.size() || !args[i].known.is_dim()) return {};
  return u.resolve(args[i].known.dim);
}

std::optional<int64_t> RuleCall::integer(size_t i) const {
  auto value = dim(i);
  return value ? u.value(*value) : std::nullopt;
}

std::optional<bool> RuleCall::boolean(size_t i) const {
  if (i >= args.size() || !args[i].known.is_bool()) return {};
  return args[i].known.boolean;
}

std::optional<size_t> RuleCall::position(const Axes& axes, std::optional<int64_t> index,
                                         int64_t extra) {
  if (!index || axes.empty()) return {};
  int64_t size = static_cast<int64_t>(axes.size()) + extra;
  size_t run = axes.size();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].is_run()) run = i;
  }
  bool has_run = run < axes.size();
  int64_t place = *index >= 0 ? *index : *index + size;
  if (!has_run && (place < 0 || place >= size)) {
    error = RuleError{};
    error->text =
        "axis " + std::to_string(*index) + " is outside of " + std::to_string(size) + " axes";
    return {};
  }
  if (!has_run) return static_cast<size_t>(place);
  // Only axes in front of the run, or counted from the end behind it, have a known place.
  if (*index >= 0 && place < static_cast<int64_t>(run) + extra) return static_cast<size_t>(place);
  if (*index < 0 && place > static_cast<int64_t>(run)) return static_cast<size_t>(place);
  return {};
}

std::optional<std::vector<DimId>> RuleCall::shape(size_t i) {
  if (i >= args.size() || !args[i].known.is_list()) return {};
  std::vector<DimId> out;
  for (const Known& item : args[i].known.items) {
    out.push_back(item.is_dim() ? u.resolve(item.dim) : u.unknown());
  }
  return out;
}

std::optional<DimId> RuleCall::product(const Axes& list) {
  if (list.empty()) return {};
  DimId out = dims.integer(1);
  for (const Axis& axis : list) {
    if (axis.is_run()) return {};
    out = dims.value_mul(out, axis.dim);
  }
  return out;
}

void RuleCall::require_equal(DimId left, DimId right, int argument) {
  left = u.resolve(left);
  right = u.resolve(right);
  if (left == right) return;
  auto a = u.value(left);
  auto b = u.value(right);
  auto difference = dims.as_integer(dims.value_sub(left, right));
  if ((a && b && *a != *b) || (difference && *difference != 0)) {
    Mismatch mismatch;
    mismatch.kind = Mismatch::Kind::Dim;
    mismatch.left_dim = left;
    mismatch.right_dim = right;
    error = RuleError{RuleError::Kind::Mismatch, argument, mismatch, {}};
    return;
  }
  if (!(a && b)) u.record_equal(left, right);
}

TypeId RuleCall::forget(const Axes& list) {
  Axes out;
  for (const Axis& axis : list) {
    if (axis.is_run()) return types.tensor();
    out.push_back({u.unknown(), {}});
  }
  return tensor(std::move(out));
}

RuleResult RuleCall::fail(std::string text) {
  error = RuleError{};
  error->text = std::move(text);
  return result(types.error());
}

RuleResult RuleCall::fail(Mismatch mismatch, int argument) {
  error = RuleError{RuleError::Kind::Mismatch, argument, mismatch, {}};
  return result(types.error());
}

}  // namespace axon::ops
