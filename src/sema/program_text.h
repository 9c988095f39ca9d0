// A program of any stage as one module, for the renderer.
#pragma once

#include "sema/stages.h"

namespace axon::sema {

syntax::Module as_module(const Program& program);

}  // namespace axon::sema
