#include "trainer/predictors/operators/operator_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include "trainer/core/nnls.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using nasbench::OperatorSpecification;

constexpr double nothing = 1e-6;  ///< in units of the median latency: less is no cost

float log_of(double value) { return static_cast<float>(std::log2(std::max(value, 1.0))); }

/// The number of an activation's function; of other operators, numbers behind those of their kind, with a name or none.
float function_of(const OperatorSpecification& operation) {
  constexpr std::array<std::string_view, 12> known = {"relu",       "relu6", "leaky_relu", "hard_sigmoid",
                                                      "hard_swish", "clip",  "elu",        "sigmoid",
                                                      "silu",       "tanh",  "gelu",       "softplus"};
  if (operation.kind != nasbench::OperatorKind::activation) {
    return 1 + known.size() + 2 * static_cast<float>(operation.kind) + (operation.name.empty() ? 0 : 1);
  }
  const auto* found = std::find(known.begin(), known.end(), operation.name);
  return static_cast<float>(found - known.begin());
}

}  // namespace

std::string timed_group_name(std::size_t group) {
  return group < operator_group_count() ? operator_group_name(group) : "pad";
}

std::size_t timed_group(const OperatorSpecification& operation) {
  if (operation.kind == nasbench::OperatorKind::pad) return operator_group_count();
  const std::size_t group = operator_group_index(operation);
  return group < operator_group_count() ? group : timed_group_count();
}

std::vector<float> tree_features(const OperatorSpecification& operation) {
  const nasbench::Shape& input = operation.inputs.empty() ? operation.output : operation.inputs.front();
  const auto in = static_cast<double>(channel_count(operation, input));
  const auto out = static_cast<double>(channel_count(operation, operation.output));
  const auto elements = static_cast<double>(nasbench::element_count(operation.output));
  const double floats = bytes_as_floats(operation), as_read = operation.weight_bits > 0 ? 1 : floats;
  return {static_cast<float>(timed_group(operation)),
          function_of(operation),
          static_cast<float>(std::max(operation.kernel.height, operation.kernel.width)),
          static_cast<float>(std::min(operation.kernel.height, operation.kernel.width)),
          static_cast<float>(std::max(operation.stride.height, operation.stride.width)),
          log_of(in / operation.groups),
          log_of(out),
          log_of(elements / std::max(out, 1.0)),
          log_of(static_cast<double>(nasbench::multiply_adds(operation))),
          log_of(floats * static_cast<double>(nasbench::input_bytes(operation))),
          log_of(floats * static_cast<double>(nasbench::output_bytes(operation))),
          log_of(as_read * static_cast<double>(nasbench::weight_bytes(operation)))};
}

TreeEnsemble operator_trees(const std::vector<float>& rows, const std::vector<double>& log_ms, int depth) {
  TreeOptions options;
  options.trees = 1;
  options.rounds = 200;
  options.learning_rate = 0.08;
  options.depth = depth;
  options.row_share = 0.7;
  return train_trees(rows, rows.size() / log_ms.size(), log_ms, {}, options);
}

double OperatorTimes::log_linear(const Eigen::VectorXd& features) const {
  return std::log(unit_ms * std::max(features.dot(costs), 0.0) + least_operator_ms);
}

double OperatorTimes::operator_ms(const OperatorSpecification& operation, const Eigen::VectorXd& features) const {
  std::vector<float> row = tree_features(operation);
  double log_ms = 0;
  if (unit_ms > 0) {
    log_ms = log_linear(features);
    row.push_back(static_cast<float>(log_ms));
  }
  log_ms += trees.predict(row.data());
  return std::max(std::exp(log_ms) - least_operator_ms, 0.0);
}

double OperatorTimes::efficiency(const OperatorSpecification& operation, const Eigen::VectorXd& features) const {
  const std::size_t group = timed_group(operation);
  const GroupTimes known = group < groups.size() ? groups[group] : GroupTimes::unknown;
  if (known == GroupTimes::unknown) return 1;
  if (known == GroupTimes::elsewhere) return 0;
  const double linear = std::max(features.dot(costs), 0.0), most = most_linear.empty() ? 0 : most_linear[group];
  double learned = per_ms * operator_ms(operation, features) + per_operator;
  if (most > 0 && linear > most) learned *= linear / most;
  const double ratio = (learned + nothing) / (linear + nothing);
  return std::clamp(ratio, 1 / most_efficiency, most_efficiency);
}

