#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using Result = std::optional<OnnxValue>;
using Index = std::vector<std::int64_t>;

std::size_t flat(const Shape& shape, const Index& index) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + index[i];
  return static_cast<std::size_t>(place);
}

/// A constant of `shape` whose element at each index is that of `data` at `from(index)`, a place in its numbers.
template <class From>
Result gathered(const OnnxValue& data, const Shape& shape, const From& from) {
  require_tensor_size(shape, true);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers) return std::nullopt;
  Numbers numbers;
  numbers.integer = data.numbers->integer;
  Index index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    append_number(*data.numbers, from(index), numbers);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
  return constant_of(shape, data.element, std::move(numbers));
}

}  // namespace

void append_real(double real, bool as_integer, Numbers& target) {
  if (as_integer) return target.integers.push_back(whole_number(real));
  target.reals.push_back(real);
}

void append_number(const Numbers& source, std::size_t from, Numbers& target) {
  if (source.integer) return target.integers.push_back(source.integers[from]);
  target.reals.push_back(source.reals[from]);
}

Result fold_gather(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  const OnnxValue &data = node.input(), &indices = node.input(1);
  const std::size_t axis = node.axis("axis", 0, data.shape.size());
  const std::int64_t extent = data.shape[axis];
  for (const std::int64_t index : whole_numbers(indices)) {
    if (index < -extent || index >= extent) reject({"index ", index, " lies beyond the ", extent, " numbers"});
  }
  const auto at = static_cast<std::ptrdiff_t>(axis);
  Shape shape = data.shape;
  shape.insert(shape.erase(shape.begin() + at), indices.shape.begin(), indices.shape.end());
  return gathered(data, shape, [&](const Index& index) {
    const auto inner = index.begin() + at, after = inner + static_cast<std::ptrdiff_t>(indices.shape.size());
    const std::int64_t chosen = indices.numbers->whole(flat(indices.shape, Index(inner, after)));
    Index source(index.begin(), inner);
    source.push_back(chosen < 0 ? chosen + extent : chosen);
    source.insert(source.end(), after, index.end());
    return flat(data.shape, source);
  });
}

Result fold_concat(const OnnxNode& node) {
  Shape shape = node.shape();
  const std::size_t axis = node.axis("axis", 0, shape.size());
  shape[axis] = 0;
  for (const OnnxValue* input : node.inputs) {
    if (input == nullptr || input->element != node.element() || input->shape.size() != shape.size())
      return std::nullopt;
    shape[axis] += input->shape[axis];
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != axis && input->shape[i] != shape[i]) throw FormatError("its inputs have different shapes");
    }
  }
  require_tensor_size(shape, true);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers) return std::nullopt;
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t rows = count == 0 ? 0 : element_count({shape.begin(), end});  // there may be 2³⁶ empty rows
  Numbers numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const OnnxValue* input : node.inputs) {
      const std::size_t length = input->numbers->size() / static_cast<std::size_t>(rows);
      const std::size_t begin = static_cast<std::size_t>(row) * length;
      for (std::size_t i = begin; i < begin + length; ++i) append_number(*input->numbers, i, numbers);
    }
  }
  return constant_of(shape, node.element(), std::move(numbers));
}

std::vector<SliceRange> slice_ranges(const OnnxNode& node) {
  const std::vector<std::int64_t> starts = node.listed("starts", 1), ends = node.listed("ends", 2);
  std::vector<std::int64_t> axes = node.listed("axes", 3);
  std::vector<std::int64_t> steps = node.whole_numbers(4);
  if (starts.empty() || starts.size() != ends.size() || starts.size() > node.shape().size()) return {};
  for (std::size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  steps.resize(starts.size(), 1);
  std::vector<SliceRange> ranges;
  for (const std::int64_t extent : node.shape()) ranges.push_back({0, 1, extent});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = front_axis(axes[i], ranges.size());
    ranges[axis] = slice_range(starts[i], ends[i], steps[i], node.shape()[axis]);
  }
  return ranges;
}

Result fold_slice(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  const std::vector<SliceRange> ranges = slice_ranges(node);
  if (ranges.empty()) return std::nullopt;
  Shape shape;
  for (const SliceRange& range : ranges) shape.push_back(range.length);
  return gathered(data, shape, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = ranges[i].start + index[i] * ranges[i].step;
    return flat(data.shape, index);
  });
}

