// Products over packed panels, attention over stores and other fast kernels against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "runtime/core/bound.h"
#include "runtime/core/number.h"
#include "runtime/core/quant_rows.h"
#include "runtime/kernels/kernel.h"

namespace axon::runtime::test {
namespace {

struct Owned {
  std::vector<uint8_t> bytes;
  View view;
};

Owned make(Storage storage, std::vector<int64_t> shape, std::mt19937& random, size_t shift = 0) {
  Owned out;
  View& v = out.view;
  v.storage = storage;
  v.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), v.shape);
  set_contiguous(v);
  const StorageInfo& info = storage_info(storage);
  const auto size = static_cast<size_t>(v.count() / info.block * info.block_bytes);
  out.bytes.resize(size + 64 + shift);
  uint8_t* data = out.bytes.data() + shift;
  std::normal_distribution<float> normal(0, 1);
  if (info.quantised) {  // any bytes are codes; scales are small halves
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<uint8_t>(random());
    const size_t scales = storage == Storage::Q6_K ? 208 : 0;
    const size_t halves = storage == Storage::Q4_1 || storage == Storage::Q5_1 ||
                                  storage == Storage::Q4_K || storage == Storage::Q5_K
                              ? 2
                              : 1;
    for (size_t b = 0; b < size; b += static_cast<size_t>(info.block_bytes)) {
      for (size_t h = 0; h < halves; ++h) {
        store_as<uint16_t>(data + b + scales + 2 * h,
                           static_cast<uint16_t>(0x2000 + random() % 0x400));
      }
    }
  } else {
    for (int64_t i = 0; i < v.count(); ++i) {
      store_float(storage, data + i * info.block_bytes, normal(random));
    }
  }
  v.data = data;
  return out;
}

std::vector<float> floats(const View& v) {
  std::vector<float> out(static_cast<size_t>(v.count()));
  std::memcpy(out.data(), v.data, out.size() * 4);
  return out;
}

void run(const Kernel& kernel, KernelArgs args, int parts) {
  std::vector<uint8_t> scratch;
  if (kernel.workspace != nullptr) {
    args.workspace_part = (kernel.workspace(args, parts) + 63) / 64 * 64;
    scratch.assign(static_cast<size_t>(args.workspace_part * parts) + 64, 0xCC);
    args.workspace = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  }
  for (int part = 0; part < parts; ++part) kernel.run(args, part, parts);
}

void expect_close(const View& got, const View& want, double tolerance, double scale) {
  const std::vector<float> a = floats(got), b = floats(want);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], tolerance * (scale + std::fabs(b[i]))) << "element " << i;
  }
}

const Kernel& reference(Operation operation) {
  return *kernels_of(operation, *choose_kernels("ref")).back();
}

void set(KernelArgs& args, std::string_view name, double value) {
  ParamSlot& slot = args.params[find_param(args.operation, name)];
  slot.present = slot.is_float = true;
  slot.f = value;
  slot.i = static_cast<int64_t>(value);
}

struct LinearCase {
  int64_t rows, k, outputs;
  bool ends;
};

