#include "trainer/predictors/operators/device_clusters.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "trainer/predictors/posterior/clusters.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Cuts the cluster that varies most: two centres, a deviation from its own along the direction in which it does.
void bisect(const MatrixXd& profiles, const std::vector<std::uint32_t>& cluster_of, MatrixXd& centres) {
  const MatrixXd differences = profiles - centres(Eigen::all, cluster_of);
  VectorXd squares = VectorXd::Zero(centres.cols());
  for (Index d = 0; d < profiles.cols(); ++d) {
    squares[cluster_of[static_cast<std::size_t>(d)]] += differences.col(d).squaredNorm();
  }
  Index cut = 0;
  squares.maxCoeff(&cut);
  MatrixXd scatter = MatrixXd::Zero(profiles.rows(), profiles.rows());
  for (Index d = 0; d < profiles.cols(); ++d) {
    if (cluster_of[static_cast<std::size_t>(d)] != static_cast<std::uint32_t>(cut)) continue;
    scatter += differences.col(d) * differences.col(d).transpose();
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scatter / static_cast<double>(profiles.cols()));
  const VectorXd step = eigen.eigenvectors().rightCols(1) * std::sqrt(std::max(eigen.eigenvalues().tail(1)[0], 0.0));
  centres.conservativeResize(Eigen::NoChange, centres.cols() + 1);
  centres.rightCols(1) = centres.col(cut) + step;
  centres.col(cut) -= step;
}

}  // namespace

std::vector<std::uint32_t> alike_devices(const MatrixXd& profiles, Index count) {
  constexpr int moves = 20;
  std::vector<std::uint32_t> cluster_of(static_cast<std::size_t>(profiles.cols()), 0);
  MatrixXd centres = profiles.rowwise().mean();
  while (centres.cols() < count) {
    bisect(profiles, cluster_of, centres);
    for (int move = 0; move < moves; ++move) {
      cluster_of = nearest_centres(profiles, centres);
      centres = means_of(profiles, cluster_of, centres.cols());
    }
  }
  return cluster_of;
}

}  // namespace tenshot::trainer::operators
