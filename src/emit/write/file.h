// The emitted file: header, imports, helpers, what the target wrote.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/py/prelude.h"
#include "emit/write/request.h"

namespace axon::emit {

// Helpers of a target: the files under prelude/TARGET/.
py::Prelude prelude_of(std::string_view target);

// A name that what is written may use without a helper, and the line that imports it.
struct ImportRow {
  const char *name, *line;
};

// `what`: "a PyTorch module". Imports are the helpers' and those of `rows` that the body mentions.
std::string file_text(const EmitRequest& request, std::string_view what, const py::Prelude& prelude,
                      const std::vector<ImportRow>& rows, const std::vector<py::Stmt>& body);

}  // namespace axon::emit
