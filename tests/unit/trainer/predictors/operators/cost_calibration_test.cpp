#include "trainer/predictors/operators/cost_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nasbench/support/random.h"
#include "tests/unit/trainer/predictors/operators/cost_bench.h"
#include "trainer/predictors/operators/cost_planning.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// Twenty devices and sixty networks to learn from; as many other devices and thirty other networks to predict.
TEST(CostCalibration, HoldsItsPromiseOnNewDevicesAndNetworksOfThePoolsKind) {
  Bench bench = bench_of(40, 90, 5, 13);
  Rng rng(99);
  for (Index d = 0; d < 40; ++d) {
    for (Index n = 0; n < 90; ++n) bench.pool.latency_ms(d, n) *= std::exp(0.05 * rng.normal());
  }
  const PoolNumbers pool{bench.pool.features.topRows(60), 5, bench.pool.latency_ms.topLeftCorner(20, 60)};
  CostLibrary library = fit_library(pool);
  std::vector<std::size_t> families(20);
  std::iota(families.begin(), families.end(), std::size_t{0});
  const IntervalCalibration calibration = calibrate(pool, library, families, {}, {});
  ASSERT_FALSE(calibration.quantiles.empty());
  const double least = error_quantile(calibration, 0.05);
  const double most = error_quantile(calibration, 0.95);
  std::vector<std::size_t> candidates(60);
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const auto chosen =
      sampling::choose_informative(prior_view(library, pool.features).covariance, candidates, 10, rng, {});
  const Eigen::MatrixXd unknown = bench.pool.features.bottomRows(30);
  double held = 0, all = 0;
  for (Index d = 20; d < 40; ++d) {
    AdaptationFeatures set;
    set.features.resize(10, 5);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      set.features.row(static_cast<Index>(i)) = pool.features.row(static_cast<Index>(chosen[i]));
      set.latency_ms.push_back(bench.pool.latency_ms(d, static_cast<Index>(chosen[i])));
    }
    const LogLatency predicted = predict(adapt(library, set), table_of(unknown));
    for (Index n = 0; n < 30; ++n, ++all) {
      const double z = (std::log(bench.pool.latency_ms(d, 60 + n)) - predicted.mean[n]) / predicted.deviation[n];
      held += z >= least && z <= most;
    }
  }
  EXPECT_GT(held / all, 0.8);
  EXPECT_LT(held / all, 0.99);
}

/// Nine kinds of networks, of which each device runs each kind faster or slower than its costs say. The pool has eight.
TEST(CostCalibration, ExpectsMoreErrorOfNetworksUnlikeAllOthers) {
  constexpr Index kinds = 9, of_a_kind = 12, known = 8 * of_a_kind, devices = 80;
  Bench bench = bench_of(devices, kinds * of_a_kind, 8, 15);
  Rng rng(98);
  for (Index n = 0; n < kinds * of_a_kind; ++n) {
    const Index kind = n / of_a_kind;
    for (Index f = 1; f < 8; ++f) {
      bench.pool.features(n, f) = (f == 1 + kind % 7 ? 20 : 1) * (kind == 7 && f == 4 ? 20 : 1) *
                                  (kind == 8 && f == 6 ? 20 : 1) * std::exp(0.1 * rng.normal());
    }
  }
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  for (Index d = 0; d < devices; ++d) {
    for (Index kind = 0; kind < kinds; ++kind) {
      bench.pool.latency_ms.row(d).segment(kind * of_a_kind, of_a_kind) *= std::exp(0.25 * rng.normal());
    }
  }
  const PoolNumbers pool{bench.pool.features.topRows(known), 8, bench.pool.latency_ms.topLeftCorner(20, known)};
  CostLibrary library = fit_library(pool);
  std::vector<std::size_t> families(20);
  std::iota(families.begin(), families.end(), std::size_t{0});
  CalibrationOptions options;
  options.groups = {3};  // about as large as a kind
  const IntervalCalibration calibration = calibrate(pool, library, families, {}, {}, options);
  double held = 0, all = 0, widened = 0;
  for (Index d = 20; d < devices; ++d) {
    AdaptationFeatures set;
    set.features.resize(8, 8);
    for (Index kind = 0; kind < 8; ++kind) {
      set.features.row(kind) = bench.pool.features.row(kind * of_a_kind);
      set.latency_ms.push_back(bench.pool.latency_ms(d, kind * of_a_kind));
    }
    const CostPosterior posterior = adapt(library, set);
    const LogLatency alike = predict(posterior, table_of(bench.pool.features.middleRows(1, 11)));
    const LogLatency unlike = predict(posterior, table_of(bench.pool.features.bottomRows(of_a_kind)));
    widened += unlike.deviation.mean() > alike.deviation.mean();
    for (Index n = 0; n < of_a_kind; ++n, ++all) {
      const double z = (std::log(bench.pool.latency_ms(d, known + n)) - unlike.mean[n]) / unlike.deviation[n];
      held += z >= error_quantile(calibration, 0.05) && z <= error_quantile(calibration, 0.95);
    }
  }
  EXPECT_GE(widened, 0.9 * (devices - 20));
  EXPECT_GE(held / all, 0.7);
}

/// Devices on which large networks take longer than their costs say, each by a power of their size of its own.
TEST(CostCalibration, ExpectsMoreErrorOfNetworksLargerThanAllOthers) {
  constexpr Index devices = 20, networks = 120;
  Bench bench = bench_of(devices, networks, 4, 17);
  Rng rng(97);
  for (Index n = 0; n < networks; ++n) bench.pool.features.row(n) *= std::exp(1.5 * rng.normal());
  const auto calibrated = [&](double power) {
    PoolNumbers pool = bench.pool;
    for (Index d = 0; d < devices; ++d) {
      const double own = power * rng.normal();
      for (Index n = 0; n < networks; ++n) {
        pool.latency_ms(d, n) =
            std::pow(bench.costs.row(d).dot(pool.features.row(n)), 1 + own) * std::exp(0.02 * rng.normal());
      }
    }
    std::vector<std::size_t> families(devices);
    std::iota(families.begin(), families.end(), std::size_t{0});
    CostLibrary library = fit_library(pool);
    calibrate(pool, library, families, {}, {});
    return library.reach_variance.above;
  };
  EXPECT_LT(calibrated(0), 0.02);
  EXPECT_GT(calibrated(0.3), 0.02);
}

TEST(CostCalibration, IsNormalWithoutThreeFamilies) {
  const Bench bench = bench_of(4, 90, 4, 14);
  CostLibrary library = fit_library(bench.pool);
  EXPECT_TRUE(calibrate(bench.pool, library, {0, 0, 1, 1}, {}, {}).quantiles.empty());
}

}  // namespace
}  // namespace tenshot::trainer::operators
