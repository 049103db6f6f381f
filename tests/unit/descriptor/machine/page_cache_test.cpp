#include <gtest/gtest.h>
#include <unistd.h>

#include "descriptor/machine/memory.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

TEST(PageCache, HoldsWhatWasJustRead) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "weights";
  write_file_atomically(file, std::string(10 * 4096, 'x'));
  read_file(file);
  const CachedPages found = cached_pages(file);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(found.pages, (10 * 4096 + page - 1) / page);
  EXPECT_EQ(found.resident, found.pages);
  EXPECT_FALSE(found.dropped());
}

TEST(PageCache, SaysWhatIsLeftAfterDropping) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "weights";
  write_file_atomically(file, std::string(10 * 4096, 'x'));
  const CachedPages found = drop_from_page_cache(file);
  EXPECT_EQ(found.resident, cached_pages(file).resident);  // none, except on file systems that live in memory
  EXPECT_EQ(read_file(file), std::string(10 * 4096, 'x'));
}

TEST(PageCache, RefusesAFileThatIsNotThere) { EXPECT_THROW(cached_pages("/nonexistent/weights"), FileError); }

TEST(ProcessMemory, ReadsThePeakInAStatus) {
  EXPECT_EQ(peak_memory_mib("Name:\ttenshot\nVmPeak:\t  999999 kB\nVmHWM:\t  209920 kB\nVmRSS:\t 1 kB\n"), 205.0);
  EXPECT_FALSE(peak_memory_mib("Name:\tkthreadd\n").has_value());
  EXPECT_FALSE(peak_memory_mib("VmHWM:\t  many kB\n").has_value());
}

TEST(ProcessMemory, GrowsWithWhatTheProcessTouches) {
  const auto before = peak_memory_mib();
  if (!before) GTEST_SKIP() << "this system does not keep VmHWM";
  const std::size_t mib = 1U << 20;
  const std::vector<char> block(static_cast<std::size_t>(*before + 64) * mib, 'x');
  EXPECT_GE(*peak_memory_mib(), *before + 60) << block.back();
}

}  // namespace
}  // namespace tenshot::descriptor
