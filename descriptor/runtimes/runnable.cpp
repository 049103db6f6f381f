#include "descriptor/runtimes/runnable.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "nasbench/support/words.h"

namespace tenshot::descriptor {
namespace {

using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::Padding;

std::string of_window(const NetworkNode& node) {
  const nasbench::OperatorSpecification& s = node.operation;
  const bool pool = s.kind == OperatorKind::max_pool || s.kind == OperatorKind::average_pool;
  if (pool && s.output.size() != 4) return "pools of images alone are covered";
  const bool zeros_matter = s.kind == OperatorKind::transposed_convolution || s.kind == OperatorKind::average_pool;
  if (zeros_matter && !is_symmetric(node.attributes.padding)) return "its padding is not the same on both sides";
  const bool one_dimensional = s.kind == OperatorKind::transposed_convolution && s.output.size() != 4;
  return one_dimensional ? "transposed convolutions of images alone are covered" : "";
}

std::string of_pad(const NetworkNode& node) {
  const auto& [starts, ends] = std::pair(node.attributes.starts, node.attributes.ends);
  if (node.attributes.mode == "constant") return "";
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (i < 2 && (starts[i] != 0 || ends[i] != 0)) return "it reflects batch or channels";
  }
  return starts.size() == 4 && (node.attributes.mode == "reflect" || node.attributes.mode == "edge")
             ? ""
             : "its mode of padding is not covered";
}

}  // namespace

bool is_convolution(OperatorKind kind) {
  return kind == OperatorKind::convolution || kind == OperatorKind::transposed_convolution;
}

Padding own_padding(const NetworkNode& node) {
  return is_symmetric(node.attributes.padding) ? node.attributes.padding : Padding{};
}

bool keeps_dimensions(const NetworkNode& node) {
  return node.operation.output.size() == node.operation.inputs[0].size();
}

std::vector<std::int64_t> split_sizes(const NetworkNode& node) {
  const auto axis = static_cast<std::size_t>(node.attributes.axes.at(0));
  std::vector<std::int64_t> sizes;
  for (const nasbench::TensorType& part : node.outputs) sizes.push_back(part.shape.at(axis));
  return sizes;
}

std::int64_t slice_end(const NetworkNode& node, std::size_t i) {
  const nasbench::OperatorAttributes& a = node.attributes;
  return a.starts[i] + node.operation.output[static_cast<std::size_t>(a.axes[i])] * a.steps[i];
}

std::vector<std::int64_t> pads_of(const NetworkNode& node) {
  const auto& [starts, ends] = std::tie(node.attributes.starts, node.attributes.ends);
  std::vector<std::int64_t> pads;
  for (std::size_t i = starts.size(); i > 0; --i) pads.insert(pads.end(), {starts[i - 1], ends[i - 1]});
  if (node.attributes.mode != "constant") pads.resize(4);
  return pads;
}

const std::map<std::string, std::string>& torch_functions() {
  static const std::map<std::string, std::string> functions = lower_cased(
      "relu silu sigmoid gelu tanh selu softplus erf sqrt exp log floor ceil round sign reciprocal sin cos "
      "hard_swish=hardswish negate=neg absolute=abs");
  return functions;
}

const std::map<std::string, std::string>& torch_reductions() {
  static const std::map<std::string, std::string> reductions = lower_cased("mean sum max=amax min=amin");
  return reductions;
}

bool is_symmetric(const Padding& padding) { return padding.top == padding.bottom && padding.left == padding.right; }

bool is_usual_hard_sigmoid(const NetworkNode& node) {
  return std::abs(node.attributes.alpha - 1.0 / 6) < 1e-6 && node.attributes.beta == 0.5;
}

nasbench::Extent output_padding(const NetworkNode& node) {
  const nasbench::OperatorSpecification& s = node.operation;
  const Padding& p = node.attributes.padding;
  const auto rest = [&](std::size_t axis, int kernel, int stride, int dilation, int zeros) {
    return static_cast<int>(s.output[axis] -
                            ((s.inputs[0][axis] - 1) * stride + std::int64_t{dilation} * (kernel - 1) + 1 - zeros));
  };
  return {rest(2, s.kernel.height, s.stride.height, s.dilation.height, p.top + p.bottom),
          rest(3, s.kernel.width, s.stride.width, s.dilation.width, p.left + p.right)};
}

std::string describe(const NetworkNode& node) {
  const std::string kind(name(node.operation.kind));
  return "node '" + node.name + "' (" + kind + (node.operation.name.empty() ? "" : " ") + node.operation.name + ")";
}

std::string why_not_runnable(const NetworkNode& node) {
  static const std::set<std::string> with_numbers = words_of("relu6 clip leaky_relu elu hard_sigmoid"),
                                     operations = words_of("subtract divide power minimum maximum prelu");
  const nasbench::OperatorSpecification& s = node.operation;
  if (s.kind == OperatorKind::opaque) return "what it computes is not known";
  if (s.type != nasbench::ElementType::float32) {
    return "it computes in " + std::string(name(s.type)) + ", and they take files in float32 alone";
  }
  if (s.constants.size() > 1) return "it has several constants";
  switch (s.kind) {
    case OperatorKind::transposed_convolution:
    case OperatorKind::max_pool:
    case OperatorKind::average_pool: return of_window(node);
    case OperatorKind::activation:
      return torch_functions().count(s.name) + with_numbers.count(s.name) > 0 ? "" : "this function is not covered";
    case OperatorKind::elementwise: return operations.count(s.name) > 0 ? "" : "this operation is not covered";
    case OperatorKind::reduce: return torch_reductions().count(s.name) > 0 ? "" : "this reduction is not covered";
    case OperatorKind::split: {
      const std::vector<std::int64_t>& steps = node.attributes.steps;
      const bool backwards = std::any_of(steps.begin(), steps.end(), [](std::int64_t step) { return step < 1; });
      return s.name == "slice" && backwards ? "it slices backwards" : "";
    }
    case OperatorKind::pad: return of_pad(node);
    case OperatorKind::resize:
      return node.attributes.mode == "other" || s.output.size() != 4 ? "its way of resizing is not covered" : "";
    case OperatorKind::shuffle: return s.output.size() == 4 ? "" : "channels of images alone are shuffled";
    default: return "";
  }
}

}  // namespace tenshot::descriptor
