#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/nnls.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/predictors/linear/linear_peers.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::trainer {
namespace {

using Eigen::Index;

/// The term of a line that a raw feature is summed in: 0 for the base, −1 for a feature that has none.
Index term_of(Index feature, LineTerms terms) {
  if (feature == 0) return 0;
  const std::size_t measure = static_cast<std::size_t>(feature - 1) % operators::measures_of_group;
  const bool moves_bytes =
      measure == operators::input_bytes || measure == operators::output_bytes || measure == operators::weight_bytes;
  if (measure == operators::arithmetic) return 1;
  return moves_bytes && terms == LineTerms::multiply_adds_and_bytes ? 2 : -1;
}

/// The features' costs, ms, of a line whose terms are sums of features.
Eigen::VectorXd costs_of_sums(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms, LineTerms terms) {
  const Index count = terms == LineTerms::multiply_adds ? 2 : 3;
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(features.rows(), count);
  for (Index f = 0; f < features.cols(); ++f) {
    if (const Index term = term_of(f, terms); term >= 0) sums.col(term) += features.col(f);
  }
  const Eigen::RowVectorXd unit = sums.colwise().maxCoeff().cwiseMax(1);
  const Eigen::VectorXd coefficients =
      relative_non_negative_least_squares(sums.array().rowwise() / unit.array(), latency_ms)
          .cwiseQuotient(unit.transpose());
  Eigen::VectorXd costs = Eigen::VectorXd::Zero(features.cols());
  for (Index f = 0; f < features.cols(); ++f) {
    if (const Index term = term_of(f, terms); term >= 0) costs[f] = coefficients[term];
  }
  return costs;
}

Eigen::VectorXd costs_by_lasso(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms) {
  const kernels::Lasso lasso = kernels::fit_lasso(features.rightCols(features.cols() - 1), latency_ms);
  const Eigen::VectorXd slopes = lasso.weight.cwiseQuotient(lasso.deviation);
  Eigen::VectorXd costs(features.cols());
  costs << lasso.intercept - slopes.dot(lasso.mean), slopes;
  return costs;
}

/// The same prediction as the predictor `operators` makes from one certain component, without its intervals.
class OperatorLine final : public OperatorsPredictor {
 public:
  using OperatorsPredictor::OperatorsPredictor;

  bool has_intervals() const override { return false; }
  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override {
    return {OperatorsPredictor::predict(architectures, confidence).latency_ms, {}, {}};
  }
  std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>&) const override { return {}; }
  nlohmann::json to_document() const override {
    nlohmann::json document = Predictor::to_document();
    for (const char* of_intervals : {"spread_ms", "rest_ms2", "calibration"}) document.erase(of_intervals);
    return document;
  }
  std::vector<Remark> explanation() const override { return {}; }
};

}  // namespace

std::unique_ptr<Predictor> fit_operator_line(const NetworkSpace& space, const AdaptationSet& set, LineTerms terms,
                                             nlohmann::json card) {
  operators::FeatureMap map;  // every raw feature in its own unit, so that a line knows operators that no pool has
  map.raw = numbers_below(operators::raw_feature_count());
  map.unit = Eigen::VectorXd::Ones(static_cast<Index>(map.raw.size()));
  const Eigen::MatrixXd features = operators::feature_table(map, space, set.architectures).rows();
  const Eigen::Map<const Eigen::VectorXd> latency_ms(set.latency_ms.data(), features.rows());
  operators::CostPosterior line;
  Eigen::VectorXd costs_ms = Eigen::VectorXd::Zero(features.cols());
  if (terms == LineTerms::base) {
    costs_ms[0] = best_constant_ms(set);
  } else if (terms == LineTerms::every_feature) {
    costs_ms = costs_by_lasso(features, latency_ms);
  } else {
    costs_ms = costs_of_sums(features, latency_ms, terms);
  }
  line.components = {{0, 0, 1, std::move(costs_ms)}};
  line.floor_ms = smallest_prediction_ms(set);
  line.spread_ms = Eigen::MatrixXd::Zero(features.cols(), 1);
  line.rest_ms2 = Eigen::VectorXd::Zero(features.cols());
  line.calibration = {{0.5}, {0}};
  for (Index f = 0; f < features.cols(); ++f) {
    const double cost = line.components[0].costs_ms[f];
    if (cost != 0) card["line"][map.name(static_cast<std::size_t>(f))] = cost;
  }
  return std::make_unique<OperatorLine>(space, std::move(map), std::move(line), std::move(card));
}

double best_constant_ms(const AdaptationSet& set) {
  constexpr double bound = 0.1;
  std::vector<std::pair<double, int>> ends;
  for (const double latency_ms : set.latency_ms) {
    ends.emplace_back(latency_ms * (1 - bound), -1);  // begins: before the ends at the same place
    ends.emplace_back(latency_ms * (1 + bound), 1);
  }
  std::sort(ends.begin(), ends.end());
  int open = 0, most = 0;
  double constant_ms = 0;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    open -= ends[e].second;
    if (open <= most) continue;
    most = open;
    constant_ms = (ends[e].first + ends[e + 1].first) / 2;  // an end follows the last beginning
  }
  return constant_ms;
}

std::unique_ptr<Predictor> load_linear_predictor(const Archive& archive) {
  if (!archive.card.contains("features")) return load_feed_forward(archive);
  return std::make_unique<OperatorLine>(archive);
}

}  // namespace tenshot::trainer
