#include "trainer/predictors/operators/own_operators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/nnls.h"
#include "trainer/predictors/operators/known_device.h"
#include "trainer/predictors/operators/operator_times.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using nasbench::OperatorSpecification;

std::pair<std::size_t, std::string> kind_of(const OperatorSpecification& operation) {
  return {timed_group(operation), std::string(nasbench::name(operation.kind)) + operation.name};
}

/// min Σ (features · c − t)² / (t + t̄)² + pull² Σ ((c − typical) / (typical + floor))² over c ≥ 0, where t is what an
/// operator takes, in units of `unit_ms`: groups that were not timed cost what is typical.
Eigen::VectorXd linear_costs(const FeatureMap& shared, const OwnOperators& own, const Eigen::VectorXd& typical,
                             double unit_ms) {
  constexpr double pull = 0.3, floor = 1e-3;
  const auto width = static_cast<Index>(shared.operator_features());
  const auto count = static_cast<Index>(own.operators.size());
  Eigen::MatrixXd a(count + width, width);
  Eigen::VectorXd b(count + width);
  for (Index o = 0; o < count; ++o) {
    a.row(o) = features_of_operator(shared, own.operators[static_cast<std::size_t>(o)]).head(width);
    b[o] = own.latency_ms[static_cast<std::size_t>(o)] / unit_ms;
  }
  const Eigen::VectorXd weight = (b.head(count).array() + b.head(count).mean()).inverse();
  a.topRows(count) = weight.asDiagonal() * a.topRows(count);
  b.head(count) = weight.cwiseProduct(b.head(count));
  const Eigen::VectorXd towards = pull * (typical.head(width).array() + floor).inverse();
  a.bottomRows(width) = towards.asDiagonal();
  b.tail(width) = towards.cwiseProduct(typical.head(width));
  Eigen::VectorXd costs = Eigen::VectorXd::Zero(typical.size());
  costs.head(width) = non_negative_least_squares(a, b);
  return costs;
}

/// Trees of how far operators take longer than their linear costs.
TreeEnsemble trees_beside(const OperatorTimes& times, const FeatureMap& shared,
                          const std::vector<OperatorSpecification>& operators, const std::vector<double>& ms) {
  std::vector<float> rows;
  std::vector<double> beside;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const double log_linear = times.log_linear(features_of_operator(shared, operators[o]));
    const std::vector<float> row = tree_features(operators[o]);
    rows.insert(rows.end(), row.begin(), row.end());
    rows.push_back(static_cast<float>(log_linear));
    beside.push_back(std::log(ms[o] + least_operator_ms) - log_linear);
  }
  constexpr int depth = 8;  // they learn what has no noise
  return operator_trees(rows, beside, depth);
}

/// Which operators are timed, what they cost as a line and by trees, which learn what `others` take, and what is
/// between their sums and the latencies. `features` are the measured networks'. The unit is a typical one's latency.
OperatorTimes learned_times(const FeatureMap& shared, const CostLibrary& library, const nasbench::NetworkSpace& space,
                            const AdaptationSet& set, const Eigen::MatrixXd& features, const OwnOperators& own,
                            const std::vector<OperatorSpecification>& others, const std::vector<double>& ms) {
  const Eigen::VectorXd typical = library.costs.transpose() * representation(library);
  const Eigen::VectorXd relative = features * typical;
  const Eigen::Map<const Eigen::VectorXd> latency_ms(set.latency_ms.data(), relative.size());
  const Eigen::ArrayXd ratios = latency_ms.array() / relative.array().max(smallest_relative);
  OperatorTimes times;
  times.device = "this device";
  times.unit_ms = median({ratios.data(), ratios.data() + ratios.size()});
  times.costs = linear_costs(shared, own, typical, times.unit_ms);
  times.groups.assign(timed_group_count(), GroupTimes::unknown);
  for (const auto& [kind, count] : own.occurrences) {
    GroupTimes& group = times.groups[kind.first];
    if (group != GroupTimes::learned) group = count.second > 0 ? GroupTimes::learned : GroupTimes::elsewhere;
  }
  times.trees = trees_beside(times, shared, others, ms);
  std::vector<std::vector<double>> of_networks;
  for (const nasbench::Architecture& network : set.architectures) {
    of_networks.emplace_back();
    for (const OperatorSpecification& operation : space.operator_list(network)) {
      const std::size_t group = timed_group(operation);
      if (group == timed_group_count() || times.groups[group] != GroupTimes::learned) continue;
      of_networks.back().push_back(times.operator_ms(operation, features_of_operator(shared, operation)));
    }
  }
  times.fit_networks(of_networks, latency_ms / times.unit_ms);
  times.costs[0] = std::max(times.base, 1e-3);
  return times;
}

