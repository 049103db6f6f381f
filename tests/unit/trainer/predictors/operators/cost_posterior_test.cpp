#include "trainer/predictors/operators/cost_posterior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "tests/unit/trainer/predictors/operators/cost_bench.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/known_device.h"
#include "trainer/predictors/operators/operators_archive.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

TEST(CostLibrary, RecoversCostsFromExactLatencies) {
  const Bench bench = bench_of(3, 60, 5, 1);
  const CostLibrary library = fit_library(bench.pool);
  for (Index d = 0; d < 3; ++d) {
    const Eigen::VectorXd costs_ms = library.median_ms[d] * library.costs.row(d).transpose();
    EXPECT_TRUE(costs_ms.isApprox(bench.costs.row(d).transpose(), 1e-6)) << costs_ms.transpose();
    EXPECT_LT(library.log_rms[d], 1e-6);
  }
}

TEST(CostLibrary, LeavesOutWhatADeviceDidNotMeasure) {
  Bench bench = bench_of(2, 60, 4, 2);
  for (Index n = 0; n < 30; ++n) bench.pool.latency_ms(1, n) = std::numeric_limits<double>::quiet_NaN();
  const CostLibrary library = fit_library(bench.pool);
  const Eigen::VectorXd costs_ms = library.median_ms[1] * library.costs.row(1).transpose();
  EXPECT_TRUE(costs_ms.isApprox(bench.costs.row(1).transpose(), 1e-6));
}

/// Devices of unlike speed and like relations; the first has measured no network with the last feature.
TEST(CostLibrary, WhatADeviceNeverMeasuredCostsItWhatItCostsTheOthers) {
  Bench bench = bench_of(3, 60, 4, 18);
  for (Index d = 1; d < 3; ++d) bench.costs.row(d) = (d + 1) * bench.costs.row(0);
  bench.pool.features.col(3).head(30).setZero();
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  bench.pool.latency_ms.row(0).tail(30).setConstant(std::numeric_limits<double>::quiet_NaN());
  const CostLibrary library = fit_library(bench.pool);
  EXPECT_NEAR(library.median_ms[0] * library.costs(0, 3), bench.costs(0, 3), 0.02 * bench.costs(0, 3));
}

/// One of three equally probable explanations says 90 ms where the others say 1 and 2: of an operator that was
/// measured, of one that was not, and of a decision that was not.
TEST(CostPosterior, NoOperatorThatWasNotMeasuredCostsFarMoreThanTheMedian) {
  CostPosterior posterior;
  for (const double cost_ms : {1, 90, 2}) {
    posterior.components.push_back({0, 0.1, 1.0 / 3, Eigen::Vector3d::Constant(cost_ms)});
  }
  posterior.least_costs_ms = Eigen::Vector3d::Constant(31);
  posterior.rest_ms2 = Eigen::Vector3d(0, 0, 1);
  posterior.spread_ms = Eigen::MatrixXd::Constant(3, 1, 31);
  confine_unmeasured(Eigen::RowVector3d(5, 0, 0), posterior);
  EXPECT_EQ(posterior.components[1].costs_ms, Eigen::Vector3d(90, 20, 90)) << "ten times the median";
  EXPECT_EQ(posterior.components[2].costs_ms, Eigen::Vector3d(2, 2, 2));
  EXPECT_NEAR(posterior.least_costs_ms[1], 23.0 / 3, 1e-9) << "31 ms, of a mean of 31 that became a third of 23";
  EXPECT_NEAR(posterior.spread_ms(1, 0), 23.0 / 3, 1e-9);
  EXPECT_EQ(posterior.spread_ms(0, 0), 31);
}

TEST(CostLibrary, RefusesADeviceWithoutLatencies) {
  Bench bench = bench_of(2, 20, 3, 3);
  bench.pool.latency_ms.row(1).setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(fit_library(bench.pool), InputError);
}

