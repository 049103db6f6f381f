// Shapes of TensorFlow Lite's operators, and the numbers of those that compute shapes: for files that leave sizes open.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The elements that a slice takes of an axis.
struct Range {
  std::int64_t start = 0, step = 1, length = 0;
  bool dropped = false;  ///< the axis, of which one element is taken
};

Range range_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (step == 0) throw FormatError("it steps by 0");
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, step > 0 ? 0 : -1, step > 0 ? extent : extent - 1);
  };
  const std::int64_t from = place(start), room = step > 0 ? place(end) - from : from - place(end);
  return {from, step, room > 0 ? (room - 1) / std::abs(step) + 1 : 0};
}

/// What a SLICE or STRIDED_SLICE takes of each axis; nothing where that is computed, or has new axes.
std::optional<std::vector<Range>> ranges_of(const Operation& op) {
  const Shape from = op.file_shape();
  const std::optional<Numbers> starts = op.few_numbers(1), ends = op.few_numbers(2);
  if (!starts || !ends || starts->size() != ends->size() || starts->size() > from.size()) return std::nullopt;
  const bool strided = op.code() == code::strided_slice;
  const std::optional<Numbers> steps = strided ? op.few_numbers(3) : Numbers(starts->size(), 1);
  constexpr int begin_mask = 0, end_mask = 1, ellipsis_mask = 2, new_axis_mask = 3, shrink_mask = 4;
  const auto masked = [&](int mask, std::size_t i) { return strided && i < 31 && (op.whole(mask) >> i & 1) != 0; };
  if (!steps || steps->size() != starts->size()) return std::nullopt;
  if (strided && (op.whole(ellipsis_mask) != 0 || op.whole(new_axis_mask) != 0)) return std::nullopt;
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool whole = i >= starts->size();
    const std::int64_t step = whole ? 1 : (*steps)[i], extent = from[i];
    const std::int64_t start = whole || masked(begin_mask, i) ? (step > 0 ? 0 : extent - 1) : (*starts)[i];
    std::int64_t end = whole || masked(end_mask, i) ? (step > 0 ? extent : -extent - 1) : (*ends)[i];
    if (!whole && !strided) end = (*ends)[i] < 0 ? extent : start + (*ends)[i];  // a SLICE has sizes
    if (masked(shrink_mask, i)) end = start == -1 ? extent : start + 1;
    ranges.push_back(range_of(start, end, step, extent));
    ranges.back().dropped = masked(shrink_mask, i);
  }
  return ranges;
}

std::optional<std::vector<Shape>> one(Shape shape) { return std::vector<Shape>{std::move(shape)}; }

std::optional<std::vector<Shape>> sliced(const Operation& op) {
  const std::optional<std::vector<Range>> ranges = ranges_of(op);
  if (!ranges) return std::nullopt;
  Shape shape;
  for (const Range& range : *ranges) {
    if (!range.dropped) shape.push_back(range.length);
  }
  return one(shape);
}

/// What the input 1, else the options, say; −1 stands for the rest.
std::optional<std::vector<Shape>> reshaped(const Operation& op) {
  const std::optional<Numbers> given = op.has(1) ? op.few_numbers(1) : op.list(0);
  if (!given) return std::nullopt;
  Shape shape = *given;
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open == shape.end()) return one(shape);
  *open = 1;
  require_tensor_size(shape);
  *open = element_count(op.shape()) / element_count(shape);
  return one(shape);
}

std::optional<std::vector<Shape>> squeezed(const Operation& op) {
  const Shape from = op.file_shape();
  std::vector<bool> dropped(from.size(), false);
  for (const std::int64_t axis : op.list(0)) dropped[front_axis(axis, from.size())] = true;
  const bool all = std::find(dropped.begin(), dropped.end(), true) == dropped.end();
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 || !(all || dropped[i])) shape.push_back(from[i]);
  }
  return one(shape);
}

std::optional<std::vector<Shape>> with_new_axis(Shape shape, std::int64_t axis, std::int64_t extent) {
  const std::size_t place = front_axis(axis, shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(place), extent);
  return one(std::move(shape));
}

std::optional<std::vector<Shape>> widened(const Operation& op) {
  const std::optional<Numbers> axis = op.few_numbers(1);
  return axis && axis->size() == 1 ? with_new_axis(op.file_shape(), axis->front(), 1) : std::nullopt;
}

