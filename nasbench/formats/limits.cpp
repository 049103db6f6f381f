#include "nasbench/formats/limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

double product_of(const Shape& shape) {
  double product = 1;
  for (const std::int64_t dimension : shape) product *= static_cast<double>(dimension);
  return product;
}

void require_between(const char* what, std::int64_t value, std::int64_t least) {
  constexpr std::int64_t most = 1 << 16;
  if (value >= least && value <= most) return;
  throw FormatError(std::string("its ") + what + " is " + std::to_string(value) + ", expected " +
                    std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::vector<std::string> dimensions;
  for (const std::int64_t dimension : shape) dimensions.push_back(std::to_string(dimension));
  return dimensions.empty() ? "scalar" : joined(dimensions, "x");
}

void require_tensor_size(const Shape& shape) {
  constexpr std::int64_t longest = (std::int64_t{1} << 31) - 1;
  constexpr double most = 1ULL << 36;
  for (const std::int64_t dimension : shape) {
    if (dimension < 1 || dimension > longest) {
      throw FormatError("a tensor of " + text_of(shape) + " has a dimension of " + std::to_string(dimension));
    }
  }
  if (product_of(shape) > most) throw FormatError("a tensor of " + text_of(shape) + " is larger than 2^36 elements");
}

void require_window(const WindowOptions& window) {
  for (const Extent& extent : {window.kernel, window.stride, window.dilation}) {
    require_between("kernel, stride or dilation", extent.height, 1);
    require_between("kernel, stride or dilation", extent.width, 1);
  }
  for (const int zeros : {window.padding.top, window.padding.left, window.padding.bottom, window.padding.right}) {
    require_between("padding", zeros, 0);
  }
}

void require_groups(std::int64_t groups, std::int64_t in, std::int64_t out) {
  if (groups > 0 && out > 0 && in % groups == 0 && out % groups == 0) return;
  throw FormatError(std::to_string(groups) + " groups do not divide " + std::to_string(in) + " channels in and " +
                    std::to_string(out) + " out");
}

void require_countable(const NetworkNode& node) {
  constexpr double most = 9e13;  // of which 64 bits hold the sum over as many operators as there may be
  const OperatorSpecification& s = node.operation;
  for (const TensorType& output : node.outputs) require_tensor_size(output.shape);
  for (const Shape& constant : s.constants) require_tensor_size(constant);
  if (s.inputs.empty() || s.inputs[0].empty()) return;
  double products = product_of(s.output);
  if (s.kind == OperatorKind::linear || s.kind == OperatorKind::matrix_product) {
    products *= static_cast<double>(s.inputs[0].back());
  } else if (s.kind == OperatorKind::convolution || s.kind == OperatorKind::transposed_convolution) {
    const std::int64_t channels = std::max(channel_count(s, s.inputs[0]), channel_count(s, s.output));
    products = std::max(products, product_of(s.inputs[0])) * s.kernel.height * s.kernel.width *
               static_cast<double>(channels) / s.groups;
  }
  if (products > most) throw FormatError("it computes more than 9 x 10^13 products: its shapes cannot be meant");
}

}  // namespace tenshot::nasbench
