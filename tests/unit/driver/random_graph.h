// Random programs over most operations, valid by construction: shapes are numbers, values stay
// small, and nothing that rounding could turn over is compared.
#pragma once

#include <string>
#include <vector>

#include "compare.h"
#include "graph/builder.h"

namespace axon::driver::ways {

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed);
  graph::Graph& graph() { return graph_; }
  TypeTable& types() { return types_; }
  const Case& given() const { return case_; }

 private:
  using Shape = std::vector<int64_t>;
  struct Made {
    graph::ValueId value;
    Shape shape;
    DType dtype = DType::F32;
    double bound = 1;    // of absolute values
    bool exact = false;  // no rounding on the way: may be compared and sorted
  };

  int64_t below(int64_t n) {
    return static_cast<int64_t>(next_random(state_) % static_cast<uint64_t>(n));
  }
  bool chance(int64_t n) { return below(n) == 0; }
  graph::ModuleId add_main();
  void input(DType dtype, Shape shape);
  const Made& pick() {
    return made_[static_cast<size_t>(below(static_cast<int64_t>(made_.size())))];
  }
  const Made* pick(DType dtype, bool exact, size_t least_rank);
  graph::Operand of(const Made& m) { return builder_(m.value); }
  graph::Operand integer(int64_t v) { return graph::lit_int(v, types_); }
  graph::Operand real(double v) { return graph::lit_float(v, types_); }
  graph::Operand null() { return graph::lit_null(types_); }
  graph::Operand sizes(const Shape& shape);
  graph::Operand param(const std::string& leaf, Shape shape);
  int64_t axis_of(size_t axis, size_t rank) {  // sometimes counted from the end
    return chance(2) ? static_cast<int64_t>(axis)
                     : static_cast<int64_t>(axis) - static_cast<int64_t>(rank);
  }
  graph::ValueId add(Op op, std::vector<graph::Operand> inputs) {
    return builder_.add(op, std::move(inputs), types_.any());
  }
  void keep(graph::ValueId value, Shape shape, DType dtype, double bound, bool exact);
  void step();
  void unary();
  void binary();
  void compare();
  void layout();
  void pieces();
  void along();
  void sorted();
  void product();
  void layer();
  void scatter();
  void created();
  void structure();
  void loop();

  Interner names_;
  DimTable dims_{names_};
  TypeTable types_{dims_};
  uint64_t state_;
  graph::Graph graph_;
  graph::Builder builder_;
  std::vector<Made> made_;
  int params_ = 0, loops_ = 0;
  Case case_;
};

}  // namespace axon::driver::ways
