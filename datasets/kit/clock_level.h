#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenshot::datasets {

/// What measure.sh noted of the clock that bounds the backend: Hz of a GPU, kHz of a processor; nothing where the board
/// does not tell.
struct NotedClocks {
  std::optional<long long> before, after;
  bool steady = false;  ///< within 2 % of each other
  bool fixed = true;    ///< false where the board lets it follow the load
};

/// The clock at which a kit's architectures ran: the one that most of them had, within 5 %, where it did not move; the
/// faster of two that as many had. Nothing where fewer than half of those whose clocks are known had it. Clocks that
/// are not fixed follow the load, and looking before and after says little: within 25 % they count as one. measure.sh
/// measures again by the same rule (speed.sh).
std::optional<double> clock_level(const std::vector<NotedClocks>& architectures);

/// Whether a model ran at that clock, as far as one knows: a clock that follows the load and moved tells nothing.
bool is_at_level(const NotedClocks& clocks, double level);

/// "483000000, 47 % below the 918000000 of most", or "918000000 to 483000000, and 918000000 is that of most" where it
/// moved.
std::string in_words(const NotedClocks& clocks, double level);

}  // namespace tenshot::datasets