TEST(CostLibrary, DrawsACostThatOneNetworkAloneDeterminesTowardsZero) {
  Bench bench = bench_of(1, 40, 4, 5);
  bench.pool.features.col(3).setZero();
  bench.pool.features(7, 3) = 1;
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  LibraryOptions all_at_once;
  all_at_once.subsets = 0;
  const CostLibrary plain = fit_library(bench.pool, all_at_once), library = fit_library(bench.pool);
  EXPECT_NEAR(plain.median_ms[0] * plain.costs(0, 3), bench.costs(0, 3), 1e-6 * bench.costs(0, 3));
  EXPECT_LT(library.costs(0, 3), 0.9 * plain.costs(0, 3));
  EXPECT_GT(library.costs(0, 3), 0.2 * plain.costs(0, 3));
}

/// A large and a small network have an operator that costs by its size. A subset with the large one alone could give
/// all its time to how many there are.
TEST(CostLibrary, NoCostIsAboveWhatAWholeNetworkTakes) {
  Bench bench = bench_of(1, 40, 4, 5);
  bench.pool.features.rightCols(2).setZero();
  bench.pool.features.row(7) << 0, 0, 4, 0.4;
  bench.pool.features.row(8) << 0, 0, 3, 0.0003;
  bench.costs.row(0).tail(2) << 0, 2500;
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  const CostLibrary library = fit_library(bench.pool);
  EXPECT_LE(3 * library.median_ms[0] * library.costs(0, 2), 1.001 * bench.pool.latency_ms(0, 8));
  EXPECT_GT(library.costs(0, 3), 0);
}

/// Only network 7 has the last of four features, and the first of three devices did not measure it.
Bench bench_with_a_gap() {
  Bench bench = bench_of(3, 40, 4, 6);
  bench.pool.features.col(3).setZero();
  bench.pool.features(7, 3) = 1;
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  bench.pool.latency_ms(0, 7) = std::numeric_limits<double>::quiet_NaN();
  return bench;
}

TEST(CostLibrary, DrawsACostThatADeviceDoesNotTellTowardsThatOfTheOthers) {
  const Bench bench = bench_with_a_gap();
  LibraryOptions drawn;
  drawn.typical_pull = 0.05;
  const CostLibrary library = fit_library(bench.pool, drawn);
  const double others = (library.costs(1, 3) + library.costs(2, 3)) / 2;
  EXPECT_GT(library.costs(0, 3), 0.8 * others);
  EXPECT_LT(library.costs(0, 3), 1.2 * others);
  EXPECT_LT(library.log_rms.maxCoeff(), 0.05) << "what the devices tell is still explained";
}

TEST(CostLibrary, AStrongPullMakesDevicesEqual) {
  const Bench bench = bench_with_a_gap();
  LibraryOptions drawn;
  drawn.typical_pull = 1000;
  const CostLibrary library = fit_library(bench.pool, drawn);
  EXPECT_LT((library.costs.row(0) - library.costs.row(1)).cwiseAbs().maxCoeff(), 1e-3 * library.costs.maxCoeff());
  EXPECT_LT((library.costs.row(0) - library.costs.row(2)).cwiseAbs().maxCoeff(), 1e-3 * library.costs.maxCoeff());
}

TEST(CostLibrary, EntriesThatAreAlikeRepresentOneDeviceTogether) {
  CostLibrary library;
  library.alike = 0.15;
  library.differences = Eigen::MatrixXd::Constant(3, 3, 100);  // the first two are the same, the third is far away
  library.differences.topLeftCorner(2, 2).setZero();
  library.differences(2, 2) = 0;
  const Eigen::VectorXd weights = representation(library);
  EXPECT_NEAR(weights[0], 0.25, 1e-9);
  EXPECT_NEAR(weights[1], 0.25, 1e-9);
  EXPECT_NEAR(weights[2], 0.5, 1e-9);
}

