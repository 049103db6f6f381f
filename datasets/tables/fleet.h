#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenshot::datasets {

/// How boards of one kind differ, by the networks that several of them measured. The logarithm of a network's value on
/// a board is that on the typical board, plus the board's level, plus what this network and board have of their own.
struct Fleet {
  struct Board {
    std::string name;      ///< of what it measured: "kit_a", or "kit_a, more_a"
    double level = 0;      ///< the logarithm of how much slower it is than the typical board: the median of all is 0
    bool compared = true;  ///< false where it measured no network that the others did: its level is not known
  };
  std::vector<Board> boards;
  std::size_t shared = 0;  ///< networks that more than one board measured
  double spread = 0;       ///< standard deviation of the levels
  double scatter = 0;      ///< standard deviation of a value about its network and its board; 0 where it is not known

  std::size_t compared() const;  ///< boards that are
  /// Standard deviation of the logarithm by which a further board of the kind differs from the typical one as it was
  /// measured. Two boards tell little of how far others differ: it is that of the normal distribution whose 90 %
  /// interval is the one of Student's t. 0 where fewer than two boards were compared.
  double deviation() const;
};

/// A network's values on boards.
struct FleetNetwork {
  std::vector<std::size_t> boards;  ///< distinct
  std::vector<double> values;       ///< of each, positive

  /// The median over the boards of the values less the boards' levels.
  double typical(const Fleet& fleet) const;
};

/// Fits networks and levels in turn by medians, which one wild value does not move (Tukey, Exploratory Data Analysis,
/// 1977, chapter 11). Boards that no network links to the largest group are not compared.
Fleet compare_boards(const std::vector<std::string>& names, const std::vector<FleetNetwork>& networks);

}  // namespace tenshot::datasets
