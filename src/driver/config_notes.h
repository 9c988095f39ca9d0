// Names the values of the configuration behind errors that show only at their consequences.
#pragma once

#include "driver/frontend.h"

namespace axon::driver {

// Adds notes to what the sink holds: to a null where a value was needed, the constants that chose
// it and the configuration keys that they come from; to wrong shapes and missing tensors, the
// keys that are missing and whose defaults are the numbers asked for.
void add_config_notes(Frontend& frontend);

}  // namespace axon::driver
