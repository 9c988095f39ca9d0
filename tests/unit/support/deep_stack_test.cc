// Work that is deeper than any usual stack.
#include "support/deep_stack.h"

#include <gtest/gtest.h>

#include <cstring>

namespace axon {
namespace {

// A frame of some KiB for each level.
int depth_of(int left) {
  volatile char frame[4096];
  std::memset(const_cast<char*>(frame), left & 1, sizeof frame);
  return left == 0 ? frame[1] : depth_of(left - 1) + 1 + frame[left % 4096] - (left & 1);
}

TEST(DeepStack, HoldsAHundredMegabytes) {
  int depth = 0;
  on_deep_stack([&] { depth = depth_of(25000); });
  EXPECT_EQ(depth, 25000);
}

TEST(DeepStack, WithinAnother) {
  int depth = 0;
  on_deep_stack([&] { on_deep_stack([&] { depth = depth_of(100); }); });
  on_deep_stack([&] { ++depth; });
  EXPECT_EQ(depth, 101);
}

}  // namespace
}  // namespace axon
