#include <ATen/ATen.h>

#include <array>
#include <limits>
#include <map>
#include <string>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/runnable.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::OperatorAttributes;
using nasbench::OperatorKind;

constexpr double batch_norm_momentum = 0.1;  // without meaning in inference

using Pair = std::array<std::int64_t, 2>;

Pair pair(const nasbench::Extent& extent) { return {extent.height, extent.width}; }
/// The first half of a padding that is the same on both sides.
Pair pair(const nasbench::Padding& padding) { return {padding.top, padding.left}; }

/// `x` with zeros, or lesser values, around it where its padding is not the same on both sides.
at::Tensor padded(const RunnableNode& own, const at::Tensor& x, double value) {
  const nasbench::Padding& p = own.node.attributes.padding;
  if (is_symmetric(p)) return x;
  if (x.dim() == 3) return at::constant_pad_nd(x, {p.left, p.right}, value);
  return at::constant_pad_nd(x, {p.left, p.right, p.top, p.bottom}, value);
}

at::Tensor convolution(const RunnableNode& own, const at::Tensor& input) {
  const nasbench::OperatorSpecification& s = own.node.operation;
  const at::Tensor x = padded(own, input, 0);
  const nasbench::Padding zeros = own_padding(own.node);
  if (s.output.size() == 3) {
    return at::conv1d(x, own.tensors.weight, own.tensors.bias, s.stride.width, zeros.left, s.dilation.width, s.groups);
  }
  return at::conv2d(x, own.tensors.weight, own.tensors.bias, pair(s.stride), pair(zeros), pair(s.dilation), s.groups);
}

at::Tensor max_pool(const RunnableNode& own, const at::Tensor& input) {
  const nasbench::OperatorSpecification& s = own.node.operation;
  const at::Tensor x = padded(own, input, -std::numeric_limits<double>::infinity());
  return at::max_pool2d(x, pair(s.kernel), pair(s.stride), pair(own_padding(own.node)), pair(s.dilation),
                        own.node.attributes.ceil_mode);
}

std::vector<std::int64_t> positions(const at::Tensor& x) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 2; axis < x.dim(); ++axis) axes.push_back(axis);
  return axes;
}

using Function = at::Tensor (*)(const at::Tensor&);

at::Tensor activation(const RunnableNode& own, const at::Tensor& x) {
  static const std::map<std::string, Function> plain = {
      {"hard_swish", at::hardswish},
      {"silu", at::silu},
      {"sigmoid", at::sigmoid},
      {"tanh", at::tanh},
      {"selu", at::selu},
      {"erf", at::erf},
      {"sqrt", at::sqrt},
      {"exp", at::exp},
      {"log", at::log},
      {"negate", at::neg},
      {"absolute", at::abs},
      {"reciprocal", at::reciprocal},
      {"floor", at::floor},
      {"ceil", at::ceil},
      {"round", at::round},
      {"sign", at::sign},
      {"sin", at::sin},
      {"cos", at::cos},
      {"relu6", [](const at::Tensor& x) { return at::hardtanh(x, 0, 6); }},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"softplus", [](const at::Tensor& x) { return at::softplus(x); }}};
  const std::string& name = own.node.operation.name;
  const OperatorAttributes& a = own.node.attributes;
  if (name == "relu") return at::relu(x);  // the most common one, without a look at the table
  if (const auto found = plain.find(name); found != plain.end()) return found->second(x);
  if (name == "clip") return at::clamp(x, a.alpha, a.beta);
  if (name == "leaky_relu") return at::leaky_relu(x, a.alpha);
  if (name == "elu") return at::elu(x, a.alpha);
  if (is_usual_hard_sigmoid(own.node)) return at::hardsigmoid(x);
  return at::clamp(at::add(at::mul(x, a.alpha), a.beta), 0, 1);
}

/// An operation with one number, which is the left operand where `first`.
at::Tensor with_number(const std::string& name, const at::Tensor& x, double number, bool first) {
  if (name == "subtract") return first ? at::rsub(x, number) : at::sub(x, number);
  if (name == "divide") return first ? at::mul(at::reciprocal(x), number) : at::div(x, number);
  if (name == "power") return first ? at::pow(at::Scalar(number), x) : at::pow(x, number);
  if (name == "minimum") return at::clamp_max(x, number);
  if (name == "maximum") return at::clamp_min(x, number);
  return at::leaky_relu(x, number);  // prelu
}

