// The shapes of call that emitted code covers, each specialised to a flat module
// (opt/specialise.h).
//
// A program with a cache is specialised for a call that extends one: `P` positions are there (a
// data symbol), `C` is the capacity. The first call and calls without a cache are the same code
// with P = 0 and C = S. Optional inputs are covered one at a time: `all` has every one of them,
// `without[k]` all but the k-th. join.h makes one module of them.
#pragma once

#include <optional>
#include <vector>

#include "opt/fuse.h"
#include "opt/roles.h"
#include "opt/specialise.h"
#include "support/result.h"

namespace axon::emit {

struct Calls {
  opt::Forest forest;
  opt::Answers answers;
  opt::Roles roles;
  bool cached = false;
  SymbolId batch, tokens;        // B, S: axes of the first input
  SymbolId past, capacity;       // cached programs
  int64_t limit = 0;             // the capacity that the program takes when none is given; 0: none
  std::vector<size_t> optional;  // inputs of MAIN that may be left out, in order
  std::optional<opt::Specialised> all;
  std::vector<opt::Specialised> without;
};

// What no target can write. Errors of the program itself are in the sink, and the Error says so.
Error unsupported(std::string_view what, std::string_view why);

// Errors: BACK-UNSUPPORTED; what specialise() reports is in `sink`.
Result<Calls> specialise_calls(const graph::Graph& graph, TypeTable& types,
                               const opt::Answers& answers, const opt::FusionSet& fusions,
                               DiagSink& sink);

}  // namespace axon::emit
