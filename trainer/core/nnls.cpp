#include "trainer/core/nnls.h"

#include <vector>

namespace tenshot::trainer {
namespace {

/// The unconstrained solution over the passive columns, zero elsewhere.
Eigen::VectorXd solve_passive(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const std::vector<bool>& passive) {
  std::vector<Eigen::Index> columns;
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    if (passive[static_cast<std::size_t>(j)]) columns.push_back(j);
  }
  Eigen::MatrixXd selected(a.rows(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) selected.col(static_cast<Eigen::Index>(c)) = a.col(columns[c]);
  const Eigen::VectorXd solved = selected.colPivHouseholderQr().solve(b);
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(a.cols());
  for (std::size_t c = 0; c < columns.size(); ++c) solution[columns[c]] = solved[static_cast<Eigen::Index>(c)];
  return solution;
}

}  // namespace

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::Index k = a.cols();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(k);
  std::vector<bool> passive(static_cast<std::size_t>(k), false);
  const double tolerance = 1e-10 * (1 + (a.transpose() * b).cwiseAbs().maxCoeff());
  const Eigen::Index most_steps = 3 * k;
  for (Eigen::Index step = 0; step < most_steps; ++step) {
    const Eigen::VectorXd gradient = a.transpose() * (b - a * x);
    Eigen::Index entering = -1;
    for (Eigen::Index j = 0; j < k; ++j) {
      if (passive[static_cast<std::size_t>(j)] || gradient[j] <= tolerance) continue;
      if (entering < 0 || gradient[j] > gradient[entering]) entering = j;
    }
    if (entering < 0) break;
    passive[static_cast<std::size_t>(entering)] = true;
    Eigen::VectorXd candidate = solve_passive(a, b, passive);
    // Walk from x towards the candidate, dropping every column that reaches zero on the way.
    for (Eigen::Index inner = 0; inner < k; ++inner) {
      double fraction = 1;
      for (Eigen::Index j = 0; j < k; ++j) {
        if (passive[static_cast<std::size_t>(j)] && candidate[j] <= 0) {
          fraction = std::min(fraction, x[j] > candidate[j] ? x[j] / (x[j] - candidate[j]) : 0);
        }
      }
      if (fraction >= 1) break;
      x += fraction * (candidate - x);
      for (Eigen::Index j = 0; j < k; ++j) {
        if (passive[static_cast<std::size_t>(j)] && candidate[j] <= 0 && x[j] <= 1e-12) {
          passive[static_cast<std::size_t>(j)] = false;
          x[j] = 0;
        }
      }
      candidate = solve_passive(a, b, passive);
    }
    x = candidate.cwiseMax(0);
  }
  return x;
}

Eigen::VectorXd relative_non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& y) {
  return non_negative_least_squares(y.cwiseInverse().asDiagonal() * a, Eigen::VectorXd::Ones(y.size()));
}

}  // namespace tenshot::trainer
