// Errors of later stages in what the errors of the stage that failed do not touch.
#pragma once

#include "driver/frontend.h"

namespace axon::driver {

// A stage that reports an error is the last for the program, but definitions that are free of
// errors and mention nothing that is not are checked on: what later stages find wrong in them is
// added to the sink. Nothing is told that may follow from an error told before.
void add_later_errors(Frontend& frontend, const FrontendOptions& options);

}  // namespace axon::driver
