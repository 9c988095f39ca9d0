// Pragma occurrences to one value per pragma (language.md 4.3, 10.5 step 1).
#pragma once

#include <vector>

#include "sema/session.h"

namespace axon::sema {

std::vector<syntax::Pragma> normalize_pragmas(const std::vector<syntax::Pragma>& pragmas,
                                              Session& session);

}  // namespace axon::sema
