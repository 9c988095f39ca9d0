// What a definition calls and reads of the others.
#pragma once

#include <vector>

#include "sema/cycles.h"
#include "sema/stages.h"

namespace axon::sema {

// Edges to the definitions that `def` calls, by name, as a stage of a pipe or under a path, and to
// the constants that its expressions and paths read; local names hide these. Types are left out.
std::vector<CycleEdge> uses_of(const syntax::Definition& def, const Program& program,
                               Session& session);

}  // namespace axon::sema
