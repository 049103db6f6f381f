// Numbers of TensorFlow Lite's operators that compute shapes, for files that leave sizes open.

#include <algorithm>

#include "nasbench/formats/tflite_operation.h"

namespace tenshot::nasbench::tflite {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Numbers of the inputs 0 and 1, one of which may be single, added or so. Larger ones than a dimension are cut.
std::optional<Numbers> paired(const Operation& op) {
  const std::optional<Numbers> left = op.few_numbers(0), right = op.few_numbers(1);
  if (!left || !right || left->empty() || right->empty()) return std::nullopt;
  if (left->size() != right->size() && left->size() != 1 && right->size() != 1) return std::nullopt;
  Numbers result;
  for (std::size_t i = 0; i < std::max(left->size(), right->size()); ++i) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const std::int64_t a = std::clamp((*left)[left->size() == 1 ? 0 : i], -most, most);
    const std::int64_t b = std::clamp((*right)[right->size() == 1 ? 0 : i], -most, most);
    const bool divides = op.code() == code::div || op.code() == code::floor_div;
    result.push_back(divides                  ? (b == 0 ? 0 : a / b)
                     : op.code() == code::add ? a + b
                     : op.code() == code::sub ? a - b
                                              : a * b);
  }
  return result;
}

std::optional<Numbers> all_numbers(const Operation& op) {
  Numbers all;
  for (std::size_t i = 0; i < op.size(); ++i) {
    const std::optional<Numbers> part = op.few_numbers(i);
    if (!part) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

std::optional<Numbers> chosen(const Operation& op) {
  const std::optional<Numbers> from = op.few_numbers(0);
  const std::optional<std::vector<SliceRange>> ranges = ranges_of(op);
  if (!from || !ranges || ranges->size() != 1) return std::nullopt;
  Numbers result;
  for (std::int64_t i = 0; i < ranges->front().length; ++i) {
    result.push_back((*from)[static_cast<std::size_t>(ranges->front().start + i * ranges->front().step)]);
  }
  return result;
}

std::optional<Numbers> picked(const Operation& op) {
  const std::optional<Numbers> from = op.few_numbers(0), at = op.few_numbers(1);
  if (!from || !at || op.shape().size() != 1) return std::nullopt;
  Numbers result;
  for (const std::int64_t i : *at) {
    if (i < 0 || i >= static_cast<std::int64_t>(from->size())) return std::nullopt;
    result.push_back((*from)[static_cast<std::size_t>(i)]);
  }
  return result;
}

std::optional<Numbers> product(const Operation& op) {
  const std::optional<Numbers> from = op.few_numbers(0);
  if (!from || op.shape().size() != 1) return std::nullopt;
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::int64_t all = 1;
  for (const std::int64_t number : *from) all = std::min(all * std::clamp<std::int64_t>(number, 0, most), most);
  return Numbers{all};
}

}  // namespace

std::optional<std::vector<std::int64_t>> folded_numbers(const Operation& op) {
  switch (op.code()) {
    case code::shape: return op.file_shape();
    case code::cast:
    case code::reshape: return op.few_numbers(0);
    case code::pack:
    case code::concatenation: return all_numbers(op);
    case code::gather: return picked(op);
    case code::reduce_prod: return product(op);
    case code::slice:
    case code::strided_slice: return chosen(op);
    case code::add:
    case code::sub:
    case code::mul:
    case code::div:
    case code::floor_div: return paired(op);
    default: return std::nullopt;
  }
}

}  // namespace tenshot::nasbench::tflite
