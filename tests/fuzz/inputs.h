// Inputs for a program: random sizes for the symbols of its entry, random contents.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/random.h"
#include "graph/evaluate.h"

namespace axon::fuzz {

// The element type of an input, by a line `-- dtype NAME int64` of the program or f32.
DType dtype_of(const std::string& text, std::string_view input);

class InputMaker {
 public:
  // `text` is the program's, and must outlive this. `config` says what constants are that no stage
  // knew.
  InputMaker(const graph::Graph& graph, const TypeTable& types, const std::string& text,
             const model::ConfigValue* config, Random& random);
  // Nothing when a size comes out below 1 or too large. Some calls give all symbols one size.
  std::optional<graph::NamedValues> make();

 private:
  using Sizes = std::map<SymbolId, int64_t>;
  int64_t size_of(NameId name, const Sizes& sizes);
  bool tensor(const TypeData& data, const Sizes& sizes, const std::string& name,
              graph::NamedValues& out);

  const TypeTable& types_;
  const std::string& text_;
  const graph::Module& main_;
  Random& r_;
  std::vector<SymbolId> symbols_, late_;
  Sizes known_;
  size_t made_ = 0;
};

}  // namespace axon::fuzz
