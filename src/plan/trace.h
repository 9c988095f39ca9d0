// What a trace shows of a flat module: values by the parameter paths at which they are computed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "opt/specialise.h"
#include "source/file_table.h"

namespace axon::plan {

// Where the program calls the library, if `span` is of the library; `calls` from the innermost on.
Span program_place(Span span, const std::vector<Span>& calls, const FileTable& files);

// The last float tensor of each scope, in the order of the module, as outputs of it. Their names
// are `trace.N.SCOPE@FILE:LINE`, where N counts nodes; the place is left out where `files` is null.
std::vector<std::pair<std::string, graph::ValueId>> trace_scopes(opt::Specialised& flat,
                                                                 const TypeTable& types,
                                                                 const FileTable* files);

}  // namespace axon::plan
