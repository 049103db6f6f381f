#include "trainer/predictors/operators/device_kinds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_calibration.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/kind_solver.h"
#include "trainer/predictors/operators/operators_archive.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr Index features = 4, networks = 40;

/// Log costs that are usual for the two kinds: GPUs take long for being asked and little for arithmetic.
const std::vector<double> of_processors = {0, -1, 1, -0.5}, of_gpus = {2, 1.5, -1.5, -1};

FeatureScale scale_of_one_measure_each() { return {{0, 1, 2, 3}, Eigen::VectorXd::Zero(features)}; }

Eigen::MatrixXd some_networks(std::uint64_t seed, Index count = networks) {
  Rng rng(seed);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(count, features);
  for (Index n = 0; n < count; ++n) {
    for (Index f = 1; f < features; ++f) rows(n, f) = std::exp(0.8 * rng.normal());
  }
  return rows;
}

Eigen::VectorXd drawn(const std::vector<double>& usual, double spread, Rng& rng) {
  Eigen::VectorXd log_costs(features);
  const double speed = 0.5 * rng.normal();
  for (Index f = 0; f < features; ++f)
    log_costs[f] = usual[static_cast<std::size_t>(f)] + speed + spread * rng.normal();
  return log_costs;
}

Eigen::VectorXd drawn_gpu() {
  Rng rng(5);
  return drawn(of_gpus, 0.1, rng);
}

/// Twelve processors and eight GPUs, whose costs are within a tenth of what is usual for their kind, but for their
/// speed.
PoolNumbers two_kinds() {
  PoolNumbers pool;
  pool.features = some_networks(1);
  pool.operator_features = features;
  pool.scale = scale_of_one_measure_each();
  pool.latency_ms.resize(20, networks);
  Rng rng(2);
  for (Index d = 0; d < 20; ++d) {
    const bool gpu = d >= 12;
    const Eigen::VectorXd costs = drawn(gpu ? of_gpus : of_processors, 0.1, rng).array().exp();
    pool.latency_ms.row(d) = (pool.features * costs).transpose();
    for (Index n = 0; n < networks; ++n) pool.latency_ms(d, n) *= std::exp(0.01 * rng.normal());
    pool.labels.kind.push_back(gpu ? "gpus" : "processors");
    pool.labels.board.push_back("board" + std::to_string(d));
  }
  return pool;
}

const CostLibrary& library_of_two_kinds() {
  static const CostLibrary library = fit_library(two_kinds());
  return library;
}

TEST(DeviceKinds, AreAllDevicesAndThoseOfEachRuntimeWithEnough) {
  const std::vector<DeviceKind>& kinds = library_of_two_kinds().kinds;
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].members.size(), 20U);
  EXPECT_EQ(kinds[1].name, "gpus");
  EXPECT_EQ(kinds[1].members.size(), 8U);
  EXPECT_EQ(kinds[2].name, "processors");
}

/// The mean square error of log latency of the first device's networks behind the `measured` first ones.
double error_of_first(const Eigen::MatrixXd& costs, const CostLibrary& library, Index measured) {
  const PoolNumbers pool = two_kinds();
  const Eigen::VectorXd predicted_ms = library.median_ms[0] * pool.features * costs.row(0).transpose();
  const Eigen::ArrayXd truth_ms = pool.latency_ms.row(0).transpose();
  return (predicted_ms.array() / truth_ms).log().tail(networks - measured).square().mean();
}

TEST(DeviceKinds, TellWhatADeviceCostsThatMeasuredFewNetworks) {
  constexpr Index measured = 6;
  PoolNumbers pool = two_kinds();
  Rng rng(9);
  for (Index n = 0; n < measured; ++n) pool.latency_ms(0, n) *= std::exp(0.2 * rng.normal());
  pool.latency_ms.row(0).tail(networks - measured).setConstant(std::nan(""));
  const CostLibrary library = fit_library(pool);
  pool.scale.measure.clear();  // no kinds
  const CostLibrary alone = fit_library(pool);
  EXPECT_LT(error_of_first(library.known_costs, library, measured), 0.7 * error_of_first(alone.costs, alone, measured));
  EXPECT_EQ(library.costs.row(0), alone.costs.row(0)) << "as a prior it is what its own networks say";
  EXPECT_TRUE(library.known_costs.row(1).isZero(0)) << "forty networks say enough";
  EXPECT_NE(library.costs.row(1), alone.costs.row(1));
}

