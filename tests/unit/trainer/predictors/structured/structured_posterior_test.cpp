#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "structured_fixtures.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::Architecture;
using test::accuracy;
using test::predictions;

const std::vector<double> new_costs = {7, 0.4, 3, 9, 1.2, 0, 0, 0, 0};

/// What an informed plan of `count` would have measured on a device of `structure`.
AdaptationSet planned_set(const std::string& structure, const std::vector<double>& costs, std::size_t count,
                          double noise = 0) {
  const auto candidates = test::connected_architectures(600, 77);
  const auto table = test::structures().table(candidates);
  std::vector<std::size_t> indices(candidates.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  Rng rng(5);
  sampling::InformationOptions planning;
  planning.noise = StructuredPosteriorOptions().planning_noise;
  AdaptationSet set;
  for (const std::size_t c : sampling::choose_informative(prior_covariance(test::synthetic_library(), table), indices,
                                                          count, rng, planning)) {
    set.architectures.push_back(candidates[c]);
  }
  set.latency_ms = test::latencies_under(structure, costs, set.architectures, noise);
  return set;
}

std::string likeliest_structure(const StructuredPosterior& posterior) {
  return posterior.model->structures()[believed_structures(posterior).front().first].name;
}

TEST(StructuredPosterior, FurtherMeasurementsAreExpectedToLeaveLess) {
  const auto table = test::structures().table(test::connected_architectures(300, 12));
  const auto after = [&](std::size_t samples) {
    return expected_deviation(adapt(test::synthetic_library(), planned_set("live", new_costs, samples, 0.02)), table,
                              10);
  };
  const std::vector<double> three = after(3), twenty = after(20);
  ASSERT_EQ(three.size(), 11U);
  for (std::size_t i = 1; i < three.size(); ++i) EXPECT_LE(three[i], three[i - 1] * (1 + 1e-6)) << i;
  EXPECT_LT(three.back(), 0.7 * three.front());
  EXPECT_LT(twenty.front(), three.front());
}

TEST(StructuredPosterior, TenMeasurementsDescribeADeviceOfEachKind) {
  const std::vector<std::pair<std::string, std::vector<double>>> kinds = {
      {"total", new_costs},
      {"live", {7, 0.4, 3, 9, 1.2, 0.5, 0, 0, 0}},
      {"backward", {7, 0.4, 3, 9, 1.2, 0.5, 0, 0, 0}},
      {"cse", {6, 0, 4, 7, 1.5, 0.5, 0.4, 0.4, 0}}};
  for (const auto& [structure, costs] : kinds) {
    const StructuredPosterior posterior = adapt(test::synthetic_library(), planned_set(structure, costs, 10, 0.01));
    EXPECT_GT(accuracy(posterior, structure, costs), 0.9) << structure;
  }
}

TEST(StructuredPosterior, TwentyMeasurementsNameTheStructure) {
  const std::vector<std::pair<std::string, std::vector<double>>> kinds = {
      {"total", new_costs},
      {"live", {7, 0.4, 3, 9, 1.2, 0.5, 0, 0, 0}},
      {"cse", {6, 0, 4, 7, 1.5, 0.5, 0.4, 0.4, 0}},
      {"layout", {6, 0, 4, 7, 1.5, 0.5, 0.5, 0.4, 1}},
      {"critical", {6, 0.4, 4, 7, 1.5, 0, 0, 0, 0}}};
  for (const auto& [structure, costs] : kinds) {
    const StructuredPosterior posterior = adapt(test::synthetic_library(), planned_set(structure, costs, 20, 0.005));
    EXPECT_EQ(likeliest_structure(posterior), structure);
  }
}

TEST(StructuredPosterior, SeesThroughTheSlowMinutesOfADevice) {
  AdaptationSet set = planned_set("total", new_costs, 12, 0.01);
  for (const std::size_t slow : {1, 4, 9}) set.latency_ms[slow] *= 1.22;
  const double accuracy_of_two_speeds = accuracy(adapt(test::synthetic_library(), set), "total", new_costs);
  StructuredPosteriorOptions one_speed;
  one_speed.slow_steps = {0};
  EXPECT_GT(accuracy_of_two_speeds, 0.9);
  EXPECT_GT(accuracy_of_two_speeds, accuracy(adapt(test::synthetic_library(), set, one_speed), "total", new_costs));
}

TEST(StructuredPosterior, NetworksThatTheRuntimeRemovedTeachNothing) {
  AdaptationSet set = planned_set("backward", new_costs, 10, 0.01);
  const auto architectures = test::connected_architectures(100, 8);
  const auto without = predictions(adapt(test::synthetic_library(), set), architectures);
  AdaptationSet with = set;
  with.architectures.insert(with.architectures.begin() + 3, nasbench::nasbench201().at(0));
  with.latency_ms.insert(with.latency_ms.begin() + 3, 0.001);
  EXPECT_EQ(predictions(adapt(test::synthetic_library(), with), architectures), without);
  const auto found = test::suspicions(with, adapt(test::synthetic_library(), with));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].find("1 measured network connects no input to an output"), 0U) << found[0];
  with.latency_ms[3] = set.latency_ms[0];  // a network of its own cost stays in the set
  EXPECT_NE(predictions(adapt(test::synthetic_library(), with), architectures), without);
  const AdaptationSet only = {{nasbench::nasbench201().at(0)}, {0.001}, false};
  EXPECT_EQ(without_removed(nasbench::nasbench201(), only).architectures.size(), 1u);
}

