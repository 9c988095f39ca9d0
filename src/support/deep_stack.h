// A stack of our own for work whose depth follows the nesting of a program's text.
#pragma once

#include "support/function_ref.h"

namespace axon {

// Calls `body` on this thread with a stack that holds what a text of the deepest allowed nesting
// asks of every pass, whatever limit the system set for the thread's own. Only the pages that are
// used take memory. Where the system gives no room for it, `body` runs on the stack that there is.
void on_deep_stack(function_ref<void()> body);

}  // namespace axon