/// The weight of processors and of their kind where one network of a GPU was measured.
double weight_of_others(const SaidRuntime& said) {
  AdaptationFeatures set;
  set.said = said;
  set.features = some_networks(1, 1);
  set.latency_ms = {(set.features * Eigen::VectorXd(drawn_gpu().array().exp()))(0)};
  double weight = 0;
  for (const CostComponent& component : adapt(library_of_two_kinds(), set).components) {
    if (component.entry < 12 || component.entry == 22) weight += component.weight;
  }
  return weight;
}

/// Processors are predicted ten times as closely as GPUs, so that one number could not be the size of both's errors.
TEST(DeviceKinds, HaveIntervalsOfTheirOwnSize) {
  PoolNumbers pool = two_kinds();
  Rng rng(8);
  for (Index d = 12; d < 20; ++d) {
    for (Index n = 0; n < networks; ++n) pool.latency_ms(d, n) *= std::exp(0.2 * rng.normal());
  }
  CostLibrary library = fit_library(pool);
  std::vector<std::size_t> families(20);
  std::iota(families.begin(), families.end(), std::size_t{0});
  calibrate(pool, library, families, {}, {});
  EXPECT_GT(library.kinds[1].log_rms, 4 * library.kinds[2].log_rms);
  EXPECT_DOUBLE_EQ(library.error_scale_of(12), library.kinds[1].error_scale);
  EXPECT_DOUBLE_EQ(library.error_scale_of(0), library.kinds[2].error_scale);
  EXPECT_NE(library.kinds[1].error_scale, 1);
  EXPECT_GT(library.residual_variance_of(12), 10 * library.residual_variance_of(0));
  const auto lengths = [&](Index device) {
    AdaptationFeatures set;
    set.features = pool.features.topRows(10);
    for (Index n = 0; n < 10; ++n) set.latency_ms.push_back(pool.latency_ms(device, n));
    const CostPosterior posterior = adapt(library, set);
    const IntervalCalibration own = calibration_of(library, posterior, {{0.05, 0.95}, {-1, 1}});
    return predict(posterior, table_of(some_networks(3))).deviation.mean() * error_quantile(own, 0.95);
  };
  EXPECT_GT(lengths(15), 3 * lengths(5));
  Archive archive;
  put_library(archive, library, Exactness::float64);
  EXPECT_DOUBLE_EQ(archive.numbers("kind1.errors").at(1), library.kinds[1].error_scale);
}

TEST(DeviceKinds, OfOtherRuntimesCountLessWhereTheRuntimeIsSaid) {
  const double unsaid = weight_of_others({});
  EXPECT_GT(unsaid, 0.2);
  SaidRuntime said{"gpus", {}};
  for (std::size_t d = 0; d < 20; ++d) said.of_entry.push_back(d >= 12);
  EXPECT_LT(weight_of_others(said), 0.3 * unsaid);
}

/// How far off, as log latency, the costs of boards are for networks that they did not measure. Their costs are those
/// of the phones, but for a third. They measured eight networks, each of which takes all boards alike more or less than
/// its operators say.
double error_of_unmeasured(double network_variance) {
  constexpr Index costs = 10, measured = 8;
  constexpr int draws = 20;
  KindOptions options;
  options.network_variance = network_variance;
  FeatureScale scale{std::vector<std::size_t>(costs), Eigen::VectorXd::Zero(costs)};
  std::iota(scale.measure.begin(), scale.measure.end(), std::size_t{0});
  double sum = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    Rng rng(50 + draw);
    const auto normal = [&] { return rng.normal(); };
    const Eigen::MatrixXd rows = Eigen::MatrixXd::NullaryExpr(networks, costs, normal).array().exp();
    const Eigen::VectorXd of_phones = Eigen::VectorXd::NullaryExpr(costs, normal);
    const Eigen::VectorXd of_boards = of_phones + 0.3 * Eigen::VectorXd::NullaryExpr(costs, normal);
    const Eigen::VectorXd alike = 0.3 * Eigen::VectorXd::NullaryExpr(measured, normal);
    Eigen::MatrixXd latency_ms(20, networks);
    DeviceLabels labels;
    for (Index d = 0; d < 20; ++d) {
      const bool board = d >= 10;
      const Eigen::VectorXd own = (board ? of_boards : of_phones) + 0.1 * Eigen::VectorXd::NullaryExpr(costs, normal);
      latency_ms.row(d) = (rows * own.array().exp().matrix()).transpose();
      labels.kind.push_back(board ? "boards" : "phones");
      labels.board.push_back("board" + std::to_string(d));
      if (!board) continue;
      latency_ms.row(d).head(measured).array() *= alike.array().exp().transpose();
      latency_ms.row(d).tail(networks - measured).setConstant(std::nan(""));
    }
    const DeviceKind kind = fit_kinds(rows, scale, latency_ms, labels, options).at(1);
    const auto log_of = [&](const Eigen::VectorXd& log_costs) {
      return (rows * log_costs.array().exp().matrix()).tail(networks - measured).array().log().eval();
    };
    sum += (log_of(kind.log_costs) - log_of(of_boards)).abs().mean();
  }
  return sum / draws;
}

