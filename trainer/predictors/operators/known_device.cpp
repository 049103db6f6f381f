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

/// The networks of a pool without one part of them, on the devices that still have some.
struct Remaining {
  std::vector<Index> networks;
  std::vector<Index> devices;
  PoolNumbers numbers;
};

Remaining without_part(const PoolNumbers& pool, const std::vector<std::size_t>& part_of, std::size_t part) {
  Remaining rest;
  for (std::size_t n = 0; n < part_of.size(); ++n) {
    if (part_of[n] != part) rest.networks.push_back(static_cast<Index>(n));
  }
  rest.devices = devices_with(pool, rest.networks);
  rest.numbers = selection_of(pool, rest.networks, rest.devices);
  return rest;
}

/// The networks of the library that are no smaller and no larger than all that the device measured, and that
/// its own pool has: of others it knows nothing, whatever other devices measured.
std::vector<Index> networks_within(const CostLibrary& library, Index device) {
  constexpr double rounding = 1e-4;  // of places that were kept as floats
  std::vector<Index> within;
  for (Index n = 0; n < library.known.rows(); ++n) {
    const double size = library.known(n, library.known.cols() - 1);
    const bool is_within = library.sizes.rows() == 0 ||
                           (size >= library.sizes(device, 0) - rounding && size <= library.sizes(device, 1) + rounding);
    if (is_within && library.knows(static_cast<std::size_t>(device), n)) within.push_back(n);
  }
  return within;
}

/// Adds the errors of all devices on the networks of one part.
void add_errors(const FittedPool& fitted, const datasets::Pool& pool, const std::vector<std::size_t>& part_of,
                std::size_t part, const CostLibrary& calibrated, const LibraryOptions& library_options,
                const PosteriorOptions& options, std::vector<std::vector<LeftOutError>>& errors) {
  const Remaining rest = without_part(fitted.numbers, part_of, part);
  if (rest.devices.empty() || rest.networks.size() == part_of.size()) return;
  CostLibrary library = fit_library(rest.numbers, library_options);
  keep_common_residuals(library);
  library.residual_factor = calibrated.residual_factor;
  library.reach_variance = calibrated.reach_variance;
  Eigen::MatrixXd features = fitted.numbers.features;
  if (!fitted.map.learned.empty()) {
    const FeatureMap map = fitted.learn(rest.networks, library, rest.devices);
    features = feature_table(map, *pool.space, fitted.networks).rows();
  }
  const std::vector<CostPrior> priors = cost_priors(library, options);
  for (std::size_t i = 0; i < rest.devices.size(); ++i) {
    const Index device = rest.devices[i];
    std::vector<Index> left_out;
    for (std::size_t n = 0; n < part_of.size(); ++n) {
      const auto network = static_cast<Index>(n);
      if (part_of[n] == part && std::isfinite(fitted.numbers.latency_ms(device, network))) left_out.push_back(network);
    }
    if (left_out.empty()) continue;
    const CostPosterior posterior = known_posterior(library, i, priors[i], features.cols(), options);
    const LogLatency predicted = predict(posterior, table_of(features(left_out, Eigen::all)));
    for (std::size_t n = 0; n < left_out.size(); ++n) {
      const auto at = static_cast<Index>(n);
      errors[static_cast<std::size_t>(device)].push_back(
          {std::log(fitted.numbers.latency_ms(device, left_out[n])) - predicted.mean[at], predicted.deviation[at]});
    }
  }
}

}  // namespace

CostPosterior known_posterior(const CostLibrary& library, std::size_t device, const CostPrior& prior, Index features,
                              const PosteriorOptions& options) {
  const auto number = static_cast<Index>(device);
  const double scale_ms = library.median_ms[number];
  const double closeness = *std::min_element(options.closeness.begin(), options.closeness.end());
  const Index begin = library.begin_of(device), width = library.costs.cols();
  const Eigen::MatrixXd covariance = std::pow(closeness * scale_ms, 2) * prior.covariance();
  CostPosterior posterior;
  CostComponent component;
  component.entry = device;
  component.noise = std::max(library.log_rms[number], least_noise);
  component.weight = 1;
  component.costs_ms = Eigen::VectorXd::Zero(features);
  const bool drawn = begin == 0 && library.known_costs.rows() > 0 && library.known_costs.row(number).any();
  component.costs_ms.segment(begin, width) =
      scale_ms * (drawn ? library.known_costs : library.costs).row(number).transpose();
  posterior.components.push_back(std::move(component));
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

OwnFits own_fits(const datasets::Pool& pool, const CostLibrary& library, const PosteriorOptions& options) {
  const LibraryOptions of_library = library_options(pool, options);
  const FittedPool fitted = fit_pool(pool, of_library);
  const std::vector<std::size_t> part_of = left_out_part_of(fitted.networks.size());
  std::vector<std::vector<LeftOutError>> errors(pool.devices.size());
  for (std::size_t part = 0; part < left_out_parts; ++part) {
    add_errors(fitted, pool, part_of, part, library, of_library, options, errors);
  }
  std::vector<std::size_t> networks;
  for (const datasets::DeviceRuntime& device : pool.devices) networks.push_back(device.latencies.size());
  return own_fits_of(errors, networks);
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
  }
}

}  // namespace tenshot::trainer::operators
