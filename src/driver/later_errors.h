// Errors of later stages in what the errors of the stage that failed do not touch.
#pragma once

#include "driver/frontend.h"

namespace axon::driver {

// A stage that reports an error is the last for the program, but the rest is checked on: around a
// value that has an error, with its place taken by one that is unread, and without definitions
// whose heads have one and what mentions them. What later stages find wrong there is added to the
// sink. Nothing is told that may follow from an error told before.
void add_later_errors(Frontend& frontend, const FrontendOptions& options);

}  // namespace axon::driver