void check_linear(Storage storage, const LinearCase& c, bool int8) {
  std::mt19937 random(static_cast<unsigned>(c.rows * 131 + c.k * 7 + c.outputs));
  Owned x = make(Storage::F32, {c.rows, c.k}, random),
        w = make(storage, {c.outputs, c.k}, random, 3);
  Owned bias = make(Storage::F16, {c.outputs}, random),
        gate = make(Storage::F32, {c.rows, c.outputs}, random);
  Owned residual = make(Storage::F32, {c.rows, c.outputs}, random);
  Owned want = make(Storage::F32, {c.rows, c.outputs}, random),
        got = make(Storage::F32, {c.rows, c.outputs}, random);
  Owned quantised;
  KernelArgs args;
  if (int8) {
    quantised.bytes.resize(static_cast<size_t>(c.rows * quantised_row_bytes(c.k)) + 64);
    quantised.view = x.view;
    quantised.view.data = quantised.bytes.data();
    quantised.view.quantised_rows = true;
    args.operation = Operation::QuantizeRows;
    args.in[0] = x.view;
    args.out[0] = quantised.view;
    run(reference(Operation::QuantizeRows), args, 1);
    args = {};
  }
  args.operation = Operation::Linear;
  args.input_count = 5;
  args.output_count = 1;
  args.in[0] = int8 ? quantised.view : x.view;
  args.in[1] = w.view;
  if (c.ends) {
    args.in[2] = bias.view;
    args.in[3] = gate.view;
    args.in[4] = residual.view;
    set(args, "activation", static_cast<double>(Activation::Silu));
    set(args, "scale", 0.5);
  }
  args.out[0] = want.view;
  run(reference(Operation::Linear), args, 1);
  KernelChoice choice;
  choice.isa = machine_isa();
  const PackFormat* format = pack_format_for(w.view, {}, choice);
  if (format == nullptr) return;  // nothing packed on this machine
  std::vector<uint8_t> packed(static_cast<size_t>(format->bytes(w.view)));
  for (int part = 0; part < 3; ++part) format->pack(w.view, packed.data(), part, 3);
  args.in[1].packed = packed.data();
  args.in[1].pack_format = format->id;
  args.in[1].data = nullptr;
  args.out[0] = got.view;
  // Sums in another order differ in proportion to their largest terms, which the largest result
  // tells.
  double size = std::sqrt(static_cast<double>(c.k));
  for (float y : floats(want.view)) size = std::max(size, static_cast<double>(std::fabs(y)));
  for (const Kernel* kernel : kernels_of(Operation::Linear, choice)) {
    if (kernel->pack_format != format->id || !kernel->supports(args)) continue;
    for (int parts : {1, 2, 3}) {
      SCOPED_TRACE(std::string(kernel->name) + " " + std::string(storage_info(storage).name) + " " +
                   std::to_string(c.rows) + "x" + std::to_string(c.k) + "x" +
                   std::to_string(c.outputs) + " parts " + std::to_string(parts));
      std::memset(got.view.out(), 0xFF, static_cast<size_t>(got.view.count()) * 4);
      run(*kernel, args, parts);
      expect_close(got.view, want.view, 3e-6, size);
    }
  }
}

TEST(Packed, Linear) {
  const LinearCase cases[] = {
      {1, 256, 16, false}, {3, 256, 37, true}, {8, 512, 64, false}, {13, 256, 100, true}};
  for (Storage storage :
       {Storage::F32, Storage::F16, Storage::BF16, Storage::Q4_0, Storage::Q4_1, Storage::Q5_0,
        Storage::Q5_1, Storage::Q8_0, Storage::Q4_K, Storage::Q5_K, Storage::Q6_K}) {
    for (const LinearCase& c : cases) {
      check_linear(storage, c, false);
      if (storage_info(storage).quantised) check_linear(storage, c, true);
    }
  }
  check_linear(Storage::F32, {5, 17, 19, true}, false);
  check_linear(Storage::BF16, {1, 33, 1, false}, false);
}

// Rows of a table come out of its packed form as the reference reads them, ids outside included.
void check_embedding(Storage storage) {
  std::mt19937 random(11);
  Owned table = make(storage, {37, 256}, random, 3);
  Owned ids = make(Storage::I64, {2, 3}, random);
  const int64_t wanted[] = {0, 36, 5, -1, 37, 16};
  std::memcpy(ids.view.out(), wanted, sizeof wanted);
  Owned want = make(Storage::F32, {2, 3, 256}, random),
        got = make(Storage::F32, {2, 3, 256}, random);
  KernelArgs args;
  args.operation = Operation::Embedding;
  args.input_count = 2;
  args.output_count = 1;
  args.in[0] = ids.view;
  args.in[1] = table.view;
  set(args, "scale", 0.5);
  args.out[0] = want.view;
  run(reference(Operation::Embedding), args, 1);
  KernelChoice choice;
  choice.isa = machine_isa();
  const PackFormat* format = pack_format_for(table.view, {}, choice);
  if (format == nullptr) return;  // nothing packed on this machine
  std::vector<uint8_t> packed(static_cast<size_t>(format->bytes(table.view)));
  format->pack(table.view, packed.data(), 0, 1);
  args.in[1].packed = packed.data();
  args.in[1].pack_format = format->id;
  args.in[1].data = nullptr;
  args.out[0] = got.view;
  bool found = false;
  for (const Kernel* kernel : kernels_of(Operation::Embedding, choice)) {
    if (kernel->pack_format != format->id) continue;
    found = true;
    SCOPED_TRACE(std::string(kernel->name) + " " + std::string(storage_info(storage).name));
    for (int parts : {1, 2}) {
      run(*kernel, args, parts);
      expect_close(got.view, want.view, 1e-7, 0);
    }
  }
  EXPECT_TRUE(found);
}

TEST(Packed, Embedding) {
  for (Storage storage :
       {Storage::F32, Storage::F16, Storage::BF16, Storage::Q4_0, Storage::Q4_1, Storage::Q5_0,
        Storage::Q5_1, Storage::Q8_0, Storage::Q4_K, Storage::Q5_K, Storage::Q6_K})
    check_embedding(storage);
}

