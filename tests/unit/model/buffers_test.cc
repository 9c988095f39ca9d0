// Buffers that checkpoints hold beside their weights.
#include "model/buffers.h"

#include <gtest/gtest.h>

namespace axon::model {
namespace {

bool buffer(const char* name, std::vector<int64_t> shape = {4}) {
  return is_saved_buffer({name, Storage::F32, std::move(shape)});
}

TEST(Buffers, NamesEndAtSegments) {
  EXPECT_TRUE(buffer("model.layers.0.self_attn.rotary_emb.inv_freq"));
  EXPECT_TRUE(buffer("embeddings.position_ids", {1, 512}));
  EXPECT_FALSE(buffer("model.layers.0.my_rotary_emb.inv_freq"));
  EXPECT_FALSE(buffer("model.layers.0.mlp.up_proj.weight"));
}

TEST(Buffers, AMaskHasTheAxesOfScores) {
  EXPECT_TRUE(buffer("h.0.attn.bias", {1, 1, 16, 16}));
  EXPECT_FALSE(buffer("h.0.attn.bias", {16}));
}

}  // namespace
}  // namespace axon::model