TEST(CostLibrary, KnowsWhatDecisionsAddToOperators) {
  // One operator feature, and a decision whose second option costs a tenth of the base more than its operators say.
  PoolNumbers pool;
  pool.features.resize(200, 3);
  pool.operator_features = 1;
  pool.latency_ms.resize(1, 200);
  for (Index n = 0; n < 200; ++n) {
    const double second = n % 2 == 0 ? 0 : 1;
    pool.features.row(n) << 1, 1 - second, second;
    pool.latency_ms(0, n) = 10 + second;
  }
  const CostLibrary library = fit_library(pool);
  const Eigen::VectorXd fitted = library.median_ms[0] * pool.features * library.costs.row(0).transpose();
  EXPECT_NEAR(fitted[0], 10, 0.1);
  EXPECT_NEAR(fitted[1], 11, 0.1);
  EXPECT_FALSE(library.places.compared());
}

TEST(CostPosterior, OfAKnownDeviceReachesFromItsOwnNetworksAlone) {
  // The first device measured the forty of eighty networks that cost it least; the others measured all.
  Bench bench = bench_of(8, 80, 6, 4);
  std::vector<double> sorted(80);
  Eigen::Map<Eigen::VectorXd>(sorted.data(), 80) = bench.pool.latency_ms.row(0);
  std::sort(sorted.begin(), sorted.end());
  for (Index n = 0; n < 80; ++n) {
    if (bench.pool.latency_ms(0, n) > sorted[39]) bench.pool.latency_ms(0, n) = std::nan("");
  }
  CostLibrary library = fit_library(bench.pool);
  library.reach_variance = {1, 1};
  const auto of = [&](std::size_t device) {
    return predict(known_posterior(library, nearness(library), device, 6, {}), table_of(bench.pool.features));
  };
  const LogLatency first = of(0), other = of(1);
  Index costliest = 0;
  bench.pool.latency_ms.row(1).maxCoeff(&costliest);
  EXPECT_GT(first.reach[costliest], 0.1);
  EXPECT_NEAR(other.reach[costliest], 0, 1e-3);
  for (Index n = 0; n < 80; ++n) {
    const bool is_own = std::isfinite(bench.pool.latency_ms(0, n));
    EXPECT_LT(is_own ? std::abs(first.reach[n]) : 0, 1e-3) << n;
  }
  library.sizes.row(0).setConstant(1e6);  // as in a file that was altered
  EXPECT_THROW(of(0), FormatError);
  library.sizes.resize(0, 0);  // as in files of earlier versions
  EXPECT_GT(of(0).reach[costliest], 0.1) << "its weights tell which networks are its own";
  library.known_weights.col(0).setZero();
  EXPECT_NEAR(of(0).reach[costliest], 0, 1e-3) << "nothing tells";
}