TEST(StructuredPosterior, IsAProbabilityDistributionOverProperComponents) {
  const StructuredPosterior posterior = adapt(test::synthetic_library(), planned_set("total", new_costs, 10, 0.05));
  double sum = 0;
  for (const Component& component : posterior.components) {
    sum += component.weight;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(component.covariance_ms2);
    EXPECT_GT(eigen.eigenvalues().minCoeff(), -1e-9 * eigen.eigenvalues().maxCoeff());
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_LE(posterior.components.size(), 60u);
  EXPECT_TRUE(std::is_sorted(posterior.components.begin(), posterior.components.end(),
                             [](const Component& a, const Component& b) { return a.weight > b.weight; }));
}

TEST(StructuredPosterior, ScalesWithTheUnit) {
  AdaptationSet set = planned_set("total", new_costs, 10, 0.03);
  const auto architectures = test::connected_architectures(50, 8);
  const auto before = predictions(adapt(test::synthetic_library(), set), architectures);
  for (double& latency : set.latency_ms) latency *= 250;
  const auto after = predictions(adapt(test::synthetic_library(), set), architectures);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i] / before[i], 250, 1e-6);
}

TEST(StructuredPosterior, OneWildMeasurementAmongTenChangesLittle) {
  AdaptationSet set = planned_set("total", new_costs, 10, 0.01);
  for (const double factor : {10.0, 0.1}) {
    AdaptationSet disturbed = set;
    disturbed.latency_ms[4] *= factor;
    const StructuredPosterior posterior = adapt(test::synthetic_library(), disturbed);
    EXPECT_GT(accuracy(posterior, "total", new_costs), 0.95) << factor;
    const std::vector<std::string> found = test::suspicions(disturbed, posterior);
    ASSERT_EQ(found.size(), 1u);
    const std::string begins = nasbench::nasbench201().format(set.architectures[4]) + " measured " +
                               significant_digits(disturbed.latency_ms[4], 3) + " ms where the others suggest ";
    ASSERT_EQ(found[0].find(begins), 0U) << found[0];
    EXPECT_NEAR(std::stod(found[0].substr(begins.size())) / set.latency_ms[4], 1, 0.1);
    EXPECT_NE(found[0].find(" ms: measure it again"), std::string::npos);
  }
}

TEST(StructuredPosterior, AnswersFromOneAndThreeMeasurements) {
  for (const std::size_t count : {1u, 3u}) {
    const AdaptationSet set = planned_set("total", new_costs, count);
    const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
    const auto predicted = predictions(posterior, set.architectures);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(predicted[i] / set.latency_ms[i], 1, 0.1);
    EXPECT_GT(accuracy(posterior, "total", new_costs), count == 1 ? 0.1 : 0.4);
  }
}

