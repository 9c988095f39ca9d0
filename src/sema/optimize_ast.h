// Conservative clean-up of a typed program, for readers of its text (language.md 10.9).
#pragma once

#include "sema/stages.h"

namespace axon::sema {

// Names that only stand for other names or literals go, operations on literals are computed, and
// definitions that the main definition does not reach are left out. No call is deleted, repeated
// or moved. The result keeps the contracts of a typed program; types stay what they were.
TypedProgram optimize_ast(const TypedProgram& typed, Session& session);

}  // namespace axon::sema