std::optional<std::vector<Shape>> gathered(const Operation& op) {
  constexpr int batch_dimensions = 1;
  if (op.whole(batch_dimensions) != 0) return std::nullopt;
  Shape shape = op.file_shape();
  const Shape places = op.file_shape(1);
  const auto axis = shape.begin() + static_cast<std::ptrdiff_t>(front_axis(op.whole(0), shape.size()));
  shape.insert(shape.erase(axis), places.begin(), places.end());
  return one(shape);
}

std::optional<std::vector<Shape>> repeated(const Operation& op) {
  const std::optional<Numbers> times = op.few_numbers(1);
  Shape shape = op.file_shape();
  if (!times || times->size() != shape.size()) return std::nullopt;
  require_tensor_size(*times);
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= (*times)[i];
  return one(shape);
}

std::optional<std::vector<Shape>> reduced(const Operation& op, bool keeps) {
  const std::optional<Numbers> axes = op.few_numbers(1);
  if (!axes) return std::nullopt;
  Shape shape = op.file_shape();
  std::vector<bool> dropped(shape.size(), false);
  for (const std::int64_t axis : *axes) dropped[front_axis(axis, shape.size())] = true;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!dropped[i]) continue;
    shape[i] = 1;
    if (!keeps) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return one(shape);
}

std::optional<std::vector<Shape>> joined(const Operation& op) {
  Shape shape = op.file_shape();
  const std::size_t axis = front_axis(op.whole(0), shape.size());
  for (std::size_t i = 1; i < op.size(); ++i) {
    if (op.file_shape(i).size() != shape.size()) throw FormatError("its inputs have different numbers of dimensions");
    shape[axis] += op.file_shape(i)[axis];
  }
  return one(shape);
}

/// SPLIT has the axis in front, SPLIT_V sizes and the axis behind; UNPACK drops its axis.
std::optional<std::vector<Shape>> parts(const Operation& op) {
  const bool sized = op.code() == code::split_v, unpacks = op.code() == code::unpack;
  Shape shape = op.file_shape(op.code() == code::split ? 1 : 0);
  const std::optional<Numbers> axes = unpacks ? Numbers{op.whole(1)} : op.few_numbers(sized ? 2 : 0);
  const std::optional<Numbers> sizes = sized ? op.few_numbers(1) : Numbers(op.outputs(), -1);
  if (!axes || axes->size() != 1 || !sizes || sizes->size() != op.outputs()) return std::nullopt;
  const std::size_t axis = front_axis(axes->front(), shape.size());
  const std::int64_t extent = shape[axis];
  const auto open = std::count(sizes->begin(), sizes->end(), -1);
  const std::int64_t known = std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) + open;
  std::vector<Shape> shapes;
  for (const std::int64_t size : *sizes) {
    shape[axis] = size == -1 ? (extent - known) / open : size;
    shapes.push_back(shape);
    if (unpacks) shapes.back().erase(shapes.back().begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return shapes;
}

std::optional<std::vector<Shape>> resized(const Operation& op) {
  const std::optional<Numbers> size = op.few_numbers(1);
  Shape shape = op.file_shape();
  if (!size || size->size() != 2 || shape.size() != 4) return std::nullopt;
  return one({shape[0], (*size)[0], (*size)[1], shape[3]});
}

std::optional<std::vector<Shape>> weighed(const Operation& op) {
  constexpr int keeps_dimensions = 2;
  Shape shape = op.file_shape();
  const Shape& weights = op.shape(1);
  if (shape.empty() || weights.size() != 2 || weights[1] < 1) return std::nullopt;
  if (!op.flag(keeps_dimensions)) return one({element_count(shape) / weights[1], weights[0]});
  shape.back() = weights[0];
  return one(shape);
}

std::optional<std::vector<Shape>> in_blocks(const Operation& op, bool to_depth) {
  const Shape from = op.file_shape();
  const std::int64_t block = op.whole(0);
  if (from.size() != 4 || block < 1 || block > 1 << 10) return std::nullopt;
  if (to_depth) return one({from[0], from[1] / block, from[2] / block, from[3] * block * block});
  return one({from[0], from[1] * block, from[2] * block, from[3] / (block * block)});
}

std::optional<std::vector<Shape>> broadcast(const Operation& op) {
  Shape shape;
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (op.has(i)) shape = broadcast_shape(shape, op.file_shape(i));
  }
  return one(shape);
}

