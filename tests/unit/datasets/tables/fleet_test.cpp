#include "datasets/tables/fleet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tenshot::datasets {
namespace {

/// A network that boards 0, 1, … measured.
FleetNetwork measured(std::vector<double> values) {
  FleetNetwork network;
  for (std::size_t b = 0; b < values.size(); ++b) network.boards.push_back(b);
  network.values = std::move(values);
  return network;
}

TEST(Fleet, OfTwoBoardsIsBetweenThem) {
  const std::vector<FleetNetwork> networks = {measured({10, 11}), measured({20, 22}), measured({30, 33})};
  const Fleet fleet = compare_boards({"a", "b"}, networks);
  const double half = 0.5 * std::log(1.1);
  EXPECT_NEAR(fleet.boards[0].level, -half, 1e-12);
  EXPECT_NEAR(fleet.boards[1].level, half, 1e-12);
  EXPECT_EQ(fleet.shared, 3u);
  EXPECT_NEAR(fleet.spread, std::log(1.1) / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(fleet.scatter, 0, 1e-12);
  EXPECT_NEAR(networks[1].typical(fleet), std::sqrt(20 * 22), 1e-9);
  EXPECT_NEAR(fleet.deviation(), 6.313751514675043 / 1.6448536269514722 * fleet.spread * std::sqrt(1.5), 1e-12)
      << "two boards tell little of a third";
}

TEST(Fleet, ANetworkOfOneBoardIsBroughtToTheTypicalOne) {
  const std::vector<FleetNetwork> networks = {measured({10, 10, 12}), measured({20, 20, 24}), {{2}, {36}}};
  const Fleet fleet = compare_boards({"a", "b", "c"}, networks);
  EXPECT_NEAR(fleet.boards[0].level, 0, 1e-12) << "the median board is the typical one";
  EXPECT_NEAR(fleet.boards[2].level, std::log(1.2), 1e-12);
  EXPECT_NEAR(networks[2].typical(fleet), 30, 1e-9);
}

TEST(Fleet, AWildValueMovesNoLevel) {
  std::vector<FleetNetwork> networks;
  for (int n = 1; n <= 5; ++n) networks.push_back(measured({1.0 * n, 1.0 * n, 1.02 * n}));
  networks[3].values[1] *= 8;
  const Fleet fleet = compare_boards({"a", "b", "c"}, networks);
  EXPECT_NEAR(fleet.boards[1].level, 0, 1e-9);
  EXPECT_NEAR(fleet.boards[2].level, std::log(1.02), 1e-9);
  EXPECT_GT(fleet.scatter, 0.3) << "which intervals are to know";
}

TEST(Fleet, BoardsThatShareNoNetworkAreNotCompared) {
  const std::vector<FleetNetwork> networks = {{{0, 1}, {10, 11}}, {{2}, {50}}, {{3}, {60}}};
  const Fleet fleet = compare_boards({"a", "b", "c", "d"}, networks);
  EXPECT_EQ(fleet.compared(), 2u);
  EXPECT_FALSE(fleet.boards[2].compared);
  EXPECT_NEAR(networks[1].typical(fleet), 50, 1e-12);
  const Fleet none = compare_boards({"a", "b"}, {{{0}, {10}}, {{1}, {50}}});
  EXPECT_EQ(none.compared(), 0u);
  EXPECT_EQ(none.shared, 0u);
  EXPECT_EQ(none.deviation(), 0);
}

/// How many of a further board's values lie within what the fleet says of it at 90 %.
double coverage(std::size_t boards, double spread, double scatter) {
  constexpr int fleets = 3000;
  std::mt19937_64 random(boards);
  std::normal_distribution<double> normal;
  int held = 0;
  for (int f = 0; f < fleets; ++f) {
    std::vector<FleetNetwork> networks(10);
    std::vector<std::string> names(boards, "board");
    for (std::size_t b = 0; b < boards; ++b) {
      const double level = spread * normal(random);
      for (FleetNetwork& network : networks) {
        network.boards.push_back(b);
        network.values.push_back(std::exp(level + scatter * normal(random)));
      }
    }
    const Fleet fleet = compare_boards(names, networks);
    // A predictor's own interval holds the scatter that is left in the typical values.
    const double own = fleet.scatter * fleet.scatter / static_cast<double>(boards);
    const double further = spread * normal(random) + scatter * normal(random);
    const double error = further - std::log(networks.front().typical(fleet));
    held += std::abs(error) <= 1.645 * std::sqrt(std::pow(fleet.deviation(), 2) + own) ? 1 : 0;
  }
  return static_cast<double>(held) / fleets;
}

TEST(Fleet, IntervalsHoldAFurtherBoard) {
  for (const std::size_t boards : {2u, 3u, 5u, 9u}) {
    for (const double spread : {0.005, 0.03, 0.1}) {
      const double held = coverage(boards, spread, 0.01);
      EXPECT_GT(held, 0.87) << boards << " boards, " << spread;
      EXPECT_LT(held, boards > 3 ? 0.95 : 0.99) << boards << " boards, " << spread;
    }
  }
}

}  // namespace
}  // namespace tenshot::datasets
