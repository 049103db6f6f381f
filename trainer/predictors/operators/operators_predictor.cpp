#include "trainer/predictors/operators/operators_predictor.h"

#include <algorithm>
#include <cmath>

#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/network_costs.h"
#include "trainer/predictors/operators/operators_archive.h"

namespace tenshot::trainer {
namespace {

using Eigen::Index;

/// Smallest and largest standard deviation of log latency that unknown operators add; the largest where all are.
constexpr double least_unknown_deviation = 0.1, most_unknown_deviation = 2;

/// For each network, the deviation of its features' shares of a typical latency beyond the largest of any anchor.
/// What these cost may well be so many times more.
Eigen::VectorXd deviations_beyond(const operators::CostPosterior& posterior, const Eigen::MatrixXd& places) {
  constexpr double times = 2;
  const Index shares = places.cols() - 1;
  const Eigen::ArrayXXd most = posterior.anchors.leftCols(shares).array().square().colwise().maxCoeff();
  const Eigen::ArrayXXd beyond = (places.leftCols(shares).array().square() - most.replicate(places.rows(), 1)).max(0);
  return (std::pow(posterior.places.length, 2) * beyond.rowwise().sum()).unaryExpr([](double share) {
    return std::log1p(times * std::min(share, 1.0));
  });
}

}  // namespace

OperatorsPredictor::OperatorsPredictor(const Archive& archive)
    : Predictor(archive.card),
      space_(&get_space(archive.card)),
      map_(operators::get_features(archive, *space_)),
      posterior_(operators::get_posterior(archive, map_)) {}

double OperatorsPredictor::unknown_deviation(double share, double times) {
  return std::clamp(std::log1p(times * std::abs(std::expm1(share))), least_unknown_deviation, most_unknown_deviation);
}

Eigen::VectorXd OperatorsPredictor::unknown_deviations(const std::vector<Architecture>& architectures) const {
  Eigen::VectorXd deviations = Eigen::VectorXd::Zero(static_cast<Index>(architectures.size()));
  if (space_->search_space() != nullptr || architectures.empty()) return deviations;
  if (card_.contains("known_device") && posterior_.places.compared()) {
    const operators::FeatureTable known = table(architectures, operators::UnknownOperators::left_out);
    deviations = deviations_beyond(posterior_, posterior_.places.of(known.rows()));
  }
  std::vector<Architecture> unknown;
  std::vector<Index> places;
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    if (operators::unknown_groups(map_, *space_, architectures[a]).empty()) continue;
    unknown.push_back(architectures[a]);
    places.push_back(static_cast<Index>(a));
  }
  if (unknown.empty()) return deviations;
  const LogLatency with = operators::predict(posterior_, table(unknown));
  const LogLatency without = operators::predict(posterior_, table(unknown, operators::UnknownOperators::left_out));
  const LogLatency unlike = operators::predict(posterior_, table(unknown), true);
  for (std::size_t u = 0; u < unknown.size(); ++u) {
    const auto row = static_cast<Index>(u);
    const double share = with.mean[row] - without.mean[row];
    // An unknown operator makes a network no more alike those that are known, but of another kind.
    const double most = std::max(without.deviation[row], unlike.deviation[row]);
    const double alike = std::max(std::pow(most, 2) - std::pow(with.deviation[row], 2), 0.0);
    deviations[places[u]] = std::hypot(deviations[places[u]], unknown_deviation(share), std::sqrt(alike));
  }
  return deviations;
}

LogLatency OperatorsPredictor::log_latency(const std::vector<Architecture>& architectures, bool unlike) const {
  LogLatency result = operators::predict(posterior_, table(architectures), unlike);
  const Eigen::VectorXd unknown = unknown_deviations(architectures);
  for (Index a = 0; a < unknown.size(); ++a) result.deviation[a] = std::hypot(result.deviation[a], unknown[a]);
  return result;
}

Predictions OperatorsPredictor::predict(const std::vector<Architecture>& architectures, double confidence) const {
  return predictions_of(architectures.empty() ? LogLatency() : log_latency(architectures), posterior_.calibration,
                        confidence);
}

Predictions OperatorsPredictor::predict_as_unlike(const std::vector<Architecture>& architectures,
                                                  double confidence) const {
  if (!posterior_.places.compared() || architectures.empty()) return {};
  return predictions_of(log_latency(architectures, true), posterior_.calibration, confidence);
}

std::vector<Unfamiliar> OperatorsPredictor::unfamiliar(const std::vector<Architecture>& architectures) const {
  if (space_->search_space() != nullptr) return {};  // the networks of a space are made of the same operators
  std::vector<Unfamiliar> result(architectures.size());
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    result[a].operators = operators::unknown_groups(map_, *space_, architectures[a]);
  }
  if (!posterior_.places.compared() || architectures.empty()) return result;
  const Eigen::MatrixXd places = posterior_.places.of(table(architectures).rows());
  const Eigen::ArrayXd reach = operators::reach_of(posterior_, places);
  for (std::size_t a = 0; a < architectures.size(); ++a) result[a].size = std::exp(reach[static_cast<Index>(a)]);
  return result;
}

void OperatorsPredictor::put_weights(Archive& archive) const {
  operators::put_features(archive, map_);
  operators::put_posterior(archive, posterior_);
}

std::vector<Remark> OperatorsPredictor::explanation() const { return explanation_of(card_); }

std::vector<PartCost> OperatorsPredictor::operator_costs(const std::vector<Architecture>& typical) const {
  return operators::costs_by_kind(posterior_, map_, *space_, typical);
}

std::vector<PartCost> OperatorsPredictor::network_costs(const Architecture& architecture) const {
  return operators::network_costs(posterior_, map_, *space_, architecture);
}

std::optional<PlanningView> OperatorsPredictor::uncertainty(const std::vector<Architecture>& candidates) const {
  const operators::FeatureTable features = table(candidates);
  PlanningView view{operators::posterior_covariance(posterior_, features.rows()),
                    {std::sqrt(posterior_.noise_variance())}};
  if (!posterior_.places.compared() || candidates.empty()) return view;
  view.own = std::sqrt(posterior_.residual_variance * operators::predict(posterior_, features).novelty.mean());
  return view;
}

}  // namespace tenshot::trainer
