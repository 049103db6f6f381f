#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

// What the sources of layered spaces share.

constexpr int largest_resolution = 1 << 14;
constexpr int largest_channel_count = 1 << 20;
constexpr int most_repeats = 128;

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// What a name in a template stands for: a number ("expansion"), or a name ("activation").
using TemplateValue = std::variant<double, std::string>;
using TemplateValues = std::map<std::string, TemplateValue, std::less<>>;

/// One operator of a block. A source is an earlier operator of the block, or, where its node is −1, a tensor from
/// outside: number 0 is what stands before the block, number k the tensor k − 1 of those that earlier blocks named.
struct BlockOperator {
  OperatorSpecification specification;
  std::vector<Source> inputs;
  Extent padding = {0, 0};          ///< on each side, of windows
  std::vector<Shape> more_outputs;  ///< of a split, after the first
  std::string mode;                 ///< of a resize, as OperatorAttributes has it
  std::string place;                ///< in the file, for messages
};

/// A tensor that a block makes, and that later blocks may take by its name.
struct NamedTensor {
  std::string name;
  Shape shape;
  Source source;  ///< in its block
};

/// What one alternative of a layer computes, or the stem or the head: operators in order of execution.
struct Block {
  std::vector<BlockOperator> operators;
  Source output;  ///< node −1 where the block hands on a tensor, unchanged
  Shape output_shape;
  std::vector<NamedTensor> named;
  std::int64_t multiply_adds = 0;
};

/// What channels are multiplied by, and rounded to a multiple of.
struct WidthScale {
  double multiplier = 1;
  int multiple_of = 1;
};

/// What the lists of operators in a space file are expanded with, block by block; README.md describes them. All
/// that it throws is FormatError that names the file, the place in it, what was found and what is expected.
struct BlockBuilder {
  const nlohmann::json& templates;  ///< an object, or an empty list
  const std::string& file;          ///< its name in messages
  std::size_t& expanded;            ///< entries of lists so far; too many are refused
  const WidthScale* width = nullptr;
  std::vector<NamedTensor> tensors = {};                                 ///< made by the blocks before
  std::map<std::string, std::string, std::less<>> layer_by_tensor = {};  ///< the layer of each name that a layer gives

  /// The block of the list at `place`, on a tensor of shape `input`, where `values` are known. What its entries name is
  /// made for the blocks that follow.
  Block build(const nlohmann::json& operators, const std::string& place, const Shape& input,
              const TemplateValues& values);

  /// Makes what `block` names; each name once in a space.
  void add_tensors(const Block& block, const std::string& place);

  /// What the value at `place` stands for, given `values`: a number, an expression, or a name.
  TemplateValue value_of(const nlohmann::json& value, const std::string& place, const TemplateValues& values) const;

  void count_entry(const std::string& place) const;
};

/// The MobileNets' rounding of channels: to the nearest multiple, but never below nine tenths.
double rounded_to_multiple(double channels, int multiple);

/// A letter or '_', then letters, digits and '_'.
bool is_name(std::string_view text);

}  // namespace tenshot::nasbench
