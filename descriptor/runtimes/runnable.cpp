#include "descriptor/runtimes/runnable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Extent;
using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using nasbench::Padding;

template <std::size_t count>
bool is_one_of(const std::string& text, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

constexpr std::array<std::string_view, 26> functions = {
    "relu",       "relu6",      "hard_swish", "hard_sigmoid", "silu",  "sigmoid", "gelu", "tanh", "clip",
    "leaky_relu", "elu",        "selu",       "softplus",     "erf",   "sqrt",    "exp",  "log",  "negate",
    "absolute",   "reciprocal", "floor",      "ceil",         "round", "sign",    "sin",  "cos"};
constexpr std::array<std::string_view, 6> operations = {"subtract", "divide", "power", "minimum", "maximum", "prelu"};
constexpr std::array<std::string_view, 4> reductions = {"mean", "sum", "max", "min"};

std::string of_window(const NetworkNode& node) {
  const OperatorSpecification& s = node.operation;
  const bool pool = s.kind == OperatorKind::max_pool || s.kind == OperatorKind::average_pool;
  if (pool && s.output.size() != 4) return "pools of images alone are covered";
  const bool zeros_matter = s.kind == OperatorKind::transposed_convolution || s.kind == OperatorKind::average_pool;
  if (zeros_matter && !is_symmetric(node.attributes.padding)) return "its padding is not the same on both sides";
  const bool one_dimensional = s.kind == OperatorKind::transposed_convolution && s.output.size() != 4;
  return one_dimensional ? "transposed convolutions of images alone are covered" : "";
}

std::string of_split(const NetworkNode& node) {
  if (node.operation.name != "slice") return "";
  for (const std::int64_t step : node.attributes.steps) {
    if (step < 1) return "it slices backwards";
  }
  return "";
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

bool is_symmetric(const Padding& padding) { return padding.top == padding.bottom && padding.left == padding.right; }

bool is_usual_hard_sigmoid(const NetworkNode& node) {
  return std::abs(node.attributes.alpha - 1.0 / 6) < 1e-6 && node.attributes.beta == 0.5;
}

Extent output_padding(const NetworkNode& node) {
  const OperatorSpecification& s = node.operation;
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
  const OperatorSpecification& s = node.operation;
  if (s.kind == OperatorKind::opaque) return "what it computes is not known";
  if (s.type != nasbench::ElementType::float32) {
    return "it computes in " + std::string(name(s.type)) + ", and they take files in float32 alone";
  }
  if (s.constants.size() > 1) return "it has several constants";
  switch (s.kind) {
    case OperatorKind::transposed_convolution:
    case OperatorKind::max_pool:
    case OperatorKind::average_pool: return of_window(node);
    case OperatorKind::activation: return is_one_of(s.name, functions) ? "" : "this function is not covered";
    case OperatorKind::elementwise: return is_one_of(s.name, operations) ? "" : "this operation is not covered";
    case OperatorKind::reduce: return is_one_of(s.name, reductions) ? "" : "this reduction is not covered";
    case OperatorKind::split: return of_split(node);
    case OperatorKind::pad: return of_pad(node);
    case OperatorKind::resize:
      return node.attributes.mode == "other" || s.output.size() != 4 ? "its way of resizing is not covered" : "";
    case OperatorKind::shuffle: return s.output.size() == 4 ? "" : "channels of images alone are shuffled";
    default: return "";
  }
}

void require_runnable_on_bytes(const nasbench::Network& network) {
  for (const nasbench::NetworkInput& input : network.inputs) {
    if (input.type.type != nasbench::ElementType::float32 || input.type.shape.empty()) {
      throw InputError("input '" + input.name + "': libtorch-int8 takes images in float32");
    }
  }
}

}  // namespace tenshot::descriptor
