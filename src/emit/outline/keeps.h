// Masks of attention as steps of their own.
#pragma once

#include "emit/outline/joined.h"

namespace axon::emit {

// The formulas and padding masks of attention rows become steps of kind Keep before the first loop,
// equal ones the same; where scores have a bias, steps of kind Bias join the two.
void make_keeps(Joined& joined, const Calls& calls, TypeTable& types);

}  // namespace axon::emit