at::Tensor combined(const std::string& name, const at::Tensor& a, const at::Tensor& b) {
  if (name == "subtract") return at::sub(a, b);
  if (name == "divide") return at::div(a, b);
  if (name == "power") return at::pow(a, b);
  if (name == "minimum") return at::minimum(a, b);
  if (name == "maximum") return at::maximum(a, b);
  return at::where(at::gt(a, 0), a, at::mul(a, b));  // prelu
}

at::Tensor concatenated(const RunnableNode& own, const std::vector<at::Tensor>& values) {
  std::vector<at::Tensor> parts;
  for (const std::size_t input : own.inputs) parts.push_back(values[input]);
  const std::int64_t axis = own.node.attributes.axes.at(0);
  if (own.tensors.weight.defined()) {
    nasbench::Shape shape = own.node.operation.inputs[0];
    shape[static_cast<std::size_t>(axis)] = own.tensors.weight.size(axis);
    const at::Tensor constant = own.tensors.weight.expand(shape);
    parts.insert(own.node.attributes.constant_first ? parts.begin() : parts.end(), constant);
  }
  return at::cat(parts, axis);
}

at::Tensor sliced(const RunnableNode& own, const at::Tensor& input) {
  const OperatorAttributes& a = own.node.attributes;
  if (!keeps_dimensions(own.node)) return at::select(input, a.axes[0], a.starts[0]);
  at::Tensor x = input;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    x = at::slice(x, a.axes[i], a.starts[i], slice_end(own.node, i), a.steps[i]);
  }
  return x;
}

at::Tensor pad(const RunnableNode& own, const at::Tensor& x) {
  const OperatorAttributes& a = own.node.attributes;
  const std::vector<std::int64_t> pads = pads_of(own.node);
  if (a.mode == "constant") return at::constant_pad_nd(x, pads, a.alpha);
  return a.mode == "reflect" ? at::reflection_pad2d(x, pads) : at::replication_pad2d(x, pads);
}

at::Tensor resized(const RunnableNode& own, const at::Tensor& x) {
  const nasbench::Shape& shape = own.node.operation.output;
  const Pair size = {shape[2], shape[3]};
  const std::string& mode = own.node.attributes.mode;
  if (mode == "nearest") return at::upsample_nearest2d(x, size);
  if (mode == "cubic") return at::upsample_bicubic2d(x, size, false);
  return at::upsample_bilinear2d(x, size, mode == "linear_aligned");
}

at::Tensor reduced(const RunnableNode& own, const at::Tensor& x) {
  const std::string& name = own.node.operation.name;
  const std::vector<std::int64_t>& axes = own.node.attributes.axes;
  const bool keep = keeps_dimensions(own.node);
  if (name == "mean") return at::mean(x, axes, keep);
  if (name == "sum") return at::sum(x, axes, keep);
  return name == "max" ? at::amax(x, axes, keep) : at::amin(x, axes, keep);
}

at::Tensor normalised(const RunnableNode& own, const at::Tensor& x) {
  const NodeTensors& t = own.tensors;
  const double epsilon = own.node.attributes.alpha;
  switch (own.node.operation.kind) {
    case OperatorKind::batch_norm:
      return at::batch_norm(x, t.weight, t.bias, t.mean, t.variance, false, batch_norm_momentum, epsilon, false);
    case OperatorKind::layer_norm: return at::layer_norm(x, {x.size(-1)}, t.weight, t.bias, epsilon);
    default: return at::group_norm(x, own.node.operation.groups, t.weight, t.bias, epsilon);
  }
}

at::Tensor sum_or_product(const RunnableNode& own, const std::vector<at::Tensor>& values) {
  const bool sum = own.node.operation.kind == OperatorKind::add;
  const at::Tensor& first = values[own.inputs[0]];
  if (own.inputs.size() == 1 && !own.tensors.weight.defined()) {
    const double number = own.node.attributes.alpha;
    return sum ? at::add(first, number) : at::mul(first, number);
  }
  if (own.inputs.size() == 1) return sum ? at::add(first, own.tensors.weight) : at::mul(first, own.tensors.weight);
  at::Tensor result = sum ? at::add(first, values[own.inputs[1]]) : at::mul(first, values[own.inputs[1]]);
  for (std::size_t i = 2; i < own.inputs.size(); ++i) result = at::add(result, values[own.inputs[i]]);
  return result;
}

