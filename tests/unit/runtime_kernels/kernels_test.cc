// Every kernel of the table against PyTorch, over layouts, alignments and numbers of parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixture.h"
#include "runtime/core/bound.h"
#include "runtime/core/number.h"
#include "runtime/core/quant_rows.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/quant/blocks.h"
#include "runtime/kernels/ref/loops.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::runtime::test {
namespace {

constexpr int kParts[] = {1, 2, 5};

Layout input_layout(Operation operation) { return operation_info(operation)->in; }

struct Prepared {
  KernelArgs args;
  std::vector<Placed> inputs, outputs;
  std::vector<std::vector<uint8_t>> packed;
};

bool is_weight(Operation operation, size_t slot) {
  switch (operation) {
    case Operation::Linear:
    case Operation::Embedding:
      return slot == 1;
    case Operation::ExpertLinear:
      return slot == 2;
    default:
      return false;
  }
}

// Views with gaps where the operation's layout allows them; weights off their alignment.
Prepared prepare(const Case& c, Operation operation, bool odd) {
  Prepared p;
  p.args.operation = operation;
  for (size_t s = 0; s < c.inputs.size(); ++s) {
    Placing placing = Placing::Dense;
    if (odd && is_weight(operation, s)) placing = Placing::Unaligned;
    if (odd && !is_weight(operation, s) && input_layout(operation) == Layout::Any)
      placing = Placing::Gaps;
    p.inputs.push_back(place(c.inputs[s], placing));
    p.args.in[s] = p.inputs.back().view;
  }
  for (size_t s = 0; s < c.outputs.size(); ++s) {
    Tensor blank = c.outputs[s];
    for (char& b : blank.bytes) b = 0x55;
    p.outputs.push_back(place(blank, Placing::Dense));
    p.args.out[s] = p.outputs.back().view;
  }
  p.args.input_count = static_cast<int8_t>(c.inputs.size());
  p.args.output_count = static_cast<int8_t>(c.outputs.size());
  for (const Param& param : c.params) {
    ParamSlot& slot = p.args.params[find_param(operation, param.name)];
    slot.present = true;
    if (const auto* real = std::get_if<double>(&param.value)) {
      slot.is_float = true;
      slot.f = *real;
      slot.i = static_cast<int64_t>(*real);
    } else {
      slot.i = std::get<int64_t>(param.value);
      slot.f = static_cast<double>(slot.i);
    }
  }
  if (operation == Operation::Attention) complete_attention(p.args);
  return p;
}

Operation operation_of(const std::string& name) {
  for (const Kernel& kernel : all_kernels()) {
    if (spelling(kernel.operation) == name) return kernel.operation;
  }
  ADD_FAILURE() << "no operation " << name;
  return {};
}

// Bounds of the partial sums that other orders of addition may give.
double allowed(const Case& c, const Kernel& kernel, Storage storage, double expected) {
  double relative = c.tolerance;
  if (storage == Storage::F16) relative = std::max(relative, 1e-3);
  if (storage == Storage::BF16) relative = std::max(relative, 8e-3);
  if (kernel.isa != "ref") relative = std::max(relative, 1e-4);
  return relative * (1.0 + std::fabs(expected));
}

void run(const Kernel& kernel, KernelArgs& args, int parts) {
  std::vector<uint8_t> scratch;
  if (kernel.workspace != nullptr) {
    args.workspace_part = (kernel.workspace(args, parts) + 63) / 64 * 64;
    scratch.assign(static_cast<size_t>(args.workspace_part * parts) + 64, 0xCC);
    args.workspace = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  }
  for (int part = parts - 1; part >= 0; --part) kernel.run(args, part, parts);
}

void compare(const Case& c, const Kernel& kernel, const View& got, const Tensor& expected) {
  const auto have = elements(got);
  const Placed wanted = place(expected, Placing::Dense);
  const auto want = elements(wanted.view);
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < have.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(have[i])) continue;
    if (have[i] == want[i]) continue;
    ASSERT_NEAR(have[i], want[i], allowed(c, kernel, expected.storage, want[i])) << "element " << i;
  }
}

