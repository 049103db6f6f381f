#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// Networks of positive features with a base, and devices whose costs are drawn around common ones.
struct Bench {
  PoolNumbers pool;
  Eigen::MatrixXd costs;  ///< [devices, features], ms
};

inline Bench bench_of(Eigen::Index devices, Eigen::Index networks, Eigen::Index features, std::uint64_t seed) {
  Rng rng(seed);
  Bench bench;
  bench.pool.features = Eigen::MatrixXd::Ones(networks, features);
  for (Eigen::Index n = 0; n < networks; ++n) {
    for (Eigen::Index f = 1; f < features; ++f) bench.pool.features(n, f) = std::exp(0.8 * rng.normal());
  }
  bench.pool.operator_features = static_cast<std::size_t>(features);
  bench.costs.resize(devices, features);
  for (Eigen::Index d = 0; d < devices; ++d) {
    const double speed = std::exp(rng.normal());
    for (Eigen::Index f = 0; f < features; ++f) bench.costs(d, f) = speed * std::exp(0.5 * rng.normal());
  }
  bench.pool.latency_ms = bench.costs * bench.pool.features.transpose();
  return bench;
}

inline AdaptationFeatures first_networks(const Bench& bench, Eigen::Index count, const Eigen::VectorXd& costs) {
  AdaptationFeatures set;
  set.features = bench.pool.features.topRows(count);
  const Eigen::VectorXd latency_ms = set.features * costs;
  set.latency_ms.assign(latency_ms.data(), latency_ms.data() + count);
  return set;
}

}  // namespace tenshot::trainer::operators
