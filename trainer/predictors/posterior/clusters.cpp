#include "trainer/predictors/posterior/clusters.h"

#include <algorithm>

namespace tenshot::trainer {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<std::uint32_t> nearest_centres(const MatrixXd& columns, const MatrixXd& centres) {
  const VectorXd half_squares = 0.5 * centres.colwise().squaredNorm().transpose();
  std::vector<std::uint32_t> cluster_of;
  constexpr Index block = 1024;
  for (Index begin = 0; begin < columns.cols(); begin += block) {
    const Index count = std::min(block, columns.cols() - begin);
    const MatrixXd nearness = (centres.transpose() * columns.middleCols(begin, count)).colwise() - half_squares;
    for (Index e = 0; e < count; ++e) {
      Index nearest = 0;
      nearness.col(e).maxCoeff(&nearest);
      cluster_of.push_back(static_cast<std::uint32_t>(nearest));
    }
  }
  return cluster_of;
}

MatrixXd means_of(const MatrixXd& columns, const std::vector<std::uint32_t>& cluster_of, Index count) {
  MatrixXd means = MatrixXd::Zero(columns.rows(), count);
  VectorXd members = VectorXd::Zero(count);
  for (Index e = 0; e < columns.cols(); ++e) {
    means.col(cluster_of[static_cast<std::size_t>(e)]) += columns.col(e);
    members[cluster_of[static_cast<std::size_t>(e)]] += 1;
  }
  return means * members.cwiseMax(1).cwiseInverse().asDiagonal();
}

}  // namespace tenshot::trainer