Result fold_transpose(const OnnxNode& node) {
  const Shape& from = node.shape();
  std::vector<std::int64_t> axes = node.integers("perm");
  for (std::size_t i = from.size(); axes.size() < from.size(); --i) axes.push_back(static_cast<std::int64_t>(i) - 1);
  if (!is_permutation(axes, from.size())) return std::nullopt;
  Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(from[static_cast<std::size_t>(axis)]);
  return gathered(node.input(), shape, [&](const Index& index) {
    Index source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) source[static_cast<std::size_t>(axes[i])] = index[i];
    return flat(from, source);
  });
}

Result fold_tile(const OnnxNode& node) {
  if (!node.known(1) || node.data(1).size() != node.shape().size()) return std::nullopt;
  Shape shape = node.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t repeats = node.data(1).whole(i);
    if (repeats < 0 || repeats > kept_numbers) return std::nullopt;
    shape[i] *= repeats;
  }
  return gathered(node.input(), shape, [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] %= node.shape()[i];
    return flat(node.shape(), index);
  });
}

Result fold_expand(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  const Shape shape = broadcast_shape(node.shape(), node.whole_numbers(1));
  return gathered(node.input(), shape,
                  [&](const Index& index) { return broadcast_index(node.shape(), shape, flat(shape, index)); });
}

/// Indices of the elements that are not 0, one column for each.
Result fold_non_zero(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < data.numbers->size(); ++i) {
    if (data.numbers->real(i) != 0) places.push_back(static_cast<std::int64_t>(i));
  }
  Numbers numbers;
  std::int64_t stride = element_count(data.shape);
  for (const std::int64_t extent : data.shape) {
    stride /= std::max<std::int64_t>(extent, 1);
    for (const std::int64_t place : places) numbers.integers.push_back(place / stride % extent);
  }
  const Shape shape = {static_cast<std::int64_t>(data.shape.size()), static_cast<std::int64_t>(places.size())};
  return constant_of(shape, onnx::TensorProto::INT64, std::move(numbers));
}

static double combined(bool product, double a, double b) { return product ? a * b : a + b; }

static std::int64_t combined(bool product, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (product ? __builtin_mul_overflow(a, b, &result) : __builtin_add_overflow(a, b, &result)) {
    throw FormatError("the product of a shape overflows");
  }
  return result;
}

Result fold_reduction(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  const std::vector<bool> reduced = reduced_axes(node);
  const std::string& type = node.type();
  const bool extreme = type == "ReduceMax" || type == "ReduceMin", product = type == "ReduceProd";
  if (extreme && data.numbers->size() == 0) return std::nullopt;
  Shape kept, shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : data.shape[i]);
    if (!reduced[i] || node.integer("keepdims", 1) != 0) shape.push_back(kept.back());
  }
  if (element_count(kept) > kept_numbers) return std::nullopt;
  Numbers numbers;
  std::vector<bool> begun(static_cast<std::size_t>(element_count(kept)), false);
  numbers.integers.assign(begun.size(), product ? 1 : 0);
  numbers.reals.assign(begun.size(), product ? 1 : 0);
  const auto reduce = [&](auto& totals, const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = broadcast_index(kept, data.shape, i);
      auto& total = totals[place];
      const auto extremum = type == "ReduceMax" ? std::max(total, values[i]) : std::min(total, values[i]);
      total = !begun[place] ? values[i] : extreme ? extremum : combined(product, total, values[i]);
      begun[place] = true;
    }
  };
  const auto each = static_cast<std::int64_t>(data.numbers->size() / std::max<std::size_t>(1, begun.size()));
  if (data.numbers->integer) {
    reduce(numbers.integers, data.numbers->integers);
  } else {
    reduce(numbers.reals, data.numbers->reals);
  }
  for (std::size_t i = 0; type == "ReduceMean" && each > 0 && i < begun.size(); ++i) {
    numbers.integers[i] /= each;
    numbers.reals[i] /= static_cast<double>(each);
  }
  return constant_of(shape, data.element, std::move(numbers));
}

std::optional<OnnxValues> fold_split(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  const std::size_t axis = node.axis("axis", 0, data.shape.size());
  const std::optional<std::vector<std::int64_t>> sizes = split_sizes(node);
  if (!sizes || static_cast<int>(sizes->size()) != node.output_count()) return std::nullopt;
  OnnxValues parts;
  std::int64_t start = 0;
  for (const std::int64_t size : *sizes) {
    Shape shape = data.shape;
    shape[axis] = size;
    const Result part = gathered(data, shape, [&](Index index) {
      index[axis] += start;
      return flat(data.shape, index);
    });
    if (!part) return std::nullopt;
    parts.push_back(*part);
    start += size;
  }
  return parts;
}

}  // namespace tenshot::nasbench
