#include "trainer/predictors/operators/operator_explanation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "datasets/pool/describe.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/core/adaptation.h"

namespace tenshot::trainer::operators {
namespace {

std::string nearest_devices(const CostPosterior& posterior, const std::vector<std::string>& devices) {
  std::map<std::size_t, double> probability;
  for (const CostComponent& component : posterior.components) probability[component.entry] += component.weight;
  std::vector<std::pair<double, std::size_t>> ranked;
  for (const auto& [entry, share] : probability) {
    if (entry < devices.size()) ranked.emplace_back(-share, entry);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) {
    texts.push_back(devices[ranked[i].second] + " (" + whole_percent(-ranked[i].first) + ")");
  }
  return joined(texts);
}

/// Measured networks that the posterior explains by no less than three of its standard deviations.
std::string badly_explained(const CostPosterior& posterior, const AdaptationFeatures& set,
                            const std::vector<std::string>& names) {
  const LogLatency predicted = predict(posterior, table_of(set.features));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double error = std::log(set.latency_ms[i]) - predicted.mean[i];
    if (std::abs(error) <= 3 * predicted.deviation[i]) continue;
    texts.push_back(names[i] + " (measured " + significant_digits(100 * std::exp(error), 3) +
                    " % of what the others let expect)");
  }
  return joined(texts);
}

/// True where the measured networks are so alike that they say little of any other.
bool all_alike(const AdaptationFeatures& set) {
  if (set.features.rows() < 2) return false;
  const Eigen::RowVectorXd mean = set.features.colwise().mean();
  const double spread = (set.features.rowwise() - mean).rowwise().norm().maxCoeff();
  return spread <= 0.01 * mean.norm();
}

/// The shares of at least 2 % that groups, "base" and "decisions" have in such a network's latency, the largest first.
/// One that makes a network faster than its operators alone has a negative one.
std::string latency_shares(const CostPosterior& posterior, const FeatureMap& map, const Eigen::VectorXd& features) {
  const Eigen::VectorXd costs_ms = posterior.mean_costs_ms();
  std::map<std::string, double> sums_ms;
  for (std::size_t f = 0; f < map.features(); ++f) {
    const std::string name = map.raw_feature(f) ? map.name(f).substr(0, map.name(f).find('.')) : "decisions";
    sums_ms[name] += features[f] * costs_ms[f];
  }
  const double total_ms = std::max(features.dot(costs_ms), posterior.floor_ms);
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [name, sum_ms] : sums_ms) ranked.emplace_back(-sum_ms / total_ms, name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> texts;
  for (const auto& [negative_share, name] : ranked) {
    if (std::abs(negative_share) >= 0.02) texts.push_back(name + " " + whole_percent(-negative_share));
  }
  return joined(texts);
}

}  // namespace

std::vector<Remark> explanation_lines(const CostPosterior& posterior, const FeatureMap& map,
                                      const AdaptationFeatures& set, const std::vector<std::string>& devices,
                                      const std::vector<std::string>& names, const std::string& like) {
  std::vector<Remark> lines = {{"Most like these devices of the pool: " + nearest_devices(posterior, devices)},
                               {"Where the time of the measured networks goes: " +
                                latency_shares(posterior, map, set.features.colwise().mean().transpose())},
                               {"Noise of a measurement: " + whole_percent(std::sqrt(posterior.noise_variance()))}};
  const std::string bad = badly_explained(posterior, set, names);
  const std::string doubt = like.empty() ? "" : "the device is perhaps not like " + like + ", or there are ";
  if (!bad.empty()) lines.push_back({doubt + "measurements that do not fit the others: " + bad, true});
  if (all_alike(set)) lines.push_back({"the measured networks are all alike: they say little of other networks", true});
  return lines;
}

std::vector<Remark> remarks_on_scale(const std::vector<double>& latency_ms,
                                     const std::vector<std::vector<double>>& of_pool_ms) {
  constexpr double far = 5, impossible = 50, reversed = -0.5;
  constexpr std::size_t many = 50;   // devices: nothing is far faster than all of them
  constexpr std::size_t enough = 5;  // networks, to tell an order
  const auto falling = std::count_if(of_pool_ms.begin(), of_pool_ms.end(), [&](const auto& of_device_ms) {
    return datasets::spearman(latency_ms, of_device_ms) < reversed;
  });
  if (latency_ms.size() >= enough && 2 * static_cast<std::size_t>(falling) > of_pool_ms.size()) {
    return {
        {"The more a network takes on other devices, the less it was measured to take: are these frames per second?",
         true}};
  }
  const auto range = [](const std::vector<double>& ms) {
    const auto [least, most] = std::minmax_element(ms.begin(), ms.end());
    return *most / *least;
  };
  std::vector<double> ranges;
  for (const std::vector<double>& of_device_ms : of_pool_ms) ranges.push_back(range(of_device_ms));
  if (latency_ms.size() >= enough && !ranges.empty() && range(latency_ms) < 1.25 && median(ranges) > 5) {
    return {{"The networks took about the same here, and not elsewhere: did the timing wait for the device?", true}};
  }
  std::vector<double> typical_ms;
  for (const std::vector<double>& of_device_ms : of_pool_ms) typical_ms.push_back(geometric_mean(of_device_ms));
  const auto [fastest_ms, slowest_ms] = std::minmax_element(typical_ms.begin(), typical_ms.end());
  const double own_ms = geometric_mean(latency_ms), slower = own_ms / *slowest_ms, faster = *fastest_ms / own_ms;
  if (slower < far && faster < far) return {};
  const std::string times = decimals(std::max(slower, faster), 0) + " times as long";
  return {{(slower < far ? "The fastest device of the pool takes " + times + " for the measured networks"
                         : "The measured networks take " + times + " as on the slowest device of the pool") +
               ": are these latencies in ms?",
           std::max(slower, faster) >= impossible || (faster >= far && of_pool_ms.size() >= many)}};
}

}  // namespace tenshot::trainer::operators
