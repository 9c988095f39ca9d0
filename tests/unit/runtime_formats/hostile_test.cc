// Damaged files: every fault gives an Error with a code of its class and a position, never more.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "fixtures.h"
#include "runtime/formats/checkpoint.h"
#include "runtime/formats/json.h"
#include "runtime/formats/safetensors.h"

namespace axon::formats {
namespace {

using testing::floats;
using testing::GgufBuilder;
using testing::make_folder;
using testing::raw;
using testing::safetensors;
using testing::write;

bool is_file_code(const std::string& code) { return code.rfind("FILE-", 0) == 0; }

void expect_refused(const Result<Checkpoint>& result, const std::string& what) {
  ASSERT_FALSE(result.ok()) << what;
  EXPECT_TRUE(is_file_code(result.error().code)) << what << ": " << result.error().code;
  EXPECT_FALSE(result.error().file.empty()) << what;
  EXPECT_GE(result.error().offset, 0) << what << ": " << result.error().message;
}

Result<Checkpoint> open_gguf(const std::string& bytes) {
  return open_checkpoint(write(make_folder("hostile"), "x.gguf", bytes));
}

Result<Checkpoint> open_single(const std::string& bytes) {
  std::string folder = make_folder("hostile");
  write(folder, "config.json", "{}");
  return open_checkpoint(write(folder, "x.safetensors", bytes));
}

std::string one_tensor(const std::string& dtype, const std::string& shape,
                       const std::string& range) {
  return R"({"a": {"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": )" +
         range + "}}";
}

TEST(Hostile, GgufCutAnywhere) {
  GgufBuilder builder = testing::tiny_llama();
  builder.strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  std::string whole = builder.build();
  ASSERT_TRUE(open_gguf(whole).ok());
  for (size_t i = 0; i < 200; ++i) {
    size_t cut = i < 100 ? i * 17 % whole.size() : whole.size() * i / 201;
    expect_refused(open_gguf(whole.substr(0, cut)), "cut at " + std::to_string(cut));
  }
}

TEST(Hostile, SafetensorsCutAnywhere) {
  std::string header = R"({"a": {"dtype": "F32", "shape": [8, 8], "data_offsets": [0, 256]},
                           "b": {"dtype": "F16", "shape": [64], "data_offsets": [256, 384]}})";
  std::string whole = safetensors(header, std::string(384, 'x'));
  ASSERT_TRUE(open_single(whole).ok());
  for (size_t i = 0; i < 200; ++i) {
    size_t cut = whole.size() * i / 200;
    expect_refused(open_single(whole.substr(0, cut)), "cut at " + std::to_string(cut));
  }
}

TEST(Hostile, SafetensorsHeaders) {
  std::string data(64, 'x');
  for (const char* header :
       {"", " ", "[]", "3", "{", "{\"a\"", "{\"a\": 1}", "{\"a\": {}}", "nul", "{} x",
        "{\"__metadata__\": 3}", "{\"a\": {\"dtype\": \"F32\", \"shape\": [1]}}",
        "{\"a\": {\"dtype\": 3, \"shape\": [1], \"data_offsets\": [0, 4]}}"}) {
    expect_refused(open_single(safetensors(header, data)), header);
  }
  for (const std::string& header :
       {one_tensor("F32", "[4398046511105]", "[0, 4]"),
        one_tensor("F32", "[4294967296, 4294967296]", "[0, 0]"),
        one_tensor("F32", "[3037000500, 3037000500]", "[0, 8]"),
        one_tensor("F32", "[-1]", "[0, 4]"), one_tensor("F32", "[1.5]", "[0, 4]"),
        one_tensor("F32", "[\"1\"]", "[0, 4]"), one_tensor("F32", "[2]", "[0, 4]"),
        one_tensor("F32", "[1]", "[4, 0]"), one_tensor("F32", "[1]", "[-4, 0]"),
        one_tensor("F32", "[1]", "[64, 68]"), one_tensor("F32", "[1]", "[0]"),
        one_tensor("F32", "[1]", "[9223372036854775803, 9223372036854775807]"),
        one_tensor("F32", "[1]", "[18446744073709551612, 18446744073709551616]"),
        one_tensor("F31", "[1]", "[0, 4]"), one_tensor("F8_E4M3", "[4]", "[0, 4]")}) {
    expect_refused(open_single(safetensors(header, data)), header);
  }
  std::string twice = R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                          "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})";
  expect_refused(open_single(safetensors(twice, data)), "duplicate names");
  for (uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{1} << 40, uint64_t{73}}) {
    expect_refused(open_single(raw(length) + data), "length " + std::to_string(length));
  }
}

std::string record(const std::string& name, uint32_t dims, const std::vector<uint64_t>& sizes,
                   uint32_t type, uint64_t offset) {
  std::string out = GgufBuilder::string(name) + raw(dims);
  for (uint64_t size : sizes) out += raw(size);
  return out + raw(type) + raw(offset);
}

