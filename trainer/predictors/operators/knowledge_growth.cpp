#include "trainer/predictors/operators/knowledge_growth.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/predictors/library/library.h"
#include "trainer/predictors/operators/known_device.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// For each feature of a wider map its place in the narrower one, −1 where that has it not. What follows the operators'
/// features keeps its order.
using Places = std::vector<Index>;

Places widen(FeatureMap& map, const FeatureMap& other) {
  std::vector<std::size_t> raw;
  std::set_union(map.raw.begin(), map.raw.end(), other.raw.begin(), other.raw.end(), std::back_inserter(raw));
  Places places;
  Eigen::VectorXd unit(static_cast<Index>(raw.size()));
  for (std::size_t f = 0; f < raw.size(); ++f) {
    const auto own = std::lower_bound(map.raw.begin(), map.raw.end(), raw[f]);
    const bool known = own != map.raw.end() && *own == raw[f];
    const auto at = known ? own - map.raw.begin()
                          : std::lower_bound(other.raw.begin(), other.raw.end(), raw[f]) - other.raw.begin();
    unit[static_cast<Index>(f)] = known ? map.unit[at] : other.unit[at];
    places.push_back(known ? at : -1);
  }
  map.raw = std::move(raw);
  map.unit = std::move(unit);
  return places;
}

/// The columns of `narrow` at their places, and zeros for those that are new; columns beyond the operators' follow.
Eigen::MatrixXd widened(const Eigen::MatrixXd& narrow, const Places& places, Index operators_before) {
  const auto operators = static_cast<Index>(places.size());
  const Index others = narrow.cols() - operators_before;
  Eigen::MatrixXd wide = Eigen::MatrixXd::Zero(narrow.rows(), operators + others);
  for (Index f = 0; f < operators; ++f) {
    if (places[static_cast<std::size_t>(f)] >= 0) wide.col(f) = narrow.col(places[static_cast<std::size_t>(f)]);
  }
  wide.rightCols(others) = narrow.rightCols(others);
  return wide;
}

/// A cost that no device of a kind has is as large as its measure's others, and as unsure as before any device.
void widen(DeviceKind& kind, const FeatureScale& scale, const Places& places) {
  const auto features = static_cast<Index>(places.size());
  const KindOptions usual;
  DeviceKind wide = kind;
  wide.log_costs.resize(features);
  wide.covariance = (usual.variance + usual.measure_variance) * Eigen::MatrixXd::Identity(features, features);
  for (Index f = 0; f < features; ++f) {
    const Index from = places[static_cast<std::size_t>(f)];
    if (from < 0) {
      double sum = 0, count = 0;
      for (Index g = 0; g < features; ++g) {
        const bool alike = scale.measure[static_cast<std::size_t>(g)] == scale.measure[static_cast<std::size_t>(f)];
        if (!alike || places[static_cast<std::size_t>(g)] < 0) continue;
        sum += kind.log_costs[places[static_cast<std::size_t>(g)]];
        ++count;
      }
      wide.log_costs[f] = count > 0 ? sum / count : kind.log_costs.mean();
      continue;
    }
    wide.log_costs[f] = kind.log_costs[from];
    for (Index g = 0; g < features; ++g) {
      if (places[static_cast<std::size_t>(g)] >= 0) {
        wide.covariance(f, g) = kind.covariance(from, places[static_cast<std::size_t>(g)]);
      }
    }
  }
  kind = std::move(wide);
}

Places widen(FeatureMap& map, CostLibrary& library, const FeatureMap& other) {
  const auto before = static_cast<Index>(map.operator_features());
  const Places places = widen(map, other);
  library.operator_features = map.operator_features();
  library.costs = widened(library.costs, places, before);
  if (library.known_costs.rows() > 0) library.known_costs = widened(library.known_costs, places, before);
  for (OperatorTimes& times : map.learned) times.costs = widened(times.costs.transpose(), places, before).transpose();
  if (!library.kinds.empty()) library.scale = feature_scale(map);
  for (DeviceKind& kind : library.kinds) widen(kind, library.scale, places);
  library.unmeasured.resize(library.devices());
  for (std::size_t f = 0; f < places.size(); ++f) {
    const auto group = places[f] < 0 ? group_counted_by(map.raw[f]) : std::nullopt;
    for (auto& groups : library.unmeasured)
      if (group) groups.push_back(operator_group_name(*group));
  }
  for (const std::string& name : other.unusual) {
    for (auto& names : library.unmeasured)
      if (map.unusual.count(name) == 0) names.push_back(name);
  }
  map.unusual.insert(other.unusual.begin(), other.unusual.end());
  if (!library.places.compared()) return places;
  Eigen::VectorXd& typical = library.places.typical_costs;
  typical = widened(typical.transpose(), places, before).transpose();
  library.known = widened(library.known, places, before);
  return places;
}

/// Gives devices costs of features that are new to them: the mean of what they cost the added devices, relative to the
/// costs of what both have measured.
void add_new_costs(const Places& places, const PoolNumbers& numbers, const Eigen::MatrixXd& added,
                   Eigen::MatrixXd& costs) {
  Eigen::RowVectorXd both = (numbers.features.array() != 0).colwise().any().cast<double>();
  for (std::size_t f = 0; f < places.size(); ++f) both[static_cast<Index>(f)] *= places[f] >= 0 ? 1 : 0;
  const Eigen::VectorXd ratio = (added * both.transpose()).cwiseMax(smallest_relative).cwiseInverse();
  const Eigen::RowVectorXd typical = ratio.transpose() * added / static_cast<double>(added.rows());
  for (std::size_t f = 0; f < places.size(); ++f) {
    const auto at = static_cast<Index>(f);
    if (places[f] < 0) costs.col(at) = (costs * both.transpose()) * typical[at];
  }
}

