#include "trainer/predictors/operators/device_clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "nasbench/support/random.h"

namespace tenshot::trainer::operators {
namespace {

using Clusters = std::vector<std::vector<std::size_t>>;

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
  Clusters found = alike_devices(triangle(9), 3);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Clusters{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}));
}

TEST(DeviceClusters, AreOneWhereOneIsAskedFor) { EXPECT_EQ(alike_devices(triangle(3), 1), (Clusters{{0, 1, 2}})); }

TEST(DeviceClusters, OfEqualDevicesHoldEachOnce) {
  const Clusters found = alike_devices(Eigen::MatrixXd::Ones(4, 5), 3);
  std::size_t devices = 0;
  for (const std::vector<std::size_t>& cluster : found) devices += cluster.size();
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(devices, 5U);
}

}  // namespace
}  // namespace tenshot::trainer::operators
