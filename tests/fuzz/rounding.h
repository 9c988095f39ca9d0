// What rounding may do to the results of a program, measured: the evaluator runs again a few times
// while every operation that rounds gives its result, and every sum takes its terms, a little off
// at random (Monte Carlo arithmetic). How far results then stray, times a margin, is how far apart
// two ways of computing may be; a result that strays far is decided by rounding and not compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fuzz/ways.h"

namespace axon::fuzz {

class DerivedTolerance : public Tolerance {
 public:
  // `expected` is what the evaluator gives undisturbed.
  DerivedTolerance(const graph::Graph& graph, const TypeTable& types, const Given& given,
                   const Outcome& expected, uint64_t seed);
  // Whether rounding decides about errors, shapes or which results there are.
  bool hopeless() const { return hopeless_; }
  size_t unstable_leaves() const { return unstable_; }
  double of(const std::string& name, int64_t i, double value) const override;

 private:
  void add(const Outcome& expected, const Outcome& other);

  bool hopeless_ = false;
  size_t unstable_ = 0;
  std::map<std::string, std::vector<double>> allowed_;
};

}  // namespace axon::fuzz
