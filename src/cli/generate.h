// What `run`, `chat` and `bench` share of generation.
#pragma once

#include "cli/json.h"
#include "cli/model_setup.h"
#include "runtime/gen/generate.h"

namespace axon::cli {

// Positions that the model was made for, by its configuration; 0 when it does not say.
int64_t model_limit(const formats::Checkpoint& checkpoint);
// Sampling as asked for; with `from_model` what was not asked for comes from the checkpoint's
// generation config. Errors: USE-VALUE for values out of range.
Result<runtime::SamplingOptions> sampling_of(const SamplingOptions& options,
                                             const formats::Checkpoint& checkpoint,
                                             bool from_model);
std::string_view spelling(runtime::Finish finish);
// Set by interrupts.
const CancelFlag* interrupt_flag();

}  // namespace axon::cli
