#include "trainer/predictors/linear/additive_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>

#include "nasbench/support/median.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t folds = 5;
constexpr std::array<double, 7> penalties = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
constexpr double penalty_of_few = 1e-2;
constexpr double tolerated_error = 0.1;

/// Sums over rows of (x/y)(x/y)ᵀ and of x/y: all that least squares on the relative error needs of them.
struct NormalEquations {
  explicit NormalEquations(const Eigen::MatrixXd& scaled)
      : gram(scaled.transpose() * scaled),
        right(scaled.colwise().sum().transpose()),
        rows(static_cast<double>(scaled.rows())) {}
  Eigen::MatrixXd gram;
  Eigen::VectorXd right;
  double rows;
};

/// Column 0 is the base, which is not penalised.
Eigen::VectorXd solve(const NormalEquations& all, double penalty) {
  Eigen::MatrixXd gram = all.gram;
  gram.diagonal().tail(gram.rows() - 1).array() += penalty * all.rows;
  return gram.ldlt().solve(all.right);
}

/// One row per measurement: base and one-hot encoding, times median/latency.
Eigen::MatrixXd scaled_encodings(const SearchSpace& space, const AdaptationSet& set, double median_ms) {
  const std::size_t width = space.encoding_width();
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(set.architectures.size()), static_cast<Eigen::Index>(width) + 1);
  std::vector<float> encoding(width);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    space.encode(set.architectures[at], encoding.data());
    rows(i, 0) = 1;
    for (std::size_t c = 0; c < width; ++c) rows(i, static_cast<Eigen::Index>(c) + 1) = encoding[c];
    rows.row(i) *= median_ms / set.latency_ms[at];
  }
  return rows;
}

/// Every `folds`-th row from `fold` on, or all the others.
Eigen::MatrixXd part_of(const Eigen::MatrixXd& rows, std::size_t fold, bool inside) {
  std::vector<Eigen::Index> chosen;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if ((static_cast<std::size_t>(i) % folds == fold) == inside) chosen.push_back(i);
  }
  return rows(chosen, Eigen::all);
}

double chosen_penalty(const Eigen::MatrixXd& rows) {
  if (rows.rows() < static_cast<Eigen::Index>(folds)) return penalty_of_few;
  std::array<std::size_t, penalties.size()> hits{};
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const NormalEquations others(part_of(rows, fold, false));
    const Eigen::MatrixXd held_out = part_of(rows, fold, true);
    for (std::size_t p = 0; p < penalties.size(); ++p) {
      const Eigen::ArrayXd relative_error = (held_out * solve(others, penalties[p])).array() - 1;
      hits[p] += static_cast<std::size_t>((relative_error.abs() <= tolerated_error).count());
    }
  }
  return penalties[static_cast<std::size_t>(std::max_element(hits.begin(), hits.end()) - hits.begin())];
}

}  // namespace

AdditiveFit fit_additive(const SearchSpace& space, const AdaptationSet& set) {
  const double median_ms = upper_median(set.latency_ms);
  const Eigen::MatrixXd rows = scaled_encodings(space, set, median_ms);
  AdditiveFit fit;
  fit.penalty = chosen_penalty(rows);
  const Eigen::VectorXd costs = median_ms * solve(NormalEquations(rows), fit.penalty);
  fit.base_ms = costs[0];
  fit.cost_ms.assign(costs.data() + 1, costs.data() + costs.size());
  return fit;
}

}  // namespace tenshot::trainer