TEST(CostPosterior, PredictsADeviceLikeThePoolsWithinAPercent) {
  const Bench bench = bench_of(8, 80, 6, 4);
  const CostLibrary library = fit_library(bench.pool);
  const Eigen::VectorXd costs = 3 * (bench.costs.row(2) + 0.05 * bench.costs.row(3)).transpose();
  const CostPosterior posterior = adapt(library, first_networks(bench, 10, costs));
  const LogLatency predicted = predict(posterior, table_of(bench.pool.features));
  const Eigen::VectorXd truth = (bench.pool.features * costs).array().log();
  EXPECT_LT((predicted.mean - truth).cwiseAbs().maxCoeff(), 0.02);
  double total = 0;
  for (const CostComponent& component : posterior.components) total += component.weight;
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(CostPosterior, IsUnmovedByOneGrossError) {
  const Bench bench = bench_of(8, 80, 5, 5);
  const CostLibrary library = fit_library(bench.pool);
  const Eigen::VectorXd costs = 2 * bench.costs.row(1).transpose();
  AdaptationFeatures set = first_networks(bench, 10, costs);
  set.latency_ms[4] *= 3;
  const LogLatency predicted = predict(adapt(library, set), table_of(bench.pool.features));
  const Eigen::ArrayXd error = predicted.mean.array() - (bench.pool.features * costs).array().log();
  EXPECT_LT(std::sqrt(error.square().mean()), 0.05);
}

TEST(CostPosterior, IsSurerWithMoreMeasurements) {
  const Bench bench = bench_of(8, 80, 8, 6);
  const CostLibrary library = fit_library(bench.pool);
  const Eigen::VectorXd costs = bench.costs.colwise().mean().transpose();
  const FeatureTable table = table_of(bench.pool.features);
  const double three = predict(adapt(library, first_networks(bench, 3, costs)), table).deviation.mean();
  const double twenty = predict(adapt(library, first_networks(bench, 20, costs)), table).deviation.mean();
  EXPECT_LT(twenty, 0.6 * three);
}

/// A cost that other networks' measurements have made negative must not make a network of it free, whatever its size.
TEST(CostPosterior, OfANetworkUnlikeAllMeasuredHasBoundsThatALatencyCanHave) {
  const Bench bench = bench_of(8, 80, 4, 16);
  CostPosterior posterior = adapt(fit_library(bench.pool), first_networks(bench, 10, bench.costs.row(1)));
  ASSERT_GT(posterior.least_costs_ms.minCoeff(), 0);
  for (CostComponent& component : posterior.components) component.costs_ms[2] = -component.costs_ms[2];
  Eigen::MatrixXd features = Eigen::MatrixXd::Ones(3, 4);
  features.col(2) << 1e3, 1e6, 1e9;
  const LogLatency predicted = predict(posterior, table_of(features));
  for (Index n = 0; n < 3; ++n) {
    EXPECT_GE(predicted.mean[n], std::log(features.row(n).dot(posterior.least_costs_ms)) - 1) << n;
    EXPECT_LT(predicted.deviation[n], 4) << n;
  }
  EXPECT_NEAR(predicted.mean[2] - predicted.mean[1], std::log(1e3), 0.1);
}

TEST(CostPosterior, OfOneMeasurementKeepsItsScale) {
  const Bench bench = bench_of(4, 40, 4, 7);
  const CostPosterior posterior = adapt(fit_library(bench.pool), first_networks(bench, 1, bench.costs.row(0)));
  const LogLatency predicted = predict(posterior, table_of(bench.pool.features.topRows(1)));
  EXPECT_NEAR(predicted.mean[0], std::log(bench.pool.latency_ms(0, 0)), 0.1);
}

TEST(CostPosterior, RefusesLatenciesThatAreNone) {
  const Bench bench = bench_of(3, 30, 3, 8);
  const CostLibrary library = fit_library(bench.pool);
  AdaptationFeatures set = first_networks(bench, 3, bench.costs.row(0));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    set.latency_ms[1] = bad;
    EXPECT_THROW(adapt(library, set), InputError) << bad;
  }
  EXPECT_THROW(adapt(library, AdaptationFeatures{}), InputError);
}

TEST(CostPosterior, ComesBackFromAnArchiveToTheDigit) {
  const Bench bench = bench_of(4, 40, 4, 9);
  const CostLibrary library = fit_library(bench.pool);
  CostPosterior posterior = adapt(library, first_networks(bench, 6, bench.costs.row(1)));
  posterior.calibration = {{0.05, 0.95}, {-2, 2.5}};
  FeatureMap map;
  map.raw = {0, 1, 2, 3};
  Archive archive;
  put_posterior(archive, posterior);
  const CostPosterior back = get_posterior(archive, map);
  const FeatureTable table = table_of(bench.pool.features);
  EXPECT_EQ(predict(back, table).mean, predict(posterior, table).mean);
  EXPECT_EQ(predict(back, table).deviation, predict(posterior, table).deviation);
  EXPECT_EQ(back.calibration.quantiles, posterior.calibration.quantiles);
}