/// What a device costs, and how far its networks are from that.
struct OwnCosts {
  Eigen::VectorXd costs;  ///< [features], in units of its median latency
  double noise = 0;       ///< σ of log latency that the costs leave at least
};

/// Costs that few networks determine are what adapting the library to them says, with its noise, and none below zero;
/// many networks determine their own.
OwnCosts costs_of(const PoolNumbers& numbers, const CostLibrary& own, Index device, const CostLibrary& library,
                  const PosteriorOptions& options) {
  constexpr std::size_t few = 60;
  AdaptationFeatures set;
  std::vector<Index> measured;
  for (Index n = 0; n < numbers.latency_ms.cols(); ++n) {
    if (!std::isfinite(numbers.latency_ms(device, n))) continue;
    measured.push_back(n);
    set.latency_ms.push_back(numbers.latency_ms(device, n));
  }
  if (measured.size() > few) return {own.costs.row(device), 0};
  set.features = numbers.features(measured, Eigen::all);
  const CostPosterior posterior = adapt(library, set, options);
  return {posterior.mean_costs_ms().cwiseMax(0) / own.median_ms[device], std::sqrt(posterior.noise_variance())};
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

void append(const Eigen::MatrixXd& more, Eigen::MatrixXd& rows) {
  rows.conservativeResize(rows.rows() + more.rows(), Eigen::NoChange);
  rows.bottomRows(more.rows()) = more;
}

void append(const Eigen::VectorXd& more, Eigen::VectorXd& values) {
  values.conservativeResize(values.size() + more.size());
  values.tail(more.size()) = more;
}

void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const PosteriorOptions& options) {
  const std::vector<nasbench::Architecture> networks = datasets::latency_matrix(pool).architectures;
  const Places places =
      widen(map, library,
            make_feature_map(*pool.space, networks, map.of_starts() ? FeaturesOf::start : FeaturesOf::inference));
  PoolNumbers numbers = numbers_of(map, pool);
  numbers.scale = {};  // a few devices are no kinds of their own
  CostLibrary own = fit_library(numbers, library_options(pool, options));
  const Index before = library.costs.rows(), added = own.costs.rows();
  CostLibrary prior = library;
  prior.block.clear();  // the pool's networks are rows of shared features
  for (Index d = 0; d < added; ++d) {
    const OwnCosts found = costs_of(numbers, own, d, prior, options);
    own.costs.row(d) = found.costs;
    const Eigen::ArrayXd expected = (numbers.features * own.costs.row(d).transpose()).array().max(smallest_relative);
    const Eigen::ArrayXd error =
        (numbers.latency_ms.row(d).transpose().array() / own.median_ms[d]).log() - expected.log();
    const auto known = error.isFinite();
    own.log_rms[d] =
        std::max(found.noise, std::sqrt(known.select(error.square(), 0).sum() / static_cast<double>(known.count())));
  }
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
  const std::vector<std::size_t> part_of = left_out_part_of(networks.size());
  std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash> part;
  for (std::size_t n = 0; n < networks.size(); ++n) part.emplace(networks[n], part_of[n]);
  std::vector<std::vector<LeftOutError>> errors(pool.devices.size());
  for (std::size_t p = 0; p < left_out_parts; ++p) {
    datasets::Pool rest = pool;
    rest.devices.clear();
    std::vector<std::size_t> devices;
    for (std::size_t d = 0; d < pool.devices.size(); ++d) {
      datasets::DeviceRuntime device = pool.devices[d];
      const auto is_left_out = [&](const datasets::Measurement& row) { return part.at(row.architecture) == p; };
      auto& rows = device.latencies;
      rows.erase(std::remove_if(rows.begin(), rows.end(), is_left_out), rows.end());
      if (rows.empty() || rows.size() == pool.devices[d].latencies.size()) continue;
      rest.devices.push_back(std::move(device));
      devices.push_back(d);
    }
    if (devices.empty()) continue;
    FeatureMap wider = map;
    CostLibrary grown = library;
    grow(wider, grown, rest, options);
    const std::vector<CostPrior> priors = cost_priors(grown, options);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      std::vector<nasbench::Architecture> left_out;
      std::vector<double> truth_ms;
      for (const datasets::Measurement& row : pool.devices[devices[i]].latencies) {
        if (part.at(row.architecture) != p) continue;
        left_out.push_back(row.architecture);
        truth_ms.push_back(row.latency_ms);
      }
      const std::size_t entry = library.devices() + i;
      const LogLatency predicted =
          predict(known_posterior(grown, entry, priors[entry], static_cast<Index>(wider.features()), options),
                  feature_table(wider, *pool.space, left_out));
      for (std::size_t n = 0; n < left_out.size(); ++n) {
        const auto at = static_cast<Index>(n);
        errors[devices[i]].push_back({std::log(truth_ms[n]) - predicted.mean[at], predicted.deviation[at]});
      }
    }
  }
  std::vector<std::size_t> counts;
  for (const datasets::DeviceRuntime& device : pool.devices) counts.push_back(device.latencies.size());
  return own_fits_of(errors, counts);
}

}  // namespace tenshot::trainer::operators
