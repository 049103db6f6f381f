#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <memory>

#include "descriptor/machine/memory.h"

namespace tenshot::descriptor {
namespace {

/// Pages that the system had to map anew while memory of 16 MiB was taken, written and freed so often.
long faults_of(int times) {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < times; ++i) {
    const std::unique_ptr<char[]> memory(new char[bytes]);
    std::memset(memory.get(), i, bytes);
    volatile char seen = memory[bytes / 2];
    static_cast<void>(seen);
  }
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(KeepHeap, MemoryThatWasFreedIsNotMappedAgain) {
  ASSERT_EQ(heap_policy(), "given back");
  if (keep_heap() != "kept") GTEST_SKIP() << "the C library has no such setting";
  EXPECT_EQ(heap_policy(), "kept");
  faults_of(1);
  constexpr long pages_of_one = (16 << 20) / 4096;
  EXPECT_LT(faults_of(10), pages_of_one);
}

}  // namespace
}  // namespace tenshot::descriptor
