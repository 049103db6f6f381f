#include "trainer/predictors/operators/cost_imputation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trainer/predictors/operators/operator_groups.h"

namespace tenshot::trainer::operators {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Three networks of four features: a base, the count of one group, and count and bytes of another. The first network
/// has none of the last group; the others have one operator of it each, of 1 and of 4 bytes.
PoolNumbers three_networks() {
  PoolNumbers pool;
  pool.features.resize(3, 4);
  pool.features << 1, 1, 0, 0,  //
      1, 1, 1, 1,               //
      1, 2, 1, 4;
  pool.operator_features = 4;
  pool.latency_ms.resize(3, 3);
  pool.latency_ms << 1, none, none,  //
      1, 2, none,                    //
      1, 2, 6;
  pool.groups = {0, 1, 2, 2};
  pool.labels.kind = {"a", "a", "b"};
  return pool;
}

TEST(CostImputation, EvidenceIsHowFarTheSizesOfOperatorsDiffer) {
  // The sizes are 1 + 1 and 1 + 4; the squares of ±½ log (5 / 2) sum to ½ log² (5 / 2).
  const CostEvidence evidence = cost_evidence(three_networks(), {1, 1});
  const double squares = std::pow(std::log(2.5), 2) / 2;
  EXPECT_NEAR(evidence.weight(2, 2), squares, 2e-6);
  EXPECT_NEAR(evidence.weight(2, 3), squares, 2e-6);
  EXPECT_NEAR(evidence.weight(1, 2), 0, 2e-6) << "one network tells of one size";
  EXPECT_NEAR(cost_evidence(three_networks(), {2, 1}).weight(2, 2), squares * squares, 2e-6);
  EXPECT_EQ(evidence.seen.row(0), Eigen::RowVector4d(1, 1, 0, 0));
  EXPECT_EQ(evidence.seen.row(2), Eigen::RowVector4d(1, 1, 1, 1));
}

TEST(CostImputation, CostsOfUnseenOperatorsAreThoseOfWhoMeasuredThemInMoreSizes) {
  const PoolNumbers pool = three_networks();
  Eigen::MatrixXd fitted(3, 4);
  fitted << 2, 2, 0, 0,  // twice as slow as the others in what all know
      1, 1, 9, 0,        //
      1, 1, 0.5, 0.25;
  const ImputationOptions all_alike{0, 1};
  EXPECT_NEAR(with_unseen(cost_evidence(pool, all_alike), all_alike, fitted, 0)[2], 2 * (9 + 0.5) / 2, 1e-9);
  const ImputationOptions by_sizes{2, 1};
  const Eigen::RowVectorXd costs = with_unseen(cost_evidence(pool, by_sizes), by_sizes, fitted, 0);
  EXPECT_NEAR(costs[2], 2 * 0.5, 1e-3);
  EXPECT_NEAR(costs[3], 2 * 0.25, 1e-3);
  EXPECT_EQ(costs.head(2), fitted.row(0).head(2)) << "what was measured stays";
}

TEST(CostImputation, DevicesOfTheSameRuntimeComeFirst) {
  const PoolNumbers pool = three_networks();
  Eigen::MatrixXd fitted(3, 4);
  fitted << 1, 1, 0, 0, 1, 1, 9, 0, 1, 1, 0.5, 0.25;
  const ImputationOptions options{0, 1e-9};
  EXPECT_NEAR(with_unseen(cost_evidence(pool, options), options, fitted, 0)[2], 9, 1e-6);
  PoolNumbers nameless = pool;
  nameless.labels.kind.clear();
  EXPECT_NEAR(with_unseen(cost_evidence(nameless, options), options, fitted, 0)[2], (9 + 0.5) / 2, 1e-6);
}

TEST(CostImputation, WhatAnAllocatorDoesNotKeepIsTakenFromNoOtherRuntime) {
  PoolNumbers pool = three_networks();  // the third device alone measured the last feature
  pool.scale.measure = {0, 1, 2, large_bytes_measure()};
  pool.labels.kind = {"a", "b", "c"};
  pool.latency_ms.row(1) << 1, none, none;
  CostLibrary library;
  library.costs = library.known_costs = Eigen::MatrixXd::Ones(3, 4);
  for (const char* name : {"", "b", "c"}) {
    DeviceKind& kind = library.kinds.emplace_back();
    kind.name = name;
    kind.log_costs = Eigen::VectorXd::Zero(4);
    kind.covariance = Eigen::MatrixXd::Ones(4, 4);
  }
  confine_large_bytes(pool, library);
  EXPECT_EQ(library.costs.col(3), Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(library.known_costs.col(3), Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(library.costs.leftCols(3), Eigen::MatrixXd::Ones(3, 3));
  EXPECT_LT(std::exp(library.kinds[1].log_costs[3]), 1e-9);
  EXPECT_LT(library.kinds[1].covariance.row(3).sum(), 1e-5);
  EXPECT_EQ(library.kinds[2].log_costs[3], 0) << "its device measured such tensors";
}

}  // namespace
}  // namespace tenshot::trainer::operators
