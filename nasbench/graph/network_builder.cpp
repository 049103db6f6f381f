#include "nasbench/graph/network_builder.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::nasbench {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError("operator '" + name + "'" + why);
}

/// `axis` counted from the front.
std::int64_t front_axis(const std::string& name, std::int64_t axis, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    refuse(name, ": there is no axis " + std::to_string(axis) + " in a tensor of " + format(shape));
  }
  return axis < 0 ? axis + rank : axis;
}

void require_image(const std::string& name, const Shape& shape) {
  if (shape.size() != 4) refuse(name, " wants batch x channels x height x width, found " + format(shape));
}

/// Batch and channels, then the positions of the window. Throws InputError where it does not fit.
Shape windowed_shape(const std::string& name, const Shape& input, std::int64_t channels, const WindowOptions& window,
                     bool ceil_mode) {
  require_image(name, input);
  const auto [rows, columns] = axes_of(window);
  const std::int64_t height = window_positions(input[2], rows, ceil_mode);
  const std::int64_t width = window_positions(input[3], columns, ceil_mode);
  if (height < 1 || width < 1) {
    refuse(name, ": a kernel of " + std::to_string(rows.kernel) + "x" + std::to_string(columns.kernel) +
                     " does not fit an input of " + format(input));
  }
  return {input[0], channels, height, width};
}

void require_groups(const std::string& name, int groups, std::int64_t in, std::int64_t out) {
  if (groups < 1 || in % groups != 0 || out % groups != 0) {
    refuse(name, ": " + std::to_string(groups) + " groups do not divide " + std::to_string(in) + " channels in and " +
                     std::to_string(out) + " out");
  }
}

}  // namespace

WindowOptions same_window(int kernel, int stride) {
  const int half = kernel / 2;
  return {{kernel, kernel}, {stride, stride}, {half, half, half, half}, {}};
}

void set_reduction(NetworkNode& node, const std::string& name, std::vector<std::int64_t> axes, bool of_image) {
  const bool pool = of_image && axes == std::vector<std::int64_t>{2, 3} && (name == "mean" || name == "max");
  node.operation.kind = pool ? OperatorKind::global_pool : OperatorKind::reduce;
  node.operation.name = pool && name == "mean" ? "" : name;
  if (!pool) node.attributes.axes = std::move(axes);
}

std::array<AxisWindow, 2> axes_of(const WindowOptions& window) {
  const auto& [kernel, stride, padding, dilation] = window;
  return {{{kernel.height, stride.height, dilation.height, padding.top, padding.bottom},
           {kernel.width, stride.width, dilation.width, padding.left, padding.right}}};
}

std::int64_t window_positions(std::int64_t length, const AxisWindow& axis, bool ceil_mode) {
  const std::int64_t room = length + axis.before + axis.behind - std::int64_t{axis.dilation} * (axis.kernel - 1) - 1;
  if (room < 0) return 0;
  std::int64_t positions = room / axis.stride + 1;
  // The last window, if it lies in the image only in part, has to begin within the image or the zeros before it.
  if (ceil_mode && room % axis.stride != 0 && positions * axis.stride < length + axis.before) ++positions;
  return positions;
}

std::int64_t stretched_length(std::int64_t length, const AxisWindow& axis) {
  return (length - 1) * axis.stride + std::int64_t{axis.dilation} * (axis.kernel - 1) + 1 -
         (std::int64_t{axis.before} + axis.behind);
}

Padding same_padding(const Shape& image, const WindowOptions& window, bool more_before) {
  const auto zeros = [](std::int64_t length, const AxisWindow& axis) {
    const std::int64_t positions = (length + axis.stride - 1) / axis.stride;
    return static_cast<int>(std::clamp<std::int64_t>(stretched_length(positions, axis) - length, 0, 1 << 16));
  };
  const auto [rows, columns] = axes_of({window.kernel, window.stride, {}, window.dilation});
  const int height = zeros(image[2], rows), width = zeros(image[3], columns);
  const int more = more_before ? 1 : 0, top = (height + more) / 2, left = (width + more) / 2;
  return {top, left, height - top, width - left};
}

