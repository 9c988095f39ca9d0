// A one-layer causal model built by hand: its Program, its weights in memory, and its forward pass
// written out in plain double arithmetic. Shared by the tests of binding and of generation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "model/param_source.h"
#include "runtime/core/number.h"
#include "runtime/core/program.h"

namespace axon::runtime::test {

class MemorySource : public model::ParamSource {
 public:
  void add(const std::string& name, Storage storage, std::vector<int64_t> shape, std::string bytes,
           size_t shift = 0) {
    infos_.push_back({name, storage, std::move(shape)});
    bytes_[name] = std::string(shift, 'x') + bytes;
    shift_[name] = shift;
    index_ = model::ParamIndex(infos_);
  }
  void add_floats(const std::string& name, std::vector<int64_t> shape,
                  const std::vector<float>& values) {
    add(name, Storage::F32, std::move(shape),
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  const model::ParamIndex& index() const override { return index_; }
  Result<model::RawTensor> tensor(std::string_view name) override {
    const model::TensorInfo* info = index_.find(name);
    if (info == nullptr)
      return Error{"RUN-PARAM", "checkpoint has no tensor `" + std::string(name) + "`"};
    const std::string& bytes = bytes_.at(std::string(name));
    const size_t shift = shift_.at(std::string(name));
    return model::RawTensor{info, reinterpret_cast<const uint8_t*>(bytes.data()) + shift,
                            bytes.size() - shift};
  }
  void release(std::string_view name) override { released.push_back(std::string(name)); }
  std::vector<std::string> released;

 private:
  std::vector<model::TensorInfo> infos_;
  std::map<std::string, std::string> bytes_;
  std::map<std::string, size_t> shift_;
  model::ParamIndex index_;
};

// Small helpers to write a phase value by value; every arena value gets memory of its own.
struct PhaseBuilder {
  Program& p;
  Phase phase;
  IntId top;

  explicit PhaseBuilder(Program& program) : p(program) { top = p.constant(0); }
  IntId mul(IntId a, IntId b) { return p.make(IntExpr::Kind::Mul, a, b); }
  IntId add(IntId a, IntId b) { return p.make(IntExpr::Kind::Add, a, b); }
  IntId n(int64_t v) { return p.constant(v); }

  ValId arena(std::vector<IntId> shape, DType dtype = DType::F32) {
    IntId bytes = n(static_cast<int64_t>(dtype_size(dtype)));
    for (IntId d : shape) bytes = mul(bytes, d);
    Value v{dtype, shape, PlaceArena{top}, "", false};
    top = mul(p.make(IntExpr::Kind::CeilDiv, add(top, bytes), n(64)), n(64));
    return phase.values.add(v);
  }
  ValId view(ValId of, std::vector<IntId> shape, std::vector<IntId> strides, IntId offset) {
    return phase.values.add(
        {phase.values[of].dtype, shape, PlaceView{of, offset, strides}, "", false});
  }
  ValId input(const std::string& name, std::vector<IntId> shape, DType dtype = DType::I64) {
    phase.inputs.push_back({name, dtype, shape, false, {}});
    const auto index = static_cast<int32_t>(phase.inputs.size() - 1);
    return phase.values.add({dtype, shape, PlaceInput{index}, name, false});
  }
  ValId weight(const std::string& name, std::vector<int64_t> shape) {
    WeightNode node;
    node.name = name;
    return weight(node, shape);
  }
  ValId weight(WeightNode node, std::vector<int64_t> shape) {
    Weight w;
    w.source = std::move(node);
    w.shape = shape;
    const WeightId id = p.weights.add(w);
    std::vector<IntId> dims;
    for (int64_t d : shape) dims.push_back(n(d));
    return phase.values.add({DType::F32, dims, PlaceWeight{id}, "", false});
  }
  ValId state(StateId id) {
    return phase.values.add({p.states[id].dtype, p.states[id].shape, PlaceState{id}, "", false});
  }
  Instr& code(Operation op, std::vector<ValId> inputs, std::vector<ValId> outputs,
              std::vector<Param> params = {}) {
    Instr instr;
    instr.operation = op;
    instr.inputs = std::move(inputs);
    instr.outputs = std::move(outputs);
    instr.params = std::move(params);
    phase.code.push_back(instr);
    return phase.code.back();
  }
  void finish(const std::string& name) {
    phase.name = name;
    phase.arena_bytes = top;
    p.phases.push_back(phase);
  }
};

constexpr int64_t kVocab = 13, kWidth = 32, kHeads = 2, kHead = 16;

struct TinyWeights {
  std::vector<float> embed, norm, q, k, v, o, head;
  explicit TinyWeights(unsigned seed = 5) {
    auto fill = [&](std::vector<float>& to, int64_t count, double scale, double shift = 0) {
      for (int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        to.push_back(
            static_cast<float>((static_cast<double>(seed >> 8) / (1 << 24) - 0.5) * scale + shift));
      }
    };
    fill(embed, kVocab * kWidth, 2);
    fill(norm, kWidth, 1, 1);
    fill(q, kWidth * kWidth, 0.8);
    fill(k, kHead * kWidth, 0.8);
    fill(v, kHead * kWidth, 0.8);
    fill(o, kWidth * kWidth, 0.8);
    fill(head, kVocab * kWidth, 2);
  }
  // The matrices but the embedding as Q8_0, and their values as that storage has them.
  void give_q8(MemorySource& source) {
    source.add_floats("embed", {kVocab, kWidth}, embed);
    source.add_floats("norm", {kWidth}, norm);
    for (auto& [name, matrix] : std::vector<std::pair<std::string, std::vector<float>*>>{
             {"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}, {"head", &head}}) {
      std::string blocks;
      for (size_t row = 0; row < matrix->size(); row += kWidth) {
        float largest = 0;
        for (int64_t i = 0; i < kWidth; ++i)
          largest = std::max(largest, std::fabs((*matrix)[row + i]));
        const uint16_t scale = float_to_f16(largest / 127);
        blocks.append(reinterpret_cast<const char*>(&scale), 2);
        for (int64_t i = 0; i < kWidth; ++i) {
          float& value = (*matrix)[row + i];
          const auto code = static_cast<int8_t>(std::nearbyint(value / f16_to_float(scale)));
          blocks += static_cast<char>(code);
          value = f16_to_float(scale) * static_cast<float>(code);
        }
      }
      source.add(name, Storage::Q8_0, {static_cast<int64_t>(matrix->size()) / kWidth, kWidth},
                 blocks);
    }
  }
  void give(MemorySource& source) const {
    source.add_floats("embed", {kVocab, kWidth}, embed);
    source.add_floats("norm", {kWidth}, norm);
    source.add_floats("q", {kWidth, kWidth}, q);
    source.add_floats("k", {kHead, kWidth}, k);
    source.add_floats("v", {kHead, kWidth}, v);
    source.add_floats("o", {kWidth, kWidth}, o);
    source.add_floats("head", {kVocab, kWidth}, head);
  }
};

// Logits of every position of one unpadded sequence.
inline std::vector<std::vector<double>> tiny_forward(const TinyWeights& w,
                                                     const std::vector<int64_t>& ids) {
  using Row = std::vector<double>;
  auto norm = [&](const Row& x) {
    double sum = 0;
    for (double v : x) sum += v * v;
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] / std::sqrt(sum / kWidth + 1e-5) * w.norm[i];
    return y;
  };
  auto linear = [](const std::vector<float>& m, const Row& x) {
    Row y(m.size() / x.size(), 0.0);
    for (size_t o = 0; o < y.size(); ++o) {
      for (size_t i = 0; i < x.size(); ++i) y[o] += m[o * x.size() + i] * x[i];
    }
    return y;
  };
  std::vector<Row> keys, values, logits;
  for (int64_t id : ids) {
    Row x(w.embed.begin() + id * kWidth, w.embed.begin() + (id + 1) * kWidth);
    const Row h = norm(x), q = linear(w.q, h);
    keys.push_back(linear(w.k, h));
    values.push_back(linear(w.v, h));
    Row mixed(kWidth, 0.0);
    for (int64_t head = 0; head < kHeads; ++head) {
      Row scores;
      double total = 0;
      for (const Row& key : keys) {
        double s = 0;
        for (int64_t d = 0; d < kHead; ++d) s += q[head * kHead + d] * key[d];
        scores.push_back(std::exp(s / 4.0));
        total += scores.back();
      }
      for (size_t j = 0; j < keys.size(); ++j) {
        for (int64_t d = 0; d < kHead; ++d)
          mixed[head * kHead + d] += scores[j] / total * values[j][d];
      }
    }
    const Row out = linear(w.o, mixed);
    for (int64_t i = 0; i < kWidth; ++i) x[i] += out[i];
    logits.push_back(linear(w.head, norm(x)));
  }
  return logits;
}

// Phases start, extend and step, each with and without the padding mask, or only `score` without
// states. `fused`: q, k and v are one product over a joined weight.
inline Program tiny_program(bool cached = true, bool fused = false,
                            Storage storage = Storage::F32) {
  Program p;
  p.model = "tiny";
  p.task = "causal_lm";
  auto sym = [&](const char* name, SymKind kind) { return p.symbols.add({name, kind, {}}); };
  const SymId b_sym = sym("B", SymKind::Shape), s_sym = sym("S", SymKind::Shape);
  const SymId c_sym = sym("C", SymKind::Shape), r_sym = sym("R", SymKind::Shape);
  const SymId past_sym = sym("past", SymKind::Data), cap_sym = sym("capacity", SymKind::Data);
  const IntId B = p.symbol(b_sym), S = p.symbol(s_sym), C = p.symbol(c_sym), R = p.symbol(r_sym);
  const IntId past = p.symbol(past_sym);
  p.symbols[past_sym].upper = C;
  p.symbols[cap_sym].upper = C;
  const IntId head = p.constant(kHead), one = p.constant(1);
  StateId keys, values;
  if (cached) {
    keys = p.states.add({"cache.0.0", State::Kind::Token, DType::F32, {B, one, C, head}, 0, 2, -1});
    values =
        p.states.add({"cache.0.1", State::Kind::Token, DType::F32, {B, one, C, head}, 0, 2, -1});
    p.scalars.push_back({"cache.1", past_sym, 0});
  }
  for (const bool masked : {false, true}) {
    for (const char* name : {"start", "extend", "step", "score"}) {
      if (cached == (std::string(name) == "score")) continue;
      PhaseBuilder f(p);
      f.phase.masked = masked;
      f.phase.selects_rows = cached;
      const IntId width = f.n(kWidth), vocab = f.n(kVocab), heads = f.n(kHeads);
      const ValId ids = f.input("input_ids", {B, S});
      ValId keep;
      if (masked && cached) {
        keep = f.input("attn_mask.0", {B, C});
        const SymId valid = p.symbols.add({"valid", SymKind::Data, C});
        f.phase.inputs.push_back({"attn_mask.1", DType::I64, {}, true, valid});
      } else if (masked) {
        keep = f.input("attn_mask", {B, S});
      }
      if (cached) f.phase.inputs.push_back({"capacity", DType::I64, {}, true, cap_sym});
      const ValId x = f.arena({B, S, width}), h = f.arena({B, S, width});
      f.code(Operation::Embedding, {ids, f.weight("embed", {kVocab, kWidth})}, {x});
      f.code(Operation::RmsNorm, {x, f.weight("norm", {kWidth})}, {h}, {{"eps", 1e-5}});
      ValId q, k, v;
      if (fused) {
        const IntId all = f.n(kWidth + 2 * kHead);
        WeightNode joined;
        joined.kind = WeightNode::Kind::Concat;
        for (const char* part : {"q", "k", "v"}) {
          WeightNode node;
          node.name = part;
          joined.parts.push_back(node);
        }
        const ValId qkv = f.arena({B, S, all});
        f.code(Operation::Linear, {h, f.weight(joined, {kWidth + 2 * kHead, kWidth})}, {qkv});
        const std::vector<IntId> strides = {f.mul(S, all), head, all, one};
        q = f.view(qkv, {B, heads, S, head}, strides, f.n(0));
        k = f.view(qkv, {B, one, S, head}, strides, width);
        v = f.view(qkv, {B, one, S, head}, strides, f.n(kWidth + kHead));
      } else {
        auto project = [&](const char* weight, IntId count) {
          const IntId out = f.mul(count, head);
          const ValId y = f.arena({B, S, out});
          const int64_t rows = p.ints[count].value * kHead;
          f.code(Operation::Linear, {h, f.weight(weight, {rows, kWidth})}, {y}).barrier =
              std::string(weight) == "q";
          return f.view(y, {B, count, S, head}, {f.mul(S, out), head, out, one}, f.n(0));
        };
        q = project("q", heads);
        k = project("k", one);
        v = project("v", one);
      }
      ValId k_all = k, v_all = v;
      std::vector<Param> params = {{"scale", 0.25}, {"causal", true}};
      if (cached) {
        k_all = f.state(keys);
        v_all = f.state(values);
        f.code(Operation::StoreWrite, {k_all, k}, {}, {{"axis", int64_t{2}}, {"start", past}});
        f.code(Operation::StoreWrite, {v_all, v}, {}, {{"axis", int64_t{2}}, {"start", past}});
        params.push_back({"offset", past});
        params.push_back({"length", f.add(past, S)});
      }
      const ValId mixed = f.arena({B, S, width});
      const ValId by_head =
          f.view(mixed, {B, heads, S, head}, {f.mul(S, width), head, width, one}, f.n(0));
      f.code(Operation::Attention, {q, k_all, v_all, keep, {}, {}, {}}, {by_head}, params);
      const ValId y = f.arena({B, S, width}), last = f.arena({B, S, width});
      f.code(Operation::Linear, {mixed, f.weight("o", {kWidth, kWidth}), {}, {}, x}, {y});
      f.code(Operation::RmsNorm, {y, f.weight("norm", {kWidth})}, {last}, {{"eps", 1e-5}});
      ValId source = last, logits = {};
      if (cached) {
        const ValId rows = f.input("logit_rows", {R});
        source = f.arena({R, width});
        f.code(Operation::SelectRows, {last, rows}, {source});
        logits = f.arena({R, vocab});
      } else {
        logits = f.arena({B, S, vocab});
      }
      f.code(Operation::Linear, {source, f.weight("head", {kVocab, kWidth})}, {logits});
      f.phase.outputs.push_back({"logits", logits});
      if (cached) {
        f.phase.updates.push_back({0, f.add(past, S)});
        f.phase.checks.push_back(
            {EntryCheck::Relation::Le, f.add(past, S), C, "`past + S` within `C`"});
      }
      f.finish(name);
    }
  }
  for (Weight& weight : p.weights) {
    if (weight.shape.size() == 2 && weight.source.name != "embed") weight.storage = storage;
  }
  return p;
}

}  // namespace axon::runtime::test
