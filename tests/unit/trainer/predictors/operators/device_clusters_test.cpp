#include "trainer/predictors/operators/device_clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "nasbench/support/random.h"

namespace tenshot::trainer::operators {
namespace {

using Clusters = std::vector<std::uint32_t>;

/// Devices about the corners of a triangle, in turn.
Eigen::MatrixXd triangle(Eigen::Index devices) {
  Rng rng(2);
  Eigen::MatrixXd profiles(2, devices);
  for (Eigen::Index d = 0; d < devices; ++d) {
    const double angle = 2.1 * static_cast<double>(d % 3);
    profiles.col(d) << std::cos(angle) + 0.05 * rng.normal(), std::sin(angle) + 0.05 * rng.normal();
  }
  return profiles;
}

TEST(DeviceClusters, HoldDevicesThatAreAlike) {
  const Clusters found = alike_devices(triangle(9), 3);
  EXPECT_NE(found[0], found[1]);
  EXPECT_NE(found[0], found[2]);
  EXPECT_NE(found[1], found[2]);
  for (std::size_t d = 3; d < 9; ++d) EXPECT_EQ(found[d], found[d - 3]);
}

TEST(DeviceClusters, AreOneWhereOneIsAskedFor) { EXPECT_EQ(alike_devices(triangle(3), 1), (Clusters{0, 0, 0})); }

TEST(DeviceClusters, HoldEqualDevicesTogether) {
  const Clusters found = alike_devices(Eigen::MatrixXd::Ones(4, 5), 3);
  EXPECT_EQ(found, Clusters(5, found[0]));
}

}  // namespace
}  // namespace tenshot::trainer::operators
