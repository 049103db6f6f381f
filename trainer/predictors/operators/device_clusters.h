#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace tenshot::trainer::operators {

/// Device-runtimes that are alike, in `count` clusters by bisecting k-means (Steinbach, Karypis and Kumar, 2000): the
/// cluster whose members differ most is cut along the direction in which they do, and all move to the centre that is
/// nearest to them. `profiles` are [features, devices], about 0; the number of each device's cluster, which may be
/// empty for others.
std::vector<std::uint32_t> alike_devices(const Eigen::MatrixXd& profiles, Eigen::Index count);

}  // namespace tenshot::trainer::operators
