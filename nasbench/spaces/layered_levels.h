#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <tuple>
#include <vector>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/files.h"

namespace tenshot::nasbench {

constexpr int largest_class_count = 1'000'000;
constexpr std::size_t longest_name = 100;
constexpr std::size_t most_options = 255;  ///< at one decision: a choice is one byte

struct LayeredSpace::Level {
  Block stem, head;
  std::vector<std::vector<Block>> layers;  ///< [layer][alternative]
  std::vector<std::size_t> outputs;        ///< numbers of named tensors; empty where the head gives the output
};

struct LayeredSpace::Levels {
  std::mutex mutex;
  std::map<std::tuple<int, int, std::size_t>, std::unique_ptr<Level>> of_shape;  ///< resolution, classes, width
};

/// The files of nasbench/spaces/shipped/.
const std::vector<ShippedFile>& shipped_spaces();

/// The list of `key`; an empty one where there is none.
const nlohmann::json& list_or_none(const nlohmann::json& object, const char* key);

}  // namespace tenshot::nasbench
