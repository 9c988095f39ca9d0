// Stored tensors that are no weights: frameworks compute them, and save them all the same.
#pragma once

#include "model/param_index.h"

namespace axon::model {

// Frequencies of rotary positions, causal masks, tables of positions: a program has no use for
// them.
bool is_saved_buffer(const TensorInfo& tensor);

}  // namespace axon::model
