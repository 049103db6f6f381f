#include "datasets/kit/joined_sources.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
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

std::string levels_text(const std::vector<SourceLevel>& levels, Quantity quantity) {
  const char* more = quantity == Quantity::latency ? " slower" : " higher";
  const char* less = quantity == Quantity::latency ? " faster" : " lower";
  constexpr double little = 0.005;
  std::string text;
  for (const SourceLevel& level : levels) {
    const bool typical = std::abs(level.deviation) < little;
    text += (text.empty() ? "" : ", ") + level.source + " is " +
            (typical ? "typical" : percent(std::abs(level.deviation)) + (level.deviation > 0 ? more : less));
  }
  return text;
}

std::vector<std::string> remarks_on(const Fleet& fleet, Quantity quantity) {
  std::vector<std::string> lines;
  std::vector<SourceLevel> levels;
  for (const Fleet::Board& board : fleet.boards) {
    if (board.compared) levels.push_back({board.name, std::expm1(board.level)});
  }
  if (!levels.empty()) {
    lines.push_back("measurements of " + std::to_string(fleet.boards.size()) + " boards, which share " +
                    std::to_string(fleet.shared) + (fleet.shared == 1 ? " network" : " networks") +
                    ": they differ by " + percent(fleet.spread) +
                    (fleet.scatter > 1e-6 ? ", and by " + percent(fleet.scatter) + " from network to network" : "") +
                    " (standard deviations); " + levels_text(levels, quantity));
  }
  for (const Fleet::Board& board : fleet.boards) {
    if (board.compared) continue;
    lines.push_back(board.name + ": this board measured no network that " +
                    (levels.empty() ? "another board" : "the others") +
                    " did, so that nobody knows how far it differs; measure some networks on all boards");
  }
  return lines;
}

/// The boards that sources are of.
struct Boards {
  std::vector<std::string> names;
  std::vector<std::size_t> of_source;
};

/// Nothing where the sources are rounds of measuring one board.
std::optional<Boards> boards_of(const std::vector<std::filesystem::path>& paths,
                                const std::vector<MeasuredSource>& sources, bool fleet) {
  Boards boards;
  std::vector<std::string> ids;
  std::size_t silent = sources.size(), known = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto found = std::find(ids.begin(), ids.end(), sources[s].board);
    const bool says = !sources[s].board.empty();
    if (!says) silent = s;
    boards.of_source.push_back(says ? static_cast<std::size_t>(found - ids.begin()) : ids.size());
    if (boards.of_source.back() < ids.size()) {
      boards.names[boards.of_source.back()] += ", " + paths[s].string();
    } else {
      known += says ? 1 : 0;
      ids.push_back(sources[s].board);
      boards.names.push_back(paths[s].string());
    }
  }
  if (fleet && ids.size() < 2) {
    throw InputError(paths.front().string() + ": a fleet needs measurements of at least two boards, and all of these " +
                     "are of one");
  }
  if (!fleet && known > 1 && silent < sources.size()) {
    throw InputError(paths[silent].string() + ": does not say which board it is of, and the others are of " +
                     std::to_string(known) + "; give it as a kit, or say that it is a board of its own (--fleet)");
  }
  return fleet || known > 1 ? std::optional(boards) : std::nullopt;
}

/// The median of a network's rounds on each board.
FleetNetwork by_board(const Values& network, const Boards& boards) {
  FleetNetwork result;
  for (std::size_t board = 0; board < boards.names.size(); ++board) {
    std::vector<double> rounds;
    for (std::size_t i = 0; i < network.values.size(); ++i) {
      if (boards.of_source[network.sources[i]] == board) rounds.push_back(network.values[i]);
    }
    if (rounds.empty()) continue;
    result.boards.push_back(board);
    result.values.push_back(median(rounds));
  }
  return result;
}

}  // namespace