Shape broadcast_shape(const Shape& left, const Shape& right) {
  Shape shape = left.size() >= right.size() ? left : right;
  const Shape& shorter = left.size() >= right.size() ? right : left;
  const std::size_t offset = shape.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dimension = shape[offset + i];
    if (dimension != shorter[i] && dimension != 1 && shorter[i] != 1) {
      throw InputError("tensors of " + format(left) + " and " + format(right) + " do not broadcast");
    }
    if (dimension == 1) dimension = shorter[i];
  }
  return shape;
}

Source NetworkBuilder::input(std::string name, Shape shape, ElementType type) {
  network_.inputs.push_back({std::move(name), {std::move(shape), type}});
  return {-1, static_cast<int>(network_.inputs.size()) - 1};
}

NetworkNode NetworkBuilder::node(OperatorKind kind, std::string name, std::vector<Source> inputs, Shape output,
                                 std::string function) const {
  NetworkNode node;
  node.operation.kind = kind;
  node.operation.name = std::move(function);
  node.operation.type = inputs.empty() ? ElementType::float32 : type(inputs.front()).type;
  node.name = std::move(name);
  node.inputs = std::move(inputs);
  node.outputs = {{std::move(output), node.operation.type}};
  return node;
}

Source NetworkBuilder::append(NetworkNode node) {
  const std::string name = node.name;
  for (std::size_t& number = repeats_[name]; !names_.insert(node.name).second;) {
    node.name = name + "_" + std::to_string(++number + 1);
  }
  node.operation.inputs.clear();
  for (const Source& source : node.inputs) node.operation.inputs.push_back(type(source).shape);
  node.operation.output = node.outputs.at(0).shape;
  network_.nodes.push_back(std::move(node));
  return {static_cast<int>(network_.nodes.size()) - 1, 0};
}

Source NetworkBuilder::append_window(NetworkNode node, const ConvolutionOptions& options) {
  node.operation.kernel = options.window.kernel;
  node.operation.stride = options.window.stride;
  node.operation.dilation = options.window.dilation;
  node.operation.groups = options.groups;
  node.operation.bias = options.bias;
  node.attributes.padding = options.window.padding;
  return append(std::move(node));
}

Source NetworkBuilder::convolution(std::string name, const Source& input, std::int64_t channels,
                                   const ConvolutionOptions& options) {
  const Shape& shape = type(input).shape;
  const Shape output = windowed_shape(name, shape, channels, options.window, false);
  require_groups(name, options.groups, shape[1], channels);
  return append_window(node(OperatorKind::convolution, std::move(name), {input}, output), options);
}

Source NetworkBuilder::transposed_convolution(std::string name, const Source& input, std::int64_t channels,
                                              const ConvolutionOptions& options, const Extent& output_padding) {
  const Shape& shape = type(input).shape;
  require_image(name, shape);
  require_groups(name, options.groups, shape[1], channels);
  const auto [rows, columns] = axes_of(options.window);
  const Shape output = {shape[0], channels, stretched_length(shape[2], rows) + output_padding.height,
                        stretched_length(shape[3], columns) + output_padding.width};
  if (output[2] < 1 || output[3] < 1) refuse(name, ": its padding leaves nothing");
  return append_window(node(OperatorKind::transposed_convolution, std::move(name), {input}, output), options);
}

Source NetworkBuilder::linear(std::string name, const Source& input, std::int64_t units, bool bias) {
  Shape output = type(input).shape;
  if (output.empty()) refuse(name, " wants a dimension to weigh, found a scalar");
  output.back() = units;
  NetworkNode added = node(OperatorKind::linear, std::move(name), {input}, output);
  added.operation.bias = bias;
  return append(std::move(added));
}

Source NetworkBuilder::matrix_product(std::string name, const Source& left, const Source& right) {
  const Shape &a = type(left).shape, &b = type(right).shape;
  if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
    refuse(name, ": there is no product of " + format(a) + " and " + format(b));
  }
  Shape output = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  output.push_back(a[a.size() - 2]);
  output.push_back(b.back());
  return append(node(OperatorKind::matrix_product, std::move(name), {left, right}, output));
}

