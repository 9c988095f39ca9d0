// Reads the header of a GGUF file (versions 2 and 3): metadata, and where each tensor lies.
#include "runtime/formats/gguf.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

constexpr size_t kChunk = 1 << 20;
constexpr uint32_t kMaxDims = 4;

struct TypeRow {
  uint32_t id;
  Storage storage;
};
// Numbers of tensor types in the format.
constexpr TypeRow kTypes[] = {
    {0, Storage::F32},     {1, Storage::F16},   {2, Storage::Q4_0},  {3, Storage::Q4_1},
    {6, Storage::Q5_0},    {7, Storage::Q5_1},  {8, Storage::Q8_0},  {10, Storage::Q2_K},
    {11, Storage::Q3_K},   {12, Storage::Q4_K}, {13, Storage::Q5_K}, {14, Storage::Q6_K},
    {20, Storage::IQ4_NL}, {24, Storage::I8},   {25, Storage::I16},  {26, Storage::I32},
    {27, Storage::I64},    {28, Storage::F64},  {30, Storage::BF16}, {39, Storage::MXFP4},
};

// Bytes of a scalar, or of the length that leads a string.
size_t least_size(GgufType type) {
  switch (type) {
    case GgufType::U8:
    case GgufType::I8:
    case GgufType::Bool:
      return 1;
    case GgufType::U16:
    case GgufType::I16:
      return 2;
    case GgufType::U32:
    case GgufType::I32:
    case GgufType::F32:
      return 4;
    case GgufType::U64:
    case GgufType::I64:
    case GgufType::F64:
    case GgufType::String:
      return 8;
    case GgufType::Array:
      return 12;
  }
  AXON_UNREACHABLE("metadata type");
}

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The file stores 32-bit floats of decimal settings (1e-5); the shortest decimal gives those back.
double widen(float value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  double out = value;
  std::from_chars(buffer, end, out);
  return out;
}

ConfigValue scalar(GgufType type, const char* at) {
  switch (type) {
    case GgufType::U8:
      return ConfigValue::of(int64_t{load<uint8_t>(at)});
    case GgufType::I8:
      return ConfigValue::of(int64_t{load<int8_t>(at)});
    case GgufType::U16:
      return ConfigValue::of(int64_t{load<uint16_t>(at)});
    case GgufType::I16:
      return ConfigValue::of(int64_t{load<int16_t>(at)});
    case GgufType::U32:
      return ConfigValue::of(int64_t{load<uint32_t>(at)});
    case GgufType::I32:
      return ConfigValue::of(int64_t{load<int32_t>(at)});
    case GgufType::F32:
      return ConfigValue::of(widen(load<float>(at)));
    case GgufType::Bool:
      return ConfigValue::of(load<uint8_t>(at) != 0);
    case GgufType::U64: {
      uint64_t value = load<uint64_t>(at);
      if (value >> 63) return ConfigValue::of(static_cast<double>(value));
      return ConfigValue::of(static_cast<int64_t>(value));
    }
    case GgufType::I64:
      return ConfigValue::of(load<int64_t>(at));
    case GgufType::F64:
      return ConfigValue::of(load<double>(at));
    case GgufType::String:
    case GgufType::Array:
      break;
  }
  AXON_UNREACHABLE("scalar type");
}

// Reads forward through the header, fetching the file in chunks: its length is not known before.
class Cursor {
 public:
  Cursor(const ModelFile& file, std::string& bytes) : file_(file), bytes_(bytes) {}
  uint64_t pos() const { return pos_; }
  uint64_t left() const { return file_.size() - pos_; }

  Error fail(const char* code, uint64_t at, const std::string& what) const {
    return Error{
        code, "`" + file_.path() + "`: " + what, file_.path(), static_cast<int64_t>(at), {}};
  }

  // Makes the next `n` bytes present and steps over them; returns where they begin.
  Result<uint64_t> take(uint64_t n, const char* what) {
    if (n > left()) {
      return fail("FILE-TRUNCATED", pos_,
                  std::string(what) + " needs " + std::to_string(n) + " bytes, the file has " +
                      std::to_string(left()) + " more");
    }
    uint64_t end = pos_ + n;
    if (end > bytes_.size()) {
      uint64_t have = bytes_.size();
      uint64_t want =
          std::min(file_.size(), std::max<uint64_t>(end, have + std::max<uint64_t>(kChunk, have)));
      bytes_.resize(want);
      AXON_TRY_VOID(file_.read(have, bytes_.data() + have, want - have));
    }
    uint64_t begin = pos_;
    pos_ = end;
    return begin;
  }

