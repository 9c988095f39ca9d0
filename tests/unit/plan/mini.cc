// Binding and running plans in tests.
#include "mini.h"

namespace axon::plan {
namespace {

runtime::View dense_view(const void* data, DType dtype, const std::vector<int64_t>& shape) {
  runtime::View v;
  v.data = static_cast<const uint8_t*>(data);
  v.storage = runtime::plain_storage(dtype);
  v.rank = static_cast<int8_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) v.shape[i] = shape[i];
  runtime::set_contiguous(v);
  return v;
}

}  // namespace

runtime::View Model::weight_view(const runtime::Weight& weight) {
  bool turned = weight.source.kind == runtime::WeightNode::Kind::Transpose;
  const runtime::WeightNode& param = turned ? weight.source.parts[0] : weight.source;
  std::vector<int64_t> shape = weight.shape;
  if (turned) std::swap(shape[0], shape[1]);
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<float>& data = tensors_[param.name];
  if (data.empty()) {
    uint32_t seed = 17;
    for (char c : param.name) seed = seed * 31u + static_cast<uint8_t>(c);
    for (int64_t i = 0; i < n; ++i) {
      seed = seed * 1664525u + 1013904223u;
      data.push_back(static_cast<float>(seed >> 8) / 8388608.0f - 1.0f);
    }
  }
  runtime::View v = dense_view(data.data(), DType::F32, shape);
  if (turned) {
    std::swap(v.shape[0], v.shape[1]);
    std::swap(v.stride[0], v.stride[1]);
  }
  return v;
}

Model::Model(const runtime::Program& program, int64_t batch, int64_t capacity)
    : program_(program), batch_(batch), capacity_(capacity) {
  bound_.program = &program;
  for (const runtime::Weight& w : program.weights) bound_.weights.push_back(weight_view(w));
  for (const runtime::Constant& c : program.constants)
    bound_.constants.push_back(dense_view(c.bytes.data(), c.dtype, c.shape));
  for (const runtime::Phase& phase : program.phases) {
    runtime::BoundPhase made;
    made.phase = &phase;
    for (const runtime::Instr& instr : phase.code) {
      made.code.push_back({runtime::kernels_of(instr.operation, runtime::KernelChoice{1, "ref"})});
    }
    bound_.phases.push_back(std::move(made));
  }
  for (size_t i = 0; i < program.states.size(); ++i)
    stores_.emplace_back(static_cast<size_t>(batch * capacity * 4), 7.0f);
  for (const runtime::StateScalar& s : program.scalars) scalars_.push_back(s.initial);
  mask_.assign(static_cast<size_t>(batch * capacity), 0);
}

std::vector<float> Model::call(std::string_view name, const std::vector<int64_t>& ids,
                               const std::vector<uint8_t>& mask) {
  size_t index = 0;
  while (program_.phases[index].name != name || program_.phases[index].masked == mask.empty())
    ++index;
  const runtime::Phase& phase = program_.phases[index];
  int64_t rows = static_cast<int64_t>(ids.size()), length = rows / batch_;
  bool score = name == "score";
  int64_t past = scalars_.empty() || name != "extend" ? 0 : scalars_[0];
  int64_t columns = score ? length : capacity_;
  for (int64_t b = 0; b < batch_ && !mask.empty(); ++b) {
    for (int64_t s = 0; s < length; ++s)
      mask_[static_cast<size_t>(b * columns + past + s)] =
          mask[static_cast<size_t>(b * length + s)];
  }
  runtime::Bindings symbols;
  for (size_t i = 0; i < program_.symbols.size(); ++i) {
    runtime::SymId id = program_.symbols.id_at(i);
    const std::string& symbol = program_.symbols[id].name;
    int64_t value = symbol == "B"   ? batch_
                    : symbol == "S" ? length
                    : symbol == "C" ? capacity_
                    : symbol == "R" ? rows
                                    : past;
    symbols.set(id, value);
  }
  std::vector<int64_t> all_rows;
  for (int64_t i = 0; i < rows; ++i) all_rows.push_back(i);
  std::vector<runtime::View> inputs, states;
  for (const runtime::Input& input : phase.inputs) {
    if (input.is_scalar)
      inputs.push_back({});
    else if (input.name == "logit_rows")
      inputs.push_back(dense_view(all_rows.data(), DType::I64, {rows}));
    else if (input.dtype == DType::Bool)
      inputs.push_back(dense_view(mask_.data(), DType::Bool, {batch_, columns}));
    else
      inputs.push_back(dense_view(ids.data(), DType::I64, {batch_, length}));
  }
  for (std::vector<float>& store : stores_)
    states.push_back(dense_view(store.data(), DType::F32, {batch_, 1, capacity_, 4}));
  runtime::Executor executor(bound_, index, pool_, arena_);
  auto done = executor.run(symbols, inputs.data(), states.data());
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
  if (!done) return {};
  for (size_t i = 0; i < phase.updates.size(); ++i)
    scalars_[static_cast<size_t>(phase.updates[i].scalar)] = executor.update(i);
  runtime::View logits = executor.output(0);
  const float* data = reinterpret_cast<const float*>(logits.data);
  return std::vector<float>(data, data + logits.count());
}

}  // namespace axon::plan