TEST(Hostile, GgufTensorRecords) {
  struct Case {
    const char* what;
    std::string bytes;
  };
  uint64_t big = (uint64_t{1} << 42) + 1, high = uint64_t{1} << 63;
  for (const Case& c : {Case{"dimension 2^42+1", record("t", 1, {big}, 0, 0)},
                        Case{"overflow by product", record("t", 3, {big, big, big}, 0, 0)},
                        Case{"dimension 2^63", record("t", 1, {high}, 0, 0)},
                        Case{"dimension 2^62 floats", record("t", 1, {uint64_t{1} << 62}, 0, 0)},
                        Case{"dimension 0", record("t", 2, {0, 4}, 0, 0)},
                        Case{"offset beyond the end", record("t", 1, {4}, 0, uint64_t{1} << 40)},
                        Case{"offset overflow", record("t", 1, {4}, 0, ~uint64_t{0} - 31)},
                        Case{"offset unaligned", record("t", 1, {4}, 0, 3)},
                        Case{"no dimensions", record("t", 0, {}, 0, 0)},
                        Case{"five dimensions", record("t", 5, {1, 1, 1, 1, 1}, 0, 0)},
                        Case{"2^31 dimensions", record("t", uint32_t{1} << 31, {1}, 0, 0)},
                        Case{"unknown type", record("t", 1, {4}, 77, 0)},
                        Case{"retired type", record("t", 1, {4}, 4, 0)},
                        Case{"half a block", record("t", 1, {33}, 8, 0)},
                        Case{"name of 2^40", raw(uint64_t{1} << 40) + "t"},
                        Case{"name of 2^64-1", raw(~uint64_t{0}) + "t"}}) {
    GgufBuilder builder = testing::tiny_llama();
    builder.record(c.bytes);
    expect_refused(open_gguf(builder.build()), c.what);
  }
  GgufBuilder twice = testing::tiny_llama();
  twice.record(record("output_norm.weight", 1, {8}, 0, 0));
  expect_refused(open_gguf(twice.build()), "duplicate tensor");
}

TEST(Hostile, GgufMetadata) {
  struct Case {
    const char* what;
    uint32_t type;
    std::string bytes;
  };
  uint64_t huge = uint64_t{1} << 40;
  for (const Case& c :
       {Case{"string of 2^40", 8, raw(huge)}, Case{"string of 2^64-1", 8, raw(~uint64_t{0})},
        Case{"unknown type", 13, raw(uint64_t{0})},
        Case{"array of 2^40 bytes", 9, raw<uint32_t>(0) + raw(huge)},
        Case{"array of 2^61 words", 9, raw<uint32_t>(10) + raw(uint64_t{1} << 61)},
        Case{"array of 2^40 strings", 9, raw<uint32_t>(8) + raw(huge)},
        Case{"string in array of 2^40", 9, raw<uint32_t>(8) + raw<uint64_t>(1) + raw(huge)},
        Case{"array of unknown", 9, raw<uint32_t>(99) + raw<uint64_t>(0)},
        Case{"nested array", 9,
             raw<uint32_t>(9) + raw<uint64_t>(1) + raw<uint32_t>(0) + raw<uint64_t>(0)}}) {
    GgufBuilder builder = testing::tiny_llama();
    builder.pair("some.key", c.type, c.bytes);
    expect_refused(open_gguf(builder.build()), c.what);
  }
  GgufBuilder twice = testing::tiny_llama();
  twice.u32("llama.block_count", 2);
  expect_refused(open_gguf(twice.build()), "duplicate key");
}

TEST(Hostile, GgufAlignment) {
  for (uint32_t alignment : {0u, 3u, 1u << 30, 1u << 31}) {
    GgufBuilder builder = testing::tiny_llama();
    builder.u32("general.alignment", alignment);
    expect_refused(open_gguf(builder.build()), "alignment " + std::to_string(alignment));
  }
  GgufBuilder text = testing::tiny_llama();
  text.text("general.alignment", "32");
  expect_refused(open_gguf(text.build()), "alignment as text");
  for (uint32_t alignment : {1u, 2u, 8u, 64u}) {
    GgufBuilder builder;
    builder.alignment = alignment;
    builder.text("general.architecture", "llama");
    for (const char* key :
         {"embedding_length", "feed_forward_length", "block_count", "attention.head_count",
          "context_length", "attention.layer_norm_rms_epsilon"}) {
      builder.u32(std::string("llama.") + key, 1);
    }
    builder.u32("general.alignment", alignment);
    builder.tensor("output_norm.weight", {3}, 0, floats({1, 2, 3}));
    auto checkpoint = open_gguf(builder.build());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    auto tensor = checkpoint->params->tensor("model.norm.weight");
    ASSERT_TRUE(tensor.ok());
    EXPECT_EQ(std::memcmp(tensor->data, floats({1, 2, 3}).data(), 12), 0);
  }
}

