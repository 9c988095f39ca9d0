// Small clean-ups of modules.
#pragma once

#include "graph/graph.h"

namespace axon::opt {

// Takes nodes out of the order that reach no output; effectful ones too, as nothing observes them.
void remove_dead(graph::Module& module);

}  // namespace axon::opt
