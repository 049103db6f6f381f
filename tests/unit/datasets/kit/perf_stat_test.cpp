#include <gtest/gtest.h>

#include <filesystem>

#include "datasets/kit/board_results.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {
namespace {

TEST(PerfStat, ReadsCountsByEvent) {
  const auto counts = parse_perf_stat(
      "# started on Mon Nov  2 10:00:00 2026\n\n"
      "123456789,,cycles,51234567,100.00,,\n"
      "98765432,,instructions:u,51234567,100.00,0.80,insn per cycle\n"
      "12.34,msec,task-clock,12340000,100.00,0.987,CPUs utilized\n");
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.at("cycles").count, 123456789);
  EXPECT_EQ(counts.at("instructions").count, 98765432);
  EXPECT_EQ(counts.at("task-clock").count, 12.34);
  EXPECT_EQ(counts.at("cycles").running_percent, 100);
}

TEST(PerfStat, SaysWhatIsMissing) {
  const auto counts = parse_perf_stat("<not supported>,,cache-misses,0,100.00,,\n<not counted>,,cycles,0,0.00,,\n");
  EXPECT_FALSE(counts.at("cache-misses").count);
  EXPECT_FALSE(counts.at("cycles").count);
}

TEST(PerfStat, KnowsWhatWasMultiplexed) {
  EXPECT_EQ(parse_perf_stat("1000,,cycles,51234567,49.93,,\n").at("cycles").running_percent, 49.93);
}

TEST(PerfStat, AddsUpTheCoreTypesOfOneEvent) {
  const auto counts = parse_perf_stat(
      "700,,cpu_core/cycles/,1,60.00,,\n300,,cpu_atom/cycles/u,1,40.00,,\n"
      "<not counted>,,cpu_core/instructions/,0,0.00,,\n5,,cpu_atom/instructions/,1,100.00,,\n");
  EXPECT_EQ(counts.at("cycles").count, 1000);
  EXPECT_EQ(counts.at("cycles").running_percent, 40);
  EXPECT_EQ(counts.at("instructions").count, 5);
}

TEST(PerfStat, ReadsEveryDocumentedForm) {
  const auto of = [](const std::string& name) {
    return parse_perf_stat(read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/kit/fixtures" / name));
  };
  for (const char* name : {"perf.plain.csv", "perf.user_only.csv", "perf.multiplexed.csv"}) {
    const auto counts = of(name);
    ASSERT_EQ(counts.size(), 4u) << name;
    EXPECT_EQ(counts.at("cycles").count, 530000000) << name;
    EXPECT_EQ(counts.at("cache-misses").count, 500100000) << name;
  }
  EXPECT_EQ(of("perf.multiplexed.csv").at("cycles").running_percent, 66.67);
  EXPECT_EQ(of("perf.plain.csv").at("cycles").running_percent, 100);
  EXPECT_FALSE(of("perf.not_supported.csv").at("cache-misses").count);
  EXPECT_FALSE(of("perf.not_counted.csv").at("cache-misses").count);
}

TEST(PerfStat, PassesOverWhatIsNoCount) {
  EXPECT_TRUE(parse_perf_stat("").empty());
  EXPECT_TRUE(parse_perf_stat("# a comment\n,,,\n1,2,3\nhello\ncycles\n\x01\x02,\xff,\n").empty());
  EXPECT_FALSE(parse_perf_stat("12x,,cycles,1,100.00,,\n").at("cycles").count);
  EXPECT_FALSE(parse_perf_stat("-5,,cycles,1,100.00,,\n").at("cycles").count);
  EXPECT_FALSE(parse_perf_stat("inf,,cycles,1,100.00,,\n").at("cycles").count);
}

}  // namespace
}  // namespace tenshot::datasets