TEST(StructuredPosterior, SurvivesLatenciesThatAreAllEqualAndNetworksThatComputeNothing) {
  AdaptationSet equal = planned_set("total", new_costs, 10);
  std::fill(equal.latency_ms.begin(), equal.latency_ms.end(), 12.0);
  AdaptationSet dead;
  for (std::uint64_t ordinal = 0; ordinal < 5; ++ordinal) {
    dead.architectures.push_back(nasbench::nasbench201().at(125 * ordinal));
    ASSERT_FALSE(nasbench::nasbench201().connected(dead.architectures.back()));
    dead.latency_ms.push_back(3 + 0.01 * static_cast<double>(ordinal));
  }
  for (const AdaptationSet& set : {equal, dead}) {
    const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
    for (const double latency : predictions(posterior, test::connected_architectures(200, 6))) {
      EXPECT_TRUE(std::isfinite(latency) && latency > 0);
    }
    const std::vector<std::string> found = test::suspicions(set, posterior);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0], set.latency_ms[0] == 12
                            ? "all 10 latencies are 12 ms: is something else than the network being timed?"
                            : "no measured network connects its input to its output: they say little about others");
  }
}

TEST(StructuredPosterior, RefusesWhatIsNoLatency) {
  AdaptationSet set;
  EXPECT_THROW(adapt(test::synthetic_library(), set), InputError);
  set.architectures = test::connected_architectures(2, 1);
  set.latency_ms = {1};
  EXPECT_THROW(adapt(test::synthetic_library(), set), InputError);
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    set.latency_ms = {1, bad};
    EXPECT_THROW(adapt(test::synthetic_library(), set), InputError);
  }
}

TEST(StructuredPrediction, OfOneComponentIsFeaturesTimesCosts) {
  StructuredPosterior posterior;
  posterior.model = &test::structures();
  Component component;
  component.structure = posterior.model->structure_index("total");
  component.noise = 0.03;
  component.weight = 1;
  component.costs_ms = Eigen::Map<const Eigen::VectorXd>(new_costs.data(), 9);
  component.path_costs_ms = component.costs_ms;
  component.covariance_ms2 = Eigen::MatrixXd::Zero(9, 9);
  component.covariance_ms2(0, 0) = 0.25;
  posterior.components = {component};
  posterior.floor_ms = 8;
  posterior.anchors = {0};
  posterior.residual_weights = Eigen::VectorXd::Zero(1);
  posterior.residual_reduction = Eigen::MatrixXd::Zero(1, 1);
  posterior.residual_variance = 0.0007;
  // Two 3×3 convolutions and a pool: 7 + 2·9 + 1.2 ms; nothing but none: the floor.
  const auto& space = nasbench::nasbench201();
  const Architecture busy = space.parse("|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|none~0|none~1|avg_pool_3x3~2|");
  const LogLatency predicted = predict(posterior, posterior.model->table({busy, space.at(0)}));
  EXPECT_NEAR(std::exp(predicted.mean[0]), 26.2, 1e-9);
  EXPECT_NEAR(predicted.deviation[0], std::sqrt(0.25 / (26.2 * 26.2) + 0.0009 + 0.0007), 1e-12);
  EXPECT_NEAR(std::exp(predicted.mean[1]), 8, 1e-9);

  posterior.residual_weights[0] = 0.1;
  const std::uint64_t anchor = posterior.model->table({busy}).signatures[0];
  posterior.anchors = {anchor};
  EXPECT_NEAR(predict(posterior, posterior.model->table({busy})).mean[0], std::log(26.2) + 0.1, 1e-12);
}

TEST(StructuredPrediction, DoesNotDependOnCompany) {
  const StructuredPosterior posterior = adapt(test::synthetic_library(), planned_set("live", new_costs, 10, 0.05));
  const auto architectures = test::connected_architectures(40, 12);
  const auto together = predictions(posterior, architectures);
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    EXPECT_EQ(predictions(posterior, {architectures[i]})[0], together[i]);
  }
}

TEST(StructuredPrediction, IntervalsHoldThePredictionAndGrowWithConfidence) {
  const StructuredPosterior posterior = adapt(test::synthetic_library(), planned_set("total", new_costs, 5, 0.05));
  const auto table = test::structures().table(test::connected_architectures(100, 13));
  Predictions narrower = test::intervals(posterior, table, 0.1);
  for (const double confidence : {0.5, 0.8, 0.9, 0.99, 0.9999}) {
    const Predictions wider = test::intervals(posterior, table, confidence);
    for (std::size_t a = 0; a < table.size; ++a) {
      EXPECT_LT(wider.lower_ms[a], narrower.lower_ms[a]);
      EXPECT_GT(wider.upper_ms[a], narrower.upper_ms[a]);
      EXPECT_LT(wider.lower_ms[a], wider.latency_ms[a]);
    }
    narrower = wider;
  }
  EXPECT_THROW(test::intervals(posterior, table, 1), InputError);
  EXPECT_THROW(test::intervals(posterior, table, std::nan("")), InputError);
}