Source NetworkBuilder::pool(OperatorKind kind, std::string name, const Source& input, const PoolOptions& options) {
  const Shape& shape = type(input).shape;
  const Shape output = windowed_shape(name, shape, shape.size() == 4 ? shape[1] : 0, options.window, options.ceil_mode);
  NetworkNode added = node(kind, std::move(name), {input}, output);
  added.attributes.ceil_mode = options.ceil_mode;
  added.attributes.count_padding = options.count_padding;
  return append_window(std::move(added), {options.window});
}

Source NetworkBuilder::max_pool(std::string name, const Source& input, const PoolOptions& options) {
  return pool(OperatorKind::max_pool, std::move(name), input, options);
}

Source NetworkBuilder::average_pool(std::string name, const Source& input, const PoolOptions& options) {
  return pool(OperatorKind::average_pool, std::move(name), input, options);
}

Source NetworkBuilder::global_average_pool(std::string name, const Source& input, bool keep_positions) {
  const Shape& shape = type(input).shape;
  require_image(name, shape);
  const Shape output = keep_positions ? Shape{shape[0], shape[1], 1, 1} : Shape{shape[0], shape[1]};
  return append(node(OperatorKind::global_pool, std::move(name), {input}, output));
}

Source NetworkBuilder::same_shape(OperatorKind kind, std::string name, const Source& input, double alpha,
                                  std::string function) {
  NetworkNode added = node(kind, std::move(name), {input}, type(input).shape, std::move(function));
  added.attributes.alpha = alpha;
  return append(std::move(added));
}

Source NetworkBuilder::activation(std::string name, const Source& input, std::string function) {
  const bool hard_sigmoid = function == "hard_sigmoid";  // relu6(x + 3) / 6
  double alpha = hard_sigmoid ? 1.0 / 6 : 0;
  if (function == "leaky_relu") alpha = 0.01;
  if (function == "elu") alpha = 1;
  return activation(std::move(name), input, std::move(function), alpha, hard_sigmoid ? 0.5 : 0);
}

Source NetworkBuilder::activation(std::string name, const Source& input, std::string function, double alpha,
                                  double beta) {
  const Source added = same_shape(OperatorKind::activation, std::move(name), input, alpha, std::move(function));
  network_.nodes.back().attributes.beta = beta;
  return added;
}

Source NetworkBuilder::batch_norm(std::string name, const Source& input, double epsilon) {
  return same_shape(OperatorKind::batch_norm, std::move(name), input, epsilon);
}

Source NetworkBuilder::layer_norm(std::string name, const Source& input, double epsilon) {
  const Source added = same_shape(OperatorKind::layer_norm, std::move(name), input, epsilon);
  network_.nodes.back().attributes.axes = {static_cast<std::int64_t>(type(input).shape.size()) - 1};
  return added;
}

Source NetworkBuilder::group_norm(std::string name, const Source& input, int groups, double epsilon) {
  const Shape& shape = type(input).shape;
  require_groups(name, groups, shape.size() < 2 ? 0 : shape[1], groups);
  const Source added = same_shape(OperatorKind::group_norm, std::move(name), input, epsilon);
  network_.nodes.back().operation.groups = groups;
  return added;
}

Source NetworkBuilder::softmax(std::string name, const Source& input, std::int64_t axis) {
  axis = front_axis(name, axis, type(input).shape);
  const Source added = same_shape(OperatorKind::softmax, std::move(name), input);
  network_.nodes.back().attributes.axes = {axis};
  return added;
}

Source NetworkBuilder::broadcast(OperatorKind kind, std::string name, const Source& left, const Source& right) {
  return append(node(kind, std::move(name), {left, right}, broadcast_shape(type(left).shape, type(right).shape)));
}

Source NetworkBuilder::add(std::string name, const Source& left, const Source& right) {
  return broadcast(OperatorKind::add, std::move(name), left, right);
}

