#include "trainer/predictors/operators/device_clusters.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int moves = 20;

/// The columns that are nearest to each centre.
std::vector<std::vector<std::size_t>> nearest(const MatrixXd& profiles, const MatrixXd& centres) {
  std::vector<std::vector<std::size_t>> clusters(static_cast<std::size_t>(centres.cols()));
  for (Index d = 0; d < profiles.cols(); ++d) {
    Index centre = 0;
    (centres.colwise() - profiles.col(d)).colwise().squaredNorm().minCoeff(&centre);
    clusters[static_cast<std::size_t>(centre)].push_back(static_cast<std::size_t>(d));
  }
  return clusters;
}

/// How the members of a cluster vary about its centre, [features, features], as a sum over them.
MatrixXd scatter(const MatrixXd& profiles, const std::vector<std::size_t>& cluster, const VectorXd& centre) {
  const MatrixXd difference = profiles(Eigen::all, cluster).colwise() - centre;
  return difference * difference.transpose();
}

/// Cuts the cluster that varies most: two centres, a deviation from its own along the direction in which it does.
void bisect(const MatrixXd& profiles, const std::vector<std::vector<std::size_t>>& clusters, MatrixXd& centres) {
  MatrixXd largest = MatrixXd::Zero(profiles.rows(), profiles.rows());
  Index cut = 0;
  for (Index c = 0; c < centres.cols(); ++c) {
    const MatrixXd own = scatter(profiles, clusters[static_cast<std::size_t>(c)], centres.col(c));
    if (own.trace() <= largest.trace()) continue;
    largest = own;
    cut = c;
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(largest / static_cast<double>(profiles.cols()));
  const VectorXd step = eigen.eigenvectors().rightCols(1) * std::sqrt(std::max(eigen.eigenvalues().tail(1)[0], 0.0));
  centres.conservativeResize(Eigen::NoChange, centres.cols() + 1);
  centres.rightCols(1) = centres.col(cut) + step;
  centres.col(cut) -= step;
}

}  // namespace

std::vector<std::vector<std::size_t>> alike_devices(const MatrixXd& profiles, std::size_t count) {
  MatrixXd centres = profiles.rowwise().mean();
  std::vector<std::vector<std::size_t>> clusters = nearest(profiles, centres);
  while (clusters.size() < count) {
    bisect(profiles, clusters, centres);
    for (int move = 0; move < moves; ++move) {
      clusters = nearest(profiles, centres);
      for (Index c = 0; c < centres.cols(); ++c) {
        const std::vector<std::size_t>& own = clusters[static_cast<std::size_t>(c)];
        if (!own.empty()) centres.col(c) = profiles(Eigen::all, own).rowwise().mean();
      }
    }
  }
  return clusters;
}

}  // namespace tenshot::trainer::operators
