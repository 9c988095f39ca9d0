// Reads the header of a safetensors file: names, element types, shapes and byte ranges.
#include "runtime/formats/safetensors.h"

#include <algorithm>

#include "runtime/formats/json.h"

namespace axon::formats {
namespace {

using model::ConfigValue;
using Kind = ConfigValue::Kind;

constexpr uint64_t kMaxHeader = 100u << 20;  // the limit that writers of the format keep

std::optional<Storage> storage_of(std::string_view name) {
  if (name == "BOOL") return Storage::Bool;
  for (Storage storage : {Storage::F32, Storage::F16, Storage::BF16, Storage::F64, Storage::I8,
                          Storage::U8, Storage::I16, Storage::I32, Storage::I64}) {
    if (storage_info(storage).name == name) return storage;
  }
  return {};
}

class HeaderReader {
 public:
  HeaderReader(const ModelFile& file, std::string_view text, uint64_t data_begin)
      : file_(file), text_(text), data_begin_(data_begin) {}

  Result<SafetensorsHeader> run(const ConfigValue& root) {
    if (root.kind != Kind::Map) return format_error("", "the header is not a JSON object");
    SafetensorsHeader out;
    out.tensors.reserve(root.members.size());
    for (const auto& [name, entry] : root.members) {
      if (name == "__metadata__") {
        if (entry.kind != Kind::Map)
          return format_error(name, "`__metadata__` is not a JSON object");
        out.metadata = entry;
        continue;
      }
      AXON_TRY(StoredTensor tensor, read_entry(name, entry));
      out.tensors.push_back(std::move(tensor));
    }
    AXON_TRY_VOID(check_layout(out.tensors));
    return out;
  }

 private:
  Error format_error(const std::string& name, const std::string& what,
                     const char* code = "FILE-FORMAT") const {
    int64_t offset = 8;
    size_t at = name.empty() ? text_.npos : text_.find("\"" + name + "\"");
    if (at != text_.npos) offset += static_cast<int64_t>(at);
    return Error{code, "`" + file_.path() + "`: " + what, file_.path(), offset, {}};
  }

  Result<StoredTensor> read_entry(const std::string& name, const ConfigValue& entry) {
    std::string subject = "tensor `" + name + "` ";
    const ConfigValue* dtype = entry.kind == Kind::Map ? entry.member("dtype") : nullptr;
    const ConfigValue* shape = entry.kind == Kind::Map ? entry.member("shape") : nullptr;
    const ConfigValue* range = entry.kind == Kind::Map ? entry.member("data_offsets") : nullptr;
    if (!dtype || dtype->kind != Kind::String || !shape || shape->kind != Kind::List || !range ||
        range->kind != Kind::List || range->items.size() != 2) {
      return format_error(name, subject + "lacks `dtype`, `shape` or `data_offsets`");
    }
    StoredTensor out;
    out.name = name;
    auto storage = storage_of(dtype->text);
    if (!storage) {
      return format_error(
          name, subject + "has element type `" + dtype->text + "`, which Axon does not read");
    }
    out.storage = *storage;
    for (const ConfigValue& dim : shape->items) {
      if (dim.kind != Kind::Int || dim.integer < 0) {
        return format_error(name, subject + "has a dimension that is not a natural number");
      }
      out.shape.push_back(dim.integer);
    }
    AXON_TRY_VOID(read_range(*range, out));
    return out;
  }

  Result<void> read_range(const ConfigValue& range, StoredTensor& out) const {
    const ConfigValue& begin = range.items[0];
    const ConfigValue& end = range.items[1];
    std::string subject = "tensor `" + out.name + "` ";
    if (begin.kind != Kind::Int || end.kind != Kind::Int || begin.integer < 0 ||
        end.integer < begin.integer) {
      return format_error(out.name, subject + "has `data_offsets` that are not a range");
    }
    auto bytes = storage_bytes(out.storage, out.shape);
    if (!bytes) return format_error(out.name, subject + "has a shape whose size overflows");
    out.bytes = static_cast<uint64_t>(end.integer - begin.integer);
    if (*bytes != out.bytes) {
      return format_error(out.name, subject + "has " + std::to_string(out.bytes) + " bytes, but " +
                                        std::string(storage_info(out.storage).name) +
                                        show_shape(out.shape) + " needs " + std::to_string(*bytes));
    }
    auto last = checked_add(data_begin_, static_cast<uint64_t>(end.integer));
    if (!last || *last > file_.size()) {
      return format_error(out.name,
                          subject + "ends beyond the end of the file, which has " +
                              std::to_string(file_.size()) + " bytes",
                          "FILE-TRUNCATED");
    }
    out.offset = data_begin_ + static_cast<uint64_t>(begin.integer);
    return {};
  }

  // Tensors follow one another from the first byte of the data to the last of the file.
  Result<void> check_layout(const std::vector<StoredTensor>& tensors) const {
    std::vector<const StoredTensor*> order;
    for (const StoredTensor& tensor : tensors) order.push_back(&tensor);
    std::stable_sort(order.begin(), order.end(), [](const StoredTensor* a, const StoredTensor* b) {
      return a->offset != b->offset ? a->offset < b->offset : a->bytes < b->bytes;
    });
    uint64_t end = data_begin_;
    std::string before = "the data begins";
    for (const StoredTensor* tensor : order) {
      if (tensor->offset != end) {
        return format_error(tensor->name, "tensor `" + tensor->name + "` begins at byte " +
                                              std::to_string(tensor->offset) +
                                              " of the file, but " + before + " at byte " +
                                              std::to_string(end));
      }
      end += tensor->bytes;
      before = "`" + tensor->name + "` before it ends";
    }
    if (end == file_.size()) return {};
    return Error{"FILE-FORMAT",
                 "`" + file_.path() + "`: " + std::to_string(file_.size() - end) +
                     " bytes follow the data of the last tensor",
                 file_.path(),
                 static_cast<int64_t>(end),
                 {}};
  }

  const ModelFile& file_;
  std::string_view text_;
  uint64_t data_begin_;
};

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(const ModelFile& file) {
  uint8_t raw[8];
  AXON_TRY_VOID(file.read(0, raw, sizeof raw));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | raw[i];
  if (length > file.size() - sizeof raw) {
    return Error{length > kMaxHeader ? "FILE-FORMAT" : "FILE-TRUNCATED",
                 "`" + file.path() + "`: the header has " + std::to_string(length) +
                     " bytes by its length field, the file " + std::to_string(file.size()),
                 file.path(),
                 0,
                 {}};
  }
  if (length > kMaxHeader) {
    return Error{
        "FILE-FORMAT",
        "`" + file.path() + "`: a header of " + std::to_string(length) + " bytes is too long",
        file.path(),
        0,
        {}};
  }
  std::string text(length, '\0');
  AXON_TRY_VOID(file.read(sizeof raw, text.data(), length));
  JsonOptions options{DuplicateKeys::Refuse, sizeof raw};
  AXON_TRY(ConfigValue root, parse_json(text, file.path(), options));
  return HeaderReader(file, text, sizeof raw + length).run(root);
}

}  // namespace axon::formats
