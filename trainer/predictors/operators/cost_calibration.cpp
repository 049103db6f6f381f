#include "trainer/predictors/operators/cost_calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "datasets/tables/measurements.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/posterior/error_calibration.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// Networks that the library knows, from which a held-out device measures, and others that it predicts.
struct NetworkSplit {
  std::vector<Index> known;
  std::vector<Index> predicted;
};

NetworkSplit split_networks(Index networks, bool new_ones, std::size_t most_predicted, Rng& rng) {
  std::vector<Index> order = numbers_below<Index>(networks);
  rng.shuffle(order);
  const auto known = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size() / 3, most_predicted));
  NetworkSplit split{{known, order.end()}, {order.begin(), known}};
  constexpr std::size_t enough_candidates = 1000;
  if (!new_ones && split.known.size() > enough_candidates) split.known.resize(enough_candidates);
  std::sort(split.known.begin(), split.known.end());
  return split;
}

/// The same, but those predicted are groups of networks that are alike: a random one and its nearest, again and again.
NetworkSplit split_groups(const CostLibrary& library, Index groups, Rng& rng) {
  const Index networks = library.known.rows();
  std::vector<Index> left = numbers_below<Index>(networks);
  NetworkSplit split;
  for (Index group = 0; group < groups; ++group) {
    const Index centre = left[rng.below(left.size())];
    const Eigen::VectorXd distance = (library.known.rowwise() - library.known.row(centre)).rowwise().norm();
    std::stable_sort(left.begin(), left.end(), [&](Index a, Index b) { return distance[a] < distance[b]; });
    const auto end = left.begin() + std::max<std::ptrdiff_t>(1, networks / (3 * groups));
    split.predicted.insert(split.predicted.end(), left.begin(), end);
    left.erase(left.begin(), end);
  }
  std::sort(left.begin(), left.end());
  split.known = std::move(left);
  return split;
}

/// The same, but those predicted are the cheapest sixth of the networks and the costliest.
NetworkSplit split_sizes(const CostLibrary& library) {
  const Eigen::VectorXd size = library.known.rightCols<1>();
  std::vector<Index> order = numbers_below<Index>(size.size());
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size[a] < size[b]; });
  const auto sixth = static_cast<std::ptrdiff_t>(order.size() / 6);
  NetworkSplit split{{order.begin() + sixth, order.end() - sixth}, {order.begin(), order.begin() + sixth}};
  split.predicted.insert(split.predicted.end(), order.end() - sixth, order.end());
  std::sort(split.known.begin(), split.known.end());
  return split;
}

struct ExpectedError {
  double error = 0;
  double own_variance = 0;
  double residual_variance = 0;  ///< before residual_factor
  double known = 0;              ///< the square of the similarity to the nearest network that is known
  double reach = 0;

  double deviation(const CostLibrary& by) const {
    const double share = 1 - (1 - by.known_share) * known;
    return std::sqrt((own_variance + by.residual_factor * residual_variance) * share + by.reach_variance.at(reach));
  }
};

using Errors = std::vector<std::vector<ExpectedError>>;  ///< [device][error]

/// The errors on one held-out device that measured some networks and is asked for others; `features` of all.
void collect_errors(const CostLibrary& rest, const PoolNumbers& pool, const Eigen::MatrixXd& features,
                    const std::vector<Index>& asked, const std::vector<Index>& measured, Index device,
                    const PosteriorOptions& options, std::vector<ExpectedError>& errors) {
  if (asked.empty()) return;
  AdaptationFeatures set;
  const Eigen::VectorXd latency_ms = pool.latency_ms.row(device);
  set.whole_milliseconds = datasets::are_whole_milliseconds({latency_ms.data(), latency_ms.data() + latency_ms.size()});
  for (const Index n : measured) set.latency_ms.push_back(latency_ms[n]);
  set.features = features(measured, Eigen::all);
  const CostPosterior posterior = adapt(rest, set, options);
  const LogLatency predicted = predict(posterior, table_of(features(asked, Eigen::all)));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const double novelty = predicted.novelty.size() > 0 ? predicted.novelty[i] : 0;
    const double reach = predicted.reach.size() > 0 ? predicted.reach[i] : 0;  // its variance is not in `rest` yet
    const double variance = predicted.deviation[i] * predicted.deviation[i];
    const double residual = posterior.residual_variance * novelty;
    errors.push_back({std::log(latency_ms[asked[i]]) - predicted.mean[i], variance - residual, residual,
                      (1 - novelty) * (1 + rest.places.noise), reach});
  }
}

/// At most `most` of the networks that a device could measure and did not.
std::vector<Index> unmeasured_of(const std::vector<Index>& candidates, const std::vector<Index>& measured,
                                 std::size_t most) {
  std::vector<Index> rest;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(rest),
               [&](Index n) { return std::find(measured.begin(), measured.end(), n) == measured.end(); });
  return evenly_spaced(rest, most);
}

