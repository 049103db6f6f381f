#include "datasets/kit/joined_sources.h"

#include <cmath>
#include <cstdio>

#include "datasets/pool/joined_pools.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

/// The values of each network in the order of the sources, which are the "boards" here.
struct Values {
  std::vector<nasbench::Architecture> architectures;
  std::vector<FleetNetwork> networks;
};

Values values_by_network(const std::vector<MeasuredSource>& sources) {
  Values values;
  nasbench::ArchitectureMap<std::size_t> place;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t i = 0; i < sources[s].architectures.size(); ++i) {
      const nasbench::Architecture& architecture = sources[s].architectures[i];
      const auto [found, first] = place.emplace(architecture, values.networks.size());
      if (first) values.architectures.push_back(architecture);
      FleetNetwork& network = first ? values.networks.emplace_back() : values.networks[found->second];
      network.boards.push_back(s);
      network.values.push_back(sources[s].latency_ms[i]);
    }
  }
  return values;
}

/// The boards that sources are of; where they are rounds of measuring one, each source by itself.
struct Boards {
  std::vector<std::string> names;
  std::vector<std::size_t> of_source;
  bool are_fleet = false;
};

Boards boards_of(const std::vector<std::filesystem::path>& paths, const std::vector<MeasuredSource>& sources,
                 bool fleet) {
  std::vector<std::string> ids;  // of those that say which board they are of
  for (const MeasuredSource& source : sources) {
    if (std::find(ids.begin(), ids.end(), source.board) == ids.end()) ids.push_back(source.board);
  }
  ids.erase(std::remove(ids.begin(), ids.end(), ""), ids.end());
  Boards boards{ids, {}, fleet || ids.size() > 1};
  if (!boards.are_fleet) boards.names.clear();
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto found = std::find(boards.names.begin(), boards.names.end(), sources[s].board);
    if (!fleet && ids.size() > 1 && found == boards.names.end()) {
      throw InputError(paths[s].string() + ": does not say which board it is of, and the others are of " +
                       std::to_string(ids.size()) +
                       "; measure it with a kit that says so, or say that it is a board of its own (--fleet)");
    }
    if (fleet && std::count(boards.names.begin(), boards.names.end(), paths[s].string()) > 0) {
      throw InputError(paths[s].string() + ": is given twice; each source of a fleet is of a board of its own");
    }
    boards.of_source.push_back(static_cast<std::size_t>(found - boards.names.begin()));
    if (found == boards.names.end()) boards.names.push_back(paths[s].string());
  }
  if (fleet && boards.names.size() < 2) {
    throw InputError(paths.front().string() + ": a fleet needs measurements of at least two boards, and all of these " +
                     "are of one");
  }
  for (std::size_t board = 0; boards.are_fleet && board < ids.size(); ++board) {
    boards.names[board].clear();
    for (std::size_t s = 0; s < sources.size(); ++s) {
      if (boards.of_source[s] != board) continue;
      boards.names[board] += (boards.names[board].empty() ? "" : ", ") + paths[s].string();
    }
  }
  return boards;
}

/// Refuses boards that differ so far that a further one might have a latency of less than an eightieth of the typical
/// one, or of more than eighty times it: two that differ by a factor of 2.2, or more of them that differ by more.
void require_alike(const Fleet& fleet, Quantity quantity) {
  constexpr double normal = 1.645, farthest = 80;
  if (normal * fleet.deviation() <= std::log(farthest)) return;
  const Fleet::Board *least = nullptr, *most = nullptr;
  for (const Fleet::Board& board : fleet.boards) {
    if (!board.compared) continue;
    if (least == nullptr || board.level < least->level) least = &board;
    if (most == nullptr || board.level > most->level) most = &board;
  }
  const double factor = std::exp(most->level - least->level);
  if (factor < 2) return;  // it is networks that differ, not boards
  const std::string doubt = unit(quantity) == "ms" ? unit_doubt({factor}, most->name, least->name) : "";
  if (!doubt.empty()) throw InputError(doubt);
  throw InputError(most->name + ": over the networks that boards share, it has " + significant_digits(factor, 2) +
                   " times the values of " + least->name + ": of boards that differ so far none is typical; compare " +
                   "their power modes and clocks, or adapt to each of them by itself");
}

FleetNetwork by_board(const FleetNetwork& by_source, const Boards& boards) {
  FleetNetwork result;
  for (std::size_t board = 0; board < boards.names.size(); ++board) {
    std::vector<double> rounds;
    for (std::size_t i = 0; i < by_source.values.size(); ++i) {
      if (boards.of_source[by_source.boards[i]] == board) rounds.push_back(by_source.values[i]);
    }
    if (rounds.empty()) continue;
    result.boards.push_back(board);
    result.values.push_back(median(rounds));
  }
  return result;
}