void check_file(const std::string& file) {
  KernelChoice choice;
  choice.isa = machine_isa();
  for (const Case& c : read_cases(file)) {
    const Operation operation = operation_of(c.operation);
    for (const bool odd : {false, true}) {
      for (const Kernel* kernel : kernels_of(operation, choice)) {
        if (kernel->pack_format != 0) continue;  // packed forms are tested beside their kernels
        for (const int parts : kParts) {
          Prepared p = prepare(c, operation, odd);
          if (!kernel->supports(p.args)) continue;
          SCOPED_TRACE(std::string(kernel->name) + " " + c.name + (odd ? " odd" : "") + " parts " +
                       std::to_string(parts));
          run(*kernel, p.args, parts);
          for (size_t o = 0; o < c.outputs.size(); ++o) {
            compare(c, *kernel, p.outputs[o].view, c.outputs[o]);
          }
        }
      }
    }
  }
}

TEST(Kernels, Products) { check_file("products.txt"); }
TEST(Kernels, NormsRotaryAttention) { check_file("attention.txt"); }
TEST(Kernels, General) { check_file("general.txt"); }
TEST(Kernels, StrangeNumbers) { check_file("strange.txt"); }

TEST(Kernels, EveryOperationHasAReference) {
  KernelChoice ref = *choose_kernels("ref");
  for (const Kernel& kernel : all_kernels()) {
    const auto found = kernels_of(kernel.operation, ref);
    ASSERT_EQ(found.size(), 1u) << kernel.name;
    EXPECT_EQ(found[0]->isa, "ref");
  }
#define AXON_OPERATION(ident, name, number, version, in, out, operands, params) \
  EXPECT_FALSE(kernels_of(Operation::ident, ref).empty()) << name;
#include "runtime/core/operations.def"
}

TEST(Kernels, IsaOption) {
  EXPECT_TRUE(choose_kernels("").ok());
  const auto bad = choose_kernels("sse9");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, "USE-ISA");
}

TEST(Blocks, EqualGguf) {
  const auto text =
      read_file(std::string(AXON_SOURCE_DIR) + "/tests/unit/runtime_kernels/blocks.txt");
  ASSERT_TRUE(text.ok());
  size_t formats = 0;
  for (std::string_view line : split(*text, '\n')) {
    if (line.empty()) continue;
    const auto words = split(line, ' ');
    const Storage storage = *parse_storage(words[0]);
    const std::string data = from_hex(words[1]), want = from_hex(words[2]);
    const StorageInfo& info = storage_info(storage);
    const auto count = static_cast<int64_t>(data.size()) / info.block_bytes;
    std::vector<float> out(static_cast<size_t>(count * info.block));
    dequantise_blocks(storage, reinterpret_cast<const uint8_t*>(data.data()), count, out.data());
    ASSERT_EQ(want.size(), out.size() * sizeof(float));
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], load_as<float>(want.data() + i * sizeof(float))) << words[0] << " " << i;
    }
    ++formats;
  }
  EXPECT_EQ(formats, 12u);
}

TEST(Weights, JoinedPartsReadAsOne) {
  std::vector<float> data(48);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  auto view = [&](size_t from, std::vector<int64_t> shape) {
    View v;
    v.data = reinterpret_cast<const uint8_t*>(data.data() + from);
    v.rank = static_cast<int8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), v.shape);
    set_contiguous(v);
    return v;
  };
  const View parts[] = {view(0, {2, 4}), view(8, {3, 4})};
  View rows = view(0, {5, 4});
  rows.data = nullptr;
  rows.parts = parts;
  rows.part_count = 2;
  rows.join = View::PartJoin::Concat;
  float out[8];
  read_weight_row(rows, 3, 1, 2, out);  // row 1 of the second part
  EXPECT_EQ(out[0], 13.0f);
  EXPECT_EQ(out[1], 14.0f);
  const View sides[] = {view(0, {2, 3}), view(6, {2, 5})};
  View columns = view(0, {2, 8});
  columns.data = nullptr;
  columns.parts = sides;
  columns.part_count = 2;
  columns.join = View::PartJoin::Concat;
  columns.join_axis = 1;
  read_weight_row(columns, 1, 0, 8, out);
  const float wide[] = {3, 4, 5, 11, 12, 13, 14, 15};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], wide[i]);
  const View items[] = {view(0, {2, 3}), view(12, {2, 3})};
  View bank = view(0, {2, 2, 3});
  bank.data = nullptr;
  bank.parts = items;
  bank.part_count = 2;
  bank.join = View::PartJoin::Stack;
  read_weight_row(bank, 3, 0, 3, out);
  EXPECT_EQ(out[0], 15.0f);
  EXPECT_EQ(out[2], 17.0f);
}

