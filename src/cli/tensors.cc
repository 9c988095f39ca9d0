// Named tensors in and out of files.
#include "cli/tensors.h"

#include <cstring>

#include "cli/json.h"
#include "runtime/core/number.h"
#include "runtime/formats/safetensors.h"
#include "support/file.h"

namespace axon::cli {
namespace {

// Stored elements as the widest type of their kind.
runtime::NamedTensor widen(const formats::StoredTensor& stored, const uint8_t* data) {
  runtime::NamedTensor out{stored.name, DType::F32, stored.shape, {}};
  const StorageInfo& info = storage_info(stored.storage);
  int64_t count = 1;
  for (int64_t extent : stored.shape) count *= extent;
  bool is_float_storage = is_float(info.dtype);
  out.dtype = is_float_storage ? DType::F32 : info.dtype == DType::Bool ? DType::Bool : DType::I64;
  out.bytes.resize(static_cast<size_t>(count) * dtype_size(out.dtype));
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t* from = data + i * info.block_bytes;
    char* to = out.bytes.data() + static_cast<size_t>(i) * dtype_size(out.dtype);
    if (is_float_storage) {
      float v = runtime::load_float(stored.storage, from);
      std::memcpy(to, &v, 4);
    } else if (out.dtype == DType::Bool) {
      *to = static_cast<char>(*from != 0);
    } else {
      int64_t v = runtime::load_int(stored.storage, from);
      std::memcpy(to, &v, 8);
    }
  }
  return out;
}

void append_u64(std::string& out, uint64_t v) { out.append(reinterpret_cast<const char*>(&v), 8); }

}  // namespace

Result<std::vector<runtime::NamedTensor>> read_tensors(const std::string& path) {
  AXON_TRY(auto file, formats::ModelFile::open(path, formats::DataAccess::Read));
  AXON_TRY(formats::SafetensorsHeader header, formats::read_safetensors_header(*file));
  std::vector<runtime::NamedTensor> out;
  for (const formats::StoredTensor& stored : header.tensors) {
    AXON_TRY(const uint8_t* data, file->data(stored.offset, stored.bytes));
    out.push_back(widen(stored, data));
  }
  return out;
}

Result<void> write_tensors(const std::string& path,
                           const std::vector<runtime::NamedTensor>& tensors) {
  std::string header = safetensors_header(tensors), out;
  while ((header.size() + 8) % 8 != 0) header += ' ';
  append_u64(out, header.size());
  out += header;
  for (const runtime::NamedTensor& t : tensors) out += t.bytes;
  return write_file(path, out);
}

Result<void> write_npy(const std::string& path, const std::vector<float>& values,
                       const std::vector<int64_t>& shape) {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape) text += std::to_string(extent) + ",";
  text += "), }";
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xFF);
  out += static_cast<char>(text.size() >> 8);
  out += text;
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return write_file(path, out);
}

}  // namespace axon::cli