TEST(DeviceKinds, TellNoMoreOfTheirCostsThanTheirNetworksDo) {
  EXPECT_LT(error_of_unmeasured(0.1), 0.9 * error_of_unmeasured(0));
}

TEST(DeviceKinds, HaveTheRelationsOfCostsThatAreUsual) {
  const std::vector<DeviceKind>& kinds = library_of_two_kinds().kinds;
  for (Index f = 1; f < features; ++f) {
    const auto at = static_cast<std::size_t>(f);
    // Eight GPUs' networks share what costs miss of them: their small costs stay nearer to those of all devices.
    EXPECT_NEAR(kinds[1].log_costs[f] - kinds[1].log_costs[0], of_gpus[at] - of_gpus[0], 1) << f;
    EXPECT_NEAR(kinds[2].log_costs[f] - kinds[2].log_costs[0], of_processors[at] - of_processors[0], 0.4) << f;
  }
  EXPECT_LT(kinds[2].covariance(2, 2), kinds[0].covariance(2, 2)) << "all devices together vary more than one kind";
}

TEST(DeviceKinds, TooFewOfARuntimeAreOneKindTogether) {
  PoolNumbers pool = two_kinds();
  for (std::size_t d = 12; d < 20; ++d) pool.labels.kind[d] = "runtime " + std::to_string(d / 2);
  const std::vector<DeviceKind> kinds = fit_kinds(pool.features, pool.scale, pool.latency_ms, pool.labels);
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[1].name, "processors");
  EXPECT_EQ(kinds[2].name, "other runtimes");
  EXPECT_EQ(kinds[2].members.size(), 8U);
}

TEST(DeviceKinds, SettingsOfOneBoardWeighLessThanAsManyBoards) {
  PoolNumbers pool = two_kinds();
  for (std::size_t d = 0; d < 4; ++d) pool.labels.board[d] = "one board";
  const std::vector<DeviceKind> kinds = fit_kinds(pool.features, pool.scale, pool.latency_ms, pool.labels);
  EXPECT_DOUBLE_EQ(kinds[2].members[0].weight, std::pow(4, -0.7));
  EXPECT_DOUBLE_EQ(kinds[2].members[4].weight, 1);
}

TEST(DeviceKinds, OfSomeDevicesAreEstimatedFromThoseAlone) {
  const CostLibrary& library = library_of_two_kinds();
  const std::vector<DeviceKind> part = kinds_of_devices(library.kinds, {12, 13, 14, 15, 0, 1}, library.scale);
  ASSERT_EQ(part.size(), 2U) << "two processors are too few";
  EXPECT_EQ(part[0].members.size(), 6U);
  EXPECT_EQ(part[1].name, "gpus");
  EXPECT_EQ(part[1].members[0].device, 0U);
  std::vector<DeviceKind> without_members = library.kinds;
  for (DeviceKind& kind : without_members) kind.members.clear();
  EXPECT_TRUE(kinds_of_devices(without_members, {0, 1, 2, 3}, library.scale).empty());
}

TEST(DeviceKinds, AreAlikeWithinThemselvesAndWithKindsOfFewDevicesNotAtAll) {
  DeviceLabels labels;
  labels.kind = {"npu", "gpus", "gpus", "gpus", "gpus", "fpga"};
  Eigen::MatrixXd differences = Eigen::MatrixXd::Constant(6, 6, 0.01);
  set_kinds_apart(labels, {}, differences);
  CostLibrary library;
  library.differences = differences;
  const Eigen::MatrixXd weights = nearness(library);
  for (Index other = 1; other <= 4; ++other) {
    EXPECT_LT(weights(0, other), 1e-20) << "an accelerator and a GPU";
    EXPECT_NEAR(weights(1, other), 0.25, 1e-12) << "two GPUs";
  }
  EXPECT_NEAR(weights(0, 5), 0.5, 1e-12) << "two of kinds that are not learned apart";
  EXPECT_NEAR(representation(library).segment(1, 4).sum(), 0.5, 1e-12) << "two groups of alike devices weigh the same";
}