OperatorMeasurements::OperatorMeasurements(const datasets::Pool& pool,
                                           const std::vector<nasbench::Architecture>& networks)
    : timed_(pool.devices.size()) {
  const bool is_measured = std::any_of(pool.devices.begin(), pool.devices.end(),
                                       [](const auto& device) { return !device.operator_latencies.empty(); });
  for (const datasets::DeviceRuntime& device : pool.devices) devices_.push_back(device.id);
  if (!is_measured || pool.space->search_space() != nullptr || !has_xgboost()) return;
  std::map<std::string, std::uint32_t> numbers;
  nasbench::ArchitectureMap<std::int32_t> number_of;
  for (const nasbench::Architecture& network : networks) {
    number_of.emplace(network, static_cast<std::int32_t>(operators_of_.size()));
    std::vector<std::uint32_t>& own = operators_of_.emplace_back();
    for (const OperatorSpecification& operation : pool.space->operator_list(network)) {
      if (timed_group(operation) == timed_group_count()) continue;
      const auto [found, is_new] =
          numbers.emplace(operator_key(operation), static_cast<std::uint32_t>(operators_.size()));
      if (is_new) operators_.push_back(operation);
      own.push_back(found->second);
    }
  }
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    if (pool.devices[d].operator_latencies.empty()) continue;
    std::map<std::string, std::int32_t> network_numbers = {{"", -1}};  // a name means what it means on this device
    for (const datasets::Measurement& row : pool.devices[d].latencies) {
      network_numbers.emplace(pool.space->format(row.architecture), number_of.at(row.architecture));
    }
    for (const datasets::OperatorLatency& latency : pool.devices[d].operator_latencies) {
      const auto operation = numbers.find(operator_key(latency.operation));
      const auto network = network_numbers.find(latency.network);
      if (operation == numbers.end() || network == network_numbers.end()) continue;
      timed_[d].push_back({operation->second, latency.latency_ms, network->second});
    }
  }
}

bool OperatorMeasurements::any() const {
  return std::any_of(timed_.begin(), timed_.end(), [](const auto& timed) { return !timed.empty(); });
}

void OperatorTimes::fit_networks(const std::vector<std::vector<double>>& ms, const Eigen::VectorXd& relative) {
  Eigen::MatrixXd sums(relative.size(), 3);
  for (Index n = 0; n < sums.rows(); ++n) {
    const std::vector<double>& own = ms[static_cast<std::size_t>(n)];
    sums.row(n) << std::accumulate(own.begin(), own.end(), 0.0), static_cast<double>(own.size()), 1.0;
  }
  const Eigen::VectorXd fitted = relative_non_negative_least_squares(sums, relative);
  per_ms = fitted[0];
  per_operator = fitted[1];
  base = fitted[2];
}

OperatorTimes OperatorMeasurements::learn(std::size_t device, const std::vector<Index>& known,
                                          const Eigen::VectorXd& latency_ms, double median_ms,
                                          const Eigen::VectorXd& costs, const OperatorFeatures& features) const {
  OperatorTimes times;
  times.device = devices_[device];
  times.costs = costs;
  times.groups.assign(timed_group_count(), GroupTimes::unknown);
  if (timed_[device].empty()) return times;
  std::vector<bool> is_known(operators_of_.size(), false), occurs(operators_.size(), false);
  std::vector<Index> measured;
  for (const Index network : known) {
    if (!std::isfinite(latency_ms[network])) continue;
    const auto at = static_cast<std::size_t>(network);
    measured.push_back(network);
    is_known[at] = true;
    for (const std::uint32_t operation : operators_of_[at]) occurs[operation] = true;
  }
  std::vector<float> rows;
  std::vector<double> log_ms;
  std::vector<bool> is_timed(timed_group_count(), false);
  for (const Timed& timed : timed_[device]) {
    if (timed.network < 0 ? !occurs[timed.operation] : !is_known[static_cast<std::size_t>(timed.network)]) continue;
    const std::vector<float> own = tree_features(operators_[timed.operation]);
    rows.insert(rows.end(), own.begin(), own.end());
    log_ms.push_back(std::log(timed.latency_ms + least_operator_ms));
    is_timed[timed_group(operators_[timed.operation])] = true;
  }
  constexpr std::size_t fewest_networks = 3, fewest_operators = 20;
  if (measured.size() < fewest_networks || log_ms.size() < fewest_operators) return times;
  times.trees = operator_trees(rows, log_ms);
  times.most_linear.assign(timed_group_count(), 0);
  std::vector<double> ms(operators_.size(), 0);
  for (std::size_t o = 0; o < operators_.size(); ++o) {
    if (!occurs[o]) continue;
    const std::size_t group = timed_group(operators_[o]);
    times.groups[group] = is_timed[group] ? GroupTimes::learned : GroupTimes::elsewhere;
    ms[o] = times.operator_ms(operators_[o], {});
    times.most_linear[group] = std::max(times.most_linear[group], features(operators_[o]).dot(costs));
  }
  std::vector<std::vector<double>> of_networks;
  for (const Index network : measured) {
    of_networks.emplace_back();
    for (const std::uint32_t operation : operators_of_[static_cast<std::size_t>(network)]) {
      const bool learned = times.groups[timed_group(operators_[operation])] == GroupTimes::learned;
      if (learned) of_networks.back().push_back(ms[operation]);
    }
  }
  Eigen::VectorXd relative(measured.size());
  for (std::size_t n = 0; n < measured.size(); ++n) relative[n] = latency_ms[measured[n]] / median_ms;
  times.fit_networks(of_networks, relative);
  return times;
}

}  // namespace tenshot::trainer::operators
