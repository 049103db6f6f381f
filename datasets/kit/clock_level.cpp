#include "datasets/kit/clock_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tenshot::datasets {
namespace {

bool is_like(double clock, double level, bool fixed) {
  const double tolerance = fixed ? 0.05 : 0.25;
  return clock >= (1 - tolerance) * level && clock <= (1 + tolerance) * level;
}

}  // namespace

std::optional<double> clock_level(const std::vector<NotedClocks>& architectures) {
  std::vector<NotedClocks> steady;
  std::size_t known = 0;
  for (const NotedClocks& clocks : architectures) {
    if (!clocks.before) continue;
    ++known;
    if (clocks.steady) steady.push_back(clocks);
  }
  double level = 0;
  std::size_t most = 0;
  for (const NotedClocks& one : steady) {
    const auto candidate = static_cast<double>(*one.before);
    const auto like =
        static_cast<std::size_t>(std::count_if(steady.begin(), steady.end(), [&](const NotedClocks& other) {
          return is_like(static_cast<double>(*other.before), candidate, other.fixed);
        }));
    if (like > most || (like == most && candidate > level)) {
      most = like;
      level = candidate;
    }
  }
  if (most == 0 || 2 * most < known) return std::nullopt;
  return level;
}

bool is_at_level(const NotedClocks& clocks, double level) {
  const auto is_off = [&](const std::optional<long long>& clock) {
    return clock && !is_like(static_cast<double>(*clock), level, clocks.fixed);
  };
  return (!clocks.fixed && !clocks.steady) || (!is_off(clocks.before) && !is_off(clocks.after));
}

std::string in_words(const NotedClocks& clocks, double level) {
  const std::string usual = std::to_string(std::llround(level));
  const long long before = clocks.before.value_or(0);
  if (!clocks.steady) {
    return std::to_string(before) + " to " + std::to_string(clocks.after.value_or(0)) + ", and " + usual +
           " is that of most";
  }
  const double change = static_cast<double>(before) / level - 1;
  return std::to_string(before) + ", " + std::to_string(std::lround(100 * std::abs(change))) + " % " +
         (change < 0 ? "below" : "above") + " the " + usual + " of most";
}

}  // namespace tenshot::datasets
