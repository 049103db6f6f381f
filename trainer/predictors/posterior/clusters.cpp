#include "trainer/predictors/posterior/clusters.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

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
    means.col(cluster_of[e]) += columns.col(e);
    members[cluster_of[e]] += 1;
  }
  return means * members.cwiseMax(1).cwiseInverse().asDiagonal();
}

namespace {

/// Cuts the cluster that varies most: two centres, a deviation from its own along the direction in which it does.
void bisect(const MatrixXd& columns, const std::vector<std::uint32_t>& cluster_of, MatrixXd& centres) {
  const MatrixXd differences = columns - centres(Eigen::all, cluster_of);
  VectorXd squares = VectorXd::Zero(centres.cols());
  for (Index e = 0; e < columns.cols(); ++e) squares[cluster_of[e]] += differences.col(e).squaredNorm();
  Index cut = 0;
  squares.maxCoeff(&cut);
  MatrixXd scatter = MatrixXd::Zero(columns.rows(), columns.rows());
  for (Index e = 0; e < columns.cols(); ++e) {
    if (cluster_of[e] == cut) scatter += differences.col(e) * differences.col(e).transpose();
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scatter / static_cast<double>(columns.cols()));
  const VectorXd step = eigen.eigenvectors().rightCols(1) * std::sqrt(std::max(eigen.eigenvalues().tail(1)[0], 0.0));
  centres.conservativeResize(Eigen::NoChange, centres.cols() + 1);
  centres.rightCols(1) = centres.col(cut) + step;
  centres.col(cut) -= step;
}

}  // namespace

std::vector<std::uint32_t> alike_columns(const MatrixXd& columns, Index count) {
  constexpr int moves = 20;
  std::vector<std::uint32_t> cluster_of(columns.cols(), 0);
  MatrixXd centres = columns.rowwise().mean();
  while (centres.cols() < count) {
    bisect(columns, cluster_of, centres);
    for (int move = 0; move < moves; ++move) {
      cluster_of = nearest_centres(columns, centres);
      centres = means_of(columns, cluster_of, centres.cols());
    }
  }
  return cluster_of;
}

}  // namespace tenshot::trainer
