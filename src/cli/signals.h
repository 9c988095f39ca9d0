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
// While one lives there is nothing to keep, such as during loading: a signal ends the process at
// once, with the error that a polled interrupt gives.
class NothingToKeep {
 public:
  explicit NothingToKeep(bool json);
  ~NothingToKeep();
  NothingToKeep(const NothingToKeep&) = delete;
  NothingToKeep& operator=(const NothingToKeep&) = delete;
};
// The mapped files that a fault may come from; null for none.
void watch_mapped_files(const formats::TensorSource* source);
// Set by an interrupt; the generation loop polls it.
extern CancelFlag g_interrupted;
// 130 after SIGINT, 143 after SIGTERM, else 0.
int interrupt_status();
void clear_interrupt();

}  // namespace axon::cli
