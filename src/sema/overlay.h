// Merging of a library module with the files that overlays have for it (language.md 7.1).
#pragma once

#include "syntax/nodes.h"

namespace axon::sema {

// Puts `over` on top of `base`: definitions and aliases of the same name are replaced in place,
// others added; imports and exports united, pragmas of the same name replaced.
void merge_overlay(syntax::Module& base, syntax::Module over);

}  // namespace axon::sema
