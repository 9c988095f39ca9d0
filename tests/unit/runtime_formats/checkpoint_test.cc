// Checkpoints of each layout: names, shapes, transforms, config, side files.
#include "runtime/formats/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "fixtures.h"
#include "runtime/formats/gguf_table.h"
#include "runtime/formats/transform.h"

namespace axon::formats {
namespace {

using testing::floats;
using testing::GgufBuilder;
using testing::make_folder;
using testing::safetensors;
using testing::write;

std::vector<float> values_of(Checkpoint& checkpoint, const std::string& name) {
  auto tensor = checkpoint.params->tensor(name);
  EXPECT_TRUE(tensor.ok()) << name;
  if (!tensor) return {};
  std::vector<float> out(tensor->bytes / sizeof(float));
  std::memcpy(out.data(), tensor->data, tensor->bytes);
  return out;
}

constexpr const char* kConfig =
    R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 8, "eos_token_id": 3, "x": [0.0, Infinity]})";

TEST(Checkpoint, ReadsADirectory) {
  std::string folder = make_folder("directory");
  write(folder, "config.json", kConfig);
  write(folder, "generation_config.json",
        R"({"eos_token_id": [5, 6], "temperature": 0.5, "top_k": 40, "do_sample": true})");
  write(
      folder, "tokenizer_config.json",
      R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "model_max_length": 1000000000000000019884624838656,
            "chat_template": [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]})");
  write(
      folder, "model.safetensors",
      safetensors(
          R"({"__metadata__": {"format": "pt"}, "a.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                        "b": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]}})",
          floats({1, 2, 3, 4}) + "xy"));
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->architectures, std::vector<std::string>{"LlamaForCausalLM"});
  EXPECT_EQ(checkpoint->generation.eos_ids, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(checkpoint->generation.temperature, 0.5);
  EXPECT_EQ(checkpoint->generation.top_k, 40);
  EXPECT_TRUE(checkpoint->generation.do_sample);
  ASSERT_EQ(checkpoint->chat_templates.size(), 2u);
  EXPECT_EQ(checkpoint->chat_templates[0].text, "D");
  ASSERT_EQ(checkpoint->special_tokens.size(), 2u);
  EXPECT_EQ(checkpoint->special_tokens[0].second, "<s>");
  EXPECT_EQ(values_of(*checkpoint, "a.weight"), (std::vector<float>{1, 2, 3, 4}));
  const model::TensorInfo* scalar = checkpoint->params->index().find("b");
  ASSERT_NE(scalar, nullptr);
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->storage, Storage::BF16);
  auto absent = checkpoint->params->tensor("a.weigth");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, "RUN-PARAM");
}

TEST(Checkpoint, ReadsShardsByTheirIndex) {
  std::string folder = make_folder("shards");
  write(folder, "config.json", "{}");
  write(folder, "model.safetensors.index.json",
        R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  write(
      folder, "one.safetensors",
      safetensors(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", floats({7})));
  std::string two = write(
      folder, "two.safetensors",
      safetensors(R"({"b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", floats({8})));
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(values_of(*checkpoint, "a"), std::vector<float>{7});
  EXPECT_EQ(values_of(*checkpoint, "b"), std::vector<float>{8});

  write(
      folder, "two.safetensors",
      safetensors(R"({"c": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", floats({8})));
  auto wrong = open_checkpoint(folder);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, "FILE-SHARD");
  ::unlink(two.c_str());
  auto missing = open_checkpoint(folder);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, "FILE-SHARD");
  EXPECT_NE(missing.error().message.find("two.safetensors"), std::string::npos);
}

TEST(Checkpoint, RenamesEarlyLayerNormParameters) {
  std::string folder = make_folder("gamma");
  write(folder, "config.json", "{}");
  std::string path = write(
      folder, "weights.safetensors",
      safetensors(R"({"e.LayerNorm.gamma": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                                           "e.LayerNorm.beta": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
                  floats({1, 2})));
  auto checkpoint = open_checkpoint(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(values_of(*checkpoint, "e.LayerNorm.weight"), std::vector<float>{1});
  EXPECT_EQ(values_of(*checkpoint, "e.LayerNorm.bias"), std::vector<float>{2});
}

TEST(Checkpoint, DataMayStartAtAnyByte) {
  std::string folder = make_folder("alignment");
  write(folder, "config.json", "{}");
  for (size_t pad = 0; pad < 64; ++pad) {
    std::string header =
        R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}})" + std::string(pad, ' ');
    write(folder, "model.safetensors", safetensors(header, floats({1, 2, 3})));
    for (DataAccess access : {DataAccess::Map, DataAccess::Read}) {
      auto checkpoint = open_checkpoint(folder, {access});
      ASSERT_TRUE(checkpoint.ok());
      EXPECT_EQ(values_of(*checkpoint, "a"), (std::vector<float>{1, 2, 3}));
      checkpoint->params->release("a");
      EXPECT_EQ(values_of(*checkpoint, "a"), (std::vector<float>{1, 2, 3}));
    }
  }
}

TEST(Checkpoint, FindsAHubIdInTheCache) {
  std::string cache = make_folder("hub");
  std::string entry = make_folder("hub/models--org--tiny");
  make_folder("hub/models--org--tiny/refs");
  make_folder("hub/models--org--tiny/snapshots");
  std::string snapshot = make_folder("hub/models--org--tiny/snapshots/abc");
  write(entry, "refs/main", "abc\n");
  write(snapshot, "config.json", "{}");
  write(snapshot, "model.safetensors", safetensors("{}", ""));
  CheckpointOptions options;
  options.hub_cache = cache;
  EXPECT_TRUE(open_checkpoint("org/tiny", options).ok());
  auto absent = open_checkpoint("org/other", options);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, "FILE-MODEL");
}