TEST(Hostile, GgufStart) {
  GgufBuilder builder = testing::tiny_llama();
  builder.magic = "GGUX";
  expect_refused(open_gguf(builder.build()), "magic");
  for (uint32_t version : {0u, 1u, 4u, 0x03000000u}) {
    GgufBuilder other = testing::tiny_llama();
    other.version = version;
    expect_refused(open_gguf(other.build()), "version " + std::to_string(version));
  }
  std::string bytes = testing::tiny_llama().build();
  for (size_t field : {8u, 16u}) {
    for (uint64_t count : {uint64_t{1} << 40, ~uint64_t{0}}) {
      std::string copy = bytes;
      copy.replace(field, 8, raw(count));
      expect_refused(open_gguf(copy), "count");
    }
  }
}

// Any single changed byte must give a checkpoint or an Error, and nothing the sanitizers see.
TEST(Hostile, ChangedBytes) {
  std::string bytes = testing::tiny_llama().build();
  std::mt19937 random(7);
  for (int i = 0; i < 600; ++i) {
    std::string copy = bytes;
    copy[random() % 1200] = static_cast<char>(random());
    auto checkpoint = open_gguf(copy);
    if (!checkpoint) continue;
    for (const model::TensorInfo& info : checkpoint->params->index().tensors()) {
      (void)checkpoint->params->tensor(info.name).ok();
    }
  }
}

TEST(Hostile, FileThatShrinksBeforeItIsMapped) {
  std::string folder = make_folder("hostile");
  write(folder, "config.json", "{}");
  std::string path = folder + "/model.safetensors";
  write(folder, "model.safetensors",
        safetensors(one_tensor("F32", "[4096]", "[0, 16384]"), std::string(16384, 'x')));
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  auto tensor = checkpoint->params->tensor("a");
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.error().code, "FILE-TRUNCATED");
}

TEST(Hostile, MappedAddressesNameTheirFile) {
  std::string folder = make_folder("hostile");
  write(folder, "config.json", "{}");
  std::string path = write(folder, "model.safetensors",
                           safetensors(one_tensor("F32", "[1]", "[0, 4]"), floats({1})));
  auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok());
  auto tensor = checkpoint->params->tensor("a");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(std::string(checkpoint->params->file_at(tensor->data)), path);
  EXPECT_EQ(checkpoint->params->file_at(&path), nullptr);
}

TEST(Hostile, SideFiles) {
  std::string folder = make_folder("side");
  write(folder, "model.safetensors", safetensors("{}", ""));
  auto none = open_checkpoint(folder);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, "FILE-MODEL");
  write(folder, "config.json", "{\"a\": tru}");
  auto broken = open_checkpoint(folder);
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, "FILE-JSON");
  EXPECT_EQ(broken.error().offset, 6);
  write(folder, "config.json", "[]");
  EXPECT_EQ(open_checkpoint(folder).error().code, "FILE-CONFIG");
  write(folder, "config.json", "{}");
  write(folder, "generation_config.json", R"({"eos_token_id": "x"})");
  EXPECT_EQ(open_checkpoint(folder).error().code, "FILE-CONFIG");
  EXPECT_EQ(open_checkpoint(folder + "/absent").error().code, "FILE-MODEL");
  std::string plain = write(folder, "notes.txt", "hello");
  EXPECT_EQ(open_checkpoint(plain).error().code, "FILE-MODEL");
}

TEST(Json, AcceptsWhatPythonAccepts) {
  auto value = parse_json(
      R"({"a": [NaN, -Infinity, 1e400, 12345678901234567890, -0, 0.5], "b": "\ud83d\ude00\n"})",
      "x");
  ASSERT_TRUE(value.ok()) << value.error().message;
  EXPECT_EQ(value->member("b")->text, "\xF0\x9F\x98\x80\n");
  EXPECT_EQ(value->member("a")->items[3].number, 12345678901234567890.0);
}

TEST(Json, NamesThePlaceOfAMistake) {
  struct Case {
    const char* text;
    int64_t offset;
  };
  std::string deep(100000, '[');
  for (const Case& c : {Case{"", 0},
                        {"{", 1},
                        {"[1,]", 3},
                        {"[01]", 1},
                        {"\"a", 0},
                        {"{\"a\" 1}", 5},
                        {"[1 2]", 3},
                        {"\"\\x\"", 1},
                        {"\"\\ud800\"", 1},
                        {"\"\n\"", 1},
                        {"\"\xFF\"", 1},
                        {"1 1", 2},
                        {"-", 0},
                        {"[1.]", 1},
                        {deep.c_str(), 201}}) {
    auto value = parse_json(c.text, "x");
    ASSERT_FALSE(value.ok()) << c.text;
    EXPECT_EQ(value.error().code, "FILE-JSON");
    EXPECT_EQ(value.error().offset, c.offset) << c.text;
  }
}

}  // namespace
}  // namespace axon::formats
