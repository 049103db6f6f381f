#include "datasets/tables/fleet.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/quantiles.h"

namespace tenshot::datasets {
namespace {

std::vector<bool> largest_group(std::size_t boards, const std::vector<FleetNetwork>& networks) {
  std::vector<std::size_t> group = numbers_below(boards);
  for (const FleetNetwork& network : networks) {
    for (const std::size_t board : network.boards) {
      const std::size_t from = group[board], to = group[network.boards.front()];
      std::replace(group.begin(), group.end(), from, to);
    }
  }
  const auto size = [&](std::size_t board) { return std::count(group.begin(), group.end(), group[board]); };
  std::size_t largest = 0;
  for (std::size_t b = 1; b < boards; ++b) largest = size(b) > size(largest) ? b : largest;
  std::vector<bool> linked(boards);
  for (std::size_t b = 0; b < boards; ++b) linked[b] = group[b] == group[largest] && size(largest) > 1;
  return linked;
}

void fit_levels(Fleet& fleet, const std::vector<FleetNetwork>& networks) {
  std::vector<std::vector<double>> differences(fleet.boards.size());
  for (const FleetNetwork& network : networks) {
    if (network.boards.size() < 2) continue;
    const double typical = std::log(network.typical(fleet));
    for (std::size_t i = 0; i < network.boards.size(); ++i) {
      differences[network.boards[i]].push_back(std::log(network.values[i]) - typical);
    }
  }
  std::vector<double> levels;
  for (std::size_t b = 0; b < fleet.boards.size(); ++b) {
    if (!fleet.boards[b].compared) continue;
    fleet.boards[b].level = median(differences[b]);
    levels.push_back(fleet.boards[b].level);
  }
  const double middle = median(levels);
  for (Fleet::Board& board : fleet.boards) board.level -= board.compared ? middle : 0;
}

void find_deviations(Fleet& fleet, const std::vector<FleetNetwork>& networks) {
  double sum = 0, squares = 0, residuals = 0;
  std::size_t values = 0, compared_networks = 0;
  const std::size_t boards = fleet.compared();
  for (const Fleet::Board& board : fleet.boards) sum += board.level;
  for (const Fleet::Board& board : fleet.boards) {
    if (board.compared) squares += std::pow(board.level - sum / static_cast<double>(boards), 2);
  }
  for (const FleetNetwork& network : networks) {
    if (network.boards.size() < 2 || !fleet.boards[network.boards.front()].compared) continue;
    ++compared_networks;
    values += network.boards.size();
    const double typical = std::log(network.typical(fleet));
    for (std::size_t i = 0; i < network.boards.size(); ++i) {
      residuals += std::pow(std::log(network.values[i]) - typical - fleet.boards[network.boards[i]].level, 2);
    }
  }
  fleet.spread = std::sqrt(squares / static_cast<double>(boards - 1));
  const std::size_t parameters = compared_networks + boards - 1;
  if (values > parameters) fleet.scatter = std::sqrt(residuals / static_cast<double>(values - parameters));
}

}  // namespace

std::size_t Fleet::compared() const {
  return static_cast<std::size_t>(
      std::count_if(boards.begin(), boards.end(), [](const Board& board) { return board.compared; }));
}

double Fleet::deviation() const {
  if (compared() < 2) return 0;
  const double count = static_cast<double>(compared()), few = t_quantile(0.95, compared() - 1) / normal_quantile(0.95);
  return std::sqrt(std::pow(few * spread, 2) * (1 + 1 / count) + std::pow(scatter, 2) * (1 - 1 / count));
}

double FleetNetwork::typical(const Fleet& fleet) const {
  std::vector<double> levelled;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    levelled.push_back(std::log(values[i]) - fleet.boards[boards[i]].level);
  }
  return std::exp(median(levelled));
}

Fleet compare_boards(const std::vector<std::string>& names, const std::vector<FleetNetwork>& networks) {
  Fleet fleet;
  const std::vector<bool> linked = largest_group(names.size(), networks);
  for (std::size_t b = 0; b < names.size(); ++b) fleet.boards.push_back({names[b], 0, linked[b]});
  fleet.shared = static_cast<std::size_t>(
      std::count_if(networks.begin(), networks.end(), [](const auto& network) { return network.boards.size() > 1; }));
  if (fleet.compared() < 2) return fleet;
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round) fit_levels(fleet, networks);
  find_deviations(fleet, networks);
  return fleet;
}

}  // namespace tenshot::datasets
