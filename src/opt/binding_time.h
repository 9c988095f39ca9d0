// Parts a flat module by what its values depend on: what some of MAIN's inputs decide alone becomes
// a module of its own, which runs once for many calls of the rest (design.md 4.2).
#pragma once

#include <string>
#include <vector>

#include "opt/specialise.h"

namespace axon::opt {

// The part that comes first, and the tensors that it hands to the rest: in both modules they have
// the same ids. A tensor that differs from round to round of a loop has an id for every round.
struct EarlyPart {
  Specialised flat;  // has no outputs but these
  std::vector<graph::ValueId> handed;
  // Facts of the whole module that sizes of the early inputs decide stay in `flat.facts`.
  // Equal texts mean equal parts, whatever else the modules had that they come from.
  std::string text;
};

// Takes out of `flat` what depends on inputs of MAIN marked in `early` and on no others, and on no
// sizes but theirs. Values that depend on no input at all are computed in both where both need
// them.
EarlyPart split_early(Specialised& flat, TypeTable& types, const std::vector<bool>& early);

}  // namespace axon::opt
