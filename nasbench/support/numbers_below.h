#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace tenshot {

/// 0, 1, … count − 1.
template <class Integer = std::size_t>
std::vector<Integer> numbers_below(std::size_t count) {
  std::vector<Integer> numbers(count);
  std::iota(numbers.begin(), numbers.end(), Integer{0});
  return numbers;
}

}  // namespace tenshot
