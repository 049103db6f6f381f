// Shapes of TensorFlow Lite's operators, for files that leave sizes open.

#include <algorithm>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

using Numbers = std::vector<std::int64_t>;
using Shapes = std::optional<std::vector<Shape>>;

Shapes one(Shape shape) { return std::vector<Shape>{std::move(shape)}; }

constexpr int drop_mask = 4;  // of STRIDED_SLICE: axes of which one element is taken, and which are dropped

bool is_masked(const Operation& op, int mask, std::size_t axis) {
  return op.code() == code::strided_slice && axis < 31 && (op.whole(mask) >> axis & 1) != 0;
}

Shapes sliced(const Operation& op) {
  const std::optional<std::vector<SliceRange>> ranges = ranges_of(op);
  if (!ranges) return std::nullopt;
  Shape shape;
  for (std::size_t i = 0; i < ranges->size(); ++i) {
    if (!is_masked(op, drop_mask, i)) shape.push_back((*ranges)[i].length);
  }
  return one(shape);
}

/// What the input 1, else the options, say; −1 stands for the rest.
Shapes reshaped(const Operation& op) {
  std::optional<Numbers> shape = op.has(1) ? op.few_numbers(1) : op.list(0);
  if (!shape) return std::nullopt;
  const auto open = std::find(shape->begin(), shape->end(), -1);
  if (open == shape->end()) return one(*shape);
  *open = 1;
  require_tensor_size(*shape);
  *open = element_count(op.shape()) / element_count(*shape);
  return one(*shape);
}

Shapes reduced(const Operation& op, const std::optional<Numbers>& axes, bool keeps) {
  if (!axes || axes->empty()) return std::nullopt;
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

Shapes joined(const Operation& op) {
  Shape shape = op.file_shape();
  const std::size_t axis = front_axis(op.whole(0), shape.size());
  for (std::size_t i = 1; i < op.size(); ++i) {
    if (op.file_shape(i).size() != shape.size()) throw FormatError("its inputs have different numbers of dimensions");
    shape[axis] += op.file_shape(i)[axis];
  }
  return one(shape);
}

/// With a dimension of one number at the axis that input 1 says.
Shapes expanded(const Operation& op) {
  const std::optional<Numbers> axis = op.few_numbers(1);
  Shape shape = op.file_shape();
  if (!axis || axis->size() != 1) return std::nullopt;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(front_axis(axis->front(), shape.size() + 1)), 1);
  return one(shape);
}

/// Equal parts of SPLIT, which has the axis in front.
Shapes parts(const Operation& op) {
  Shape shape = op.file_shape(1);
  const std::optional<Numbers> axis = op.few_numbers(0);
  if (!axis || axis->size() != 1) return std::nullopt;
  shape[front_axis(axis->front(), shape.size())] /= static_cast<std::int64_t>(op.outputs());
  return std::vector<Shape>(op.outputs(), shape);
}

/// Parts of the sizes that input 1 says, of which -1 is the rest.
Shapes unequal_parts(const Operation& op) {
  const std::optional<Numbers> sizes = op.few_numbers(1), axis = op.few_numbers(2);
  if (!sizes || !axis || axis->size() != 1) return std::nullopt;
  const std::size_t at = front_axis(axis->front(), op.file_shape().size());
  std::int64_t rest = op.file_shape()[at];
  for (const std::int64_t size : *sizes) rest -= std::max<std::int64_t>(size, 0);
  std::vector<Shape> shapes(sizes->size(), op.file_shape());
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][at] = (*sizes)[i] < 0 ? rest : (*sizes)[i];
  return shapes;
}

Shapes unpacked(const Operation& op) {
  Shape shape = op.file_shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(front_axis(op.whole(1), shape.size())));
  return std::vector<Shape>(op.outputs(), shape);
}

Shapes resized(const Operation& op) {
  const std::optional<Numbers> size = op.few_numbers(1);
  const Shape from = op.file_shape();
  if (!size || size->size() != 2 || from.size() != 4) return std::nullopt;
  return one({from[0], (*size)[0], (*size)[1], from[3]});
}

Shapes weighed(const Operation& op) {
  constexpr int keeps_dimensions = 2;
  Shape shape = op.file_shape();
  const Shape& weights = op.shape(1);
  if (shape.empty() || weights.size() != 2 || weights[1] < 1) return std::nullopt;
  if (!op.flag(keeps_dimensions)) return one({element_count(shape) / weights[1], weights[0]});
  shape.back() = weights[0];
  return one(shape);
}

Shapes in_blocks(const Operation& op) {
  const Shape from = op.file_shape();
  const std::int64_t block = op.whole(0);
  if (from.size() != 4 || block < 1 || block > 1 << 10) return std::nullopt;
  if (op.code() == code::depth_to_space)
    return one({from[0], from[1] * block, from[2] * block, from[3] / block / block});
  return one({from[0], from[1] / block, from[2] / block, from[3] * block * block});
}

