#include "trainer/predictors/operators/own_operators.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorSpecification;

std::pair<std::size_t, std::string> kind_of(const OperatorSpecification& operation) {
  return {timed_group(operation), std::string(nasbench::name(operation.kind)) + operation.name};
}

/// Times by operator; the first key is a network's name, empty where a time is of no network.
using Times = std::unordered_map<std::string, std::unordered_map<std::string, std::vector<double>>>;

}  // namespace

double OwnOperators::timed_share(const OperatorSpecification& operation) const {
  const auto found = occurrences.find(kind_of(operation));
  if (found == occurrences.end()) return 1;
  return static_cast<double>(found->second.second) / static_cast<double>(found->second.first);
}

OwnOperators own_operators(const nasbench::NetworkSpace& space, const AdaptationSet& set) {
  Times times;
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

}  // namespace tenshot::trainer::operators