  template <class T>
  Result<T> number(const char* what) {
    AXON_TRY(uint64_t at, take(sizeof(T), what));
    return load<T>(bytes_.data() + at);
  }

  Result<std::string> string(const char* what) {
    uint64_t at = pos_;
    AXON_TRY(uint64_t length, number<uint64_t>(what));
    if (length > left()) {
      return fail("FILE-FORMAT", at,
                  std::string(what) + " has length " + std::to_string(length) + ", the file has " +
                      std::to_string(left()) + " bytes more");
    }
    AXON_TRY(uint64_t begin, take(length, what));
    return bytes_.substr(begin, length);
  }

  // Steps over a string that is present already; false when it is not, or does not end.
  bool skip_string() {
    if (bytes_.size() - pos_ < 8) return false;
    auto length = load<uint64_t>(bytes_.data() + pos_);
    if (length > bytes_.size() - pos_ - 8) return false;
    pos_ += 8 + length;
    return true;
  }

  const char* at(uint64_t offset) const { return bytes_.data() + offset; }

 private:
  const ModelFile& file_;
  std::string& bytes_;
  uint64_t pos_ = 0;
};

// Where an array's items lie, before the header's bytes have their final place.
struct Extent {
  uint64_t begin, end;
};

class HeaderReader {
 public:
  explicit HeaderReader(const ModelFile& file)
      : file_(file), bytes_(std::make_unique<std::string>()), cursor_(file, *bytes_) {}

  Result<GgufHeader> run() {
    AXON_TRY(uint64_t tensors, read_start());
    out_.metadata.kind = ConfigValue::Kind::Map;
    for (uint64_t i = 0; i < pairs_; ++i) AXON_TRY_VOID(read_pair());
    AXON_TRY_VOID(read_alignment());
    for (uint64_t i = 0; i < tensors; ++i) AXON_TRY_VOID(read_tensor());
    AXON_TRY_VOID(place_tensors());
    for (size_t i = 0; i < extents_.size(); ++i) {
      out_.arrays[i].encoded =
          std::string_view(*bytes_).substr(extents_[i].begin, extents_[i].end - extents_[i].begin);
    }
    out_.bytes = std::move(bytes_);
    return std::move(out_);
  }

 private:
  Result<uint64_t> read_start() {
    AXON_TRY(uint64_t at, cursor_.take(4, "the magic number"));
    if (std::memcmp(cursor_.at(at), "GGUF", 4) != 0) {
      return cursor_.fail("FILE-FORMAT", 0, "does not start with `GGUF`");
    }
    AXON_TRY(out_.version, cursor_.number<uint32_t>("the version"));
    if (out_.version != 2 && out_.version != 3) {
      bool swapped = (out_.version & 0xFFFF) == 0 && out_.version != 0;
      return cursor_.fail("FILE-FORMAT", 4,
                          swapped ? "is big-endian, which Axon does not read"
                                  : "has version " + std::to_string(out_.version) +
                                        ", Axon reads versions 2 and 3");
    }
    AXON_TRY(uint64_t tensors, cursor_.number<uint64_t>("the tensor count"));
    AXON_TRY(pairs_, cursor_.number<uint64_t>("the metadata count"));
    // A record has at least a name, a type and an offset or value: bounds the loops below.
    if (tensors > cursor_.left() / 24) {
      return cursor_.fail(
          "FILE-FORMAT", 8,
          "says it has " + std::to_string(tensors) + " tensors, more than its bytes can describe");
    }
    if (pairs_ > cursor_.left() / 13) {
      return cursor_.fail("FILE-FORMAT", 16,
                          "says it has " + std::to_string(pairs_) +
                              " metadata entries, more than its bytes can hold");
    }
    return tensors;
  }

  Result<GgufType> read_type(const std::string& key) {
    uint64_t at = cursor_.pos();
    AXON_TRY(uint32_t type, cursor_.number<uint32_t>("a metadata type"));
    if (type > static_cast<uint32_t>(GgufType::F64)) {
      return cursor_.fail("FILE-FORMAT", at,
                          "metadata `" + key + "` has the unknown type " + std::to_string(type));
    }
    return static_cast<GgufType>(type);
  }

