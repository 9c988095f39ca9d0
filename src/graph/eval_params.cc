// Parameters for the evaluator: from memory, and from a checkpoint's plain storage.
#include <bit>
#include <cmath>
#include <cstring>

#include "graph/eval_ops.h"
#include "graph/evaluate.h"
#include "support/text.h"

namespace axon::graph {
namespace {

template <class T>
T read_as(const uint8_t* bytes, int64_t i) {
  T out;
  std::memcpy(&out, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return out;
}

float widen_f16(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value = exponent == 0    ? std::ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                  : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>(bits >> 15 ? -value : value);
}

void decode(Storage storage, const uint8_t* bytes, EvalTensor& out) {
  for (int64_t i = 0; i < out.count(); ++i) {
    switch (storage) {
      case Storage::F32:
        out.set(i, read_as<float>(bytes, i));
        break;
      case Storage::F64:
        out.set(i, read_as<double>(bytes, i));
        break;
      case Storage::F16:
        out.set(i, widen_f16(read_as<uint16_t>(bytes, i)));
        break;
      case Storage::BF16:
        out.set(i, std::bit_cast<float>(static_cast<uint32_t>(read_as<uint16_t>(bytes, i)) << 16));
        break;
      case Storage::I8:
        out.set_int(i, read_as<int8_t>(bytes, i));
        break;
      case Storage::U8:
      case Storage::Bool:
        out.set_int(i, bytes[i]);
        break;
      case Storage::I16:
        out.set_int(i, read_as<int16_t>(bytes, i));
        break;
      case Storage::I32:
        out.set_int(i, read_as<int32_t>(bytes, i));
        break;
      case Storage::I64:
        out.set_int(i, read_as<int64_t>(bytes, i));
        break;
      default:
        AXON_UNREACHABLE("block storage");
    }
  }
}

}  // namespace

void MemoryParams::set(std::string key, EvalTensor tensor) {
  for (auto& [name, value] : tensors_) {
    if (name != key) continue;
    value = std::move(tensor);
    return;
  }
  tensors_.emplace_back(std::move(key), std::move(tensor));
}

Result<std::optional<EvalTensor>> MemoryParams::find(std::string_view key) {
  for (const auto& [name, value] : tensors_) {
    if (name == key) return std::optional<EvalTensor>(value);
  }
  return std::optional<EvalTensor>{};
}

bool MemoryParams::has_root(std::string_view root) {
  for (const auto& [name, value] : tensors_) {
    if (name == root || starts_with(name, std::string(root) + ".")) return true;
  }
  return root.empty();
}

bool CheckpointParams::has_root(std::string_view root) { return source_.index().has_root(root); }

Result<std::optional<EvalTensor>> CheckpointParams::find(std::string_view key) {
  auto resolved = source_.index().resolve(key);
  if (!resolved) return std::optional<EvalTensor>{};
  AXON_TRY(EvalTensor tensor, load(*resolved));
  return std::optional<EvalTensor>(std::move(tensor));
}

Result<EvalTensor> CheckpointParams::load_exact(const model::Resolved& resolved) {
  AXON_TRY(model::RawTensor raw, source_.tensor(resolved.name));
  const StorageInfo& info = storage_info(raw.info->storage);
  if (info.quantised) {
    return eval_error(Diag::RunParamDtype,
                      {resolved.name, info.name, "the evaluator does not decode"});
  }
  DType dtype = is_float(info.dtype) ? compute_ : info.dtype;
  EvalTensor out = EvalTensor::make(dtype, raw.info->shape);
  if (static_cast<size_t>(out.count()) * static_cast<size_t>(info.block_bytes) > raw.bytes) {
    return eval_error(Diag::RunParam, {resolved.name});
  }
  decode(raw.info->storage, raw.data, out);
  return out;
}

Result<EvalTensor> CheckpointParams::load(const model::Resolved& resolved) {
  if (resolved.kind == model::Resolved::Kind::Exact) return load_exact(resolved);
  std::vector<EvalTensor> parts;
  for (const model::Resolved& part : resolved.parts) {
    AXON_TRY(EvalTensor tensor, load(part));
    parts.push_back(std::move(tensor));
  }
  EvalTensor out = EvalTensor::make(parts[0].dtype, resolved.shape);
  int64_t n = 0;
  switch (resolved.kind) {
    case model::Resolved::Kind::Slice:
      for (int64_t i = 0; i < out.count(); ++i)
        out.copy(i, parts[0], resolved.index * out.count() + i);
      break;
    case model::Resolved::Kind::Stack:
      for (const EvalTensor& part : parts) {
        for (int64_t i = 0; i < part.count(); ++i) out.copy(n++, part, i);
      }
      break;
    case model::Resolved::Kind::ConcatRows: {
      // Per leading index: the rows of each part in turn.
      int64_t outer = 1;
      for (size_t d = 0; d + 2 < resolved.shape.size(); ++d) outer *= resolved.shape[d];
      for (int64_t o = 0; o < outer; ++o) {
        for (const EvalTensor& part : parts) {
          int64_t size = part.count() / outer;
          for (int64_t i = 0; i < size; ++i) out.copy(n++, part, o * size + i);
        }
      }
      break;
    }
    case model::Resolved::Kind::Exact:
      break;
  }
  return out;
}

}  // namespace axon::graph