/// Pixels that become images of a batch, or images that become pixels: of padded extents, or with cropped ones.
Shapes in_batches(const Operation& op) {
  const std::optional<Numbers> blocks = op.few_numbers(1), margins = op.few_numbers(2);
  Shape shape = op.file_shape();
  const bool are_known = blocks && margins && blocks->size() <= 2 && margins->size() == 2 * blocks->size();
  if (!are_known || shape.size() != 4) return std::nullopt;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const std::int64_t block = std::clamp<std::int64_t>((*blocks)[i], 1, 1 << 10);
    const std::int64_t margin = (*margins)[2 * i] + (*margins)[2 * i + 1];
    const bool to_batch = op.code() == code::space_to_batch;
    shape[0] = to_batch ? shape[0] * block : shape[0] / block;
    shape[i + 1] = to_batch ? (shape[i + 1] + margin) / block : shape[i + 1] * block - margin;
  }
  return one(shape);
}

/// What input 1 points at, along one axis of input 0.
Shapes gathered(const Operation& op) {
  Shape shape = op.file_shape();
  const Shape rows = op.file_shape(1);
  const auto axis = static_cast<std::ptrdiff_t>(front_axis(op.whole(0), shape.size()));
  if (op.whole(1) != 0) return std::nullopt;  // of batches
  shape.insert(shape.erase(shape.begin() + axis), rows.begin(), rows.end());
  return one(shape);
}

Shapes tiled(const Operation& op) {
  const std::optional<Numbers> times = op.few_numbers(1);
  Shape shape = op.file_shape();
  if (!times || times->size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= (*times)[i];
  return one(shape);
}

Shapes broadcast(const Operation& op) {
  Shape shape;
  for (std::size_t i = 0; i < op.size(); ++i) {
    const bool chooses_rows = op.code() == code::select && i == 0 && op.size() == 3 && op.shape(0).size() == 1;
    if (op.has(i) && !chooses_rows) shape = broadcast_shape(shape, op.file_shape(i));
  }
  return one(shape);
}

}  // namespace

std::optional<std::vector<SliceRange>> ranges_of(const Operation& op) {
  constexpr int begin_mask = 0, end_mask = 1, ellipsis_mask = 2, new_axis_mask = 3;
  const bool strided = op.code() == code::strided_slice;
  const Shape from = op.file_shape();
  const std::optional<Numbers> starts = op.few_numbers(1), ends = op.few_numbers(2);
  const std::optional<Numbers> steps = strided ? op.few_numbers(3) : Numbers(from.size(), 1);
  if (!starts || !ends || !steps || starts->size() > from.size()) return std::nullopt;
  if (ends->size() < starts->size() || steps->size() < starts->size()) return std::nullopt;
  if (strided && (op.whole(ellipsis_mask) != 0 || op.whole(new_axis_mask) != 0)) return std::nullopt;
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t extent = from[i];
    if (i >= starts->size()) {
      ranges.push_back({0, 1, extent});
      continue;
    }
    const std::int64_t step = (*steps)[i], size = (*ends)[i];
    const std::int64_t start = is_masked(op, begin_mask, i) ? (step > 0 ? 0 : extent - 1) : (*starts)[i];
    std::int64_t end = is_masked(op, end_mask, i) ? (step > 0 ? extent : -extent - 1) : size;
    if (!strided) end = size < 0 || start >= extent ? extent : start + std::min(size, extent);
    if (is_masked(op, drop_mask, i)) end = start == -1 || start >= extent ? extent : start + 1;
    ranges.push_back(slice_range(start, end, step, extent));
  }
  return ranges;
}

bool computes_its_shape(const Operation& op) {
  const Rule* rule = rule_of(op.code(), "");
  if (rule == nullptr || (rule->convert == matrix_product && op.is_constant(0))) return false;
  const auto converts = {convolution, pool, function, softmax, pad, transpose, matrix_product};
  return std::find(converts.begin(), converts.end(), rule->convert) != converts.end();
}

std::optional<std::vector<Shape>> inferred_shapes(const Operation& op) {
  const Rule* rule = rule_of(op.code(), "");
  if (rule == nullptr) return std::nullopt;
  if (rule->convert == concatenate) return joined(op);
  if (rule->convert == slice) return sliced(op);
  if (rule->convert == resize) return resized(op);
  if (rule->convert == fully_connected) return weighed(op);
  if (rule->convert == pair) return broadcast(op);
  if (rule->convert == gather) return gathered(op);
  if (rule->convert == reduce) return reduced(op, op.few_numbers(1), op.flag(0));
  if (rule->convert == recurrent) {
    Shape shape = op.file_shape();
    shape.back() = op.output().shape.back();
    return one(shape);
  }
  switch (op.code()) {
    case code::l2_normalization:
    case code::reverse:
    case code::reverse_sequence:
    case code::cumsum:
    case code::update_slice: return one(op.file_shape());
    case code::split: return parts(op);
    case code::split_v: return unequal_parts(op);
    case code::unpack: return unpacked(op);
    case code::reshape: return reshaped(op);
    case code::expand_dims: return expanded(op);
    case code::squeeze: return reduced(op, op.list(0), false);
    case code::arg_min:
    case code::arg_max: return reduced(op, op.few_numbers(1), false);
    case code::space_to_depth:
    case code::depth_to_space: return in_blocks(op);
    case code::space_to_batch:
    case code::batch_to_space: return in_batches(op);
    case code::tile: return tiled(op);
    case code::transpose_conv: return op.few_numbers(0) ? one(op.numbers(0)) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace tenshot::nasbench::tflite