/// Appends an entry whose costs are those of `times`. `features` are those of the measured networks.
void append_entry(FeatureMap& map, CostLibrary& library, OperatorTimes times, const Eigen::MatrixXd& features) {
  const auto devices = static_cast<Index>(library.devices());
  library.block.resize(library.devices(), 0);
  append(times.costs.transpose(), library.costs);
  append(Eigen::VectorXd::Constant(1, times.unit_ms), library.median_ms);
  append(Eigen::VectorXd::Constant(1, library.log_rms.mean()), library.log_rms);
  Eigen::MatrixXd differences = profile_differences(features, library.costs);
  differences.topLeftCorner(devices, devices) = library.differences;
  library.differences = std::move(differences);
  map.learned.push_back(std::move(times));
  library.block.push_back(map.learned.size());
  library.sizes.resize(0, 0);  // only known devices are asked for theirs
  if (library.device_growth.size() > 0) append(Eigen::VectorXd::Zero(1), library.device_growth);
  if (!library.places.compared()) return;
  library.known_weights.conservativeResize(Eigen::NoChange, devices + 1);
  library.known_weights.col(devices).setZero();
}

/// How far a measured network's latency is from what the others let expect of it: the standard deviation of log
/// latency, by the median over some ten of the networks, each left out in turn; 0 of fewer than three.
double error_left_out(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options) {
  if (set.features.rows() < 3) return 0;
  const Eigen::ArrayXd errors = errors_left_out(library, set, options).mean.array().abs();
  return median({errors.data(), errors.data() + errors.size()}) / 0.6745;  // that of a normal error of deviation one
}

/// Makes it a part of a mixture that has this share: what is linear in the weights is multiplied with it.
void weigh(CostPosterior& posterior, double share) {
  for (CostComponent& component : posterior.components) component.weight *= share;
  posterior.spread_ms *= std::sqrt(share);
  posterior.rest_ms2 *= share;
  posterior.least_costs_ms *= share;
  posterior.anchor_weights *= share;
}

}  // namespace

double OwnOperators::timed_share(const OperatorSpecification& operation) const {
  const auto found = occurrences.find(kind_of(operation));
  if (found == occurrences.end()) return 1;
  return static_cast<double>(found->second.second) / static_cast<double>(found->second.first);
}

OwnOperators own_operators(const nasbench::NetworkSpace& space, const AdaptationSet& set) {
  // The times [network][operator]; the network's name is empty where a time is of none.
  std::unordered_map<std::string, std::unordered_map<std::string, std::vector<double>>> times;
  for (const datasets::OperatorLatency& row : set.operator_latencies) {
    times[row.network][operator_key(row.operation)].push_back(row.latency_ms);
  }
  OwnOperators own;
  std::unordered_map<std::string, std::size_t> place;
  std::vector<std::vector<double>> all;
  for (const nasbench::Architecture& network : set.architectures) {
    const auto named = times.find(space.format(network)), of_network = named == times.end() ? times.find("") : named;
    double sum_ms = 0;
    for (const OperatorSpecification& operation : space.operator_list(network)) {
      if (timed_group(operation) == timed_group_count() || of_network == times.end()) continue;
      const std::string key = operator_key(operation);
      const auto found = of_network->second.find(key);
      auto& [standing, timed] = own.occurrences[kind_of(operation)];
      ++standing;
      if (found == of_network->second.end()) continue;
      ++timed;
      sum_ms += median(found->second);
      const auto [at, is_new] = place.emplace(key, own.operators.size());
      if (is_new) {
        own.operators.push_back(operation);
        all.emplace_back();
      }
      all[at->second].push_back(median(found->second));
    }
    own.sum_ms.push_back(sum_ms > 0 ? sum_ms : std::numeric_limits<double>::quiet_NaN());
  }
  for (const std::vector<double>& of_operator : all) own.latency_ms.push_back(median(of_operator));
  return own;
}

OperatorSums operator_sums(const OwnOperators& own, const AdaptationSet& set) {
  std::vector<double> log_shares, log_latencies;
  for (std::size_t n = 0; n < own.sum_ms.size(); ++n) {
    if (!std::isfinite(own.sum_ms[n])) continue;
    log_shares.push_back(std::log(own.sum_ms[n] / set.latency_ms[n]));
    log_latencies.push_back(std::log(set.latency_ms[n]));
  }
  OperatorSums sums;
  sums.networks = log_shares.size();
  if (log_shares.empty()) return sums;
  const double typical = median(log_shares);
  const auto count = static_cast<Eigen::Index>(sums.networks);
  const Eigen::Map<const Eigen::ArrayXd> shares(log_shares.data(), count), latencies(log_latencies.data(), count);
  sums.share = std::exp(typical);
  sums.scatter = std::sqrt((shares - typical).square().mean());
  sums.spread = std::sqrt((latencies - latencies.mean()).square().mean());
  return sums;
}

