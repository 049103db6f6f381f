#include <gtest/gtest.h>

#include "datasets/kit/board_results.h"
#include "datasets/kit/kit_results.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

NotedClocks steady(long long clock, bool fixed = true) { return {clock, clock, true, fixed}; }

TEST(ClockLevel, IsWhatMostRanAt) {
  const NotedClocks moved{918, 483, false, true};
  EXPECT_EQ(clock_level({steady(918), steady(920), steady(918), moved, steady(483), steady(483)}), 920);
  EXPECT_EQ(clock_level({steady(918), moved, steady(483), steady(483)}), 483);
  EXPECT_EQ(clock_level({steady(483), steady(918)}), 918) << "of two, the faster";
}

TEST(ClockLevel, IsNothingWhereClocksFollowTheLoadOrAreUnknown) {
  EXPECT_FALSE(clock_level({steady(1000), steady(1500), steady(2000)}));
  EXPECT_FALSE(clock_level({{114, 918, false, true}, {114, 918, false, true}, steady(918)}));
  EXPECT_FALSE(clock_level({NotedClocks(), NotedClocks()}));
  EXPECT_FALSE(clock_level({}));
}

TEST(ClockLevel, OfClocksThatFollowTheLoadIsALevelOnlyWithinAQuarter) {
  const std::optional<double> level = clock_level({steady(3400, false), steady(3100, false), steady(1500, false)});
  ASSERT_EQ(level, 3400);
  EXPECT_TRUE(is_at_level(steady(3100, false), *level));
  EXPECT_FALSE(is_at_level(steady(3100), *level)) << "of a fixed clock that is 9 %";
  EXPECT_FALSE(is_at_level(steady(1500, false), *level));
  EXPECT_TRUE(is_at_level({600, 3400, false, false}, *level)) << "it was idle before";
  EXPECT_FALSE(is_at_level({918, 483, false, true}, 918));
}

TEST(ClockLevel, IsSaidWithHowMuch) {
  EXPECT_EQ(in_words(steady(483000000), 918000000), "483000000, 47 % below the 918000000 of most");
  EXPECT_EQ(in_words(steady(1000), 800), "1000, 25 % above the 800 of most");
  EXPECT_EQ(in_words({918, 483, false, true}, 918), "918 to 483, and 918 is that of most");
}

TEST(KitResults, WhatRanAtAnotherClockIsLeftOut) {
  const MeasuredKit kit;
  kit.measure(0, 1, "clocks_before=918\nclocks_after=918\nclocks_moved=no\n");
  kit.measure(1, 2, "clocks_before=918\nclocks_after=919\nclocks_moved=no\n");
  kit.measure(2, 6, "clocks_before=483\nclocks_after=483\nclocks_moved=no\n");
  kit.measure(3, 1, "clocks_before=483\nclocks_after=483\nclocks_moved=no\n");  // an operator
  const KitResults results = read_kit_results(kit.path());
  ASSERT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(results.latencies[1].latency_ms, 2);
  EXPECT_EQ(results.findings[0].problem, KitProblem::other_clock);
  EXPECT_NE(
      results.findings[0].message.find("483, 47 % below the 918 of most; run measure.sh again to measure it anew; "
                                       "left out"),
      std::string::npos)
      << results.findings[0].message;
  EXPECT_EQ(results.findings[1].message.find(kit.manifest.models[3].id + ": ran at another clock"), 0u);
  EXPECT_FALSE(results.descriptor.has_latencies()) << "operators at half the clock are no part of it";
}

TEST(KitResults, WhatNoLevelIsOfMostIsSaid) {
  const MeasuredKit kit;
  kit.measure(0, 1, "clocks_before=918\nclocks_after=918\nclocks_moved=no\n");
  kit.measure(1, 2, "clocks_before=700\nclocks_after=700\nclocks_moved=no\n");
  kit.measure(2, 6, "clocks_before=483\nclocks_after=483\nclocks_moved=no\n");
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.latencies.size(), 3u);
  EXPECT_EQ(results.findings[0].message,
            "the clocks moved: from 483 to 918, and none is that of most: what was measured at one clock tells little "
            "of another; fix them and measure again");
}

}  // namespace
}  // namespace tenshot::datasets
