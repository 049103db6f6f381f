#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "nasbench/support/numbers_below.h"
#include "trainer/predictors/operators/known_device.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// What becomes of the operators' features where a map is widened: those that it had are at `kept`, in their order, and
/// others are `added`. What follows the operators' features keeps its order.
struct Places {
  std::vector<Index> kept, added;
};

/// The columns of `narrow` at their places, and zeros for those that are new; columns beyond the operators' follow.
Eigen::MatrixXd widened(const Eigen::MatrixXd& narrow, const Places& places) {
  const auto kept = static_cast<Index>(places.kept.size()), others = narrow.cols() - kept;
  Eigen::MatrixXd wide = Eigen::MatrixXd::Zero(narrow.rows(), narrow.cols() + static_cast<Index>(places.added.size()));
  wide(Eigen::all, places.kept) = narrow.leftCols(kept);
  wide.rightCols(others) = narrow.rightCols(others);
  return wide;
}

/// A cost that no device of a kind has is as large as its measure's others, and as unsure as before any device.
void widen(DeviceKind& kind, const FeatureScale& scale, const Places& places) {
  const auto features = static_cast<Index>(places.kept.size() + places.added.size());
  const KindOptions usual;
  Eigen::VectorXd log_costs(features);
  log_costs(places.kept) = kind.log_costs;
  for (const Index f : places.added) {
    double sum = 0, count = 0;
    for (const Index g : places.kept) {
      if (scale.measure[static_cast<std::size_t>(g)] != scale.measure[static_cast<std::size_t>(f)]) continue;
      sum += log_costs[g];
      ++count;
    }
    log_costs[f] = count > 0 ? sum / count : kind.log_costs.mean();
  }
  kind.log_costs = std::move(log_costs);
  Eigen::MatrixXd covariance =
      (usual.variance + usual.measure_variance) * Eigen::MatrixXd::Identity(features, features);
  covariance(places.kept, places.kept) = kind.covariance;
  kind.covariance = std::move(covariance);
}

Places widen(FeatureMap& map, CostLibrary& library, const FeatureMap& other) {
  std::vector<std::size_t> raw;
  std::set_union(map.raw.begin(), map.raw.end(), other.raw.begin(), other.raw.end(), std::back_inserter(raw));
  Eigen::VectorXd unit(static_cast<Index>(raw.size()));
  Places places;
  for (Index f = 0; f < unit.size(); ++f) {
    const std::size_t feature = raw[static_cast<std::size_t>(f)];
    const bool known = std::binary_search(map.raw.begin(), map.raw.end(), feature);
    (known ? places.kept : places.added).push_back(f);
    if (!known) unit[f] = other.unit[std::lower_bound(other.raw.begin(), other.raw.end(), feature) - other.raw.begin()];
  }
  unit(places.kept) = map.unit;
  map.raw = std::move(raw);
  map.unit = std::move(unit);
  library.operator_features = map.operator_features();
  library.costs = widened(library.costs, places);
  if (library.known_costs.rows() > 0) library.known_costs = widened(library.known_costs, places);
  for (OperatorTimes& times : map.learned) times.costs = widened(times.costs.transpose(), places).transpose();
  if (!library.kinds.empty()) library.scale = feature_scale(map);
  for (DeviceKind& kind : library.kinds) widen(kind, library.scale, places);
  std::vector<std::string> unmeasured;
  for (const Index f : places.added) {
    const auto group = group_counted_by(map.raw[static_cast<std::size_t>(f)]);
    if (group) unmeasured.push_back(operator_group_name(*group));
  }
  std::set_difference(other.unusual.begin(), other.unusual.end(), map.unusual.begin(), map.unusual.end(),
                      std::back_inserter(unmeasured));
  if (map.options.empty()) library.unmeasured.resize(library.devices());  // in a space all have the same operators
  for (auto& names : library.unmeasured) names.insert(names.end(), unmeasured.begin(), unmeasured.end());
  map.unusual.insert(other.unusual.begin(), other.unusual.end());
  if (!library.places.compared()) return places;
  Eigen::VectorXd& typical = library.places.typical_costs;
  typical = widened(typical.transpose(), places).transpose();
  library.known = widened(library.known, places);
  return places;
}

/// Gives devices costs of features new to them: what they cost the added ones, relative to what both have measured.
void add_new_costs(const Places& places, const PoolNumbers& numbers, const Eigen::MatrixXd& added,
                   Eigen::MatrixXd& costs) {
  Eigen::RowVectorXd both = (numbers.features.array() != 0).colwise().any().cast<double>();
  both(places.added).setZero();
  const Eigen::VectorXd ratio = (added * both.transpose()).cwiseMax(smallest_relative).cwiseInverse();
  const Eigen::RowVectorXd typical = ratio.transpose() * added / static_cast<double>(added.rows());
  for (const Index f : places.added) costs.col(f) = (costs * both.transpose()) * typical[f];
}

/// Sets what a device costs, and how far its networks are from that. Costs that few networks determine are what
/// adapting the library to them says, with its noise, and none below zero; many networks determine their own.
void set_costs(const PoolNumbers& numbers, Index device, const CostLibrary& library, const PosteriorOptions& options,
               CostLibrary& own) {
  constexpr std::size_t few = 60;
  const Eigen::VectorXd latency_ms = numbers.latency_ms.row(device);
  const std::vector<Index> measured = measured_of(numbers_below<Index>(latency_ms.size()), latency_ms);
  double least_rms = 0;
  if (measured.size() <= few) {
    AdaptationFeatures set;
    for (const Index n : measured) set.latency_ms.push_back(latency_ms[n]);
    set.features = numbers.features(measured, Eigen::all);
    const CostPosterior posterior = adapt(library, set, options);
    own.costs.row(device) = posterior.mean_costs_ms().cwiseMax(0) / own.median_ms[device];
    least_rms = std::sqrt(posterior.noise_variance());
  }
  const Eigen::ArrayXd expected = (numbers.features * own.costs.row(device).transpose()).array().max(smallest_relative);
  const Eigen::ArrayXd error =
      (numbers.latency_ms.row(device).transpose().array() / own.median_ms[device]).log() - expected.log();
  const auto known = error.isFinite();
  own.log_rms[device] =
      std::max(least_rms, std::sqrt(known.select(error.square(), 0).sum() / static_cast<double>(known.count())));
}

