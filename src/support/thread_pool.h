// The one thread pool: workers spin for a while, then park. The caller is worker 0.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "support/function_ref.h"

namespace axon {

// Set by whoever wants a computation to end soon; polled between instructions. Safe in a signal
// handler.
class CancelFlag {
 public:
  void set() { flag_.store(true, std::memory_order_relaxed); }
  void clear() { flag_.store(false, std::memory_order_relaxed); }
  bool is_set() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

// All of `parties` threads wait here for each other, any number of times.
class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  void wait();
  uint32_t passed() const { return generation_.load(std::memory_order_relaxed); }

 private:
  int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<uint32_t> generation_{0};
};

class ThreadPool {
 public:
  // `threads` ≥ 1 in all, the caller included. 0: default_threads().
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // Calls body(part, threads()) once on every worker and returns when all are done. Not reentrant.
  void run(function_ref<void(int part, int parts)> body);
  // Waits until every worker has come here; only inside of a body that all workers run.
  void barrier() {
    if (threads_ > 1) barrier_->wait();
  }
  // Barriers passed so far, modulo 2^32; a pool of one has none.
  uint32_t barriers() const { return barrier_->passed(); }

 private:
  struct State;
  int threads_;
  std::unique_ptr<Barrier> barrier_;
  std::unique_ptr<State> state_;
};

// Physical cores that affinity and the control group leave to this process, at least 1.
int default_threads();
// Threads that can run at a time: the same with all hardware threads of a core.
int available_threads();

}  // namespace axon