struct AttentionCase {
  int64_t b, heads, kv_heads, s, c, d, length;
  bool causal, half, keep;
  int64_t window;
  double softcap;
};

void check_attention(const AttentionCase& t) {
  std::mt19937 random(static_cast<unsigned>(t.s * 31 + t.c));
  const Storage store = t.half ? Storage::F16 : Storage::F32;
  Owned q = make(Storage::F32, {t.b, t.heads, t.s, t.d}, random),
        k = make(store, {t.b, t.kv_heads, t.c, t.d}, random);
  Owned v = make(store, {t.b, t.kv_heads, t.c, t.d}, random),
        keep = make(Storage::Bool, {t.b, t.c}, random);
  for (int64_t i = 0; i < t.b * t.c; ++i) keep.view.out()[i] = random() % 4 != 0;
  Owned want = make(Storage::F32, {t.b, t.heads, t.s, t.d}, random),
        got = make(Storage::F32, {t.b, t.heads, t.s, t.d}, random);
  KernelArgs args;
  args.operation = Operation::Attention;
  args.input_count = 7;
  args.output_count = 1;
  args.in[0] = q.view;
  args.in[1] = k.view;
  args.in[2] = v.view;
  if (t.keep) args.in[3] = keep.view;
  set(args, "scale", 0.3);
  set(args, "causal", t.causal);
  set(args, "offset", static_cast<double>(t.length - t.s));
  set(args, "length", static_cast<double>(t.length));
  if (t.window >= 0) set(args, "window", static_cast<double>(t.window));
  if (t.softcap > 0) set(args, "softcap", t.softcap);
  args.out[0] = want.view;
  complete_attention(args);
  run(reference(Operation::Attention), args, 1);
  args.out[0] = got.view;
  KernelChoice choice;
  choice.isa = machine_isa();
  for (const Kernel* kernel : kernels_of(Operation::Attention, choice)) {
    if (!kernel->supports(args) || kernel->isa == "ref") continue;
    for (int parts : {1, 2, 3}) {
      SCOPED_TRACE(std::string(kernel->name) + " s " + std::to_string(t.s) + " c " +
                   std::to_string(t.c) + " parts " + std::to_string(parts));
      std::memset(got.view.out(), 0xFF, static_cast<size_t>(got.view.count()) * 4);
      run(*kernel, args, parts);
      expect_close(got.view, want.view, 2e-5, 0.5);
    }
  }
}

TEST(Packed, Attention) {
  check_attention({1, 9, 3, 1, 100, 64, 77, true, true, false, -1, 0});
  check_attention({1, 9, 3, 1, 300, 64, 300, true, false, false, -1, 0});
  check_attention({2, 4, 4, 70, 200, 24, 130, true, false, true, -1, 0});
  check_attention({1, 6, 2, 150, 150, 33, 150, true, true, false, 40, 0});
  check_attention({3, 4, 2, 65, 65, 16, 65, false, false, true, -1, 0});
  check_attention({1, 2, 1, 5, 64, 8, 9, true, false, false, -1, 20.0});
  check_attention({1, 32, 1, 3, 64, 8, 64, true, false, true, 5, 0});
}

TEST(Packed, UnaryActivations) {
  std::mt19937 random(5);
  Owned x = make(Storage::F32, {3, 37}, random), want = make(Storage::F32, {3, 37}, random),
        got = make(Storage::F32, {3, 37}, random);
  for (int64_t i = 0; i < 111; ++i)
    store_as<float>(x.view.out() + 4 * i, static_cast<float>(i - 55) * 0.37f);
  for (UnaryCode code : {UnaryCode::Relu, UnaryCode::Relu2, UnaryCode::Silu, UnaryCode::Gelu,
                         UnaryCode::GeluTanh, UnaryCode::Sigmoid, UnaryCode::Tanh}) {
    KernelArgs args;
    args.operation = Operation::Unary;
    args.input_count = args.output_count = 1;
    args.in[0] = x.view;
    set(args, "code", static_cast<double>(code));
    args.out[0] = want.view;
    run(reference(Operation::Unary), args, 1);
    args.out[0] = got.view;
    KernelChoice choice;
    choice.isa = machine_isa();
    for (const Kernel* kernel : kernels_of(Operation::Unary, choice)) {
      if (!kernel->supports(args) || kernel->isa == "ref") continue;
      SCOPED_TRACE(std::string(kernel->name) + " code " + std::to_string(static_cast<int>(code)));
      run(*kernel, args, 2);
      expect_close(got.view, want.view, 4e-7, 1);
    }
  }
}

}  // namespace
}  // namespace axon::runtime::test
