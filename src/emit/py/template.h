// Expression templates: Python text with placeholders that are documents.
//
// `expand("F.silu({0}) * {1}", {x, y})` parses the text once into a tree, `{n}` standing for the
// n-th document; no text of a document is ever parsed. What rows of operations are written in.
#pragma once

#include <string_view>
#include <vector>

#include "emit/py/tree.h"

namespace axon::emit::py {

// A template that is no expression is our bug.
Expr expand(std::string_view text, const std::vector<Expr>& documents = {});

}  // namespace axon::emit::py
