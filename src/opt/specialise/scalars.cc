// Operations on numbers, booleans and strings, which are done and leave nothing behind.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "opt/specialise/specialiser.h"
#include "support/arithmetic.h"
#include "support/check.h"
#include "types/rests.h"

namespace axon::opt {
namespace {

std::optional<Order> order_of(Op op) {
  switch (op) {
    case Op::CoreBinaryEq:
      return Order::Eq;
    case Op::CoreBinaryNe:
      return Order::Ne;
    case Op::CoreBinaryLt:
      return Order::Lt;
    case Op::CoreBinaryLe:
      return Order::Le;
    case Op::CoreBinaryGt:
      return Order::Gt;
    case Op::CoreBinaryGe:
      return Order::Ge;
    default:
      return {};
  }
}

Arith arith_of(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
      return Arith::Add;
    case Op::CoreBinarySub:
      return Arith::Sub;
    case Op::CoreBinaryMul:
      return Arith::Mul;
    case Op::CoreBinaryDiv:
      return Arith::Div;
    case Op::CoreBinaryMod:
      return Arith::Mod;
    case Op::Pow:
      return Arith::Pow;
    default:
      AXON_UNREACHABLE("arithmetic");
  }
}

double float_of(const Tree& t, int64_t integer) {
  return t.kind == Tree::Kind::Float ? t.number : static_cast<double>(integer);
}

}  // namespace

DimId Specialiser::dim_of(TreeId tree) {
  const Tree& t = forest_[tree];
  if (t.kind == Tree::Kind::Int) return t.dim;
  fail(fmt::format("{} stands where an integer is needed", opt::spelling(t.kind)));
  return {};
}

bool Specialiser::condition(TreeId tree, bool& out) {
  const Tree& t = forest_[tree];
  out = t.kind == Tree::Kind::Bool && t.boolean;
  if (t.kind == Tree::Kind::Bool || t.kind == Tree::Kind::Null) return true;
  fail(fmt::format("the condition is {} and cannot be decided before running",
                   opt::spelling(t.kind)));
  return false;
}

TreeId Specialiser::binary(Op op, TreeId a, TreeId b) {
  const Tree& x = forest_[a];
  const Tree& y = forest_[b];
  bool x_null = x.kind == Tree::Kind::Null, y_null = y.kind == Tree::Kind::Null;
  if (x_null || y_null) {
    if (op == Op::CoreBinaryEq) return forest_.boolean(x_null && y_null);
    if (op == Op::CoreBinaryNe) return forest_.boolean(x_null != y_null);
    if (op == Op::CoreBinaryAdd) return x_null ? b : a;
    if (op == Op::CoreBinarySub && y_null) return a;
    return report(Diag::RunNull,
                  {fmt::format("an operand of `{}`", axon::spelling(op).substr(12))});
  }
  if (is_tensor(a) || is_tensor(b)) return tensor_op(op, {a, b});
  return scalar_binary(op, x, y);
}

TreeId Specialiser::scalar_binary(Op op, const Tree& x, const Tree& y) {
  if (order_of(op)) return compare(op, x, y);
  if (op == Op::CoreBinaryAnd || op == Op::CoreBinaryOr) {
    if (x.kind != Tree::Kind::Bool || y.kind != Tree::Kind::Bool)
      return fail("operands are not booleans");
    return forest_.boolean(op == Op::CoreBinaryAnd ? x.boolean && y.boolean
                                                   : x.boolean || y.boolean);
  }
  if (x.kind == Tree::Kind::String && y.kind == Tree::Kind::String && op == Op::CoreBinaryAdd) {
    return forest_.string(
        names_.intern(std::string(names_.text(x.text)) + std::string(names_.text(y.text))));
  }
  if (x.kind == Tree::Kind::Int && y.kind == Tree::Kind::Int)
    return integer_binary(op, x.dim, y.dim);
  std::optional<int64_t> xi, yi;
  if (x.kind == Tree::Kind::Int) xi = integer_of(x.dim);
  if (y.kind == Tree::Kind::Int) yi = integer_of(y.dim);
  if ((x.kind == Tree::Kind::Float || xi) && (y.kind == Tree::Kind::Float || yi)) {
    return forest_.number(
        real_arithmetic(arith_of(op), float_of(x, xi.value_or(0)), float_of(y, yi.value_or(0))));
  }
  return fail(fmt::format("{} and {} as operands", opt::spelling(x.kind), opt::spelling(y.kind)));
}

