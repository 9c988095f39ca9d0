// What the operations that read the configuration ask for.
#pragma once

#include "model/config_convert.h"
#include "ops/op.h"

namespace axon::graph {

// The kind of value that a `config_…` operation asks for; Any for every other operation.
model::ConfigType asked_type(Op op);

}  // namespace axon::graph