/// What a device measures of the networks that it can, best first.
std::vector<Index> planned(const CostLibrary& library, const Eigen::MatrixXd& features,
                           const std::vector<Index>& candidates, std::size_t samples, const PosteriorOptions& options,
                           Rng& rng) {
  if (candidates.empty()) return {};
  const PlanningView view = prior_view(library, features(candidates, Eigen::all), options);
  std::vector<Index> chosen;
  for (const std::size_t c : sampling::choose_informative(view.covariance, numbers_below(candidates.size()),
                                                          std::min(samples, candidates.size()), rng, view.options)) {
    chosen.push_back(candidates[c]);
  }
  return chosen;
}

/// The size that nine in ten of standardised errors [device][error] stay under, devices with the same weight.
double size_of(std::vector<std::vector<double>> errors) {
  for (std::vector<double>& of_device : errors) {
    for (double& error : of_device) error = std::abs(error);
  }
  return error_quantile(trainer::calibration_of(errors), 0.9);
}

/// The errors in the deviations that a library expects, [device][error].
std::vector<std::vector<double>> standardised(const Errors& errors, const CostLibrary& by) {
  std::vector<std::vector<double>> result(errors.size());
  for (std::size_t d = 0; d < errors.size(); ++d) {
    for (const ExpectedError& error : errors[d]) {
      result[d].push_back(trainer::standardised(error.error, error.deviation(by)));
    }
  }
  return result;
}

/// The score of 90 % intervals (Gneiting and Raftery, 2007, Eq. 43), the sum of the devices' means; smaller is better.
/// All are equally many deviations wide, so that nine in ten hold. An error beyond a factor of twenty counts as twenty.
double interval_score(const Errors& errors, const CostLibrary& by) {
  constexpr double largest = 3, outside = 0.1;
  const double size = size_of(standardised(errors, by));
  double score = 0;
  for (const std::vector<ExpectedError>& of_device : errors) {
    for (const ExpectedError& error : of_device) {
      const double half = size * error.deviation(by), missed = std::min(std::abs(error.error), largest) - half;
      score += 2 * (half + std::max(missed, 0.0) / outside) / static_cast<double>(of_device.size());
    }
  }
  return score;
}

/// That size on the median device with ten networks larger than all (`side` 1), smaller (-1), or neither (0); else 0.
double typical_size(const Errors& errors, const CostLibrary& by, int side) {
  constexpr std::size_t fewest = 10;
  std::vector<double> sizes;
  for (const std::vector<ExpectedError>& of_device : errors) {
    std::vector<ExpectedError> own;
    std::copy_if(of_device.begin(), of_device.end(), std::back_inserter(own),
                 [&](const ExpectedError& error) { return (error.reach > 0) - (error.reach < 0) == side; });
    if (own.size() >= fewest) sizes.push_back(size_of(standardised({own}, by)));
  }
  return sizes.empty() ? 0 : median(std::move(sizes));
}

/// Sets CostLibrary::residual_factor and known_share to the values with the best score, and reach_variance so that
/// errors of networks beyond the known sizes are as many deviations as others. It does so twice, since each depends on
/// the others. The first of a setting's values stands unless another one is better.
void set_variances(const Errors& errors, CostLibrary& library) {
  const auto set_best = [&](double& setting, const std::vector<double>& values, const auto& loss) {
    std::vector<double> losses;
    for (const double value : values) {
      setting = value;
      losses.push_back(loss());
    }
    setting = values[std::min_element(losses.begin(), losses.end()) - losses.begin()];
  };
  const auto score = [&] { return interval_score(errors, library); };
  for (int round = 0; round < 2; ++round) {
    if (library.residual_variance() > 0) set_best(library.residual_factor, {1, 1.5, 2, 3, 5, 8, 12, 20, 30}, score);
    set_best(library.known_share, {1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03}, score);
    std::vector<double> variances = {0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 3, 5, 8, 12};
    for (double& variance : variances) variance *= library.residual_variance();
    const double usual = typical_size(errors, library, 0);
    const auto imbalance = [&](int side) {
      const double beyond = typical_size(errors, library, side);
      return beyond > 0 && usual > 0 ? std::abs(std::log(beyond / usual)) : 0;
    };
    set_best(library.reach_variance.above, variances, [&] { return imbalance(1); });
    set_best(library.reach_variance.below, variances, [&] { return imbalance(-1); });
  }
}

