#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tenshot {

/// The middle value, of an even number of values the upper of the two: a value that was measured. There is at least
/// one.
inline double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The middle value, of an even number of values the mean of the two: scales and thresholds, which need be no value
/// that was measured. There is at least one.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace tenshot
