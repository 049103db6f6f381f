#include "trainer/predictors/posterior/clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

using ClusterNumbers = std::vector<std::uint32_t>;

/// Columns about the corners of a triangle, in turn.
Eigen::MatrixXd triangle(Eigen::Index count) {
  Rng rng(2);
  Eigen::MatrixXd columns(2, count);
  for (Eigen::Index e = 0; e < count; ++e) {
    const double angle = 2.1 * static_cast<double>(e % 3);
    columns.col(e) << std::cos(angle) + 0.05 * rng.normal(), std::sin(angle) + 0.05 * rng.normal();
  }
  return columns;
}

TEST(Clusters, HoldColumnsThatAreAlike) {
  const ClusterNumbers found = alike_columns(triangle(9), 3);
  EXPECT_NE(found[0], found[1]);
  EXPECT_NE(found[0], found[2]);
  EXPECT_NE(found[1], found[2]);
  for (std::size_t d = 3; d < 9; ++d) EXPECT_EQ(found[d], found[d - 3]);
}

TEST(Clusters, AreOneWhereOneIsAskedFor) { EXPECT_EQ(alike_columns(triangle(3), 1), (ClusterNumbers{0, 0, 0})); }

TEST(Clusters, HoldEqualColumnsTogether) {
  const ClusterNumbers found = alike_columns(Eigen::MatrixXd::Ones(4, 5), 3);
  EXPECT_EQ(found, ClusterNumbers(5, found[0]));
}

}  // namespace
}  // namespace tenshot::trainer
