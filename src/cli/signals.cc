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
enum class Leave : std::sig_atomic_t { InOrder, AtOnce, AtOnceWithJson };
volatile std::sig_atomic_t g_leave = 0;

void write_to(int descriptor, const char* text) {
  ssize_t ignored = ::write(descriptor, text, std::strlen(text));
  (void)ignored;
}

// Only async-signal-safe calls here.
void on_interrupt(int signal) {
  if (g_signal != 0) ::_exit(128 + signal);  // asked twice: leave at once
  if (g_leave != 0) {
    if (g_leave == static_cast<std::sig_atomic_t>(Leave::AtOnceWithJson))
      write_to(STDOUT_FILENO,
               "{\"schema\":1,\"error\":{\"code\":\"RUN-INTERRUPTED\",\"message\":"
               "\"interrupted\"}}\n");
    write_to(STDERR_FILENO, "axon: interrupted [RUN-INTERRUPTED]\n");
    ::_exit(128 + signal);
  }
  g_signal = signal;
  g_interrupted.set();
}

const formats::TensorSource* volatile watched = nullptr;

// A model file that shrinks while it is mapped faults on reading. Only async-signal-safe calls
// here.
void on_fault(int signal, siginfo_t* info, void*) {
  const formats::TensorSource* source = watched;
  const char* name = source ? source->file_at(info->si_addr) : nullptr;
  if (name) {
    write_to(STDERR_FILENO, "axon: `");
    write_to(STDERR_FILENO, name);
    write_to(STDERR_FILENO, "` was truncated while it was in use [FILE-TRUNCATED]\n");
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

NothingToKeep::NothingToKeep(bool json) {
  g_leave = static_cast<std::sig_atomic_t>(json ? Leave::AtOnceWithJson : Leave::AtOnce);
}

NothingToKeep::~NothingToKeep() { g_leave = static_cast<std::sig_atomic_t>(Leave::InOrder); }

void watch_mapped_files(const formats::TensorSource* source) { watched = source; }

int interrupt_status() { return g_signal == 0 ? 0 : 128 + g_signal; }

void clear_interrupt() {
  g_signal = 0;
  g_interrupted.clear();
}

}  // namespace axon::cli
