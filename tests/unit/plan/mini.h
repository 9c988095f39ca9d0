// The small decoder of tests/opt/mini_llama.graph with its parameters, and a bare-bones binding of
// plans.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "graph/text.h"
#include "plan/plan.h"
#include "runtime/core/executor.h"
#include "runtime/kernels/kernel.h"
#include "support/file.h"

namespace axon::plan {

struct Mini {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
  DiagSink sink;
  model::ParamIndex params;
  graph::Graph graph;

  // Layers `biased` have a bias on their keys.
  explicit Mini(int layers = 2, std::vector<int> biased = {1}) : params(tensors(layers, biased)) {
    auto text = read_file(std::string(AXON_SOURCE_DIR) + "/tests/opt/mini_llama.graph");
    EXPECT_TRUE(text.ok());
    std::string loop = "core.repeat 0, 2,";
    text->replace(text->find(loop), loop.size(), "core.repeat 0, " + std::to_string(layers) + ",");
    auto read = graph::read_graph(*text, types);
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (read) graph = std::move(*read);
  }
  static std::vector<model::TensorInfo> tensors(int layers, const std::vector<int>& biased) {
    std::vector<model::TensorInfo> all = {{"embed.weight", Storage::F32, {11, 8}},
                                          {"norm.weight", Storage::F32, {8}}};
    for (int i = 0; i < layers; ++i) {
      std::string p = "layers." + std::to_string(i) + ".";
      for (auto [name, shape] :
           std::vector<std::pair<const char*, std::vector<int64_t>>>{{"ln1", {8}},
                                                                     {"ln2", {8}},
                                                                     {"q", {8, 8}},
                                                                     {"k", {4, 8}},
                                                                     {"v", {8, 4}},
                                                                     {"o", {8, 8}},
                                                                     {"gate", {12, 8}},
                                                                     {"up", {12, 8}},
                                                                     {"down", {8, 12}}}) {
        all.push_back({p + name + ".weight", Storage::F32, shape});
      }
    }
    for (int i : biased)
      all.push_back({"layers." + std::to_string(i) + ".k.bias", Storage::F32, {4}});
    return all;
  }
  std::optional<runtime::Program> run(const PlanOptions& options = {}) {
    auto program = plan(graph, types, opt::Answers{&params}, options, sink);
    for (const Diagnostic& d : sink.all()) {  // biases that are asked for may be missing
      if (d.id != Diag::WBiasMissing) ADD_FAILURE() << message_of(d);
    }
    return program;
  }
};

// Random weights, reference kernels, stores of one capacity.
class Model {
 public:
  Model(const runtime::Program& program, int64_t batch, int64_t capacity);
  // Logits of all rows of a call, [B*S, V]; `mask` of B*S flags for the tokens of this call, or
  // empty.
  std::vector<float> call(std::string_view phase, const std::vector<int64_t>& ids,
                          const std::vector<uint8_t>& mask = {});

 private:
  runtime::View weight_view(const runtime::Weight& weight);
  const runtime::Program& program_;
  int64_t batch_, capacity_;
  runtime::BoundProgram bound_;
  std::map<std::string, std::vector<float>> tensors_;
  std::vector<std::vector<float>> stores_;
  std::vector<std::string> constants_;
  std::vector<int64_t> scalars_;
  std::vector<uint8_t> mask_;
  ThreadPool pool_{1};
  runtime::Arena arena_;
};

}  // namespace axon::plan