/// A number for each pair of numbers of the inputs 0 and 1, one of which may be single.
std::optional<Numbers> paired(const Operation& op,
                              const std::function<std::int64_t(std::int64_t, std::int64_t)>& compute) {
  const std::optional<Numbers> left = op.few_numbers(0), right = op.few_numbers(1);
  if (!left || !right || left->empty() || right->empty()) return std::nullopt;
  if (left->size() != right->size() && left->size() != 1 && right->size() != 1) return std::nullopt;
  Numbers result;
  for (std::size_t i = 0; i < std::max(left->size(), right->size()); ++i) {
    result.push_back(compute((*left)[left->size() == 1 ? 0 : i], (*right)[right->size() == 1 ? 0 : i]));
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
  if (!from || op.shape().size() != 1) return std::nullopt;
  Numbers result;
  if (op.code() == code::gather) {
    const std::optional<Numbers> places = op.few_numbers(1);
    for (const std::int64_t place : places.value_or(Numbers()))
      result.push_back(from->at(front_axis(place, from->size())));
    return places ? std::optional(result) : std::nullopt;
  }
  const std::optional<std::vector<Range>> ranges = ranges_of(op);
  if (!ranges) return std::nullopt;
  for (std::int64_t i = 0; i < ranges->front().length; ++i) {
    result.push_back(from->at(static_cast<std::size_t>(ranges->front().start + i * ranges->front().step)));
  }
  return result;
}

}  // namespace

std::optional<std::vector<Shape>> inferred_shapes(const Operation& op) {
  switch (op.code()) {
    case code::concatenation:
      return joined(op);
    case code::pack:
      return with_new_axis(op.file_shape(), op.whole(1), static_cast<std::int64_t>(op.size()));
    case code::expand_dims:
      return widened(op);
    case code::gather:
      return gathered(op);
    case code::tile:
      return repeated(op);
    case code::split:
    case code::split_v:
    case code::unpack:
      return parts(op);
    case code::slice:
    case code::strided_slice:
      return sliced(op);
    case code::reshape:
      return reshaped(op);
    case code::squeeze:
      return squeezed(op);
    case code::arg_max:
    case code::arg_min:
      return reduced(op, false);
    case code::resize_bilinear:
    case code::resize_nearest:
      return resized(op);
    case code::fully_connected:
      return weighed(op);
    case code::space_to_depth:
    case code::depth_to_space:
      return in_blocks(op, op.code() == code::space_to_depth);
    case code::transpose_conv:
      return op.few_numbers(0) ? one(op.numbers(0)) : std::nullopt;
    case code::broadcast_to:
      return op.few_numbers(1) ? one(op.numbers(1)) : std::nullopt;
    default:
      break;
  }
  const Rule* rule = op.code() == code::custom ? nullptr : rule_of(op.code(), "");
  if (rule == nullptr) return std::nullopt;
  if (rule->convert == pair) return broadcast(op);
  if (rule->convert == reduce) return reduced(op, op.flag(0));
  return rule->convert == opaque && rule->layout == Rule::Layout::alike ? one(op.file_shape()) : std::nullopt;
}

bool computes_its_shape(const Operation& op) {
  const Rule* rule = op.code() == code::custom ? nullptr : rule_of(op.code(), "");
  if (rule == nullptr || (rule->convert == matrix_product && op.is_constant(0))) return false;
  for (const Convert convert : {convolution, pool, function, softmax, pad, transpose, matrix_product}) {
    if (rule->convert == convert) return true;
  }
  return false;
}

std::optional<std::vector<std::int64_t>> folded_numbers(const Operation& op) {
  using Number = std::int64_t;
  const auto fits = [](Number a) { return std::clamp<Number>(a, -(Number{1} << 31), Number{1} << 31); };
  switch (op.code()) {
    case code::shape:
      return op.file_shape();
    case code::rank:
      return Numbers{static_cast<Number>(op.shape().size())};
    case code::cast:
    case code::reshape:
    case code::squeeze:
    case code::expand_dims:
      return op.few_numbers(0);
    case code::pack:
    case code::concatenation:
      return all_numbers(op);
    case code::gather:
    case code::slice:
    case code::strided_slice:
      return chosen(op);
    case code::add:
      return paired(op, [&](Number a, Number b) { return fits(fits(a) + fits(b)); });
    case code::sub:
      return paired(op, [&](Number a, Number b) { return fits(fits(a) - fits(b)); });
    case code::mul:
      return paired(op, [&](Number a, Number b) { return fits(fits(a) * fits(b)); });
    case code::div:
    case code::floor_div:
      return paired(op, [](Number a, Number b) { return b == 0 ? 0 : a / b; });
    case code::reduce_prod: {
      std::optional<Numbers> all = op.few_numbers(0);
      if (!all || op.shape().size() != 1) return std::nullopt;
      return Numbers{
          std::accumulate(all->begin(), all->end(), Number{1}, [&](Number a, Number b) { return fits(a * fits(b)); })};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tenshot::nasbench::tflite
