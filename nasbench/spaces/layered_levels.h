#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "nasbench/spaces/layered_space.h"

namespace tenshot::nasbench {

// What the sources of layered spaces share.

constexpr int largest_resolution = 1 << 14;
constexpr int largest_class_count = 1'000'000;
constexpr int largest_channel_count = 1 << 20;
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

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// The list of `key`; an empty one where there is none.
const nlohmann::json& list_or_none(const nlohmann::json& object, const char* key);

}  // namespace tenshot::nasbench