TreeId Specialiser::integer_binary(Op op, DimId a, DimId b) {
  const Arith arith = arith_of(op);
  bool divides = arith == Arith::Div || arith == Arith::Mod;
  // What differs from round to round stays an expression, where that can be.
  bool needs_numbers = divides || arith == Arith::Pow;
  std::optional<int64_t> x = arith == Arith::Div ? integer_of(a) : dims_.as_integer(a);
  std::optional<int64_t> y = needs_numbers ? integer_of(b) : dims_.as_integer(b);
  if (divides && y == 0) return report(Diag::RunDivZero, {});
  if (x && y) {
    int64_t result = 0;
    switch (whole_arithmetic(arith, *x, *y, result)) {
      case ArithFault::None:
        return forest_.integer(dims_.integer(result));
      case ArithFault::Overflow:
        return report(Diag::RunOverflow, {axon::spelling(op).substr(op == Op::Pow ? 0 : 12)});
      case ArithFault::DivideByZero:
        return report(Diag::RunDivZero, {});
      case ArithFault::NegativePower:
        return report(Diag::RunValue, {"an integer is raised to a negative power"});
    }
  }
  if (divides && !y) {
    const DimId divisor = forest_[settled(forest_.integer(b))].dim;
    add_fact({DimFact::Relation::NotZero, divisor, dims_.integer(0), {}});
  }
  switch (arith) {
    case Arith::Add:
      return whole(dims_.value_add(a, b));
    case Arith::Sub:
      return whole(dims_.value_sub(a, b));
    case Arith::Mul:
      return whole(dims_.value_mul(a, b));
    case Arith::Div:
      return whole(dims_.value_div(a, b));
    case Arith::Mod:
      return whole(dims_.mod(a, b));
    case Arith::Pow:
      break;
  }
  if (!y || *y < 0 || *y > 62) return fail("this power of integers");
  DimId result = dims_.integer(1);
  for (int64_t i = 0; i < *y; ++i) result = dims_.value_mul(result, a);
  return whole(result);
}

// What was too large to be written has become an unknown size, which only running can tell.
bool Specialiser::is_unknown(DimId dim) const {
  const std::vector<SymbolId> symbols = dims_.symbols(dim);
  return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId symbol) {
    return dims_.symbol(symbol).kind == SymbolKind::Unknown;
  });
}

TreeId Specialiser::whole(DimId dim) {
  if (is_unknown(dim)) return fail("an integer that is too long a formula");
  return forest_.integer(with_facts(dim));
}

// Where the entry makes sure that divisions are exact their quotients cancel.
DimId Specialiser::with_facts(DimId dim) {
  if (!dims_.rounds(dim)) return dim;
  const DimId zero = dims_.integer(0);
  auto holds = [&](const Rest& rest) {
    return std::any_of(out_.facts.begin(), out_.facts.end(), [&](const DimFact& fact) {
      return fact.relation == DimFact::Relation::Eq && !fact.or_one && fact.left == rest.dim &&
             fact.right == zero;
    });
  };
  const std::vector<Rest> all = rests_of(dims_, dim);
  return std::all_of(all.begin(), all.end(), holds) ? dims_.exact(dim) : dim;
}

TreeId Specialiser::compare(Op op, const Tree& x, const Tree& y) {
  if (x.kind == Tree::Kind::Int && y.kind == Tree::Kind::Int)
    return integer_compare(op, x.dim, y.dim);
  bool equality = op == Op::CoreBinaryEq || op == Op::CoreBinaryNe;
  bool texts = (x.kind == Tree::Kind::String || x.kind == Tree::Kind::Path) && x.kind == y.kind;
  if (equality && texts) return forest_.boolean((x.text == y.text) == (op == Op::CoreBinaryEq));
  if (equality && x.kind == Tree::Kind::Bool && y.kind == Tree::Kind::Bool) {
    return forest_.boolean((x.boolean == y.boolean) == (op == Op::CoreBinaryEq));
  }
  std::optional<int64_t> xi, yi;
  if (x.kind == Tree::Kind::Int) xi = integer_of(x.dim);
  if (y.kind == Tree::Kind::Int) yi = integer_of(y.dim);
  if ((x.kind == Tree::Kind::Float || xi) && (y.kind == Tree::Kind::Float || yi)) {
    return forest_.boolean(
        axon::holds(*order_of(op), float_of(x, xi.value_or(0)), float_of(y, yi.value_or(0))));
  }
  return fail(
      fmt::format("{} and {} cannot be compared", opt::spelling(x.kind), opt::spelling(y.kind)));
}