TEST(Kernels, QuantisedRowsMultiplyAsTheirDecoding) {
  constexpr int64_t k = 96, n = 3, o = 4;
  std::vector<float> x(n * k), w(o * k), y(n * o);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.37f);
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i) * 0.11f);
  alignas(64) static uint8_t blocks[n * quantised_row_bytes(k)];
  auto view = [](std::vector<float>& data, int64_t rows, int64_t columns) {
    View v;
    v.data = reinterpret_cast<const uint8_t*>(data.data());
    v.rank = 2;
    v.shape[0] = rows;
    v.shape[1] = columns;
    set_contiguous(v);
    return v;
  };
  KernelArgs quantise;
  quantise.operation = Operation::QuantizeRows;
  quantise.in[0] = view(x, n, k);
  quantise.out[0] = quantise.in[0];
  quantise.out[0].data = blocks;
  quantise.out[0].quantised_rows = true;
  const KernelChoice ref = *choose_kernels("ref");
  run(*kernels_of(Operation::QuantizeRows, ref)[0], quantise, 2);
  for (int64_t b = 0; b < k / kQuantBlock; ++b) {
    int sum = 0;
    for (int64_t i = 0; i < kQuantBlock; ++i)
      sum += static_cast<int8_t>(blocks[b * kQuantBlock + i]);
    EXPECT_EQ(sum,
              load_as<int32_t>(blocks + quantised_codes_bytes(k) + 4 * (k / kQuantBlock) + 4 * b));
  }
  KernelArgs linear;
  linear.operation = Operation::Linear;
  linear.in[0] = quantise.out[0];
  linear.in[1] = view(w, o, k);
  linear.out[0] = view(y, n, o);
  run(*kernels_of(Operation::Linear, ref)[0], linear, 2);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < o; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += x[r * k + i] * w[c * k + i];
      EXPECT_NEAR(y[r * o + c], sum, 0.05);
    }
  }
}

TEST(Kernels, StoreWriteConverts) {
  std::vector<uint16_t> store(2 * 5 * 3, 0);
  std::vector<float> src = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  KernelArgs args;
  args.operation = Operation::StoreWrite;
  args.in[0].data = reinterpret_cast<const uint8_t*>(store.data());
  args.in[0].storage = Storage::F16;
  args.in[1].data = reinterpret_cast<const uint8_t*>(src.data());
  for (int s = 0; s < 2; ++s) {
    View& v = args.in[s];
    v.rank = 3;
    v.shape[0] = 2;
    v.shape[1] = s == 0 ? 5 : 2;
    v.shape[2] = 3;
    set_contiguous(v);
  }
  args.params[param(Operation::StoreWrite, "axis")] = {true, false, 1, 1};
  args.params[param(Operation::StoreWrite, "start")] = {true, false, 3, 3};
  run(*kernels_of(Operation::StoreWrite, *choose_kernels("ref"))[0], args, 2);
  EXPECT_EQ(f16_to_float(store[0]), 0.0f);
  EXPECT_EQ(f16_to_float(store[9]), 1.0f);
  EXPECT_EQ(f16_to_float(store[14]), 6.0f);
  EXPECT_EQ(f16_to_float(store[15 + 9]), 7.0f);
}

TEST(Numbers, HalfRoundTrips) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float value = f16_to_float(static_cast<uint16_t>(h));
    if (!std::isnan(value)) {
      EXPECT_EQ(float_to_f16(value), h);
    }
    const float wide = bf16_to_float(static_cast<uint16_t>(h));
    if (!std::isnan(wide)) {
      EXPECT_EQ(float_to_bf16(wide), h);
    }
  }
  EXPECT_EQ(float_to_f16(65519.0f), 0x7bffu);
  EXPECT_EQ(float_to_f16(65520.0f), 0x7c00u);
  EXPECT_EQ(float_to_f16(1.0f + 0x1p-11f), 0x3c00u);  // a tie goes to even
  EXPECT_EQ(float_to_f16(1.0f + 0x1p-10f + 0x1p-11f), 0x3c02u);
  EXPECT_EQ(float_to_f16(0x1p-25f), 0u);
  EXPECT_EQ(float_to_f16(0x1.8p-25f), 1u);
}

}  // namespace
}  // namespace axon::runtime::test
