// Modules that rows choose among.
#pragma once

#include "emit/outline/joined.h"

namespace axon::emit {

// Matrices of numbered parts that are chosen row by row, with all that stands between them, become
// the steps of a bank (joined.h). What has another form stays as it is.
void make_banks(Joined& joined, const model::ParamIndex& params, TypeTable& types);

}  // namespace axon::emit
