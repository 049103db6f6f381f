#include "trainer/core/nnls.h"

#include <vector>

namespace tenshot::trainer {
namespace {

using Mask = Eigen::Array<bool, Eigen::Dynamic, 1>;

Eigen::VectorXd solve_passive(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const Mask& passive) {
  std::vector<Eigen::Index> columns;
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    if (passive[j]) columns.push_back(j);
  }
  const Eigen::MatrixXd selected = a(Eigen::all, columns);
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(a.cols());
  const Eigen::VectorXd solved = selected.colPivHouseholderQr().solve(b);
  solution(columns) = solved;
  return solution;
}

}  // namespace

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::Index k = a.cols();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(k);
  Mask passive = Mask::Constant(k, false);
  const double tolerance = 1e-10 * (1 + (a.transpose() * b).cwiseAbs().maxCoeff());
  const Eigen::Index most_steps = 3 * k;
  for (Eigen::Index step = 0; step < most_steps; ++step) {
    const Eigen::VectorXd gradient = a.transpose() * (b - a * x);
    Eigen::Index entering = 0;
    if (passive.select(0, gradient).maxCoeff(&entering) <= tolerance) break;
    passive[entering] = true;
    Eigen::VectorXd candidate = solve_passive(a, b, passive);
    // Walk from x towards the candidate, dropping every column that reaches zero on the way.
    for (Eigen::Index inner = 0; inner < k; ++inner) {
      double fraction = 1;
      const Mask reaches_zero = passive && candidate.array() <= 0;
      for (Eigen::Index j = 0; j < k; ++j) {
        if (reaches_zero[j]) fraction = std::min(fraction, x[j] > candidate[j] ? x[j] / (x[j] - candidate[j]) : 0);
      }
      if (fraction >= 1) break;
      x += fraction * (candidate - x);
      const Mask dropped = reaches_zero && x.array() <= 1e-12;
      passive = passive && !dropped;
      x = dropped.select(0, x);
      candidate = solve_passive(a, b, passive);
    }
    x = candidate.cwiseMax(0);
  }
  return x;
}

Eigen::VectorXd tall_non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  if (a.rows() <= 2 * a.cols()) return non_negative_least_squares(a, b);
  Eigen::MatrixXd gram = a.transpose() * a;
  gram.diagonal().array() += 1e-10 * (1 + gram.diagonal().maxCoeff());
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  return non_negative_least_squares(factor.matrixU(), factor.matrixL().solve(a.transpose() * b));
}

Eigen::VectorXd bounded_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                      const Eigen::VectorXd& largest) {
  const Eigen::VectorXd x = tall_non_negative_least_squares(a, b);
  const Mask above = x.array() > largest.array();
  if (!above.any()) return x;
  const Eigen::VectorXd bound = above.select(largest, 0);
  const Eigen::MatrixXd rest = a * (!above).cast<double>().matrix().asDiagonal();
  return (bound + tall_non_negative_least_squares(rest, b - a * bound)).cwiseMin(largest);
}

Eigen::VectorXd relative_non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& y) {
  return non_negative_least_squares(y.cwiseInverse().asDiagonal() * a, Eigen::VectorXd::Ones(y.size()));
}

}  // namespace tenshot::trainer