  Result<void> read_pair() {
    uint64_t at = cursor_.pos();
    AXON_TRY(std::string key, cursor_.string("a metadata key"));
    if (find_invalid_utf8(key) != key.npos)
      return cursor_.fail("FILE-FORMAT", at, "a metadata key is not UTF-8");
    if (!keys_.insert(key).second) {
      return cursor_.fail("FILE-FORMAT", at, "metadata key `" + key + "` occurs twice");
    }
    AXON_TRY(GgufType type, read_type(key));
    if (type == GgufType::Array) return read_array(std::move(key));
    if (type == GgufType::String) {
      AXON_TRY(std::string text, cursor_.string("a metadata string"));
      out_.metadata.members.emplace_back(std::move(key), ConfigValue::of(std::move(text)));
      return {};
    }
    AXON_TRY(uint64_t begin, cursor_.take(least_size(type), "a metadata value"));
    out_.metadata.members.emplace_back(std::move(key), scalar(type, cursor_.at(begin)));
    return {};
  }

  Result<void> read_array(std::string key) {
    uint64_t at = cursor_.pos();
    AXON_TRY(GgufType type, read_type(key));
    if (type == GgufType::Array) {
      return cursor_.fail("FILE-FORMAT", at, "metadata `" + key + "` is an array of arrays");
    }
    uint64_t count_at = cursor_.pos();
    AXON_TRY(uint64_t count, cursor_.number<uint64_t>("an array length"));
    auto least = checked_mul(count, least_size(type));
    if (!least || *least > cursor_.left()) {
      return cursor_.fail("FILE-FORMAT", count_at,
                          "metadata `" + key + "` is an array of " + std::to_string(count) +
                              " items, the file has " + std::to_string(cursor_.left()) +
                              " bytes more");
    }
    uint64_t begin = cursor_.pos();
    ConfigValue items;
    items.kind = ConfigValue::Kind::List;
    bool small = count <= kSmallArray;
    if (type != GgufType::String) {
      AXON_TRY(uint64_t first, cursor_.take(*least, "an array"));
      for (uint64_t i = 0; small && i < count; ++i) {
        items.items.push_back(scalar(type, cursor_.at(first + i * least_size(type))));
      }
    } else {
      for (uint64_t i = 0; i < count; ++i) {
        if (!small && cursor_.skip_string()) continue;
        AXON_TRY_VOID(read_string_item(small, items));
      }
    }
    if (small) out_.metadata.members.emplace_back(key, std::move(items));
    out_.arrays.push_back({std::move(key), type, count, {}});
    extents_.push_back({begin, cursor_.pos()});
    return {};
  }

  Result<void> read_string_item(bool keep, ConfigValue& items) {
    uint64_t at = cursor_.pos();
    AXON_TRY(uint64_t length, cursor_.number<uint64_t>("a string length"));
    if (length > cursor_.left()) {
      return cursor_.fail("FILE-FORMAT", at,
                          "a string in an array has length " + std::to_string(length) +
                              ", the file has " + std::to_string(cursor_.left()) + " bytes more");
    }
    AXON_TRY(uint64_t begin, cursor_.take(length, "a string"));
    if (keep) items.items.push_back(ConfigValue::of(std::string(cursor_.at(begin), length)));
    return {};
  }

  Result<void> read_alignment() {
    const ConfigValue* value = out_.metadata.member("general.alignment");
    if (!value) return {};
    bool whole = value->kind == ConfigValue::Kind::Int && value->integer > 0;
    if (!whole || !std::has_single_bit(static_cast<uint64_t>(value->integer)) ||
        value->integer > (int64_t{1} << 24)) {
      return cursor_.fail(
          "FILE-FORMAT", cursor_.pos(),
          "`general.alignment` is " + value->show() + ", not a power of two up to 2^24");
    }
    out_.alignment = static_cast<uint64_t>(value->integer);
    return {};
  }

