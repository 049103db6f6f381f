#include <gtest/gtest.h>

#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

std::unique_ptr<Predictor> adapted(const std::string& kind) {
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 40, 9);
  AdaptationSet set;
  for (std::size_t i = 0; i < 10; ++i) {
    set.architectures.push_back(device.latencies[i].architecture);
    set.latency_ms.push_back(device.latencies[i].latency_ms);
  }
  return train_pool_model(kind, test::synthetic_pool(80), {}, {})->adapt(set, {});
}

std::vector<Architecture> some_architectures(std::size_t count) {
  std::vector<Architecture> architectures;
  for (const auto& row : test::synthetic_device("any", 1, 1, 0, count, 4).latencies) {
    architectures.push_back(row.architecture);
  }
  return architectures;
}

TEST(Insight, OfAStructuredPredictorHasCostsNoiseAndWhatIsUncertain) {
  const auto predictor = adapted("structured");
  const std::vector<PartCost> costs = predictor->operator_costs({});
  ASSERT_FALSE(costs.empty());
  for (const PartCost& cost : costs) {
    // As the made-up device was made: five times 1.0 for a convolution of three by three.
    if (cost.name == "nor_conv_3x3") {
      EXPECT_NEAR(cost.cost_ms, 5, 0.5);
    }
    EXPECT_TRUE(cost.kind.empty());
  }
  const std::vector<Architecture> candidates = some_architectures(30);
  const auto view = predictor->uncertainty(candidates);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->covariance.size, candidates.size());
  EXPECT_LT(view->options.noise, 0.1);
  EXPECT_TRUE(predictor->network_costs(candidates.front()).empty()) << "it knows operations, not single operators";
}

class PeerInsight : public ::testing::TestWithParam<const char*> {};

TEST_P(PeerInsight, IsEmpty) {
  const auto predictor = adapted(GetParam());
  const std::vector<Architecture> candidates = some_architectures(5);
  EXPECT_TRUE(predictor->operator_costs(candidates).empty());
  EXPECT_FALSE(predictor->uncertainty(candidates));
  EXPECT_TRUE(predictor->network_costs(candidates.front()).empty());
}

// The posterior of transfer is made of the same parts as that of structured, and no likelihood of measurements.
INSTANTIATE_TEST_SUITE_P(Insight, PeerInsight, ::testing::Values("flops", "transfer"));

}  // namespace
}  // namespace tenshot::trainer