std::vector<std::string> JoinedSources::remarks(Quantity quantity) const {
  std::vector<std::string> lines;
  if (measured.fleet) lines = remarks_on(*measured.fleet, quantity);
  if (repeated.empty()) return lines;
  std::vector<double> disagreements;
  const RepeatedNetwork* worst = &repeated.front();
  for (const RepeatedNetwork& network : repeated) {
    disagreements.push_back(network.disagreement);
    if (network.disagreement > worst->disagreement) worst = &network;
  }
  std::string values;
  for (const double value : worst->values) values += (values.empty() ? "" : ", ") + significant_digits(value, 4);
  lines.push_back(std::to_string(repeated.size()) + (repeated.size() == 1 ? " network was" : " networks were") +
                  " measured more than once, and the median of each counts: they agree within " +
                  percent(median(disagreements)) + " typically and " + percent(worst->disagreement) + " at worst (" +
                  worst->name + ": " + values + " " + std::string(unit(quantity)) + ")");
  if (!levels.empty()) {
    lines.push_back("over the networks that they share, compared with the median: " + levels_text(levels, quantity));
  }
  return lines;
}

namespace {

/// What is the joined sources' beside latencies.
void add_rest(JoinedSources& joined, const std::optional<Boards>& boards) {
  std::size_t left_out = 0;
  for (std::size_t s = 0; s < joined.sources.size(); ++s) {
    const MeasuredSource& source = joined.sources[s];
    left_out += source.left_out();
    if (source.descriptor.has_latencies()) joined.measured.descriptor = source.descriptor;
    if (source.kit) joined.measured.kit = source.kit;
    const double level = boards ? std::exp(joined.measured.fleet->boards[boards->of_source[s]].level) : 1;
    for (OperatorLatency latency : source.operator_latencies) {
      latency.latency_ms /= level;
      joined.measured.operator_latencies.push_back(std::move(latency));
    }
  }
  joined.measured.left_out_of_all = left_out;
  const auto whole = [](const MeasuredSource& source) { return source.whole_milliseconds; };
  joined.measured.whole_milliseconds = boards ? std::any_of(joined.sources.begin(), joined.sources.end(), whole)
                                              : are_whole_milliseconds(joined.measured.latency_ms);
}

}  // namespace

JoinedSources read_joined(const std::vector<std::filesystem::path>& paths, const SearchSpace& space, Quantity quantity,
                          bool fleet) {
  JoinedSources joined;
  for (const std::filesystem::path& path : paths) joined.sources.push_back(read_measured(path, space, quantity));
  const std::optional<Boards> boards = boards_of(paths, joined.sources, fleet);
  if (joined.sources.size() == 1) {
    joined.measured = joined.sources.front();
    return joined;
  }
  const std::vector<Values> networks = values_by_network(joined.sources);
  std::vector<FleetNetwork> on_boards;
  if (boards) {
    for (const Values& network : networks) on_boards.push_back(by_board(network, *boards));
    joined.measured.fleet = compare_boards(boards->names, on_boards);
    if (fleet && joined.measured.fleet->shared == 0) {
      throw InputError(paths.front().string() + ": these boards have no network in common, so that nobody knows how " +
                       "far they differ; measure some networks on all of them");
    }
  }
  std::vector<std::vector<double>> ratios(paths.size());
  for (std::size_t n = 0; n < networks.size(); ++n) {
    const Values& network = networks[n];
    const double typical = boards ? on_boards[n].typical(*joined.measured.fleet) : median(network.values);
    joined.measured.architectures.push_back(network.architecture);
    joined.measured.latency_ms.push_back(typical);
    if (network.values.size() == 1) continue;
    const auto [least, most] = std::minmax_element(network.values.begin(), network.values.end());
    joined.repeated.push_back({space.format(network.architecture), network.values, *most / *least - 1});
    for (std::size_t i = 0; i < network.values.size() && !boards; ++i) {
      ratios[network.sources[i]].push_back(network.values[i] / typical - 1);
    }
  }
  for (std::size_t s = 0; s < paths.size(); ++s) {
    if (!ratios[s].empty()) joined.levels.push_back({paths[s].string(), median(ratios[s])});
  }
  add_rest(joined, boards);
  return joined;
}

}  // namespace tenshot::datasets