std::optional<bool> Specialiser::decide(Op op, DimId a, DimId b) {
  if (op == Op::CoreBinaryGt) return decide(Op::CoreBinaryLt, b, a);
  if (op == Op::CoreBinaryGe) return decide(Op::CoreBinaryLe, b, a);
  auto lower = [&](SymbolId symbol) { return options_.least(dims_, symbol); };
  auto at_most = [&](DimId x, DimId y) { return dims_.proves_le(x, y, lower); };
  DimId one = dims_.integer(1);
  bool less = at_most(dims_.value_add(a, one), b), greater = at_most(dims_.value_add(b, one), a);
  if (op == Op::CoreBinaryEq || op == Op::CoreBinaryNe) {
    if (a == b) return op == Op::CoreBinaryEq;
    if (less || greater) return op == Op::CoreBinaryNe;
  } else if (op == Op::CoreBinaryLt) {
    if (less) return true;
    if (at_most(b, a)) return false;
  } else {
    if (at_most(a, b)) return true;
    if (greater) return false;
  }
  return std::nullopt;
}

TreeId Specialiser::integer_compare(Op op, DimId a, DimId b) {
  bool of_round = depends_on_round(a) || depends_on_round(b);
  DimId x = of_round ? at(a, round_) : a, y = of_round ? at(b, round_) : b;
  std::optional<bool> truth = decide(op, x, y);
  if (!truth) {
    return fail(fmt::format("whether `{}` {} `{}` depends on the call", dims_.show(x),
                            axon::spelling(op).substr(12), dims_.show(y)));
  }
  if (of_round && seen_) {
    Observation o;
    o.kind = Observation::Kind::Compare;
    o.op = op;
    o.a = a;
    o.b = b;
    o.truth = *truth;
    seen_->push_back(std::move(o));
  }
  return forest_.boolean(*truth);
}

TreeId Specialiser::scalar_function(Op op, const Args& args) {
  const Tree& x = forest_[args[0]];
  std::optional<int64_t> integer;
  if (x.kind == Tree::Kind::Int) integer = integer_of(x.dim);
  bool rounds = op == Op::Floor || op == Op::Round;
  if (rounds && x.kind == Tree::Kind::Int) return args[0];
  if (op == Op::Clamp) {
    TreeId result = args[0];
    for (size_t i = 1; i < args.size() && i < 3; ++i) {
      if (forest_[args[i]].kind == Tree::Kind::Null) continue;
      const Tree& r = forest_[result];
      const Tree& bound = forest_[args[i]];
      if (r.kind == Tree::Kind::Int && bound.kind == Tree::Kind::Int) {
        result = whole(i == 1 ? dims_.max(r.dim, bound.dim) : dims_.min(r.dim, bound.dim));
        if (!result.valid()) return {};
        continue;
      }
      TreeId below = compare(Op::CoreBinaryLt, r, bound),
             above = compare(Op::CoreBinaryGt, r, bound);
      if (!below.valid() || !above.valid()) return {};
      if (forest_[i == 1 ? below : above].boolean) result = args[i];
    }
    return result;
  }
  if (x.kind != Tree::Kind::Float && !integer) {
    return fail(fmt::format("`{}` of {} that is known only at run time", axon::spelling(op),
                            opt::spelling(x.kind)));
  }
  double v = float_of(x, integer.value_or(0));
  switch (op) {
    case Op::Exp:
      return forest_.number(std::exp(v));
    case Op::Log:
      return forest_.number(std::log(v));
    case Op::Sin:
      return forest_.number(std::sin(v));
    case Op::Cos:
      return forest_.number(std::cos(v));
    case Op::Acos:
      return forest_.number(std::acos(v));
    case Op::Sqrt:
      return forest_.number(std::sqrt(v));
    case Op::Floor:
      return forest_.integer(dims_.integer(static_cast<int64_t>(std::floor(v))));
    case Op::Round:
      return forest_.integer(dims_.integer(static_cast<int64_t>(std::nearbyint(v))));
    default:
      return fail(fmt::format("`{}` of a number", axon::spelling(op)));
  }
}

}  // namespace axon::opt