at::Tensor global_pool(const RunnableNode& own, const at::Tensor& x) {
  const bool keep = keeps_dimensions(own.node);
  return own.node.operation.name == "max" ? at::amax(x, positions(x), keep) : at::mean(x, positions(x), keep);
}

/// An operation of a tensor and a number, or a constant tensor.
at::Tensor with_constant(const RunnableNode& own, const at::Tensor& x) {
  const std::string& function = own.node.operation.name;
  const OperatorAttributes& a = own.node.attributes;
  if (!own.tensors.weight.defined()) return with_number(function, x, a.alpha, a.constant_first);
  return a.constant_first ? combined(function, own.tensors.weight, x) : combined(function, x, own.tensors.weight);
}

at::Tensor single_output(const RunnableNode& own, const std::vector<at::Tensor>& values) {
  const auto input = [&](std::size_t i) -> const at::Tensor& { return values[own.inputs[i]]; };
  const nasbench::OperatorSpecification& s = own.node.operation;
  const OperatorAttributes& a = own.node.attributes;
  switch (s.kind) {
    case OperatorKind::convolution: return convolution(own, input(0));
    case OperatorKind::transposed_convolution:
      return at::conv_transpose2d(input(0), own.tensors.weight, own.tensors.bias, pair(s.stride), pair(a.padding),
                                  pair(output_padding(own.node)), s.groups, pair(s.dilation));
    case OperatorKind::linear: return at::linear(input(0), own.tensors.weight, own.tensors.bias);
    case OperatorKind::matrix_product: return at::matmul(input(0), input(1));
    case OperatorKind::max_pool: return max_pool(own, input(0));
    case OperatorKind::average_pool:
      return at::avg_pool2d(input(0), pair(s.kernel), pair(s.stride), pair(a.padding), a.ceil_mode, a.count_padding);
    case OperatorKind::global_pool: return global_pool(own, input(0));
    case OperatorKind::activation: return activation(own, input(0));
    case OperatorKind::add:
    case OperatorKind::multiply: return sum_or_product(own, values);
    case OperatorKind::elementwise:
      return own.inputs.size() == 2 ? combined(s.name, input(0), input(1)) : with_constant(own, input(0));
    case OperatorKind::concatenate: return concatenated(own, values);
    case OperatorKind::split: return sliced(own, input(0));
    case OperatorKind::shuffle:
      return input(0)
          .view({s.output[0], s.groups, s.output[1] / s.groups, s.output[2], s.output[3]})
          .transpose(1, 2)
          .reshape(s.output);
    case OperatorKind::pad: return pad(own, input(0));
    case OperatorKind::resize: return resized(own, input(0));
    case OperatorKind::reshape: return at::reshape(input(0), s.output);
    case OperatorKind::transpose: return at::permute(input(0), a.axes);
    case OperatorKind::batch_norm:
    case OperatorKind::layer_norm:
    case OperatorKind::group_norm: return normalised(own, input(0));
    case OperatorKind::softmax:
      return s.name == "log" ? at::log_softmax(input(0), a.axes[0]) : at::softmax(input(0), a.axes[0]);
    case OperatorKind::reduce: return reduced(own, input(0));
    case OperatorKind::opaque: break;
  }
  throw InputError(describe(own.node) + ": LibTorch's operators do not cover it");
}

}  // namespace

void apply_node(const RunnableNode& own, std::vector<at::Tensor>& values) {
  const bool splits = own.node.operation.kind == OperatorKind::split && own.node.operation.name != "slice";
  if (!splits) {
    values[own.output] = single_output(own, values);
    return;
  }
  std::vector<at::Tensor> parts =
      at::split_with_sizes(values[own.inputs[0]], split_sizes(own.node), own.node.attributes.axes.at(0));
  for (std::size_t i = 0; i < parts.size(); ++i) values[own.output + i] = std::move(parts[i]);
}

}  // namespace tenshot::descriptor
