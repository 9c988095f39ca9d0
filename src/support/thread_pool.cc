// Workers wait on a generation counter; std::atomic::wait parks them after the spin.
#include "support/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/file.h"
#include "support/text.h"

namespace axon {
namespace {

// Some 100 microseconds: longer than the gaps within a token, far shorter than a person notices.
constexpr int kSpins = 4000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Returns once `word` differs from `old`.
void await_change(const std::atomic<uint32_t>& word, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (word.load(std::memory_order_acquire) == old) word.wait(old, std::memory_order_acquire);
}

}  // namespace

void Barrier::wait() {
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  await_change(generation_, generation);
}

struct ThreadPool::State {
  using Body = function_ref<void(int, int)>;
  std::atomic<uint32_t> generation{0};  // a new one is a new body
  std::atomic<int> running{0};
  std::atomic<uint32_t> finished{0};  // generation that all workers have left
  const Body* body = nullptr;
  bool stop = false;
  std::vector<std::thread> workers;

  void work(int part, int parts) {
    uint32_t seen = 0;
    while (true) {
      await_change(generation, seen);
      seen = generation.load(std::memory_order_acquire);
      if (stop) return;
      (*body)(part, parts);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        finished.store(seen, std::memory_order_release);
        finished.notify_all();
      }
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : default_threads()),
      barrier_(std::make_unique<Barrier>(threads_)),
      state_(std::make_unique<State>()) {
  for (int part = 1; part < threads_; ++part) {
    state_->workers.emplace_back([this, part] { state_->work(part, threads_); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop = true;
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->generation.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

void ThreadPool::run(function_ref<void(int, int)> body) {
  if (threads_ == 1) return body(0, 1);
  State& state = *state_;
  AXON_CHECK(state.running.load(std::memory_order_relaxed) == 0, "the pool is not reentrant");
  state.body = &body;
  state.running.store(threads_ - 1, std::memory_order_relaxed);
  const uint32_t mine = state.generation.fetch_add(1, std::memory_order_release) + 1;
  state.generation.notify_all();
  body(0, threads_);
  for (uint32_t done = state.finished.load(std::memory_order_acquire); done != mine;
       done = state.finished.load(std::memory_order_acquire)) {
    await_change(state.finished, done);
  }
}

namespace {

// The share of CPUs that the control group allows, rounded up; 0: no limit or unknown.
int group_limit() {
  const auto text = read_file("/sys/fs/cgroup/cpu.max");
  if (!text) return 0;
  const auto fields = split(trim(*text), ' ');
  if (fields.size() != 2) return 0;
  const auto quota = parse_int(fields[0]), period = parse_int(fields[1]);
  if (!quota || !period || *period <= 0 || *quota <= 0) return 0;
  return static_cast<int>((*quota + *period - 1) / *period);
}

int within_group(int threads) {
  const int limit = group_limit();
  return std::max(1, limit > 0 ? std::min(threads, limit) : threads);
}

}  // namespace

int default_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;  // CPUs of one core list the same siblings
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const auto siblings = read_file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                    "/topology/thread_siblings_list");
    cores.insert(siblings ? *siblings : std::to_string(cpu));
  }
  return within_group(static_cast<int>(cores.size()));
}

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return within_group(CPU_COUNT(&allowed));
}

}  // namespace axon