TEST(CostPosterior, RefusesAnArchiveThatNamesWhatIsWrong) {
  const Bench bench = bench_of(4, 40, 4, 10);
  CostPosterior posterior = adapt(fit_library(bench.pool), first_networks(bench, 6, bench.costs.row(1)));
  posterior.components[0].costs_ms[2] = std::numeric_limits<double>::quiet_NaN();
  FeatureMap map;
  map.raw = {0, 1, 2, 3};
  Archive archive;
  put_posterior(archive, posterior);
  try {
    get_posterior(archive, map);
    FAIL() << "a cost that is no number was taken";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("components.costs_ms"), std::string::npos) << error.what();
  }
  posterior.components[0].costs_ms[2] = 1;
  posterior.anchors.resize(0, posterior.anchors.cols());
  posterior.anchor_weights.resize(0);
  Archive without_networks;
  put_posterior(without_networks, posterior);
  EXPECT_THROW(get_posterior(without_networks, map), FormatError);
  map.raw.push_back(4);
  EXPECT_THROW(get_posterior(archive, map), FormatError);
}

TEST(CostPlanning, PrefersNetworksThatTellCostsApart) {
  // Of 40 networks 38 are copies of one; the others show the two features alone.
  Bench bench = bench_of(6, 40, 3, 11);
  for (Index n = 2; n < 40; ++n) bench.pool.features.row(n) << 1, 1, 1;
  bench.pool.features.row(0) << 1, 8, 0.1;
  bench.pool.features.row(1) << 1, 0.1, 8;
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  const CostLibrary library = fit_library(bench.pool);
  std::vector<std::size_t> candidates(40);
  for (std::size_t c = 0; c < candidates.size(); ++c) candidates[c] = c;
  sampling::InformationOptions options;
  options.random_half = false;
  Rng rng(1);
  const auto chosen =
      sampling::choose_informative(prior_view(library, bench.pool.features).covariance, candidates, 4, rng, options);
  EXPECT_NE(std::find(chosen.begin(), chosen.end(), 0U), chosen.end());
  EXPECT_NE(std::find(chosen.begin(), chosen.end(), 1U), chosen.end());
}

TEST(CostPlanning, LeavesLittleToLearnAfterManyMeasurements) {
  const Bench bench = bench_of(6, 40, 4, 12);
  const CostLibrary library = fit_library(bench.pool);
  const auto before = prior_view(library, bench.pool.features).covariance;
  const auto after =
      posterior_covariance(adapt(library, first_networks(bench, 20, bench.costs.row(2))), bench.pool.features);
  EXPECT_LT(sampling::expected_variance(after, {})[0], 0.05 * sampling::expected_variance(before, {})[0]);
}

TEST(CostPosterior, IntervalsOfManyMeasurementsAreAsWideAsWhatNoCostExplains) {
  Bench bench = bench_of(6, 60, 4, 3);
  const CostLibrary library = fit_library(bench.pool);
  const AdaptationFeatures explained = first_networks(bench, 30, 1.2 * bench.costs.row(2).transpose());
  AdaptationFeatures odd = explained;
  Rng rng(4);
  for (double& ms : odd.latency_ms) ms *= std::exp(0.5 * rng.normal());
  const IntervalCalibration usual{{0.05, 0.25, 0.75, 0.95}, {-1, -0.4, 0.4, 1}};
  const auto width = [&](const AdaptationFeatures& set) {
    return calibration_of_many(library, set, {}, usual).quantiles.back();
  };
  EXPECT_GT(width(odd), 1.2);
  EXPECT_EQ(errors_left_out(library, odd, {}).mean.size(), 15);
  AdaptationFeatures reversed = odd;
  reversed.features = odd.features.colwise().reverse();
  std::reverse(reversed.latency_ms.begin(), reversed.latency_ms.end());
  EXPECT_NEAR(width(reversed), width(odd), 1e-6);
  AdaptationFeatures ten = first_networks(bench, 10, bench.costs.row(2).transpose());
  EXPECT_EQ(width(ten), 1) << "the calibration is of ten";
}

}  // namespace
}  // namespace tenshot::trainer::operators
