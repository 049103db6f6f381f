#include "trainer/predictors/operators/linear_features.h"

#include "nasbench/support/random.h"

namespace tenshot::trainer::operators {

using Eigen::Index;
using nasbench::Architecture;

std::optional<Eigen::MatrixXd> linear_features(const nasbench::SearchSpace& space, const FeatureMap& map) {
  if (map.options.empty()) return std::nullopt;
  const std::size_t decisions = space.decisions().size();
  std::vector<Architecture> architectures = {Architecture(decisions)};
  for (std::size_t d = 0; d < decisions; ++d) {
    for (int option = 0; option < space.decisions()[d]; ++option) {
      Architecture other(decisions);
      other[d] = static_cast<std::uint8_t>(option);
      architectures.push_back(other);
    }
  }
  constexpr std::size_t checks = 100;
  const std::size_t terms = architectures.size();
  Rng rng(1);
  for (std::size_t i = 0; i < checks; ++i) architectures.push_back(space.random(rng));
  const Eigen::MatrixXd rows = feature_table(map, space, architectures).rows();
  Eigen::MatrixXd linear = rows.topRows(static_cast<Index>(terms));
  linear.bottomRows(static_cast<Index>(terms) - 1).rowwise() -= rows.row(0);
  for (std::size_t i = terms; i < architectures.size(); ++i) {
    Eigen::RowVectorXd sum = linear.row(0);
    std::size_t at = 1;
    for (std::size_t d = 0; d < decisions; at += static_cast<std::size_t>(space.decisions()[d++])) {
      sum += linear.row(static_cast<Index>(at + architectures[i][d]));
    }
    if (!sum.isApprox(rows.row(static_cast<Index>(i)), 1e-9)) return std::nullopt;
  }
  return linear;
}

}  // namespace tenshot::trainer::operators
