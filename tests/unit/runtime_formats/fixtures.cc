// Builders of small model files, written under the test's temporary folder.
#include "fixtures.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axon::formats::testing {

std::string make_folder(const std::string& name) {
  std::string base = ::testing::TempDir() + "axon_formats_" + std::to_string(::getpid());
  ::mkdir(base.c_str(), 0777);
  std::string path = base + "/" + name;
  ::mkdir(path.c_str(), 0777);
  return path;
}

std::string write(const std::string& folder, const std::string& name, const std::string& bytes) {
  std::string path = folder + "/" + name;
  auto done = write_file(path, bytes);
  EXPECT_TRUE(done.ok());
  return path;
}

std::string floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::string safetensors(const std::string& header, const std::string& data) {
  return raw<uint64_t>(header.size()) + header + data;
}

void GgufBuilder::strings(const std::string& key, const std::vector<std::string>& values) {
  std::string encoded = raw<uint32_t>(8) + raw<uint64_t>(values.size());
  for (const std::string& value : values) encoded += string(value);
  pair(key, 9, encoded);
}

void GgufBuilder::i32s(const std::string& key, const std::vector<int32_t>& values) {
  std::string encoded = raw<uint32_t>(5) + raw<uint64_t>(values.size());
  for (int32_t value : values) encoded += raw(value);
  pair(key, 9, encoded);
}

void GgufBuilder::tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type,
                         const std::string& data) {
  std::string bytes = string(name) + raw(static_cast<uint32_t>(dims.size()));
  for (uint64_t dim : dims) bytes += raw(dim);
  records_.push_back(bytes + raw(type) + raw<uint64_t>(data_.size()));
  data_ += data;
  while (data_.size() % alignment) data_ += '\0';
}

std::string GgufBuilder::build() const {
  std::string out =
      magic + raw(version) + raw<uint64_t>(records_.size()) + raw<uint64_t>(pairs_.size());
  for (const std::string& pair : pairs_) out += pair;
  for (const std::string& record : records_) out += record;
  while (out.size() % alignment) out += '\0';
  return out + data_;
}

GgufBuilder tiny_llama() {
  GgufBuilder out;
  out.text("general.architecture", "llama");
  out.u32("llama.embedding_length", 8);
  out.u32("llama.feed_forward_length", 12);
  out.u32("llama.block_count", 2);
  out.u32("llama.attention.head_count", 2);
  out.u32("llama.attention.head_count_kv", 1);
  out.u32("llama.context_length", 64);
  out.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  out.f32("llama.rope.freq_base", 10000.0f);
  float next = 0;
  auto add = [&](const std::string& name, std::vector<uint64_t> dims) {
    uint64_t count = 1;
    for (uint64_t dim : dims) count *= dim;
    std::vector<float> values;
    for (uint64_t i = 0; i < count; ++i) values.push_back(next++);
    out.tensor(name, dims, 0, floats(values));
  };
  add("token_embd.weight", {8, 10});
  add("output_norm.weight", {8});
  for (std::string layer : {"blk.0.", "blk.1."}) {
    add(layer + "attn_norm.weight", {8});
    add(layer + "attn_q.weight", {8, 8});
    add(layer + "attn_k.weight", {8, 4});
    add(layer + "attn_v.weight", {8, 4});
    add(layer + "attn_output.weight", {8, 8});
    add(layer + "ffn_norm.weight", {8});
    add(layer + "ffn_gate.weight", {8, 12});
    add(layer + "ffn_up.weight", {8, 12});
    add(layer + "ffn_down.weight", {12, 8});
  }
  return out;
}

}  // namespace axon::formats::testing
