// Merging of one more call into a joined module.
#pragma once

#include "emit/outline/joined.h"

namespace axon::emit {

// `call` is the specialisation without the optional input whose value in `joined` is `input`. Where
// it differs, steps of kind Choice decide. Errors: BACK-UNSUPPORTED.
Result<void> merge_call(Joined& joined, const opt::Specialised& call, graph::ValueId input,
                        const opt::Forest& forest, TypeTable& types);

}  // namespace axon::emit
