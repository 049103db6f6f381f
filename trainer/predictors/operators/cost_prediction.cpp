#include <algorithm>
#include <cmath>
#include <utility>

#include "nasbench/support/numbers_below.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

using Eigen::Index;

double CostPosterior::noise_variance() const {
  double variance = 0;
  for (const CostComponent& component : components) variance += component.weight * std::pow(component.noise, 2);
  return variance;
}

Eigen::VectorXd CostPosterior::mean_costs_ms() const {
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(spread_ms.rows());
  for (const CostComponent& component : components) mean += component.weight * component.costs_ms;
  return mean;
}

Eigen::MatrixXd CostPosterior::all_costs_ms() const {
  Eigen::MatrixXd costs = Eigen::MatrixXd::Zero(spread_ms.rows(), components.size() + 1);
  for (std::size_t c = 0; c < components.size(); ++c) costs.col(c) = components[c].costs_ms;
  if (least_costs_ms.size() > 0) costs.rightCols<1>() = least_costs_ms;
  return costs;
}

Eigen::ArrayXXd CostPosterior::log_latency(const Eigen::MatrixXd& by_costs_ms) const {
  const auto count = static_cast<Index>(components.size());
  const Eigen::ArrayXd least = by_costs_ms.col(count).array().max(floor_ms);
  return by_costs_ms.leftCols(count).array().max(least.replicate(1, count)).log();
}

Eigen::ArrayXd reach_of(const CostPosterior& posterior, const Eigen::MatrixXd& places) {
  const Index size = places.cols() - 1;  // the logarithm of what a network typically costs
  const Eigen::ArrayXd own = places.col(size), none = Eigen::ArrayXd::Zero(own.size());
  const double largest = posterior.anchors.col(size).maxCoeff(), smallest = posterior.anchors.col(size).minCoeff();
  return posterior.places.scale * ((own - largest).max(none) + (own - smallest).min(none));
}

/// The median over the components, by their weights, of what a feature costs where it costs anything; 0 where nowhere.
static double median_cost_ms(const CostPosterior& posterior, Index feature) {
  std::vector<std::pair<double, double>> costs;  // cost, weight
  double half = 0;
  for (const CostComponent& component : posterior.components) {
    if (!(component.costs_ms[feature] > 0)) continue;
    costs.emplace_back(component.costs_ms[feature], component.weight);
    half += component.weight / 2;
  }
  std::sort(costs.begin(), costs.end());
  for (const auto& [cost, weight] : costs)
    if ((half -= weight) <= 0) return cost;
  return 0;
}

void confine_unmeasured(const Eigen::MatrixXd& measured, CostPosterior& posterior) {
  constexpr double most = 10;  // times the median
  for (Index f = 0; f < measured.cols(); ++f) {
    if (posterior.rest_ms2[f] > 0 || (measured.col(f).array() != 0).any()) continue;  // a decision, or measured
    const double median = median_cost_ms(posterior, f);
    double before = 0, after = 0;
    for (CostComponent& component : posterior.components) {
      double& cost = component.costs_ms[f];
      before += component.weight * std::max(cost, 0.0);
      cost = std::min(cost, most * median);
      after += component.weight * std::max(cost, 0.0);
    }
    if (!(after < before)) continue;
    posterior.least_costs_ms[f] *= after / before;
    posterior.spread_ms.row(f) *= after / before;
  }
}

LogLatency predict(const CostPosterior& posterior, const FeatureTable& table, bool unlike) {
  const auto components = static_cast<Index>(posterior.components.size()), rank = posterior.spread_ms.cols();
  Eigen::MatrixXd projection(posterior.spread_ms.rows(), components + 1 + rank + 1);
  Eigen::VectorXd weights(components);
  for (Index c = 0; c < components; ++c) weights[c] = posterior.components[static_cast<std::size_t>(c)].weight;
  projection << posterior.all_costs_ms(), posterior.spread_ms, posterior.rest_ms2;
  const Eigen::MatrixXd projected = table.times(projection);
  const Eigen::ArrayXXd log_latency = posterior.log_latency(projected.leftCols(components + 1));

  LogLatency result;
  result.mean = log_latency.matrix() * weights;
  const Eigen::ArrayXd between =
      ((log_latency.square().matrix() * weights).array() - result.mean.array().square()).max(0);
  const Eigen::ArrayXd cost_variance_ms2 = projected.middleCols(components + 1, rank).rowwise().squaredNorm().array() +
                                           projected.col(components + 1 + rank).array().max(0);
  const Eigen::ArrayXd relative = cost_variance_ms2 / (2 * result.mean.array()).exp();
  // The variance of the logarithm, were the costs log-normal with that mean and variance: it grows slowly.
  const Eigen::ArrayXd of_costs = posterior.least_costs_ms.size() > 0 ? relative.log1p().eval() : relative;
  Eigen::ArrayXd variance = between + of_costs + posterior.noise_variance();
  if (posterior.places.compared()) {
    const Eigen::MatrixXd places = posterior.places.of(table.rows());
    const Eigen::MatrixXd near = similarity(places, posterior.anchors);
    result.mean += near * posterior.anchor_weights;
    const Eigen::ArrayXd known = (unlike ? 0 : 1) * near.rowwise().maxCoeff().array().square();
    result.novelty = 1 - known / (1 + posterior.places.noise);
    // As similarity falls with distance: 1 − exp(−2 distance).
    result.reach = reach_of(posterior, places).unaryExpr([](double reach) {
      return std::copysign(-std::expm1(-2 * std::abs(reach)), reach);
    });
    variance += posterior.residual_variance * result.novelty.array();
    variance *= 1 - (1 - posterior.known_share) * known;
    variance += result.reach.unaryExpr([&](double reach) { return posterior.reach_variance.at(reach); }).array();
  }
  result.deviation = variance.sqrt();
  return result;
}

IntervalCalibration calibration_of(const CostLibrary& library, const CostPosterior& posterior,
                                   IntervalCalibration calibration) {
  double log_scale = 0;
  for (const CostComponent& component : posterior.components) {
    log_scale += component.weight * std::log(library.error_scale_of(component.entry));
  }
  for (double& quantile : calibration.quantiles) quantile *= std::exp(log_scale);
  return calibration;
}

void drop_unused_blocks(FeatureMap& map, CostPosterior& posterior) {
  const auto width = static_cast<Index>(map.operator_features());
  std::vector<Index> kept = numbers_below<Index>(map.shared_features());
  std::vector<OperatorTimes> learned;
  for (std::size_t l = 0; l < map.learned.size(); ++l) {
    const auto begin = static_cast<Index>(map.block_begin(l + 1));
    const bool used = std::any_of(posterior.components.begin(), posterior.components.end(), [&](const auto& component) {
      return !component.costs_ms.segment(begin, width).isZero(0);
    });
    if (!used) continue;
    for (Index f = 0; f < width; ++f) kept.push_back(begin + f);
    learned.push_back(std::move(map.learned[l]));
  }
  map.learned = std::move(learned);
  for (CostComponent& component : posterior.components) component.costs_ms = component.costs_ms(kept).eval();
  posterior.spread_ms = posterior.spread_ms(kept, Eigen::all).eval();
  posterior.rest_ms2 = posterior.rest_ms2(kept).eval();
  if (posterior.least_costs_ms.size() > 0) posterior.least_costs_ms = posterior.least_costs_ms(kept).eval();
}

}  // namespace tenshot::trainer::operators
