// What a token costs and what memory a benchmark takes: predicted from the plan, and counted.
#pragma once

#include "cli/json.h"
#include "cli/model_setup.h"
#include "runtime/gen/session.h"

namespace axon::cli {

// Runs one token more in a session that has run some, with the counters on.
Result<TokenCounts> count_token(runtime::Model& model, runtime::Session& session, int64_t rows);

// Bytes of this process that are in memory now, and the most there have been.
int64_t resident_bytes();
int64_t peak_resident_bytes();

}  // namespace axon::cli