Source NetworkBuilder::multiply(std::string name, const Source& left, const Source& right) {
  return broadcast(OperatorKind::multiply, std::move(name), left, right);
}

Source NetworkBuilder::multiply_by(std::string name, const Source& input, double constant) {
  return same_shape(OperatorKind::multiply, std::move(name), input, constant);
}

Source NetworkBuilder::concatenate(std::string name, const std::vector<Source>& inputs, std::int64_t axis) {
  if (inputs.empty()) refuse(name, " concatenates nothing");
  Shape shape = type(inputs.front()).shape;
  axis = front_axis(name, axis, shape);
  const auto a = static_cast<std::size_t>(axis);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Shape other = type(inputs[i]).shape;
    const std::int64_t extent = a < other.size() ? other[a] : 0;
    if (a < other.size()) other[a] = shape[a];
    if (other != shape) {
      refuse(name, ": cannot concatenate " + format(type(inputs[0]).shape) + " and " + format(type(inputs[i]).shape) +
                       " along axis " + std::to_string(axis));
    }
    shape[a] += extent;
  }
  NetworkNode added = node(OperatorKind::concatenate, std::move(name), inputs, shape);
  added.attributes.axes = {axis};
  return append(std::move(added));
}

std::vector<Source> NetworkBuilder::split(std::string name, const Source& input, const std::vector<std::int64_t>& sizes,
                                          std::int64_t axis) {
  const TensorType from = type(input);
  axis = front_axis(name, axis, from.shape);
  std::int64_t sum = 0;
  NetworkNode added = node(OperatorKind::split, name, {input}, {});
  added.outputs.clear();
  for (const std::int64_t size : sizes) {
    TensorType part = from;
    part.shape[static_cast<std::size_t>(axis)] = size;
    added.outputs.push_back(part);
    sum += size;
  }
  if (sizes.empty() || sum != from.shape[static_cast<std::size_t>(axis)]) {
    refuse(name, ": its parts have " + std::to_string(sum) + " of " + format(from.shape) + " along axis " +
                     std::to_string(axis));
  }
  added.attributes.axes = {axis};
  const int index = append(std::move(added)).node;
  std::vector<Source> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back({index, static_cast<int>(i)});
  return parts;
}

Source NetworkBuilder::shuffle(std::string name, const Source& input, int groups) {
  const Shape& shape = type(input).shape;
  require_groups(name, groups, shape.size() < 2 ? 0 : shape[1], groups);
  const Source added = same_shape(OperatorKind::shuffle, std::move(name), input);
  network_.nodes.back().operation.groups = groups;
  return added;
}

Source NetworkBuilder::reshape(std::string name, const Source& input, Shape shape) {
  if (element_count(shape) != element_count(type(input).shape)) {
    refuse(name, ": " + format(type(input).shape) + " does not hold as many numbers as " + format(shape));
  }
  return append(node(OperatorKind::reshape, std::move(name), {input}, std::move(shape)));
}

Source NetworkBuilder::swap_last(std::string name, const Source& input) {
  std::vector<std::int64_t> axes = numbers_below<std::int64_t>(type(input).shape.size());
  if (axes.size() < 2) refuse(name, " swaps two dimensions of a tensor of fewer");
  std::swap(axes.back(), axes[axes.size() - 2]);
  return transpose(std::move(name), input, std::move(axes));
}

Source NetworkBuilder::transpose(std::string name, const Source& input, std::vector<std::int64_t> permutation) {
  const Shape& shape = type(input).shape;
  Shape output;
  std::set<std::int64_t> seen;
  for (const std::int64_t axis : permutation) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()) || !seen.insert(axis).second) break;
    output.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  if (output.size() != shape.size() || permutation.size() != shape.size()) {
    refuse(name, ": its axes are no permutation of those of " + format(shape));
  }
  NetworkNode added = node(OperatorKind::transpose, std::move(name), {input}, output);
  added.attributes.axes = std::move(permutation);
  return append(std::move(added));
}

}  // namespace tenshot::nasbench
