#include "nasbench/graph/limits.h"

#include <algorithm>
#include <limits>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// The elements of a tensor; an empty dimension counts as one, so that no product on the way to them is larger.
double elements_of(const Shape& shape) {
  double product = 1;
  for (const std::int64_t dimension : shape) product *= static_cast<double>(std::max<std::int64_t>(dimension, 1));
  return product;
}

void require_between(const char* what, std::int64_t value, std::int64_t least) {
  if (value >= least && value <= widest_window) return;
  reject({"its ", what, " is ", value, ", expected ", least, " to ", widest_window});
}

}  // namespace

void reject(std::initializer_list<MessagePart> parts) {
  std::string message;
  for (const MessagePart& part : parts) message += part.text;
  throw FormatError(message);
}

void require_tensor_size(const Shape& shape, bool may_be_empty) {
  constexpr std::size_t most_dimensions = 64;
  constexpr std::int64_t longest = (std::int64_t{1} << 31) - 1;
  constexpr double most = 1ULL << 36;
  if (shape.size() > most_dimensions) {
    reject({"a tensor has ", shape.size(), " dimensions; expected at most ", most_dimensions});
  }
  for (const std::int64_t dimension : shape) {
    if (dimension < (may_be_empty ? 0 : 1) || dimension > longest) {
      reject({"a tensor of ", shape, " has a dimension of ", dimension, "; expected 1 to ", longest});
    }
  }
  if (elements_of(shape) > most) reject({"a tensor of ", shape, " has more than 2^36 elements"});
}

std::size_t front_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    reject({"there is no axis ", axis, " in a tensor of ", rank, " dimensions"});
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

SliceRange slice_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (step == 0) throw FormatError("it slices in steps of 0");
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;
  step = std::clamp(step, -far, far);
  const auto place = [&](std::int64_t at) {
    at = std::clamp(at, -far, far);
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, step > 0 ? 0 : -1, step > 0 ? extent : extent - 1);
  };
  SliceRange range{place(start), step, 0};
  const std::int64_t room = step > 0 ? place(end) - range.start : range.start - place(end);
  if (room > 0) range.length = (room - 1) / (step > 0 ? step : -step) + 1;
  return range;
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
  reject({groups, " groups do not divide ", in, " channels in and ", out, " out"});
}

bool is_countable(const OperatorSpecification& s) {
  constexpr double most = 9e13;
  double elements = elements_of(s.output);
  for (const Shape& input : s.inputs) elements += elements_of(input);
  for (const Shape& constant : s.constants) elements += elements_of(constant);
  if (elements > most) return false;
  if (s.inputs.empty() || s.inputs[0].empty()) return true;
  double products = elements_of(s.output);
  if (s.kind == OperatorKind::linear || s.kind == OperatorKind::matrix_product) {
    products *= static_cast<double>(s.inputs[0].back());
  } else if (s.kind == OperatorKind::convolution || s.kind == OperatorKind::transposed_convolution) {
    const std::int64_t channels = std::max(channel_count(s, s.inputs[0]), channel_count(s, s.output));
    products = std::max(products, elements_of(s.inputs[0])) * s.kernel.height * s.kernel.width *
               static_cast<double>(channels) / s.groups;
  } else if (s.kind == OperatorKind::opaque) {
    products = static_cast<double>(std::max(multiply_adds(s), parameter_count(s)));
  }
  return products <= most;
}

void require_countable(const OperatorSpecification& specification) {
  if (is_countable(specification)) return;
  throw FormatError("it computes more than 9 x 10^13 products, or as many numbers: its shapes cannot be meant");
}

void require_countable(const std::vector<OperatorSpecification>& operators) {
  constexpr double most = 9e18;
  double products = 0, bytes = 0;
  for (const OperatorSpecification& operation : operators) {
    products += static_cast<double>(multiply_adds(operation));
    bytes += static_cast<double>(weight_bytes(operation) + input_bytes(operation) + output_bytes(operation));
  }
  if (products > most || bytes > most) {
    throw FormatError("its operators compute more than 9 x 10^18 products or bytes together: it cannot be meant");
  }
}

}  // namespace tenshot::nasbench
