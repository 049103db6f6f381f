#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/kept_knowledge.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::trainer {
namespace {

TEST(Trust, IsTheMedianHalfWidthOfTheIntervals) {
  EXPECT_DOUBLE_EQ(typical_half_width({{10, 10, 10}, {9, 5, 9.8}, {11, 15, 10.2}}), 0.1);
  EXPECT_TRUE(std::isnan(typical_half_width({{10, 10}, {}, {}})));
  EXPECT_EQ(trust(0.1, false), Trust::good);
  EXPECT_EQ(trust(0.15, false), Trust::fair);
  EXPECT_EQ(trust(0.25, false), Trust::poor);
  EXPECT_EQ(word(trust(0.01, true)), "Doubtful");
}

TEST(Trust, HalfAWidthThatReachesZero_IsSaidAsAFactor) {
  EXPECT_EQ(half_width_in_words(0.123), "±12 %");
  EXPECT_EQ(half_width_in_words(0.94), "±94 %");
  EXPECT_EQ(half_width_in_words((4 - 0.25) / 2), "a factor of 4") << "of an interval from a fourth to four times";
  EXPECT_EQ(half_width_in_words(100), "a factor of 200");
}

TEST(Trust, NextMeasurementsNarrowWhatIsUncertain) {
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 60, 9);
  AdaptationSet set;
  std::vector<Architecture> candidates;
  for (std::size_t i = 0; i < device.latencies.size(); ++i) {
    if (i >= 4) {
      candidates.push_back(device.latencies[i].architecture);
      continue;
    }
    set.architectures.push_back(device.latencies[i].architecture);
    set.latency_ms.push_back(device.latencies[i].latency_ms);
  }
  const auto predictor = train_pool_model("structured", test::synthetic_pool(80), {}, {})->adapt(set, {});
  const auto three = next_measurements(*predictor, candidates, 3), ten = next_measurements(*predictor, candidates, 10);
  ASSERT_TRUE(three && ten);
  EXPECT_EQ(three->chosen.size(), 3u);
  EXPECT_LT(three->after, three->before);
  EXPECT_LT(ten->after, three->after);
  EXPECT_LT(ten->narrowing(), three->narrowing());
  EXPECT_LT(three->narrowing(), 1);
  EXPECT_FALSE(next_measurements(*predictor, {candidates[0], candidates[1]}, 2)) << "no more than asked for";
  const auto peer = train_pool_model("flops", test::synthetic_pool(80), {}, {})->adapt(set, {});
  EXPECT_FALSE(next_measurements(*peer, candidates, 3)) << "it does not say what it is uncertain about";
}

TEST(Trust, AVerdictOfNetworksSaysWhatToExpectOfOtherKinds) {
  const datasets::DeviceRuntime& device = test::of_networks().pool.devices[0];
  const AdaptationSet set = test::first_of(device, 10);
  const auto predictor = test::of_networks().model->adapt(set, {});
  const std::vector<Architecture> known = known_architectures(test::of_networks().pool);
  const auto found = verdict(*predictor, known, set.architectures);
  ASSERT_TRUE(found && found->of_other_kinds);
  EXPECT_GT(*found->of_other_kinds, 1.05 * found->half_width);
  EXPECT_NE(in_words(*found).find(" %, of networks of other kinds within ±"), std::string::npos);
  const Predictions usual = predictor->predict(known, 0.9), unlike = predictor->predict_as_unlike(known, 0.9);
  EXPECT_EQ(unlike.latency_ms, usual.latency_ms);
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_GT(unlike.upper_ms[i], usual.upper_ms[i]);

  const auto of_cells = train_pool_model("structured", test::synthetic_pool(80), {}, {})
                            ->adapt(test::first_of(test::synthetic_pool(80).devices[0], 10), {});
  EXPECT_FALSE(verdict(*of_cells, known_architectures(test::synthetic_pool(80)), {})->of_other_kinds)
      << "cells are not compared";
}

TEST(Trust, WithoutOtherNetworks_AMeasuredOneIsJudgedByTheOthers) {
  const test::Kept& kept = test::of_networks();
  for (const std::size_t count : {1U, 3U, 10U}) {
    const AdaptationSet set = test::first_of(kept.pool.devices[0], count);
    const auto predictor = kept.knowledge->adapt(set, {});
    const auto measured = verdict(*predictor, set.architectures, set.architectures);
    const auto found = judge(*kept.knowledge, *predictor, set, {});
    ASSERT_TRUE(measured && found) << count;
    EXPECT_GT(found->half_width, (count > 1 ? 1.02 : 1) * measured->half_width) << count;
    EXPECT_EQ(found->trust, trust(found->half_width, found->warnings > 0)) << count;
    const std::vector<Architecture> others = {test::networks()[80], test::networks()[85]};
    EXPECT_DOUBLE_EQ(judge(*kept.knowledge, *predictor, set, {}, others)->half_width,
                     verdict(*predictor, others, set.architectures)->half_width)
        << "of networks that are named nothing is left out";
  }
}

TEST(Trust, AVerdictIsAboutTheNetworksThatTheUserNamed) {
  const PoolModel& model = *test::of_networks().model;
  const std::vector<Architecture> known = known_architectures(model.pool()), mine = {known[3], known[5]};
  EXPECT_EQ(judged_by(model, {known[0]}, mine), mine);
  EXPECT_EQ(judged_by(model, {known[0]}), std::vector<Architecture>(known.begin() + 1, known.end()));
  EXPECT_EQ(judged_by(model, {known[3]}, mine), std::vector<Architecture>{known[5]}) << "the others need a prediction";
  EXPECT_EQ(judged_by(model, {known[5], known[3]}, mine), (std::vector<Architecture>{known[5], known[3]}));
}

TEST(Trust, IsTheSameInWhateverOrderNetworksWereMeasured) {
  const test::Kept& kept = test::of_networks();
  AdaptationSet set = test::first_of(kept.pool.devices[0], 10);
  const auto half_width = [&] {
    return judge(*kept.knowledge, *kept.knowledge->adapt(set, {}), set, {}, set.architectures)->half_width;
  };
  const double before = half_width();
  const std::vector<Architecture> named = set.architectures;
  std::reverse(set.architectures.begin(), set.architectures.end());
  std::reverse(set.latency_ms.begin(), set.latency_ms.end());
  EXPECT_NEAR(half_width(), before, 1e-9);
  EXPECT_NEAR(judge(*kept.knowledge, *kept.knowledge->adapt(set, {}), set, {}, named)->half_width, before, 1e-9);
}

}  // namespace
}  // namespace tenshot::trainer