void append_known(const PoolNumbers& numbers, const CostLibrary& own, CostLibrary& library) {
  const Eigen::MatrixXd places = library.places.of(numbers.features);
  const Eigen::MatrixXd kernel = similarity(places, places);
  const Index known = library.known.rows(), devices = library.known_weights.cols(), added = own.costs.rows();
  if (library.network_growth.size() == 0) {
    library.network_growth = Eigen::VectorXd::Zero(known);
    library.device_growth = Eigen::VectorXd::Zero(devices);
  }
  const double growth = library.device_growth.maxCoeff() + 1;
  append(Eigen::VectorXd::Constant(places.rows(), growth), library.network_growth);
  append(Eigen::VectorXd::Constant(added, growth), library.device_growth);
  append(places, library.known);
  library.known_weights.conservativeResize(known + places.rows(), devices + added);
  library.known_weights.bottomLeftCorner(places.rows(), devices).setZero();
  library.known_weights.topRightCorner(known, added).setZero();
  for (DeviceKind& kind : library.kinds) {
    append(Eigen::VectorXd::Zero(places.rows()), kind.residual);
    append(Eigen::MatrixXd::Zero(places.rows(), kind.residual_factor.cols()), kind.residual_factor);
  }
  if (library.sizes.rows() > 0) append(size_ranges(numbers, places), library.sizes);
  for (Index d = 0; d < added; ++d) {
    library.known_weights.col(devices + d).tail(places.rows()) =
        residual_weights(numbers, d, own.costs.row(d), kernel, library.places.noise);
  }
}

}  // namespace

void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const PosteriorOptions& options) {
  const std::vector<nasbench::Architecture> networks = datasets::latency_matrix(pool).architectures;
  const Places places = widen(map, library, make_feature_map(*pool.space, networks, pool.quantity()));
  PoolNumbers numbers = numbers_of(map, pool);
  numbers.scale = {};  // a few devices are no kinds of their own
  CostLibrary own = fit_library(numbers, library_options(pool, options));
  const Index before = library.costs.rows(), added = own.costs.rows();
  CostLibrary prior = library;
  prior.block.clear();  // the pool's networks are rows of shared features
  for (Index d = 0; d < added; ++d) set_costs(numbers, d, prior, options, own);
  add_new_costs(places, numbers, own.costs, library.costs);
  if (library.known_costs.rows() > 0) {
    add_new_costs(places, numbers, own.costs, library.known_costs);
    append(Eigen::MatrixXd::Zero(added, own.costs.cols()), library.known_costs);
  }
  for (auto& groups : unmeasured_groups(map, numbers, *pool.space, networks))
    library.unmeasured.push_back(std::move(groups));
  if (!library.block.empty()) library.block.resize(static_cast<std::size_t>(before + added), 0);
  append(own.costs, library.costs);
  drop_unlisted(map, library);
  append(own.median_ms, library.median_ms);
  append(own.log_rms, library.log_rms);
  Eigen::MatrixXd differences = profile_differences(numbers.features, library.costs);
  differences.topLeftCorner(before, before) = library.differences;
  library.differences = std::move(differences);
  if (library.places.compared()) append_known(numbers, own, library);
}

OwnFits grown_fits(const FeatureMap& map, const CostLibrary& library, const datasets::Pool& pool,
                   const PosteriorOptions& options) {
  const std::vector<nasbench::Architecture> networks = datasets::latency_matrix(pool).architectures;
  return left_out_fits(pool, networks.size(), [&](const auto&, const auto& left_out, auto& errors) {
    nasbench::ArchitectureSet names;
    for (const std::size_t n : left_out) names.insert(networks[n]);
    const auto is_left_out = [&](const datasets::Measurement& row) { return names.count(row.architecture) > 0; };
    datasets::Pool rest = pool;
    rest.devices.clear();
    std::vector<std::size_t> devices;
    for (std::size_t d = 0; d < pool.devices.size(); ++d) {
      datasets::DeviceRuntime device = pool.devices[d];
      auto& rows = device.latencies;
      rows.erase(std::remove_if(rows.begin(), rows.end(), is_left_out), rows.end());
      if (rows.empty() || rows.size() == pool.devices[d].latencies.size()) continue;
      rest.devices.push_back(std::move(device));
      devices.push_back(d);
    }
    if (devices.empty()) return;
    FeatureMap wider = map;
    CostLibrary grown = library;
    grow(wider, grown, rest, options);
    const Eigen::MatrixXd weights = nearness(grown);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      AdaptationSet asked;
      for (const datasets::Measurement& row : pool.devices[devices[i]].latencies) {
        if (is_left_out(row)) asked.add(row.architecture, row.latency_ms);
      }
      const CostPosterior posterior = known_posterior(grown, weights, library.devices() + i, wider.features(), options);
      const FeatureTable table = feature_table(wider, *pool.space, asked.architectures);
      add_errors(predict(posterior, table), asked.latency_ms, errors[devices[i]]);
    }
  });
}

}  // namespace tenshot::trainer::operators
