// Interrupts, terminations, closed pipes and faults on mapped files.
#include "cli/signals.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "runtime/formats/tensor_source.h"

namespace axon::cli {

CancelFlag g_interrupted;

namespace {

volatile std::sig_atomic_t g_signal = 0;

void on_interrupt(int signal) {
  if (g_signal != 0) ::_exit(128 + signal);  // asked twice: leave at once
  g_signal = signal;
  g_interrupted.set();
}

const formats::TensorSource* volatile watched = nullptr;

void write_text(const char* text) {
  ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  (void)ignored;
}

// A model file that shrinks while it is mapped faults on reading. Only async-signal-safe calls
// here.
void on_fault(int signal, siginfo_t* info, void*) {
  const formats::TensorSource* source = watched;
  const char* name = source ? source->file_at(info->si_addr) : nullptr;
  if (name) {
    write_text("axon: `");
    write_text(name);
    write_text("` was truncated while it was in use [FILE-TRUNCATED]\n");
    ::_exit(3);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction fault {};
  fault.sa_sigaction = on_fault;
  fault.sa_flags = SA_SIGINFO;
  sigemptyset(&fault.sa_mask);
  ::sigaction(SIGBUS, &fault, nullptr);
}

void watch_mapped_files(const formats::TensorSource* source) { watched = source; }

int interrupt_status() { return g_signal == 0 ? 0 : 128 + g_signal; }

void clear_interrupt() {
  g_signal = 0;
  g_interrupted.clear();
}

}  // namespace axon::cli
