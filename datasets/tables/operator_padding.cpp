#include "datasets/tables/operator_padding.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace tenshot::datasets {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

bool has_window(const OperatorSpecification& op) {
  const bool slides = op.kind == OperatorKind::convolution || op.kind == OperatorKind::max_pool ||
                      op.kind == OperatorKind::average_pool;
  return slides && op.kernel.height > 1 && !op.inputs.empty() && op.inputs[0].size() == 4;
}

/// The largest of `sizes` that padding for the operator's window makes as large as its input; none where the input has
/// one of these sizes, or is larger than the window explains.
std::optional<std::int64_t> unpadded_size(const OperatorSpecification& op, const std::set<std::int64_t>& sizes) {
  const std::int64_t size = op.inputs[0][2];
  const auto at_least = sizes.lower_bound(size);
  if (at_least == sizes.begin() || sizes.count(size) != 0) return std::nullopt;
  const std::int64_t largest = *std::prev(at_least);
  if (size - largest >= op.kernel.height) return std::nullopt;
  return largest;
}

}  // namespace

std::vector<OperatorSpecification> with_padding(std::vector<OperatorSpecification> operators) {
  std::vector<OperatorSpecification> padded;
  std::set<std::int64_t> sizes;  // heights of the images before
  for (OperatorSpecification& op : operators) {
    const std::optional<std::int64_t> size = has_window(op) ? unpadded_size(op, sizes) : std::nullopt;
    if (size) {
      OperatorSpecification pad;
      pad.kind = OperatorKind::pad;
      pad.output = op.inputs[0];
      pad.inputs = {{1, pad.output[1], *size, *size}};
      padded.push_back(std::move(pad));
    }
    if (op.output.size() == 4) sizes.insert(op.output[2]);
    padded.push_back(std::move(op));
  }
  return padded;
}

}  // namespace tenshot::datasets
