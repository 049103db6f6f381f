#include <gtest/gtest.h>
#include <sys/resource.h>

#include "descriptor/machine/memory.h"

namespace tenshot::descriptor {
namespace {

TEST(TouchFreeMemory, TouchesAsMuchAsItSaysAndKeepsNothing) {
  constexpr std::uint64_t bytes = 32U << 20;
  EXPECT_EQ(touch_free_memory(bytes), bytes);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  EXPECT_GE(used.ru_maxrss, 32 << 10);  // KiB: the pages were the process's own for a while
  EXPECT_EQ(touch_free_memory(0), 0U);
}

TEST(MemoryOfStart, GrowsWithTheFile) {
  const std::uint64_t least = memory_of_start(0);
  EXPECT_GT(least, 0U);
  EXPECT_EQ(memory_of_start(1000) - least, 4000U);
}

}  // namespace
}  // namespace tenshot::descriptor
