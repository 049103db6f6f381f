#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nasbench/spaces/layered_space.h"

namespace tenshot::nasbench {

// What the sources of layered spaces share.

constexpr int largest_resolution = 1 << 14;
constexpr int largest_class_count = 1'000'000;

struct LayeredSpace::Level {
  Block stem, head;
  std::vector<std::vector<Block>> layers;  ///< [layer][option]
};

struct LayeredSpace::Levels {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::unique_ptr<Level>> of_shape;  ///< by resolution and classes
};

}  // namespace tenshot::nasbench
