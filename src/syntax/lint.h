// Warnings that the text of one file decides: W-TABS, W-GENERATED-NAME, W-PRAGMA-UNKNOWN,
// W-PATH-PARAM-SEGMENT. (W-GREEDY comes from the parser, which knows the brackets.)
#pragma once

#include <string_view>

#include "source/diag.h"
#include "syntax/nodes.h"

namespace axon::syntax {

void lint(const Module& module, std::string_view text, const Ast& ast, const Interner& names,
          DiagSink& sink);

}  // namespace axon::syntax