TEST(Calibration, CoversWhatItPromisesOnDevicesHeldOut) {
  const test::SyntheticPool pool = test::structured_pool(0.04);
  StructuredLibrary library = fit_library(test::structures(), pool.devices, pool.latencies);
  library.calibration = calibrate(library, pool.latencies);
  EXPECT_TRUE(std::is_sorted(library.calibration.quantiles.begin(), library.calibration.quantiles.end()));
  const auto architectures = test::connected_architectures(500, 99);
  const auto truth = test::latencies_under("total", new_costs, architectures, 0.04, 21);
  AdaptationSet set = planned_set("total", new_costs, 10, 0.04);
  const Predictions intervals = test::intervals(adapt(library, set), test::structures().table(architectures), 0.9);
  double covered = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    covered += truth[i] >= intervals.lower_ms[i] && truth[i] <= intervals.upper_ms[i];
  }
  EXPECT_GT(covered / static_cast<double>(truth.size()), 0.75);
}

TEST(Calibration, NeedsThreeDevices) {
  test::SyntheticPool pool = test::structured_pool();
  pool.devices.resize(2);
  pool.latencies.latency_ms.resize(2);
  const StructuredLibrary library = fit_library(test::structures(), pool.devices, pool.latencies);
  EXPECT_TRUE(calibrate(library, pool.latencies).probabilities.empty());
}

TEST(Suspicions, RecogniseSecondsAndMicroseconds) {
  const AdaptationSet set = planned_set("total", new_costs, 10, 0.02);
  EXPECT_TRUE(test::suspicions(set, adapt(test::synthetic_library(), set)).empty());
  const std::string
      begins = "the latencies are ",
      seconds = " times below the fastest device of the pool: are they in seconds? Milliseconds are expected",
      microseconds = " times above the slowest device of the pool: are they in microseconds? Milliseconds are expected";
  for (const auto& [factor, ends] : {std::pair{1e-3, seconds}, {1e3, microseconds}}) {
    AdaptationSet scaled = set;
    for (double& latency : scaled.latency_ms) latency *= factor;
    const auto found = test::suspicions(scaled, adapt(test::synthetic_library(), scaled));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find(ends), std::string::npos) << found[0];
    ASSERT_EQ(found[0].find(begins), 0U);
    EXPECT_GT(std::stod(found[0].substr(begins.size())), 30);
  }
}

TEST(Suspicions, CountFewMeasurements) {
  const auto first = [](std::size_t count) {
    const AdaptationSet set = planned_set("total", new_costs, count);
    return test::suspicions(set, adapt(test::synthetic_library(), set)).at(0);
  };
  EXPECT_EQ(first(1), "1 measurement: the answer leans on the pool; ten are recommended");
  EXPECT_EQ(first(3), "3 measurements: the answer leans on the pool; ten are recommended");
}

TEST(Explanation, NamesStructureCostsAndNoise) {
  const AdaptationSet set = planned_set("total", new_costs, 20, 0.01);
  const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
  EXPECT_EQ(likeliest_structure(posterior), "total");
  EXPECT_GT(believed_structures(posterior).front().second, 0.5);
  const std::vector<PartCost> costs = believed_costs(posterior);
  const auto conv = std::find_if(costs.begin(), costs.end(), [](const auto& c) { return c.name == "nor_conv_3x3"; });
  ASSERT_NE(conv, costs.end());
  EXPECT_NEAR(conv->cost_ms, 9, 0.5);
  EXPECT_LE(test::percent_of_noise(set, posterior), 3);
}

TEST(StructuredPlanning, ASecondRoundKnowsTheFirst) {
  const auto candidates = test::connected_architectures(400, 31);
  const auto table = test::structures().table(candidates);
  const AdaptationSet set = planned_set("total", new_costs, 4, 0.01);
  const auto before = prior_covariance(test::synthetic_library(), table);
  const auto after = posterior_covariance(adapt(test::synthetic_library(), set), table);
  EXPECT_LT(sampling::expected_variance(after, {}).front(), 0.2 * sampling::expected_variance(before, {}).front());
}

}  // namespace
}  // namespace tenshot::trainer::structured
