#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// What a name in a template stands for: a number ("expansion"), or a name ("activation").
using TemplateValue = std::variant<double, std::string>;
using TemplateValues = std::map<std::string, TemplateValue, std::less<>>;

/// One operator of a block. Its inputs are indices of earlier operators of the block, or Block::input_index.
struct BlockOperator {
  OperatorSpecification specification;
  std::vector<int> inputs;
  Extent padding = {0, 0};  ///< on each side, of windows
};

/// What one option of a layer computes, or the stem or the head: operators in order of execution.
struct Block {
  static constexpr int input_index = -1;

  std::vector<BlockOperator> operators;
  int output_index = input_index;  ///< input_index where the block is its input, unchanged
  Shape output;
  std::int64_t multiply_adds = 0;
};

/// Makes blocks of the lists of operators in a space file (layered_space.h describes them). All it throws is
/// FormatError that names the file, the place in it, what was found and what is expected.
class BlockBuilder {
 public:
  /// `templates` (an object, or an empty list) and `file`, its name in messages, must outlive the builder.
  BlockBuilder(const nlohmann::json& templates, const std::string& file) : templates_(templates), file_(file) {}

  /// The block of the list at `place`, on a tensor of shape `input`, where `values` are known.
  Block build(const nlohmann::json& operators, const std::string& place, const Shape& input,
              const TemplateValues& values);
  /// The block of template `name`.
  Block build_template(std::string_view name, const std::string& place, const Shape& input,
                       const TemplateValues& values);

  /// What the value at `place` stands for, given `values`: a number, an expression, or a name.
  TemplateValue value_of(const nlohmann::json& value, const std::string& place, const TemplateValues& values) const;

 private:
  const nlohmann::json& templates_;
  const std::string& file_;
  std::size_t expanded_ = 0;  ///< entries of lists so far, of all blocks
};

}  // namespace tenshot::nasbench
