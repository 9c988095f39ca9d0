// Checks of what each stage promises. A failure is a bug of the stage, reported as such
// (BUG-STAGE).
#pragma once

#include "sema/stages.h"

namespace axon::sema {

void validate_closed(const Program& program, Session& session);
void validate_normalized(const Program& program, Session& session);
void validate_elaborated(const Program& program, Session& session);
void validate_flat(const Program& program, Session& session);

// That no definition reaches itself: resolve sees to it, the text of a later stage may break it.
void validate_acyclic(const Program& program, Session& session);

}  // namespace axon::sema