TEST(DeviceKinds, OfAPoolSetItsEntriesApart) {
  const CostLibrary library = fit_library(two_kinds());
  EXPECT_LT(nearness(library)(0, 19), 1e-20);
  EXPECT_GT(nearness(library)(0, 1), 0.01);
}

TEST(DeviceKinds, ComeBackFromTheirFile) {
  Archive archive;
  FeatureMap map;
  map.raw = {0, 1, 2, 3};
  map.unit = Eigen::VectorXd::Ones(features);
  put_library(archive, library_of_two_kinds());
  const CostLibrary back = get_library(archive, map);
  ASSERT_EQ(back.kinds.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    const DeviceKind& kind = library_of_two_kinds().kinds[k];
    EXPECT_TRUE(back.kinds[k].log_costs.isApprox(kind.log_costs));
    EXPECT_TRUE(back.kinds[k].covariance.isApprox(kind.covariance, 1e-9));
    EXPECT_TRUE(back.kinds[k].residual.isApprox(kind.residual));
    EXPECT_LE(back.kinds[k].residual_factor.cols(), 12);
  }
}

/// The first networks of a device with these log costs.
AdaptationFeatures measured(const Eigen::MatrixXd& rows, Index count, const Eigen::VectorXd& log_costs) {
  AdaptationFeatures set;
  set.features = rows.topRows(count);
  const Eigen::VectorXd latency_ms = set.features * log_costs.array().exp().matrix();
  set.latency_ms.assign(latency_ms.data(), latency_ms.data() + count);
  return set;
}

TEST(DeviceKinds, ExplainADeviceThatNoEntryIsLike) {
  Eigen::VectorXd log_costs(features);
  log_costs << 1, 0.2, 0.2, -2.2;
  const Eigen::MatrixXd rows = some_networks(9, 60);
  const Eigen::VectorXd truth = (rows.bottomRows(50) * log_costs.array().exp().matrix()).array().log();
  const CostPosterior posterior = adapt(library_of_two_kinds(), measured(rows, 10, log_costs), {});
  EXPECT_LT((predict(posterior, table_of(rows.bottomRows(50))).mean - truth).cwiseAbs().mean(), 0.03);
}

TEST(DeviceKinds, AreNamedByTheComponentsBehindTheEntries) {
  PosteriorOptions kinds_alone;
  kinds_alone.kind_share = 1;
  Rng rng(4);
  const Eigen::MatrixXd rows = some_networks(9);
  const CostPosterior posterior =
      adapt(library_of_two_kinds(), measured(rows, 10, drawn(of_gpus, 0.1, rng)), kinds_alone);
  double of_gpus_kind = 0;
  for (const CostComponent& component : posterior.components) {
    ASSERT_GE(component.entry, 20U);
    if (component.entry == 21) of_gpus_kind += component.weight;
    EXPECT_GT(component.costs_ms.minCoeff(), 0) << "no cost of a log-normal is below zero";
  }
  EXPECT_GT(of_gpus_kind, 0.5);
}

TEST(DeviceKinds, AWrongMeasurementDoesNotCarryTheOthersAway) {
  Rng rng(5);
  const Eigen::VectorXd log_costs = drawn(of_processors, 0.1, rng);
  const Eigen::MatrixXd rows = some_networks(9);
  AdaptationFeatures set = measured(rows, 10, log_costs);
  set.latency_ms[3] *= 5;
  const CostPosterior posterior = adapt(library_of_two_kinds(), set, {});
  const Eigen::VectorXd truth = (rows.bottomRows(30) * log_costs.array().exp().matrix()).array().log();
  EXPECT_LT((predict(posterior, table_of(rows.bottomRows(30))).mean - truth).cwiseAbs().maxCoeff(), 0.15);
}

TEST(DeviceKinds, MakeAPlanOfNetworksThatTellTheirCostsApart) {
  // Nine networks are nearly the same; one alone has much of feature 3.
  Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(10, features);
  for (Index n = 0; n < 10; ++n) rows(n, 1) += 0.01 * static_cast<double>(n);
  rows(7, 3) = 50;
  const sampling::LatencyCovariance prior = prior_view(library_of_two_kinds(), rows).covariance;
  Rng rng(1);
  sampling::InformationOptions options;
  options.random_half = false;
  const std::vector<std::size_t> chosen =
      sampling::choose_informative(prior, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2, rng, options);
  EXPECT_TRUE(chosen[0] == 7 || chosen[1] == 7);
}

}  // namespace
}  // namespace tenshot::trainer::operators
