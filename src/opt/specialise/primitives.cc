// Calls of primitives: argument lists, and those that need no node.
#include <fmt/format.h>

#include <limits>

#include "ops/signature.h"
#include "opt/specialise/specialiser.h"
#include "support/text.h"

namespace axon::opt {
namespace {

// The infix operation that a primitive is another name of.
Op infix_of(Op op) {
  switch (op) {
    case Op::Add:
      return Op::CoreBinaryAdd;
    case Op::Mul:
      return Op::CoreBinaryMul;
    case Op::Div:
      return Op::CoreBinaryDiv;
    case Op::Eq:
      return Op::CoreBinaryEq;
    case Op::Le:
      return Op::CoreBinaryLe;
    case Op::And:
      return Op::CoreBinaryAnd;
    default:
      return op;
  }
}

double dtype_value(DType dtype, std::string_view kind, bool& known) {
  struct Row {
    DType dtype;
    double max, eps, tiny;
  };
  static constexpr Row kRows[] = {
      {DType::F32, 3.4028234663852886e38, 1.1920928955078125e-07, 1.1754943508222875e-38},
      {DType::F16, 65504.0, 0.0009765625, 6.103515625e-05},
      {DType::BF16, 3.3895313892515355e38, 0.0078125, 1.1754943508222875e-38}};
  known = true;
  for (const Row& row : kRows) {
    if (row.dtype != dtype) continue;
    if (kind == "min") return -row.max;
    if (kind == "max") return row.max;
    if (kind == "eps") return row.eps;
    if (kind == "tiny") return row.tiny;
    if (kind == "inf") return std::numeric_limits<double>::infinity();
    if (kind == "-inf") return -std::numeric_limits<double>::infinity();
  }
  known = false;
  return 0;
}

}  // namespace

TreeId Specialiser::default_arg(std::string_view text) {
  if (text.empty() || text == "null") return forest_.null();
  if (text == "true" || text == "false") return forest_.boolean(text == "true");
  if (text[0] == '@') return forest_.path(names_.intern(text.substr(1)), false);
  if (text[0] == '"') return forest_.string(names_.intern(text.substr(1, text.size() - 2)));
  if (std::optional<int64_t> n = parse_int(text)) return forest_.integer(dims_.integer(*n));
  if (std::optional<double> d = parse_double(text)) return forest_.number(*d);
  return fail(fmt::format("default `{}`", text));
}

// Positional operands, then attributes by parameter name, then defaults.
bool Specialiser::gather_args(Frame& frame, Op op, const std::vector<graph::Operand>& inputs,
                              const std::vector<graph::Attr>& attrs, Args& args) {
  const OpSignature& signature = op_signature(op);
  for (const graph::Operand& input : inputs) {
    TreeId tree = operand(frame, input);
    if (!tree.valid()) return false;
    args.push_back(tree);
  }
  size_t given = args.size();
  for (size_t i = given; i < signature.params.size(); ++i) {
    TreeId tree = default_arg(signature.params[i].default_text);
    if (!tree.valid()) return false;
    args.push_back(tree);
  }
  for (const graph::Attr& attr : attrs) {
    TreeId tree = operand(frame, attr.value);
    if (!tree.valid()) return false;
    for (size_t i = 0; i < signature.params.size(); ++i) {
      if (names_.text(attr.name) == signature.params[i].name) args[i] = tree;
    }
  }
  // A null stands for the default.
  for (size_t i = 0; i < given && i < signature.params.size(); ++i) {
    const OpParam& param = signature.params[i];
    if (forest_[args[i]].kind != Tree::Kind::Null || !param.has_default) continue;
    args[i] = default_arg(param.default_text);
    if (!args[i].valid()) return false;
  }
  return true;
}

TreeId Specialiser::shape_list(TreeId x) {
  Args items;
  for (DimId dim : forest_[x].dims) items.push_back(forest_.integer(dim));
  return forest_.list(std::move(items));
}

TreeId Specialiser::primitive(Op op, Args args) {
  Op infix = infix_of(op);
  if (infix != op) return binary(infix, args[0], args[1]);
  switch (op) {
    case Op::Linear:
    case Op::ExpertLinear:
    case Op::Embedding:
    case Op::Layernorm:
      return layer(op, args);
    case Op::ParamsHasRoot: {
      const Tree& root = forest_[args[0]];
      if (root.kind != Tree::Kind::String && root.kind != Tree::Kind::Path)
        return fail("this root");
      return has_root(root.text);
    }
    case Op::Pow:
      if (!is_tensor(args[0]) && !is_tensor(args[1]))
        return scalar_binary(op, forest_[args[0]], forest_[args[1]]);
      break;
    default:
      break;
  }
  bool handled = false;
  TreeId result = structural(op, args, handled);
  if (handled) return result;
  bool tensors = false;
  for (TreeId arg : args) {
    tensors |= is_tensor(arg);
    if (forest_[arg].kind != Tree::Kind::List) continue;
    for (TreeId item : forest_[arg].items) tensors |= is_tensor(item);
  }
  if (tensors) return tensor_op(op, args);
  if (args.empty()) return fail("no argument is known");
  if (forest_[args[0]].kind == Tree::Kind::Null) {
    return report(Diag::RunNull, {fmt::format("`{}`", axon::spelling(op))});
  }
  return scalar_function(op, args);
}

TreeId Specialiser::structural(Op op, const Args& args, bool& handled) {
  handled = true;
  const Tree* x = args.empty() ? nullptr : &forest_[args[0]];
  switch (op) {
    case Op::ListInit:
      return forest_.list({});
    case Op::ListAppend: {
      if (x->kind != Tree::Kind::List && x->kind != Tree::Kind::Null)
        return fail("the list is no list");
      return forest_.appended(args[0], args[1]);
    }
    case Op::ListIndex: {
      if (x->kind == Tree::Kind::Null) return args[0];
      DimId dim = dim_of(args[1]);
      std::optional<int64_t> i = dim.valid() ? dims_.as_integer(at(dim, round_)) : std::nullopt;
      if (!i) return dim.valid() ? fail("the index of a list is known only at run time") : TreeId{};
      auto count = static_cast<int64_t>(x->items.size());
      int64_t place = *i < 0 ? *i + count : *i;
      if (place < 0 || place >= count) return report(Diag::RunIndex, {*i, count});
      if (made_in_round(args[0])) {
        integer_of(dim);  // another round would pick another item
        if (!note_list(args[0])) return {};
      }
      TreeId item = x->items[static_cast<size_t>(place)];
      note_item(args[0], dim, item);
      return item;
    }
    case Op::ListLength:
      if (!note_list(args[0])) return {};
      return forest_.integer(dims_.integer(static_cast<int64_t>(x->items.size())));
    case Op::Require:
      if (x->kind == Tree::Kind::Null) return report(Diag::RunNull, {"`require`"});
      return args[0];
    case Op::Shape:
      if (is_tensor(args[0])) return shape_list(args[0]);
      break;
    case Op::TensorSize: {
      DimId dim = is_tensor(args[0]) ? dim_of(args[1]) : DimId{};
      std::optional<int64_t> axis = dim.valid() ? integer_of(dim) : std::nullopt;
      auto rank = static_cast<int64_t>(x->dims.size());
      if (!axis || *axis < -rank || *axis >= rank) return fail("this axis");
      return forest_.integer(x->dims[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)]);
    }
    case Op::DtypeValue: {
      bool known = false;
      const Tree& kind = forest_[args[1]];
      double value = is_tensor(args[0]) && kind.kind == Tree::Kind::String
                         ? dtype_value(x->dtype, names_.text(kind.text), known)
                         : 0;
      return known ? forest_.number(value) : fail("this kind of number of this element type");
    }
    case Op::Where: {
      if (is_tensor(args[0])) break;
      bool chosen = false;
      return condition(args[0], chosen) ? args[chosen ? 1 : 2] : TreeId{};
    }
    default:
      break;
  }
  std::string_view name = axon::spelling(op);
  if (starts_with(name, "config_")) return config_read(op, args);
  handled = false;
  return {};
}

}  // namespace axon::opt
