#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace tenshot::trainer::operators {

/// Device-runtimes that are alike, in at most `count` clusters by bisecting k-means (Steinbach, Karypis and Kumar,
/// 2000): the cluster whose members differ most is cut along the direction in which they do, and all move to the centre
/// that is nearest to them. `profiles` are [features, devices]; what a cluster holds are columns of it, ascending.
std::vector<std::vector<std::size_t>> alike_devices(const Eigen::MatrixXd& profiles, std::size_t count);

}  // namespace tenshot::trainer::operators
