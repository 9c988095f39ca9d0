// Binding strengths of Python's operators, for the reader of templates and the printer.
#pragma once

#include <string_view>

#include "emit/py/tree.h"

namespace axon::emit::py {

constexpr int kConditional = 1, kOr = 2, kAnd = 3, kNot = 4, kCompare = 5, kUnary = 12, kAtom = 20;

// The strength of a binary operator; 0 for what is none.
int binding(std::string_view op);
// The strength of a whole expression.
int binding(const Expr& expr);

}  // namespace axon::emit::py
