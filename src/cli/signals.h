// Interrupts, terminations, closed pipes and faults on mapped files.
#pragma once

#include "support/thread_pool.h"

namespace axon::formats {
class TensorSource;
}

namespace axon::cli {

// SIGINT and SIGTERM set the flag below (a second SIGINT ends the process with 130); SIGPIPE is
// ignored so that writes report it; SIGBUS on a mapped model file ends with status 3 and its name.
void install_signal_handlers();
// The mapped files that a fault may come from; null for none.
void watch_mapped_files(const formats::TensorSource* source);
// Set by an interrupt; the generation loop polls it.
extern CancelFlag g_interrupted;
// 130 after SIGINT, 143 after SIGTERM, else 0.
int interrupt_status();
void clear_interrupt();

}  // namespace axon::cli
