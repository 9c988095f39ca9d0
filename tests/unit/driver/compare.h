// Programs compiled from text and run three ways: by the evaluator, as a straight line, on general
// instructions.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "driver/frontend.h"
#include "fuzz/ways.h"
#include "plan/plan.h"

namespace axon::driver::ways {

using fuzz::Leaves, fuzz::MemorySource, fuzz::Outcome;
using fuzz::next_random, fuzz::outcome_of, fuzz::random_tensor;

// A program, its inputs and its parameters.
struct Case {
  std::string name, text;
  bool general = false;  // no straight line says it
  std::string fails;     // the code of the error that running it gives, where that is asked for
  graph::NamedValues inputs;
  std::vector<std::pair<std::string, graph::EvalTensor>> params;
  model::ConfigValue config;  // no mapping: there is none
  const model::ConfigValue* given_config() const {
    return config.kind == model::ConfigValue::Kind::Map ? &config : nullptr;
  }
};
// Reads the lines `-- input NAME DTYPE SIZES`, `-- input NAME NUMBER`, `-- param NAME SIZES`,
// `-- config KEY NUMBER`, `-- fails CODE` and `-- general` at the top of a program; contents are
// random. No stage sees the configuration.
Case read_case(const std::string& name, const std::string& text);

Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Case& c);
Outcome native(const runtime::Program& program, const Case& c, int threads = 1);
// Empty when both agree. A straight line computes small floats in f32: with `wide` they may be
// that.
std::string difference(const Outcome& a, const Outcome& b, bool wide = false);
// Runs a case all ways that it has and reports what differs.
void compare(const Case& c);
void compare(const graph::Graph& graph, TypeTable& types, const Case& c);

}  // namespace axon::driver::ways
