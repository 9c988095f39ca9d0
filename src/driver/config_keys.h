// Keys of the configuration that look misspelt.
#pragma once

#include "driver/frontend.h"

namespace axon::driver {

// Without a checkpoint nothing says which keys a model has. Warns where a key is certainly a slip:
// it differs in one letter of one word from a key that programs of the zoo read, and neither the
// key nor that word stands anywhere in them.
void warn_misspelt_keys(Frontend& frontend);

}  // namespace axon::driver
