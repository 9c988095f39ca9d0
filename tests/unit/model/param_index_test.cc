// Key resolution over stored tensors: exact, banks, packed halves, slices.
#include "model/param_index.h"

#include <gtest/gtest.h>

namespace axon::model {
namespace {

TensorInfo tensor(std::string name, std::vector<int64_t> shape, Storage storage = Storage::F32) {
  return {std::move(name), storage, std::move(shape)};
}

using Shape = std::vector<int64_t>;

TEST(ParamIndex, ExactAndAbsent) {
  ParamIndex index({tensor("a.weight", {2, 3})});
  EXPECT_EQ(index.resolve("a.weight")->kind, Resolved::Kind::Exact);
  EXPECT_EQ(index.resolve("a.weight")->shape, (Shape{2, 3}));
  EXPECT_FALSE(index.resolve("a.bias"));
  EXPECT_FALSE(index.resolve(""));
}

TEST(ParamIndex, StacksGaplessItemsInNumericOrder) {
  std::vector<TensorInfo> tensors;
  for (int i = 11; i >= 0; --i) {
    tensors.push_back(tensor("m.experts." + std::to_string(i) + ".up.weight", {4, 2}));
  }
  ParamIndex index(tensors);
  auto bank = index.resolve("m.experts.up.weight");
  ASSERT_TRUE(bank);
  EXPECT_EQ(bank->kind, Resolved::Kind::Stack);
  EXPECT_EQ(bank->shape, (Shape{12, 4, 2}));
  EXPECT_EQ(bank->parts[10].name, "m.experts.10.up.weight");
  tensors.erase(tensors.begin() + 4);
  EXPECT_FALSE(ParamIndex(tensors).resolve("m.experts.up.weight"));
}

TEST(ParamIndex, StackNeedsLikeItems) {
  EXPECT_FALSE(ParamIndex({tensor("e.0.w", {2}), tensor("e.1.w", {3})}).resolve("e.w"));
  EXPECT_FALSE(
      ParamIndex({tensor("e.0.w", {2}), tensor("e.1.w", {2}, Storage::F16)}).resolve("e.w"));
  // A leading number is a component like any other.
  EXPECT_EQ(ParamIndex({tensor("0.w", {2}), tensor("1.w", {2})}).resolve("w")->shape,
            (Shape{2, 2}));
}

TEST(ParamIndex, JoinsGateAndUp) {
  ParamIndex index({tensor("e.0.gate_proj.weight", {6, 4}), tensor("e.1.gate_proj.weight", {6, 4}),
                    tensor("e.0.up_proj.weight", {6, 4}), tensor("e.1.up_proj.weight", {6, 4})});
  auto packed = index.resolve("e.gate_up_proj.weight");
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->kind, Resolved::Kind::ConcatRows);
  EXPECT_EQ(packed->shape, (Shape{2, 12, 4}));
  EXPECT_EQ(packed->parts[0].parts[1].name, "e.1.gate_proj.weight");
  EXPECT_FALSE(
      ParamIndex({tensor("gate.bias", {6}), tensor("up.bias", {6})}).resolve("gate_up.bias"));
}

TEST(ParamIndex, SlicesBanks) {
  ParamIndex index({tensor("e.up.weight", {3, 4, 2})});
  auto row = index.resolve("e.2.up.weight");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->kind, Resolved::Kind::Slice);
  EXPECT_EQ(row->index, 2);
  EXPECT_EQ(row->shape, (Shape{4, 2}));
  EXPECT_EQ(row->parts[0].name, "e.up.weight");
  EXPECT_FALSE(index.resolve("e.3.up.weight"));
}

TEST(ParamIndex, Roots) {
  ParamIndex index({tensor("lm_head.weight", {1}), tensor("lm-x", {1})});
  EXPECT_TRUE(index.has_root(""));
  EXPECT_TRUE(index.has_root("lm_head"));
  EXPECT_TRUE(index.has_root("lm_head.weight"));
  EXPECT_FALSE(index.has_root("lm"));
  EXPECT_FALSE(index.has_root("lm_head.weight.x"));
}

TEST(ParamIndex, NearMisses) {
  ParamIndex index({tensor("model.embed.weight", {1}), tensor("model.norm.weight", {1}),
                    tensor("completely.other", {1})});
  auto near = index.near_misses("model.embd.weight");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "model.embed.weight");
  EXPECT_TRUE(index.near_misses("zzzzzz").empty());
}

}  // namespace
}  // namespace axon::model
