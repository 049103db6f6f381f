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

/// Those below `count` that are (or are not) `fold` modulo the number of folds.
inline std::vector<std::size_t> numbers_of_fold(std::size_t count, std::size_t fold, std::size_t folds, bool inside) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    if ((i % folds == fold) == inside) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace tenshot
