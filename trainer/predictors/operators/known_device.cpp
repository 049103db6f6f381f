#include "trainer/predictors/operators/known_device.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/error_calibration.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr double least_noise = 0.005;  ///< of log latency
constexpr double least_share = 1e-6;   ///< of a device's scale: no prediction is below it

/// The networks of the library that are no smaller and no larger than all that the device measured, and that its own
/// pool has. Those without a weight are left out, since it did not measure them, unless no network has one.
std::vector<Index> networks_within(const CostLibrary& library, Index device) {
  constexpr double rounding = 1e-4;  // of places that were kept as floats
  const bool has_weights = library.known_weights.col(device).any();
  std::vector<Index> within;
  for (Index n = 0; n < library.known.rows(); ++n) {
    const double size = library.known(n, library.known.cols() - 1);
    const bool is_within = library.sizes.rows() == 0 ||
                           (size >= library.sizes(device, 0) - rounding && size <= library.sizes(device, 1) + rounding);
    const bool is_own = !has_weights || library.known_weights(n, device) != 0;
    if (is_within && is_own && library.knows(static_cast<std::size_t>(device), n)) within.push_back(n);
  }
  return within;
}

}  // namespace

CostPosterior known_posterior(const CostLibrary& library, const Eigen::MatrixXd& weights, std::size_t device,
                              Index features, const PosteriorOptions& options) {
  const auto number = static_cast<Index>(device);
  const double scale_ms = library.median_ms[number];
  const double closeness = *std::min_element(options.closeness.begin(), options.closeness.end());
  const Index begin = library.begin_of(device), width = library.costs.cols();
  const CostPrior prior = cost_prior(library, weights, device, options);
  Eigen::MatrixXd covariance = prior.root.transpose() * prior.root;
  covariance.diagonal() += prior.variance;
  covariance *= std::pow(closeness * scale_ms, 2);
  CostPosterior posterior;
  const bool drawn = begin == 0 && library.known_costs.rows() > 0 && library.known_costs.row(number).any();
  Eigen::VectorXd costs_ms = Eigen::VectorXd::Zero(features);
  costs_ms.segment(begin, width) = scale_ms * (drawn ? library.known_costs : library.costs).row(number).transpose();
  posterior.components = {{device, std::max(library.log_rms[number], least_noise), 1, std::move(costs_ms)}};
  posterior.floor_ms = least_share * scale_ms;
  posterior.least_costs_ms = Eigen::VectorXd::Zero(features);
  posterior.spread_ms.resize(features, 0);
  posterior.rest_ms2 = Eigen::VectorXd::Zero(features);
  add_spread(begin, covariance, static_cast<Index>(library.operator_features), posterior);
  posterior.places = library.places;
  if (!library.places.compared()) return posterior;
  const std::vector<Index> within = networks_within(library, number);
  if (within.empty()) throw FormatError("a device has no network of 'library.known' within its 'library.sizes'");
  posterior.anchors = library.known(within, Eigen::all);
  // What its own costs leave of its networks counts as these costs do.
  posterior.anchor_weights = (drawn ? 1 - most_drawn : 1) * library.known_weights(within, number);
  posterior.residual_variance = library.residual_variance_of(device);
  posterior.reach_variance = library.reach_variance;
  return posterior;
}

OwnFits own_fits(const datasets::Pool& pool, const CostLibrary& calibrated, const PosteriorOptions& options) {
  const FittedPool fitted = fit_pool(pool, options);
  const PoolNumbers& numbers = fitted.numbers;
  return left_out_fits(pool, fitted.networks.size(), [&](const auto& rest, const auto& left_out, auto& errors) {
    const std::vector<Index> networks(rest.begin(), rest.end()), devices = devices_with(numbers, networks);
    if (devices.empty() || left_out.empty()) return;
    CostLibrary library = fit_library(selection_of(numbers, networks, devices), fitted.options);
    keep_common_residuals(library);
    library.residual_factor = calibrated.residual_factor;
    library.reach_variance = calibrated.reach_variance;
    Eigen::MatrixXd features = numbers.features;
    if (!fitted.map.learned.empty()) {
      const FeatureMap map = fitted.learn(networks, library, devices);
      features = feature_table(map, *pool.space, fitted.networks).rows();
    }
    const Eigen::MatrixXd weights = nearness(library);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Eigen::VectorXd latency_ms = numbers.latency_ms.row(devices[i]);
      const std::vector<Index> measured = measured_of({left_out.begin(), left_out.end()}, latency_ms);
      if (measured.empty()) continue;
      const Eigen::VectorXd measured_ms = latency_ms(measured);
      const CostPosterior posterior = known_posterior(library, weights, i, features.cols(), options);
      add_errors(predict(posterior, table_of(features(measured, Eigen::all))), {measured_ms.begin(), measured_ms.end()},
                 errors[static_cast<std::size_t>(devices[i])]);
    }
  });
}

void drop_medians(FeatureMap& map, CostLibrary& library) {
  for (std::size_t d = 0; d < library.devices(); ++d) {
    const auto device = static_cast<Index>(d);
    const double scale_ms = stepped_scale_ms(library.median_ms[device]);
    const double factor = library.median_ms[device] / scale_ms;
    library.median_ms[device] = scale_ms;
    library.costs.row(device) *= factor;
    if (library.known_costs.rows() > 0) library.known_costs.row(device) *= factor;
    if (library.block_of(d) == 0) continue;
    OperatorTimes& times = map.learned[library.block_of(d) - 1];
    times.per_ms *= factor;
    times.per_operator *= factor;
    times.base *= factor;
    times.costs *= factor;
    for (double& most : times.most_linear) most *= factor;
  }
}

}  // namespace tenshot::trainer::operators
