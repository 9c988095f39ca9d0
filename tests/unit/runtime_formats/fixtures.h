// Builders of small model files, written under the test's temporary folder.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/file.h"

namespace axon::formats::testing {

// A fresh folder below the temporary folder.
std::string make_folder(const std::string& name);
std::string write(const std::string& folder, const std::string& name, const std::string& bytes);

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string floats(const std::vector<float>& values);

// `header` is JSON; the length field is its size unless given.
std::string safetensors(const std::string& header, const std::string& data);

// Assembles a GGUF file field by field, so that tests can put anything anywhere.
class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;
  std::string magic = "GGUF";

  static std::string string(const std::string& text) { return raw<uint64_t>(text.size()) + text; }
  void pair(const std::string& key, uint32_t type, const std::string& encoded) {
    pairs_.push_back(string(key) + raw(type) + encoded);
  }
  void text(const std::string& key, const std::string& value) { pair(key, 8, string(value)); }
  void u32(const std::string& key, uint32_t value) { pair(key, 4, raw(value)); }
  void f32(const std::string& key, float value) { pair(key, 6, raw(value)); }
  void strings(const std::string& key, const std::vector<std::string>& values);
  void i32s(const std::string& key, const std::vector<int32_t>& values);
  // dims in the file's order: fastest first.
  void tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type,
              const std::string& data);
  // A tensor record written as it stands.
  void record(const std::string& bytes) { records_.push_back(bytes); }
  std::string build() const;

 private:
  std::vector<std::string> pairs_, records_;
  std::string data_;
};

// A llama file of two layers with every tensor, f32; names and sizes small.
GgufBuilder tiny_llama();

}  // namespace axon::formats::testing
