#include "datasets/kit/joined_sources.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "datasets/tables/measurements.h"
#include "datasets/tables/time_unit.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

/// The values of a network, and the sources that they are of.
struct Values {
  nasbench::Architecture architecture;
  std::vector<double> values;
  std::vector<std::size_t> sources;
};

std::vector<Values> values_by_network(const std::vector<MeasuredSource>& sources) {
  std::vector<Values> networks;
  std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash> place;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t i = 0; i < sources[s].architectures.size(); ++i) {
      const nasbench::Architecture& architecture = sources[s].architectures[i];
      const auto [found, first] = place.emplace(architecture, networks.size());
      if (first) networks.push_back({architecture, {}, {}});
      networks[found->second].values.push_back(sources[s].latency_ms[i]);
      networks[found->second].sources.push_back(s);
    }
  }
  return networks;
}

std::string percent(double share) { return significant_digits(100 * share, 2) + " %"; }

std::string level_text(const SourceLevel& level, Quantity quantity) {
  const char* more = quantity == Quantity::latency ? "slower" : "higher";
  const char* less = quantity == Quantity::latency ? "faster" : "lower";
  constexpr double little = 0.005;
  if (std::abs(level.deviation) < little) return level.source + " is typical";
  return level.source + " is " + percent(std::abs(level.deviation)) + " " + (level.deviation > 0 ? more : less);
}

}  // namespace

std::vector<std::string> JoinedSources::remarks(Quantity quantity) const {
  if (repeated.empty()) return {};
  std::vector<double> disagreements;
  const RepeatedNetwork* worst = &repeated.front();
  for (const RepeatedNetwork& network : repeated) {
    disagreements.push_back(network.disagreement);
    if (network.disagreement > worst->disagreement) worst = &network;
  }
  std::string values;
  for (const double value : worst->values) values += (values.empty() ? "" : ", ") + significant_digits(value, 4);
  std::vector<std::string> lines;
  lines.push_back(std::to_string(repeated.size()) + (repeated.size() == 1 ? " network was" : " networks were") +
                  " measured more than once, and the median of each counts: they agree within " +
                  percent(median(disagreements)) + " typically and " + percent(worst->disagreement) + " at worst (" +
                  worst->name + ": " + values + " " + std::string(unit(quantity)) + ")");
  std::string differing;
  for (const SourceLevel& level : levels) {
    differing += (differing.empty() ? "" : ", ") + level_text(level, quantity);
  }
  lines.push_back("over the networks that they share, compared with the median: " + differing);
  if (!doubt.empty()) lines.push_back(doubt);
  return lines;
}

JoinedSources read_joined(const std::vector<std::filesystem::path>& paths, const SearchSpace& space,
                          Quantity quantity) {
  JoinedSources joined;
  for (const std::filesystem::path& path : paths) joined.sources.push_back(read_measured(path, space, quantity));
  if (joined.sources.size() == 1) {
    joined.measured = joined.sources.front();
    return joined;
  }
  std::size_t left_out = 0;
  for (const MeasuredSource& source : joined.sources) {
    left_out += source.left_out();
    if (source.descriptor.has_latencies()) joined.measured.descriptor = source.descriptor;
    if (source.kit) joined.measured.kit = source.kit;
    std::vector<OperatorLatency>& operators = joined.measured.operator_latencies;
    operators.insert(operators.end(), source.operator_latencies.begin(), source.operator_latencies.end());
  }
  joined.measured.left_out_of_all = left_out;
  std::vector<std::vector<double>> ratios(paths.size()), to_first(paths.size());
  for (const Values& network : values_by_network(joined.sources)) {
    const double typical = median(network.values);
    joined.measured.architectures.push_back(network.architecture);
    joined.measured.latency_ms.push_back(typical);
    if (network.values.size() == 1) continue;
    const auto [least, most] = std::minmax_element(network.values.begin(), network.values.end());
    joined.repeated.push_back({space.format(network.architecture), network.values, *most / *least - 1});
    for (std::size_t i = 0; i < network.values.size(); ++i) {
      ratios[network.sources[i]].push_back(network.values[i] / typical - 1);
      if (i > 0) to_first[network.sources[i]].push_back(network.values[i] / network.values[0]);
    }
  }
  for (std::size_t s = 0; s < paths.size(); ++s) {
    if (joined.doubt.empty() && unit(quantity) == "ms") {
      joined.doubt = unit_doubt(to_first[s], paths[s].string(), paths.front().string());
    }
    if (!ratios[s].empty()) joined.levels.push_back({paths[s].string(), median(ratios[s])});
  }
  joined.measured.whole_milliseconds = are_whole_milliseconds(joined.measured.latency_ms);
  return joined;
}

}  // namespace tenshot::datasets