TEST(Checkpoint, ReadsPoolingOfSentenceModels) {
  std::string folder = make_folder("sentence");
  make_folder("sentence/1_Pooling");
  write(folder, "config.json", "{}");
  write(folder, "model.safetensors", safetensors("{}", ""));
  write(folder, "modules.json",
        R"([{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                                    {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  write(folder + "/1_Pooling", "config.json", R"({"pooling_mode_mean_tokens": true})");
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_TRUE(checkpoint->sentence.normalize);
  ASSERT_NE(checkpoint->sentence.pooling.member("pooling_mode_mean_tokens"), nullptr);
}

TEST(Gguf, SpeaksHuggingFaceNames) {
  GgufBuilder builder = testing::tiny_llama();
  builder.strings("tokenizer.ggml.tokens", {"a", "b", "</s>"});
  builder.u32("tokenizer.ggml.eos_token_id", 2);
  builder.text("tokenizer.chat_template", "{{ x }}");
  std::string path = write(make_folder("gguf"), "tiny.gguf", builder.build());
  auto checkpoint = open_checkpoint(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_TRUE(checkpoint->notes.empty());
  EXPECT_EQ(checkpoint->architectures, std::vector<std::string>{"LlamaForCausalLM"});
  EXPECT_EQ(checkpoint->config.member("hidden_size")->integer, 8);
  EXPECT_EQ(checkpoint->config.member("vocab_size")->integer, 10);
  EXPECT_EQ(checkpoint->config.member("rms_norm_eps")->number, 1e-5);
  EXPECT_TRUE(checkpoint->config.member("tie_word_embeddings")->boolean);
  EXPECT_EQ(checkpoint->generation.eos_ids, std::vector<int64_t>{2});
  EXPECT_EQ(checkpoint->chat_templates.at(0).text, "{{ x }}");
  EXPECT_EQ(checkpoint->special_tokens.at(0).second, "</s>");
  const model::TensorInfo* up =
      checkpoint->params->index().find("model.layers.1.mlp.up_proj.weight");
  ASSERT_NE(up, nullptr);
  EXPECT_EQ(up->shape, (std::vector<int64_t>{12, 8}));
  EXPECT_EQ(values_of(*checkpoint, "model.embed_tokens.weight")[79], 79);
}

TEST(Gguf, GathersRotaryRows) {
  std::string path = write(make_folder("gguf"), "rope.gguf", testing::tiny_llama().build());
  auto checkpoint = open_checkpoint(path);
  ASSERT_TRUE(checkpoint.ok());
  // blk.0.attn_q.weight starts after 80 + 8 + 8 values; each head has rows 0 2 1 3 of the file.
  std::vector<float> q = values_of(*checkpoint, "model.layers.0.self_attn.q_proj.weight");
  ASSERT_EQ(q.size(), 64u);
  int64_t order[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (size_t row = 0; row < 8; ++row)
    EXPECT_EQ(q[row * 8], 96 + 8 * static_cast<float>(order[row]));
  for (int64_t row = 0; row < 8; ++row) EXPECT_EQ(rope_row(row, 8, 2), order[row]);
}

TEST(Gguf, TransposesAndRefusesToTransposeBlocks) {
  GgufBuilder builder;
  builder.text("general.architecture", "gpt2");
  for (const char* key : {"embedding_length", "feed_forward_length", "block_count",
                          "attention.head_count", "context_length"}) {
    builder.u32(std::string("gpt2.") + key, 2);
  }
  builder.f32("gpt2.attention.layer_norm_epsilon", 1e-5f);
  GgufBuilder blocks = builder;
  builder.tensor("blk.0.ffn_up.weight", {2, 3}, 0, floats({1, 2, 3, 4, 5, 6}));
  std::string folder = make_folder("gguf");
  auto checkpoint = open_checkpoint(write(folder, "gpt2.gguf", builder.build()));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(values_of(*checkpoint, "transformer.h.0.mlp.c_fc.weight"),
            (std::vector<float>{1, 3, 5, 2, 4, 6}));
  blocks.tensor("blk.0.ffn_up.weight", {32, 2}, 8, std::string(68, '\0'));
  auto refused = open_checkpoint(write(folder, "blocks.gguf", blocks.build()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "FILE-FORMAT");
}

TEST(Gguf, ADirectoryMayHoldOneFile) {
  std::string folder = make_folder("lone");
  write(folder, "a.gguf", testing::tiny_llama().build());
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->kind, CheckpointKind::Gguf);
  write(folder, "b.gguf", testing::tiny_llama().build());
  EXPECT_EQ(open_checkpoint(folder).error().code, "FILE-MODEL");
  GgufBuilder part = testing::tiny_llama();
  part.u32("split.count", 2);
  EXPECT_EQ(open_checkpoint(write(folder, "c.gguf", part.build())).error().code, "FILE-SHARD");
}

TEST(Gguf, Llama3ScalingComesFromItsFactors) {
  auto with_factors = [](double factor, double spoil) {
    GgufBuilder builder = testing::tiny_llama();
    std::vector<float> factors;
    for (int i = 0; i < 32; ++i) {
      double wavelength = 2 * 3.141592653589793 * std::pow(10000.0, i / 32.0);
      double smooth = (8192 / wavelength - 1) / 3;
      double value = wavelength < 2048   ? 1
                     : wavelength > 8192 ? factor
                                         : 1 / ((1 - smooth) / factor + smooth);
      factors.push_back(static_cast<float>(value + (i == 3 ? spoil : 0)));
    }
    builder.tensor("rope_freqs.weight", {32}, 0, floats(factors));
    return open_checkpoint(write(make_folder("gguf"), "factors.gguf", builder.build()));
  };
  auto checkpoint = with_factors(8, 0);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const model::ConfigValue* scaling = checkpoint->config.member("rope_scaling");
  ASSERT_NE(scaling, nullptr);
  EXPECT_EQ(scaling->member("rope_type")->text, "llama3");
  EXPECT_EQ(scaling->member("factor")->number, 8);
  EXPECT_EQ(checkpoint->params->index().find("rope_freqs.weight"), nullptr);
  auto other = with_factors(8, 0.5);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, "FILE-FORMAT");
}

TEST(Gguf, UnknownArchitectureNamesTheClosest) {
  GgufBuilder builder;
  builder.text("general.architecture", "lama");
  auto checkpoint = open_checkpoint(write(make_folder("gguf"), "lama.gguf", builder.build()));
  ASSERT_FALSE(checkpoint.ok());
  EXPECT_EQ(checkpoint.error().code, "FILE-MODEL");
  EXPECT_NE(checkpoint.error().hint.find("llama"), std::string::npos);
}

TEST(Gguf, EveryEmbeddedTableReads) {
  EXPECT_GE(gguf_architectures().size(), 3u);
  for (const std::string& arch : gguf_architectures()) {
    auto table = find_gguf_table(arch);
    ASSERT_TRUE(table.ok());
    EXPECT_FALSE(table->tensors.empty()) << arch;
  }
}

TEST(Transform, HalvesAndBfloatsRoundToNearest) {
  auto add_one = [](Storage storage, uint16_t bits) {
    SourceTensor tensor{"x", {"x", storage, {1}, 0, 0, 2}, {Transform::Kind::AddOne}};
    uint16_t out = 0;
    apply_transform(tensor, reinterpret_cast<const uint8_t*>(&bits),
                    reinterpret_cast<uint8_t*>(&out));
    return out;
  };
  EXPECT_EQ(add_one(Storage::F16, 0x3800), 0x3E00);   // 0.5 → 1.5
  EXPECT_EQ(add_one(Storage::F16, 0xBC00), 0x0000);   // −1 → 0
  EXPECT_EQ(add_one(Storage::F16, 0xBBFF), 0x1000);   // −(1 − 2^−11) → 2^−11
  EXPECT_EQ(add_one(Storage::F16, 0x7BFF), 0x7BFF);   // the largest stays
  EXPECT_EQ(add_one(Storage::BF16, 0x3F00), 0x3FC0);  // 0.5 → 1.5
}

}  // namespace
}  // namespace axon::formats
