#include "trainer/predictors/kernels/operation_features.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

#include "nasbench/support/words.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using nasbench::Shape;

double height(const Shape& shape) { return shape.size() >= 3 ? static_cast<double>(shape[2]) : 1; }

double width(const Shape& shape) { return shape.size() >= 4 ? static_cast<double>(shape[3]) : 1; }

/// How much larger a size gets where it is filled up to whole vectors.
double filled_up(double size) {
  constexpr double vector = 16;
  return std::ceil(size / vector) * vector / size;
}

double size_of_inputs(const OperatorSpecification& op) {
  return std::accumulate(op.inputs.begin(), op.inputs.end(), 0.0, [](double sum, const Shape& shape) {
    return sum + static_cast<double>(nasbench::element_count(shape));
  });
}

/// What the features of all categories are made of.
struct Sizes {
  explicit Sizes(const OperatorSpecification& op)
      : input(op.inputs.empty() ? op.output : op.inputs.front()),
        input_height(height(input)),
        input_channels(static_cast<double>(channel_count(op, input))),
        output_height(height(op.output)),
        output_channels(static_cast<double>(channel_count(op, op.output))),
        input_size(size_of_inputs(op)),
        output_size(static_cast<double>(nasbench::element_count(op.output))),
        parameters(static_cast<double>(parameter_count(op))),
        flops(static_cast<double>(multiply_adds(op))) {}
  Shape input;
  double input_height, input_channels, output_height, output_channels, input_size, output_size, parameters, flops;
};

bool is_convolution(const std::string& category) {
  return category == "convolution" || category == "depthwise_convolution" || category == "grouped_convolution";
}

}  // namespace

std::string operation_category(const OperatorSpecification& op) {
  switch (op.kind) {
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution: {
      if (op.groups == 1) return "convolution";
      const bool depthwise = !op.inputs.empty() && op.groups == channel_count(op, op.inputs.front());
      return depthwise ? "depthwise_convolution" : "grouped_convolution";
    }
    case OperatorKind::linear:
    case OperatorKind::matrix_product: return "fully_connected";
    case OperatorKind::global_pool:
    case OperatorKind::reduce: return "mean";
    case OperatorKind::concatenate:
    case OperatorKind::split: return "concat_split";
    case OperatorKind::max_pool:
    case OperatorKind::average_pool: return "pooling";
    case OperatorKind::pad: return "padding";
    case OperatorKind::activation:
    case OperatorKind::add:
    case OperatorKind::multiply:
    case OperatorKind::elementwise:
    case OperatorKind::batch_norm: return "elementwise";
    default: return "other";
  }
}

std::vector<std::string> feature_names(const std::string& category) {
  if (is_convolution(category)) {
    std::vector<std::string> names = {"input_height", "input_channels", "output_height", "stride",      "kernel_height",
                                      "filters",      "input_size",     "output_size",   "kernel_size", "flops"};
    if (category == "grouped_convolution") names.emplace_back("groups");
    return names;
  }
  if (category == "fully_connected") return {"input_channels", "filters", "parameters", "flops"};
  if (category == "mean") return {"input_height", "input_channels", "kernel_height", "input_size", "flops"};
  if (category == "concat_split") {
    return {"input_height", "input_channels", "tensors", "output_channels", "input_size", "output_size"};
  }
  if (category == "pooling") {
    return {"input_height",  "input_channels", "output_height", "stride",
            "kernel_height", "input_size",     "output_size",   "flops"};
  }
  if (category == "padding") return {"input_height", "input_channels", "output_height", "padding", "output_size"};
  return {"input_height", "input_channels", "input_size"};
}

std::vector<double> operation_features(const OperatorSpecification& op) {
  const Sizes s(op);
  const std::string category = operation_category(op);
  const double stride = op.stride.height, kernel = op.kernel.height;
  if (is_convolution(category)) {
    std::vector<double> features = {s.input_height,    s.input_channels, s.output_height, stride,       kernel,
                                    s.output_channels, s.input_size,     s.output_size,   s.parameters, s.flops};
    if (category == "grouped_convolution") features.push_back(op.groups);
    return features;
  }
  if (category == "fully_connected") return {s.input_channels, s.output_channels, s.parameters, s.flops};
  if (category == "mean") return {s.input_height, s.input_channels, s.input_height, s.input_size, s.input_size};
  if (category == "concat_split") {
    const auto tensors = static_cast<double>(op.inputs.size());
    return {s.input_height, s.input_channels, tensors, s.output_channels, s.input_size, s.output_size};
  }
  if (category == "pooling") {
    const double arithmetic = kernel * op.kernel.width * s.output_size;
    return {s.input_height, s.input_channels, s.output_height, stride, kernel, s.input_size, s.output_size, arithmetic};
  }
  if (category == "padding") {
    return {s.input_height, s.input_channels, s.output_height, s.output_height - s.input_height, s.output_size};
  }
  return {s.input_height, s.input_channels, s.input_size};
}

std::vector<std::string> detail_names() {
  return words_of<std::vector<std::string>>(
      "input_height input_channels input_size output_height output_width filters output_size positions parameters "
      "flops stride kernel_height kernel_width dilation groups tensors last_input_size dimensions elements_moved "
      "intensity dot_length channels_of_group filters_of_group input_channels_filled filters_filled row_filled "
      "input_over_output");
}

std::vector<double> operation_details(const OperatorSpecification& op) {
  const Sizes s(op);
  const double kernel_height = op.kernel.height, kernel_width = op.kernel.width, window = kernel_height * kernel_width;
  const double stride = op.stride.height, dilation = op.dilation.height, groups = op.groups;
  const double channels = s.input_channels, filters = s.output_channels, row = width(op.output);
  const bool pool = operation_category(op) == "pooling";
  const double work = pool ? window * s.output_size : s.flops, moved = s.input_size + s.output_size + s.parameters;
  const auto tensors = static_cast<double>(op.inputs.size()), dimensions = static_cast<double>(op.output.size());
  const double last = op.inputs.empty() ? 0 : static_cast<double>(nasbench::element_count(op.inputs.back()));
  const double intensity = std::max(work, s.output_size) / moved, positions = s.output_height * row;
  std::vector<double> details = {s.input_height, channels, s.input_size, s.output_height, row, filters};
  const auto add = [&](std::initializer_list<double> more) { details.insert(details.end(), more); };
  add({s.output_size, positions, s.parameters, work, stride, kernel_height, kernel_width, dilation, groups, tensors});
  add({last, dimensions, moved, intensity, window * channels / groups, channels / groups, filters / groups});
  add({filled_up(channels), filled_up(filters), filled_up(row), s.input_size / s.output_size});
  return details;
}

}  // namespace tenshot::trainer::kernels