std::string contradiction(const OwnOperators& own, const OperatorSums& sums) {
  constexpr std::size_t fewest_operators = 20;
  constexpr double least_share = 0.2, most_share = 2, much_scatter = 0.25, explained = 0.5;
  if (own.operators.size() < fewest_operators) {
    return "only " + std::to_string(own.operators.size()) + " operators of the measured networks have a time, and " +
           std::to_string(fewest_operators) + " are needed";
  }
  if (sums.share < least_share || sums.share > most_share) {
    return "their sum is " + significant_digits(sums.share, 3) +
           " times the latency of their networks; is one of them in another unit, or of another device?";
  }
  if (sums.networks >= 3 && sums.scatter > much_scatter && sums.scatter > explained * sums.spread) {
    return "their sums and the latencies of their networks differ by " + whole_percent(std::exp(sums.scatter) - 1) +
           " from one network to the next; are they of one device?";
  }
  return {};
}

OwnEntry add_own_entry(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const AdaptationSet& set,
                       const PosteriorOptions& options) {
  if (set.operator_latencies.empty()) return {};
  const auto left_out = [](const std::string& reason) {
    return OwnEntry{0, {{"the times of operators are not used: " + reason, true}}};
  };
  const nasbench::NetworkSpace& space = *pool.space;
  if (space.search_space() != nullptr) return left_out("networks of this space are sums of decisions");
  if (!has_xgboost()) return left_out("this program was built without XGBoost (libxgboost-dev)");
  const OwnOperators own = own_operators(space, set);
  const OperatorSums sums = operator_sums(own, set);
  if (const std::string reason = contradiction(own, sums); !reason.empty()) return left_out(reason);
  const std::vector<OperatorSpecification> others = operators_to_learn(pool, own);
  const Eigen::VectorXd costs_ms = adapt(library, adaptation_features(map, space, set), options).mean_costs_ms();
  const std::vector<double> ms = expected_times(map, library, own, costs_ms, others, options.own_reach);
  FeatureMap shared = map;
  shared.learned.clear();
  const Eigen::MatrixXd features = feature_table(shared, space, set.architectures).rows();
  append_entry(map, library, learned_times(shared, library, space, set, features, own, others, ms), features);
  return {sums.networks,
          {{"Times of " + std::to_string(own.operators.size()) + " operators inside " + std::to_string(sums.networks) +
            " of the measured networks are used; their sum is " + whole_percent(sums.share) + " of a latency"}}};
}

CostPosterior adapt_beside_own(const CostLibrary& library, const AdaptationFeatures& set, std::size_t profiled,
                               const PosteriorOptions& options) {
  const Index measured = set.features.rows();
  std::vector<std::size_t> others = numbers_below(library.devices() - 1);
  CostLibrary rest = with_devices(library, others);
  rest.kinds = library.kinds;
  rest.groups = library.groups;
  CostPosterior both = adapt(rest, set, options), own = adapt(with_devices(library, {others.size()}), set, options);
  for (CostComponent& component : both.components) {
    if (component.entry >= others.size()) ++component.entry;  // kinds stand behind the own entry
  }
  for (CostComponent& component : own.components) component.entry = others.size();
  // Own operators of fewer than ten networks err more. The power makes the share change quickly.
  const double tens = static_cast<double>(profiled) / 10, times_few = std::max(1.0, tens);
  const double errors = error_left_out(rest, set, options) * std::sqrt(std::min(1.0, tens)) / options.own_error;
  const double share = 1 - 1 / (1 + options.own_weight * times_few * std::max(1.0, std::pow(errors, 4)));
  weigh(both, 1 - share);
  weigh(own, share);
  both.components.insert(both.components.end(), own.components.begin(), own.components.end());
  std::stable_sort(both.components.begin(), both.components.end(),
                   [](const CostComponent& a, const CostComponent& b) { return a.weight > b.weight; });
  both.spread_ms.conservativeResize(Eigen::NoChange, both.spread_ms.cols() + own.spread_ms.cols());
  both.spread_ms.rightCols(own.spread_ms.cols()) = own.spread_ms;
  both.rest_ms2 += own.rest_ms2;
  both.least_costs_ms += own.least_costs_ms;
  // Both parts have anchors of their own: the measured networks, behind the library's, whose own weights are zero.
  if (library.places.compared()) both.anchor_weights.tail(measured) += own.anchor_weights.tail(measured);
  return both;
}

}  // namespace tenshot::trainer::operators
