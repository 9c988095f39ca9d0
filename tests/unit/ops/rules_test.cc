// Typing and element-type rules of primitives.
#include <gtest/gtest.h>

#include "ops/dtype_rules.h"
#include "ops/type_rules.h"

namespace axon::ops {
namespace {

struct Rules : testing::Test {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
  Unifier u{types};

  DimId v(std::string_view name) {
    return dims.of(dims.symbol(names.intern(name), SymbolKind::Variable));
  }
  DimId n(int64_t value) { return dims.integer(value); }
  RuleArg t(std::vector<DimId> list) { return {types.tensor_of(list), {}}; }
  RuleArg i(int64_t value) { return {types.int_(), Known::of(n(value))}; }
  RuleArg d(DimId dim) { return {types.dim(), Known::of(dim)}; }
  RuleArg b(bool value) { return {types.bool_(), Known::of(value)}; }
  RuleArg null() { return {types.null(), Known::null()}; }
  RuleArg path() { return {types.path(), Known::not_null()}; }
  RuleArg list(std::vector<DimId> items) {
    std::vector<Known> known;
    for (DimId item : items) known.push_back(Known::of(item));
    return {types.list(types.dim()), Known::list(known)};
  }
  std::string run(Op op, std::vector<RuleArg> args) {
    RuleResult r = type_rule(op, args, u);
    return r.error ? "error " + r.error->text : types.show(u.resolve(r.type));
  }
};

TEST_F(Rules, C34Broadcasting) {
  DimId B = v("B"), S = v("S"), K = v("K"), H = v("H");
  EXPECT_EQ(run(Op::CoreBinaryAdd, {t({B, n(1), S, K}), t({B, H, n(1), K})}), "Tensor[B,H,S,K]");
  EXPECT_EQ(run(Op::CoreBinaryAdd, {t({B, S, n(3)}), t({n(4)})}), "error ");
  EXPECT_EQ(u.constraints().size(), 0u);
  EXPECT_EQ(run(Op::CoreBinaryAdd, {t({B, S}), t({B, K})}), "Tensor[B,S]");
  EXPECT_EQ(u.constraints().size(), 1u);
  EXPECT_EQ(run(Op::CoreBinaryAdd, {t({B, S}), i(2)}), "Tensor[B,S]");
  EXPECT_EQ(run(Op::Mul, {t({B, n(3)}), t({B, K})}), "Tensor[B,3]");
  EXPECT_EQ(run(Op::Mul, {t({B, K}), t({B, n(3)})}), "Tensor[B,3]");
}

TEST_F(Rules, Layout) {
  DimId B = v("B"), S = v("S"), D = v("D"), H = v("H");
  DimId e = dims.div(D, H);
  EXPECT_EQ(run(Op::Reshape, {t({B, S, D}), list({B, S, H, e})}), "Tensor[B,S,H,D/H]");
  EXPECT_EQ(run(Op::Reshape, {t({B, S, D}), list({B, S, H, n(-1)})}), "Tensor[B,S,H,D/H]");
  EXPECT_EQ(run(Op::Reshape, {t({n(2), n(3)}), list({n(7)})}),
            "error 6 elements do not take a shape of 7");
  EXPECT_EQ(run(Op::Permute, {t({B, S, D}), list({n(0), n(2), n(-2)})}), "Tensor[B,D,S]");
  EXPECT_EQ(run(Op::Permute, {t({B, S}), list({n(0), n(0)})}), "error axis 0 occurs twice");
  EXPECT_EQ(run(Op::Transpose, {t({B, S, D}), i(1), i(-1)}), "Tensor[B,D,S]");
  EXPECT_EQ(run(Op::Unsqueeze, {t({B, S}), i(-1)}), "Tensor[B,S,1]");
  EXPECT_EQ(run(Op::Unsqueeze, {t({B, S}), i(1)}), "Tensor[B,1,S]");
  EXPECT_EQ(run(Op::Unsqueeze, {t({B, S}), i(3)}), "error axis 3 is outside of 3 axes");
  EXPECT_EQ(run(Op::Expand, {t({B, n(1), S}), list({B, H, n(-1)})}), "Tensor[B,H,S]");
  EXPECT_EQ(run(Op::Concat, {t({B, S, D}), t({B, H, D}), i(1)}), "Tensor[B,H+S,D]");
  EXPECT_EQ(run(Op::Slice, {t({B, S}), i(1), i(0), d(H)}), "Tensor[B,H]");
  EXPECT_EQ(run(Op::Slice, {t({B, n(4)}), i(1), i(2), i(5)}), "error slice ends at 5 of 4");
  EXPECT_EQ(run(Op::Slice, {t({B, S}), i(1), i(0), d(dims.div(S, n(2)))}), "Tensor[B,S/2]");
  const size_t before = u.constraints().size();
  EXPECT_EQ(run(Op::Slice, {t({B, S}), i(1), d(dims.div(S, n(2))), d(S)}), "Tensor[B,S-S/2]");
  EXPECT_EQ(u.constraints().size(), before);
  // What is left beside a half is the other half only of an even size.
  EXPECT_FALSE(u.unify_dim(dims.value_sub(S, dims.value_div(S, n(2))), dims.div(S, n(2))));
  ASSERT_EQ(u.constraints().size(), before + 1);
  EXPECT_EQ(dims.show(u.constraints().back().left), "S%2");
  EXPECT_EQ(u.resolve(dims.value_mul(n(2), dims.value_div(S, n(2)))), S);
  EXPECT_EQ(run(Op::Split, {t({B, n(5)}), i(-1), list({n(2), n(3)})}),
            "(Tensor[B,2], Tensor[B,3])");
  EXPECT_EQ(run(Op::Split, {t({B, n(5)}), i(-1), list({n(2), n(2)})}), "error ");
  EXPECT_EQ(run(Op::Chunk, {t({B, D}), i(-1), i(2)}), "(Tensor[B,D/2], Tensor[B,D/2])");
  EXPECT_EQ(run(Op::Repeat_, {t({B, S}), d(H), i(0)}), "Tensor[B*H,S]");
}

TEST_F(Rules, LayersAndProducts) {
  DimId B = v("B"), S = v("S"), D = v("D"), K = v("K"), H = v("H");
  EXPECT_EQ(run(Op::Linear, {path(), t({B, S, D}), d(K)}), "Tensor[B,S,K]");
  EXPECT_EQ(run(Op::Linear, {path(), t({B, S, D}), null()}), "Tensor[B,S,_d1]");
  EXPECT_EQ(run(Op::Embedding, {path(), t({B, S}), i(8)}), "Tensor[B,S,8]");
  EXPECT_EQ(run(Op::Matmul, {t({B, H, S, D}), t({B, H, D, K})}), "Tensor[B,H,S,K]");
  EXPECT_EQ(run(Op::Matmul, {t({B, S, n(3)}), t({n(4), K})}), "error ");
  EXPECT_EQ(run(Op::Sum, {t({B, S}), i(-1), b(true)}), "Tensor[B,1]");
  EXPECT_EQ(run(Op::Sum, {t({B, S}), i(0), null()}), "Tensor[S]");
  EXPECT_EQ(run(Op::Topk, {t({B, S}), i(2), null(), null(), null()}), "(Tensor[B,2], Tensor[B,2])");
  EXPECT_EQ(
      run(Op::Conv1d, {t({B, D, S}), t({D, n(1), n(4)}), null(), i(1), i(3), i(0), i(1), d(D)}),
      "Tensor[B,D,S]");
  EXPECT_EQ(run(Op::Arange, {t({B, S}), i(1), d(K)}), "Tensor[K-1]");
}

TEST_F(Rules, NullAndMismatch) {
  EXPECT_EQ(type_rule(Op::Softmax, {null()}, u).error->kind, RuleError::Kind::Null);
  EXPECT_EQ(type_rule(Op::Exp, {null()}, u).error->kind, RuleError::Kind::Null);
  EXPECT_EQ(type_rule(Op::Matmul, {i(1), i(2)}, u).error->kind, RuleError::Kind::Mismatch);
  EXPECT_EQ(run(Op::Require, {{types.optional(types.tensor()), {}}}), "Tensor");
  EXPECT_EQ(run(Op::CoreBinaryAdd, {null(), t({v("B")})}), "Tensor[B]");
  EXPECT_EQ(run(Op::CoreBinaryMul, {null(), t({v("B")})}), "error ");
}

TEST_F(Rules, Scalars) {
  auto known = [&](Op op, std::vector<RuleArg> args) { return type_rule(op, args, u).known; };
  EXPECT_EQ(known(Op::CoreBinaryMod, {i(-7), i(3)}), Known::of(n(2)));
  EXPECT_EQ(known(Op::CoreBinaryDiv, {i(7), i(2)}), Known::of(n(3)));
  EXPECT_EQ(run(Op::CoreBinaryDiv, {{types.float_(), {}}, i(2)}), "Float");
  EXPECT_EQ(run(Op::CoreBinaryMul, {d(v("S")), i(2)}), "Dim");
  EXPECT_EQ(run(Op::CoreBinaryMul, {d(v("S")), {types.float_(), {}}}), "Float");
  EXPECT_EQ(known(Op::CoreBinaryEq, {null(), null()}), Known::of(true));
  EXPECT_EQ(known(Op::CoreBinaryNe, {i(1), null()}), Known::of(true));
  EXPECT_EQ(known(Op::CoreBinaryEq, {{types.optional(types.dim()), Known::of(v("S"))}, null()}),
            Known{});
}

TEST_F(Rules, ElementTypes) {
  auto tensor = [](DType dtype) { return DTypeArg{TypeKind::Tensor, dtype, {}}; };
  DTypeArg real{TypeKind::Float, DType::Unknown, {}};
  DTypeArg whole{TypeKind::Int, DType::Unknown, {}};
  DTypeArg f16{TypeKind::String, DType::Unknown, Known::string(names.intern("half"))};
  EXPECT_EQ(dtype_rule(Op::Add, {tensor(DType::F16), tensor(DType::BF16)}, names), DType::F32);
  EXPECT_EQ(dtype_rule(Op::CoreBinaryMul, {tensor(DType::BF16), real}, names), DType::BF16);
  EXPECT_EQ(dtype_rule(Op::CoreBinaryMul, {tensor(DType::I64), real}, names), DType::F32);
  EXPECT_EQ(dtype_rule(Op::CoreBinaryDiv, {tensor(DType::I64), whole}, names), DType::F32);
  EXPECT_EQ(dtype_rule(Op::Matmul, {tensor(DType::F32), tensor(DType::BF16)}, names), DType::BF16);
  EXPECT_EQ(dtype_rule(Op::Cast, {tensor(DType::F32), f16}, names), DType::F16);
  EXPECT_EQ(dtype_rule(Op::Topk, {tensor(DType::F32), whole}, names, DType::Unknown, 1),
            DType::I64);
  EXPECT_EQ(dtype_rule(Op::Sum, {tensor(DType::Bool)}, names), DType::I64);
  EXPECT_EQ(dtype_rule(Op::Where, {tensor(DType::Bool), tensor(DType::F16), real}, names),
            DType::F16);
  EXPECT_EQ(dtype_rule(Op::Embedding, {tensor(DType::I64)}, names, DType::BF16), DType::BF16);
}

}  // namespace
}  // namespace axon::ops