/// "kit_a is typical, kit_b is 3 % slower", of those that were compared.
std::string levels_text(const Fleet& fleet, Quantity quantity) {
  const char* more = quantity == Quantity::latency ? " slower" : " higher";
  const char* less = quantity == Quantity::latency ? " faster" : " lower";
  constexpr double little = 0.005;
  std::string text;
  for (const Fleet::Board& board : fleet.boards) {
    if (!board.compared) continue;
    const double deviation = std::expm1(board.level);
    text += (text.empty() ? "" : ", ") + board.name + " is " +
            (std::abs(deviation) < little ? "typical"
                                          : percent_or_factor(std::abs(deviation)) + (deviation > 0 ? more : less));
  }
  return text;
}

std::vector<std::string> remarks_on(const Fleet& fleet, Quantity quantity) {
  std::vector<std::string> lines;
  const bool any = fleet.compared() > 0;
  if (any) {
    lines.push_back(
        "measurements of " + std::to_string(fleet.boards.size()) + " boards, which share " +
        counted(fleet.shared, "network") + ": they differ by " + percent_or_factor(fleet.spread) +
        (fleet.scatter > 1e-6 ? ", and by " + percent_or_factor(fleet.scatter) + " from network to network" : "") +
        " (standard deviations); " + levels_text(fleet, quantity));
  }
  for (const Fleet::Board& board : fleet.boards) {
    if (board.compared) continue;
    lines.push_back(board.name + ": this board measured no network that " + (any ? "the others" : "another board") +
                    " did, so that nobody knows how far it differs; measure some networks on all boards");
  }
  return lines;
}

/// Refuses a source of another precision, threads, batch or optimization: one condition, as "fp16, threads: 4", which
/// begins with a comma where the precision is not said. Doubts one of another runtime or power mode.
void require_same_settings(JoinedSources& joined, const std::string& path, const MeasuringConditions& conditions) {
  const auto says = [](const std::string& text) { return text != "unknown" && text.rfind(',', 0) != 0; };
  for (const auto& [name, value] : conditions) {
    if ((name != "precision" && name != "runtime" && name != "power mode") || !says(value)) continue;
    if (name == "power mode" && value.find(", later ") != std::string::npos) {
      joined.measured.doubts.push_back(path + ": its power mode changed while it was measured: " + value);
    }
    for (const auto& [other, before] : joined.measured.conditions) {
      if (other != name || !says(before) || holds_condition(before, value)) continue;
      joined.measured.doubts.push_back(path + ": its " + name + " is '" + value + "', that of the sources before it '" +
                                       before + "'; measurements of two settings are to be adapted to each by itself");
      if (name == "precision") throw InputError(joined.measured.doubts.back());
    }
  }
}

/// Doubts a kit whose networks ran at another clock than those of the kit before it; 0 is unknown.
void doubt_other_clock(JoinedSources& joined, const std::string& path, double clock) {
  constexpr double tolerated = 0.1;
  const double before = joined.measured.kit->clock_level;
  if (clock == 0 || before == 0 || std::abs(std::log(clock / before)) <= tolerated) return;
  joined.measured.doubts.push_back(path + ": its networks ran at a clock of " + decimals(clock, 0) +
                                   ", those of the kit before it at " + decimals(before, 0) + "; measure both at one");
}

double typical_disagreement(const std::vector<RepeatedNetwork>& repeated) {
  std::vector<double> all;
  for (const RepeatedNetwork& network : repeated) all.push_back(network.disagreement);
  return all.empty() ? 0 : median(all);
}

