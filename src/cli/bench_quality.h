// What a numeric preset costs: agreement with `exact` along texts that `exact` writes.
#pragma once

#include "cli/json.h"
#include "cli/model_setup.h"

namespace axon::cli {

// `loaded` runs with the options' preset; an exact model is loaded beside it.
Result<Quality> measure_quality(LoadedModel& loaded, const Options& options);

}  // namespace axon::cli
