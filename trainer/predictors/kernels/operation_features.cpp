#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "nasbench/support/words.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorKind;
using nasbench::Shape;

double height(const Shape& shape) { return shape.size() >= 3 ? static_cast<double>(shape[2]) : 1; }
double width(const Shape& shape) { return shape.size() >= 4 ? static_cast<double>(shape[3]) : 1; }

/// How much larger a size gets where it is filled up to whole vectors.
double filled_up(double size) {
  constexpr double vector = 16;
  return std::ceil(size / vector) * vector / size;
}

/// In the order of sizes_of(). The last one is a feature of paddings alone, and no detail.
constexpr const char* names_of_sizes =
    "input_height input_channels input_size output_height output_width filters output_size positions parameters flops "
    "stride kernel_height kernel_width dilation groups tensors last_input_size dimensions elements_moved intensity "
    "dot_length channels_of_group filters_of_group input_channels_filled filters_filled row_filled input_over_output "
    "padding";

std::vector<double> sizes_of(const nasbench::OperatorSpecification& op) {
  const Shape& input = op.inputs.empty() ? op.output : op.inputs.front();
  const auto channels = static_cast<double>(channel_count(op, input));
  const auto filters = static_cast<double>(channel_count(op, op.output));
  double input_size = 0;
  for (const Shape& shape : op.inputs) input_size += static_cast<double>(nasbench::element_count(shape));
  const auto output_size = static_cast<double>(nasbench::element_count(op.output));
  const auto parameters = static_cast<double>(parameter_count(op));
  const double input_height = height(input), output_height = height(op.output);
  const double kernel_height = op.kernel.height, kernel_width = op.kernel.width, window = kernel_height * kernel_width;
  const double stride = op.stride.height, dilation = op.dilation.height, groups = op.groups, row = width(op.output);
  const bool pool = operation_category(op) == "pooling";
  const double work = pool ? window * output_size : static_cast<double>(multiply_adds(op));
  const auto tensors = static_cast<double>(op.inputs.size()), dimensions = static_cast<double>(op.output.size());
  const double last = op.inputs.empty() ? 0 : static_cast<double>(nasbench::element_count(op.inputs.back()));
  const double moved = input_size + output_size + parameters, intensity = std::max(work, output_size) / moved;
  std::vector<double> sizes = {input_height, channels, input_size, output_height, row, filters};
  const auto add = [&](std::initializer_list<double> more) { sizes.insert(sizes.end(), more); };
  add({output_size, output_height * row, parameters, work, stride, kernel_height, kernel_width, dilation, groups});
  add({tensors, last, dimensions, moved, intensity, window * channels / groups, channels / groups, filters / groups});
  add({filled_up(channels), filled_up(filters), filled_up(row), input_size / output_size});
  add({output_height - input_height});
  return sizes;
}

/// Features of a category: what they are called, and which of sizes_of() they are.
struct CategoryFeatures {
  /// "kernel_height=input_height": a name, and what it stands for where that is called otherwise.
  explicit CategoryFeatures(const std::string& words) {
    const auto known = words_of<std::vector<std::string>>(names_of_sizes);
    for (const std::string& word : words_of<std::vector<std::string>>(words)) {
      const std::vector<std::string> parts = parts_between(word, "=");
      names.push_back(parts.front());
      sizes.push_back(static_cast<std::size_t>(std::find(known.begin(), known.end(), parts.back()) - known.begin()));
    }
  }
  std::vector<std::string> names;
  std::vector<std::size_t> sizes;
};

const CategoryFeatures& features_of(const std::string& category) {
  static const std::string of_convolutions =
      "input_height input_channels output_height stride kernel_height filters input_size output_size "
      "kernel_size=parameters flops";
  static const CategoryFeatures otherwise("input_height input_channels input_size");
  static const std::map<std::string, CategoryFeatures> of_categories = {
      {"convolution", CategoryFeatures(of_convolutions)},
      {"depthwise_convolution", CategoryFeatures(of_convolutions)},
      {"grouped_convolution", CategoryFeatures(of_convolutions + " groups")},
      {"fully_connected", CategoryFeatures("input_channels filters parameters flops")},
      {"mean", CategoryFeatures("input_height input_channels kernel_height=input_height input_size flops=input_size")},
      {"concat_split",
       CategoryFeatures("input_height input_channels tensors output_channels=filters input_size output_size")},
      {"pooling", CategoryFeatures("input_height input_channels output_height stride kernel_height input_size "
                                   "output_size flops")},
      {"padding", CategoryFeatures("input_height input_channels output_height padding output_size")}};
  const auto found = of_categories.find(category);
  return found == of_categories.end() ? otherwise : found->second;
}

}  // namespace

std::string operation_category(const nasbench::OperatorSpecification& op) {
  if (op.kind == OperatorKind::convolution || op.kind == OperatorKind::transposed_convolution) {
    if (op.groups == 1) return "convolution";
    const bool depthwise = !op.inputs.empty() && op.groups == channel_count(op, op.inputs.front());
    return depthwise ? "depthwise_convolution" : "grouped_convolution";
  }
  static const std::vector<std::pair<const char*, std::vector<OperatorKind>>> categories = {
      {"fully_connected", {OperatorKind::linear, OperatorKind::matrix_product}},
      {"mean", {OperatorKind::global_pool, OperatorKind::reduce}},
      {"concat_split", {OperatorKind::concatenate, OperatorKind::split}},
      {"pooling", {OperatorKind::max_pool, OperatorKind::average_pool}},
      {"padding", {OperatorKind::pad}},
      {"elementwise",
       {OperatorKind::activation, OperatorKind::add, OperatorKind::multiply, OperatorKind::elementwise,
        OperatorKind::batch_norm}}};
  for (const auto& [category, kinds] : categories) {
    if (std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end()) return category;
  }
  return "other";
}

std::vector<std::string> feature_names(const std::string& category, LearnerKind learner) {
  std::vector<std::string> names = features_of(category).names;
  if (learner != LearnerKind::boosted) return names;
  for (const std::string& detail : detail_names()) names.push_back(detail);
  return names;
}

std::vector<double> operation_features(const nasbench::OperatorSpecification& op, LearnerKind learner) {
  const std::vector<double> sizes = sizes_of(op);
  std::vector<double> features;
  for (const std::size_t size : features_of(operation_category(op)).sizes) features.push_back(sizes.at(size));
  if (learner == LearnerKind::boosted) features.insert(features.end(), sizes.begin(), sizes.end() - 1);
  return features;
}

std::vector<std::string> detail_names() {
  auto names = words_of<std::vector<std::string>>(names_of_sizes);
  names.pop_back();
  return names;
}

}  // namespace tenshot::trainer::kernels