/// Devices to hold out: evenly spaced ones of each kind, more of a larger one.
std::vector<std::size_t> held_out(const CostLibrary& library, std::size_t devices, const CalibrationOptions& options) {
  const std::vector<std::size_t> most = evenly_spaced(devices, options.most_devices);
  std::set<std::size_t> chosen(most.begin(), most.end());
  for (const DeviceKind& kind : library.kinds) {
    const auto own = std::count_if(kind.members.begin(), kind.members.end(),
                                   [&](const KindMember& member) { return chosen.count(member.device) > 0; });
    if (static_cast<std::size_t>(own) >= options.least_of_kind) continue;
    for (const std::size_t m : evenly_spaced(kind.members.size(), options.least_of_kind)) {
      chosen.insert(kind.members[m].device);
    }
  }
  return {chosen.begin(), chosen.end()};
}

/// Sets the scales of the kinds, drawn to 1 where boards are few, and divides the errors [device][error] by their own.
void scale_by_kind(const std::vector<std::size_t>& families, std::vector<std::vector<double>>& errors,
                   CostLibrary& library) {
  constexpr double prior_families = 2;
  if (library.kinds.empty()) return;
  const double usual = size_of(errors);
  library.error_scale = Eigen::VectorXd::Ones(errors.size());
  for (std::size_t k = 1; k < library.kinds.size(); ++k) {
    DeviceKind& kind = library.kinds[k];
    std::set<std::size_t> boards;
    std::vector<std::vector<double>> own;
    for (const KindMember& member : kind.members) {
      if (errors[member.device].empty()) continue;
      boards.insert(families[member.device]);
      own.push_back(errors[member.device]);
    }
    if (own.empty() || !(usual > 0)) continue;
    const double count = static_cast<double>(boards.size());
    kind.error_scale = std::pow(size_of(std::move(own)) / usual, count / (count + prior_families));
    for (const KindMember& member : kind.members) {
      library.error_scale[member.device] = kind.error_scale;
      for (double& error : errors[member.device]) error /= kind.error_scale;
    }
  }
}

}  // namespace

IntervalCalibration calibrate(const PoolNumbers& pool, CostLibrary& library, const std::vector<std::size_t>& families,
                              const LibraryOptions& library_options, const PosteriorOptions& posterior_options,
                              const CalibrationOptions& options, const LearnOperators& learn) {
  const std::set<std::size_t> distinct(families.begin(), families.end());
  if (distinct.size() < least_calibrated || pool.features.rows() < static_cast<Index>(3 * options.samples)) return {};
  const bool compared = library.places.compared();
  Errors errors(families.size());
  const std::size_t last = options.repeats + options.groups.size();
  for (std::size_t repeat = 0; repeat < (compared ? last + 1 : options.repeats); ++repeat) {
    Rng rng(options.seed, repeat);
    const NetworkSplit split = repeat < options.repeats
                                   ? split_networks(pool.features.rows(), compared, options.most_networks, rng)
                               : repeat < last ? split_groups(library, options.groups[repeat - options.repeats], rng)
                                               : split_sizes(library);
    std::vector<Index> devices = numbers_below<Index>(families.size());
    if (compared) devices = devices_with(pool, split.known);
    CostLibrary refitted = compared ? fit_library(selection_of(pool, split.known, devices), library_options) : library;
    const Eigen::MatrixXd features = learn ? learn(refitted, split.known, devices) : pool.features;
    std::map<std::vector<Index>, std::vector<Index>> plans;  // by candidates: devices of a table often have the same
    for (const std::size_t device : held_out(library, families.size(), options)) {
      std::vector<std::size_t> others;
      for (std::size_t place = 0; place < devices.size(); ++place) {
        if (families[devices[place]] != families[device]) others.push_back(place);
      }
      const Eigen::VectorXd latency_ms = pool.latency_ms.row(device);
      const std::vector<Index> candidates = measured_of(split.known, latency_ms);
      const std::vector<Index> new_ones = measured_of(split.predicted, latency_ms);
      const auto [plan, unplanned] = plans.try_emplace(candidates);
      std::vector<Index>& chosen = plan->second;
      if (unplanned) chosen = planned(refitted, features, candidates, options.samples, posterior_options, rng);
      if (chosen.empty() || new_ones.empty()) continue;
      const CostLibrary rest = with_devices(refitted, others);
      const auto fewer = static_cast<std::ptrdiff_t>(std::min(chosen.size(), options.fewer_samples));
      for (const std::vector<Index>& measured : {chosen, {chosen.begin(), chosen.begin() + fewer}}) {
        collect_errors(rest, pool, features, new_ones, measured, device, posterior_options, errors[device]);
        if (!compared || repeat >= options.repeats) continue;
        collect_errors(rest, pool, features, unmeasured_of(candidates, measured, new_ones.size()), measured, device,
                       posterior_options, errors[device]);
      }
    }
  }
  if (compared) set_variances(errors, library);
  std::vector<std::vector<double>> in_deviations = standardised(errors, library);
  scale_by_kind(families, in_deviations, library);
  return trainer::calibration_of(in_deviations, true);
}

}  // namespace tenshot::trainer::operators
