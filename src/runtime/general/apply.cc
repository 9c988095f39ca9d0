// Operands with checked access, defaults, lists, and the table of primitives.
#include "runtime/general/apply.h"

#include <array>

#include "ops/signature.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

using Kind = Datum::Kind;
using Function = Result<Datum> (*)(const OpCall&);

constexpr std::array<Function, kOpCount> make_table() {
  std::array<Function, kOpCount> table{};
#define APPLY(op, function) table[static_cast<size_t>(Op::op)] = function;
#include "runtime/general/apply.def"
  return table;
}
constexpr std::array<Function, kOpCount> kTable = make_table();

// Looks at the rows, not at the functions: their addresses are no constants under sanitizers.
constexpr bool has_row(Op op) {
#define APPLY(row, function) \
  if (op == Op::row) return true;
#include "runtime/general/apply.def"
  return false;
}
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) \
  static_assert(has_row(Op::ident), "a primitive that the general machine does not run");
#include "ops/ops.def"

// A default as the op table writes it.
Datum default_value(std::string_view text) {
  if (text == "null") return Datum::null();
  if (text == "true" || text == "false") return Datum::of(text == "true");
  if (starts_with(text, "@")) return Datum::path(std::string(text.substr(1)), false);
  if (starts_with(text, "\"")) return Datum::of(std::string(text.substr(1, text.size() - 2)));
  if (auto integer = parse_int(text)) return Datum::of(*integer);
  auto real = parse_double(text);
  AXON_CHECK(real.has_value(), "default of a primitive that is no literal");
  return Datum::of(*real);
}

}  // namespace

std::string OpCall::name(size_t i) const {
  return "`" + std::string(op_signature(op).params[i].name) + "` of `" + std::string(spelling(op)) +
         "`";
}

Error OpCall::wrong(size_t i, std::string_view needed) const {
  if (args[i].is_null()) return run_error(Diag::RunNull, {name(i)});
  return run_error(Diag::RunValue,
                   {name(i) + " is " + show(args[i]) + ", needs " + std::string(needed)});
}

Error OpCall::below_zero(size_t i, const std::string& is) const {
  return run_error(Diag::RunShape, {name(i), is, "the least size", "0"});
}

Result<TensorPtr> OpCall::tensor(size_t i) const {
  if (!args[i].is_tensor()) return wrong(i, "a tensor");
  return args[i].tensor;
}

Result<int64_t> OpCall::integer(size_t i) const {
  if (args[i].kind != Kind::Int) return wrong(i, "an integer");
  return args[i].integer;
}

Result<double> OpCall::number(size_t i) const {
  if (!args[i].is_number()) return wrong(i, "a number");
  return args[i].as_double();
}

Result<bool> OpCall::boolean(size_t i) const {
  if (args[i].kind != Kind::Bool) return wrong(i, "true or false");
  return args[i].truth;
}

Result<bool> OpCall::flag(size_t i, bool if_null) const {
  return args[i].is_null() ? Result<bool>(if_null) : boolean(i);
}

Result<std::string> OpCall::text(size_t i) const {
  if (args[i].kind != Kind::String) return wrong(i, "a string");
  return args[i].text;
}

Result<std::string> OpCall::key(size_t i) const {
  if (args[i].kind != Kind::Path && args[i].kind != Kind::String) return wrong(i, "a path");
  return args[i].text;
}

Result<Shape> OpCall::integers(size_t i) const {
  if (!args[i].is_sequence()) return wrong(i, "a list of integers");
  Shape out;
  for (const Datum& item : *args[i].items) {
    if (item.kind != Kind::Int) return wrong(i, "a list of integers");
    out.push_back(item.integer);
  }
  return out;
}

Result<Shape> OpCall::sizes(size_t i) const {
  AXON_TRY(Shape out, integers(i));
  for (int64_t extent : out) {
    if (extent < 0) return below_zero(i, show_shape(out));
  }
  return out;
}

Result<DType> OpCall::dtype(size_t i, DType fallback) const {
  if (args[i].is_null()) return fallback;
  AXON_TRY(std::string word, text(i));
  if (word.empty() || word == "none" || word == "default") return fallback;
  auto found = parse_dtype(word);
  if (!found) return run_error(Diag::RunDtype, {word});
  return *found;
}

Result<size_t> OpCall::axis(size_t i, size_t rank) const {
  AXON_TRY(int64_t axis, integer(i));
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return run_error(Diag::RunIndex, {axis, count});
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

Result<Datum> apply(Op op, std::vector<Datum> operands, Eager& eager) {
  if (op_info(op).op_class != OpClass::Primitive) {
    AXON_CHECK(operands.size() == 2, "an infix operation takes two operands");
    return apply_binary(op, operands[0], operands[1], eager);
  }
  const OpSignature& signature = op_signature(op);
  operands.resize(signature.params.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool absent = operands[i].kind == Kind::Unset || operands[i].is_null();
    if (!absent) continue;
    const OpParam& param = signature.params[i];
    operands[i] = param.has_default ? default_value(param.default_text) : Datum::null();
  }
  return kTable[static_cast<size_t>(op)]({op, operands, eager});
}

Result<bool> condition(const Datum& value) {
  if (value.is_tensor() && value.tensor->count() == 1) return value.tensor->get(0) != 0;
  if (value.is_null()) return false;
  if (value.kind == Kind::Bool) return value.truth;
  return run_error(Diag::RunValue, {"a condition is " + show(value) + ", needs true or false"});
}

// ---- lists, null ---------------------------------------------------------------------------

Result<Datum> apply_list(const OpCall& call) {
  Datum& list = call[0];
  switch (call.op) {
    case Op::ListInit:
      return Datum::list({});
    case Op::ListAppend: {
      if (list.is_null()) return Datum::list({call[1]});
      if (list.kind != Kind::List) return call.wrong(0, "a list");
      // A list that nothing else holds grows in place.
      Datum out = list.items.use_count() == 1 ? std::move(list) : Datum::list(*list.items);
      out.items->push_back(std::move(call[1]));
      return out;
    }
    case Op::ListIndex: {
      if (list.is_null()) return Datum::null();
      if (!list.is_sequence()) return call.wrong(0, "a list");
      AXON_TRY(int64_t index, call.integer(1));
      const auto count = static_cast<int64_t>(list.size());
      if (index < -count || index >= count) return run_error(Diag::RunIndex, {index, count});
      return list[static_cast<size_t>(index < 0 ? index + count : index)];
    }
    case Op::ListLength:
      if (!list.is_null() && list.kind != Kind::List) return call.wrong(0, "a list");
      return Datum::of(static_cast<int64_t>(list.size()));
    default:
      AXON_UNREACHABLE("not a list primitive");
  }
}

Result<Datum> apply_require(const OpCall& call) {
  if (call[0].is_null()) return run_error(Diag::RunNull, {"`require`"});
  return std::move(call[0]);
}

Result<Datum> apply_config(const OpCall& call) {
  return run_error(Diag::RunConfig, {call[0].text});
}

}  // namespace axon::runtime
