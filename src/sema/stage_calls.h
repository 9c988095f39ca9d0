// A call without arguments prints as a name; reading a stage after normalize makes it one again.
#pragma once

#include "sema/stages.h"

namespace axon::sema {

void restore_calls(Program& program, Session& session);

}  // namespace axon::sema