void add_rest(JoinedSources& joined, const Boards& boards, const std::vector<std::filesystem::path>& paths) {
  std::size_t left_out = 0;
  bool whole = false;
  for (std::size_t s = 0; s < joined.sources.size(); ++s) {
    const MeasuredSource& source = joined.sources[s];
    left_out += source.left_out();
    whole = whole || source.whole_milliseconds;
    if (source.descriptor.has_latencies()) joined.measured.descriptor = source.descriptor;
    if (!boards.are_fleet && joined.measured.kit && source.kit)
      doubt_other_clock(joined, paths[s].string(), source.kit->clock_level);
    if (source.kit) joined.measured.kit = source.kit;
    require_same_settings(joined, paths[s].string(), source.conditions);
    add_conditions(joined.measured.conditions, source.conditions);
    const double level = boards.are_fleet ? joined.levels.boards[boards.of_source[s]].level : 0;
    for (OperatorLatency latency : source.operator_latencies) {
      latency.latency_ms /= std::exp(level);
      joined.measured.operator_latencies.push_back(std::move(latency));
    }
  }
  if (joined.measured.kit && boards.are_fleet) {
    for (auto* state : {&joined.measured.kit->before, &joined.measured.kit->after}) state->erase(board_key);
  }
  constexpr double tolerated = 0.15;
  if (!boards.are_fleet && typical_disagreement(joined.repeated) > tolerated) {
    joined.measured.doubts.push_back("rounds of one board contradict each other, typically by " +
                                     percent_or_factor(typical_disagreement(joined.repeated)) +
                                     ": fix its clocks and measure again, or leave a round out; rounds of several " +
                                     "boards are a fleet (--fleet)");
  }
  joined.measured.left_out_of_all = left_out + joined.measured.doubts.size();
  joined.measured.whole_milliseconds = boards.are_fleet ? whole : are_whole_milliseconds(joined.measured.latency_ms);
}

}  // namespace

std::vector<std::string> JoinedSources::remarks(Quantity quantity) const {
  std::vector<std::string> lines;
  if (measured.fleet) lines = remarks_on(levels, quantity);
  if (repeated.empty()) return lines;
  const auto worst = std::max_element(repeated.begin(), repeated.end(),
                                      [](const auto& a, const auto& b) { return a.disagreement < b.disagreement; });
  std::string values;
  for (const double value : worst->values) values += (values.empty() ? "" : ", ") + significant_digits(value, 4);
  lines.push_back(counted(repeated.size(), "network") + (repeated.size() == 1 ? " was" : " were") +
                  " measured more than once, and the median of each counts: they agree within " +
                  percent_or_factor(typical_disagreement(repeated)) + " typically and " +
                  percent_or_factor(worst->disagreement) + " at worst (" + worst->name + ": " + values + " " +
                  std::string(unit(quantity)) + ")");
  if (!measured.fleet) {
    lines.push_back("over the networks that they share, compared with the median: " + levels_text(levels, quantity));
  }
  if (unit(quantity) != "ms" || levels.boards.empty()) return lines;
  const Fleet::Board& first = levels.boards.front();
  for (const Fleet::Board& board : levels.boards) {
    if (!first.compared || !board.compared) continue;
    const std::string doubt = unit_doubt({std::exp(board.level - first.level)}, board.name, first.name);
    if (!doubt.empty()) lines.push_back(doubt);
  }
  return lines;
}

std::vector<std::string> JoinedSources::warnings() const {
  std::vector<std::string> lines = measured.doubts;
  for (const MeasuredSource& source : sources) {
    if (!source.findings.empty()) lines.push_back(to_text(source.findings, 3));
    for (std::size_t i = 0; source.kit && i < source.kit->findings.size(); ++i)
      lines.push_back(source.kit->findings[i].message);
  }
  return lines;
}

JoinedSources read_joined(const std::vector<std::filesystem::path>& paths, const NetworkSpace& space, Quantity quantity,
                          bool fleet) {
  JoinedSources joined;
  for (const std::filesystem::path& path : paths) joined.sources.push_back(read_measured(path, space, quantity));
  const Boards boards = boards_of(paths, joined.sources, fleet);
  if (joined.sources.size() == 1) {
    joined.measured = joined.sources.front();
    return joined;
  }
  Values values = values_by_network(joined.sources);
  std::vector<FleetNetwork> on_boards;
  for (const FleetNetwork& network : values.networks) on_boards.push_back(by_board(network, boards));
  joined.levels = compare_boards(boards.names, on_boards);
  if (fleet && joined.levels.shared == 0) {
    throw InputError(paths.front().string() +
                     ": these boards have no network in common, so that nobody knows how far " +
                     "they differ; measure some networks on all of them");
  }
  if (boards.are_fleet) {
    require_alike(joined.levels, quantity);
    joined.measured.fleet = joined.levels;
  }
  for (std::size_t n = 0; n < on_boards.size(); ++n) {
    const std::vector<double>& of_network = values.networks[n].values;
    joined.measured.latency_ms.push_back(boards.are_fleet ? on_boards[n].typical(joined.levels) : median(of_network));
    if (of_network.size() == 1) continue;
    const auto [least, most] = std::minmax_element(of_network.begin(), of_network.end());
    joined.repeated.push_back({space.format(values.architectures[n]), of_network, *most / *least - 1});
  }
  joined.measured.architectures = std::move(values.architectures);
  add_rest(joined, boards, paths);
  return joined;
}

}  // namespace tenshot::datasets
