#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace tenshot::trainer {

// The two steps of k-means (Lloyd, IEEE Transactions on Information Theory 1982) for columns, and what repeats them.

/// The centre that is nearest to each column, by number. Both are [features, ·].
std::vector<std::uint32_t> nearest_centres(const Eigen::MatrixXd& columns, const Eigen::MatrixXd& centres);

/// The means of `count` clusters of columns, [features, count]; one that is empty is 0.
Eigen::MatrixXd means_of(const Eigen::MatrixXd& columns, const std::vector<std::uint32_t>& cluster_of,
                         Eigen::Index count);

/// The number of each column's cluster, so that columns of one are alike: `count` clusters by bisecting k-means
/// (Steinbach, Karypis and Kumar, 2000). The cluster whose members differ most is cut along the direction in which they
/// do, and all move to the centre that is nearest to them; a cluster may lose all of its columns.
std::vector<std::uint32_t> alike_columns(const Eigen::MatrixXd& columns, Eigen::Index count);

}  // namespace tenshot::trainer