  Result<void> read_tensor() {
    uint64_t at = cursor_.pos();
    StoredTensor tensor;
    AXON_TRY(tensor.name, cursor_.string("a tensor name"));
    if (!names_.insert(tensor.name).second) {
      return cursor_.fail("FILE-FORMAT", at, "tensor `" + tensor.name + "` occurs twice");
    }
    uint64_t dims_at = cursor_.pos();
    AXON_TRY(uint32_t dims, cursor_.number<uint32_t>("the number of dimensions"));
    std::string subject = "tensor `" + tensor.name + "` ";
    if (dims < 1 || dims > kMaxDims) {
      return cursor_.fail("FILE-FORMAT", dims_at,
                          subject + "has " + std::to_string(dims) + " dimensions, expected 1 to 4");
    }
    for (uint32_t i = 0; i < dims; ++i) {
      AXON_TRY(uint64_t dim, cursor_.number<uint64_t>("a dimension"));
      if (dim == 0 || dim >> 62) {
        return cursor_.fail("FILE-FORMAT", cursor_.pos() - 8,
                            subject + "has a dimension of " + std::to_string(dim));
      }
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(dim));
    }
    AXON_TRY_VOID(read_tensor_type(tensor, subject));
    auto bytes = storage_bytes(tensor.storage, tensor.shape);
    if (!bytes) {
      return cursor_.fail("FILE-FORMAT", dims_at,
                          subject + "has shape " + show_shape(tensor.shape) +
                              ", which has no size in " +
                              std::string(storage_info(tensor.storage).name));
    }
    tensor.bytes = *bytes;
    offset_at_.push_back(cursor_.pos());
    AXON_TRY(tensor.offset, cursor_.number<uint64_t>("a tensor offset"));
    out_.tensors.push_back(std::move(tensor));
    return {};
  }

  Result<void> read_tensor_type(StoredTensor& tensor, const std::string& subject) {
    uint64_t at = cursor_.pos();
    AXON_TRY(uint32_t type, cursor_.number<uint32_t>("a tensor type"));
    for (const TypeRow& row : kTypes) {
      if (row.id != type) continue;
      tensor.storage = row.storage;
      return {};
    }
    return cursor_.fail(
        "FILE-FORMAT", at,
        subject + "has type number " + std::to_string(type) + ", which Axon does not read");
  }

  Result<void> place_tensors() {
    uint64_t begin = (cursor_.pos() + out_.alignment - 1) / out_.alignment * out_.alignment;
    for (size_t i = 0; i < out_.tensors.size(); ++i) {
      StoredTensor& tensor = out_.tensors[i];
      if (tensor.offset % out_.alignment != 0) {
        return cursor_.fail("FILE-FORMAT", offset_at_[i],
                            "tensor `" + tensor.name + "` has offset " +
                                std::to_string(tensor.offset) + ", not a multiple of " +
                                std::to_string(out_.alignment));
      }
      auto first = checked_add(begin, tensor.offset);
      auto last = first ? checked_add(*first, tensor.bytes) : first;
      if (!last || *last > file_.size()) {
        return cursor_.fail("FILE-TRUNCATED", offset_at_[i],
                            "tensor `" + tensor.name +
                                "` ends beyond the end of the file, which has " +
                                std::to_string(file_.size()) + " bytes");
      }
      tensor.offset = *first;
    }
    return {};
  }

  const ModelFile& file_;
  std::unique_ptr<std::string> bytes_;
  Cursor cursor_;
  GgufHeader out_;
  uint64_t pairs_ = 0;
  std::vector<Extent> extents_;      // per array
  std::vector<uint64_t> offset_at_;  // per tensor: where its offset field stands
  std::unordered_set<std::string> keys_, names_;
};

}  // namespace

const GgufArray* GgufHeader::array(std::string_view key) const {
  for (const GgufArray& array : arrays) {
    if (array.key == key) return &array;
  }
  return nullptr;
}

std::optional<std::vector<std::string_view>> string_items(const GgufArray& array) {
  if (array.type != GgufType::String) return {};
  std::vector<std::string_view> out;
  out.reserve(array.count);
  for (size_t pos = 0; out.size() < array.count;) {
    auto length = load<uint64_t>(array.encoded.data() + pos);
    out.push_back(array.encoded.substr(pos + 8, length));
    pos += 8 + length;
  }
  return out;
}

std::optional<std::vector<int64_t>> integer_items(const GgufArray& array) {
  bool whole =
      array.type != GgufType::String && array.type != GgufType::F32 && array.type != GgufType::F64;
  if (!whole) return {};
  std::vector<int64_t> out;
  out.reserve(array.count);
  size_t step = least_size(array.type);
  for (uint64_t i = 0; i < array.count; ++i) {
    ConfigValue value = scalar(array.type, array.encoded.data() + i * step);
    out.push_back(value.kind == ConfigValue::Kind::Bool ? value.boolean : value.integer);
  }
  return out;
}

bool looks_like_gguf(const ModelFile& file) {
  char magic[4];
  return file.size() >= sizeof magic && file.read(0, magic, sizeof magic).ok() &&
         std::memcmp(magic, "GGUF", sizeof magic) == 0;
}

Result<GgufHeader> read_gguf_header(const ModelFile& file) { return HeaderReader(file).run(); }

}  // namespace axon::formats
