// The pool runs every part once, barriers hold, and its parts see each other's writes.
#include "support/thread_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace axon {
namespace {

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    std::vector<int> runs(static_cast<size_t>(threads), 0);
    for (int round = 0; round < 200; ++round) {
      pool.run([&](int part, int parts) {
        ASSERT_EQ(parts, threads);
        ++runs[static_cast<size_t>(part)];
      });
    }
    for (const int count : runs) EXPECT_EQ(count, 200);
  }
}

TEST(ThreadPool, BarrierSeparatesSteps) {
  constexpr int kThreads = 3, kSteps = 300;
  ThreadPool pool(kThreads);
  std::vector<int> seen(kThreads, 0);
  bool wrong = false;
  pool.run([&](int part, int parts) {
    for (int step = 1; step <= kSteps; ++step) {
      seen[static_cast<size_t>(part)] = step;
      pool.barrier();
      for (int other = 0; other < parts; ++other) {
        if (seen[static_cast<size_t>(other)] != step) wrong = true;
      }
      pool.barrier();
    }
  });
  EXPECT_FALSE(wrong);
}

TEST(ThreadPool, DefaultIsAtLeastOne) { EXPECT_GE(default_threads(), 1); }

TEST(CancelFlag, SetsAndClears) {
  CancelFlag flag;
  EXPECT_FALSE(flag.is_set());
  flag.set();
  EXPECT_TRUE(flag.is_set());
  flag.clear();
  EXPECT_FALSE(flag.is_set());
}

}  // namespace
}  // namespace axon
