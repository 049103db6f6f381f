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

void advance(Index& index, const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
}

/// A constant of `shape` whose element at each index is that of `data` at `from(index)`, a place in its numbers.
template <class From>
Result gathered(const OnnxValue& data, const Shape& shape, const From& from) {
  require_tensor_size(shape, true);
  const std::int64_t count = element_count(shape);
  if (count > most_kept(data.element)) return std::nullopt;
  Numbers numbers;
  Index index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.values.push_back(data.numbers->values[from(index)]);
    advance(index, shape);
  }
  return constant_of(shape, data.element, std::move(numbers));
}

std::int64_t place_along(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) reject({"index ", index, " lies beyond the ", extent, " numbers"});
  return index < 0 ? index + extent : index;
}

}  // namespace

Result fold_gather(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  const OnnxValue &data = node.input(), &indices = node.input(1);
  const std::size_t axis = node.axis("axis", 0, data.shape.size());
  const auto at = static_cast<std::ptrdiff_t>(axis);
  Shape shape = data.shape;
  shape.insert(shape.erase(shape.begin() + at), indices.shape.begin(), indices.shape.end());
  return gathered(data, shape, [&](const Index& index) {
    const auto inner = index.begin() + at, after = inner + static_cast<std::ptrdiff_t>(indices.shape.size());
    Index source(index.begin(), inner);
    source.push_back(place_along(indices.numbers->whole(flat(indices.shape, Index(inner, after))), data.shape[axis]));
    source.insert(source.end(), after, index.end());
    return flat(data.shape, source);
  });
}

/// Updates take the place of numbers: each has an index along an axis, or, of a ScatterND, each slice a row of them.
Result fold_scatter(const OnnxNode& node) {
  if (!node.known(1) || !node.known(2) || node.element(2) != node.element()) return std::nullopt;
  if (node.text("reduction", "none") != "none") return std::nullopt;
  const Shape &shape = node.shape(), &indices = node.shape(1), &updates = node.shape(2);
  const bool by_row = node.type() == "ScatterND";
  const std::size_t length = by_row && !indices.empty() ? static_cast<std::size_t>(indices.back()) : 1;
  const bool fits = by_row ? !indices.empty() && length <= shape.size() : indices.size() == shape.size();
  const Shape rows(indices.begin(), indices.end() - (by_row && fits ? 1 : 0));
  Shape expected = rows;
  if (by_row && fits) expected.insert(expected.end(), shape.begin() + static_cast<std::ptrdiff_t>(length), shape.end());
  if (!fits || updates != expected) {
    reject({"updates of ", updates, " and indices of ", indices, " do not fit ", shape});
  }
  Numbers numbers = node.data();
  Index at(updates.size(), 0);
  for (std::size_t i = 0; i < node.data(2).size(); ++i, advance(at, updates)) {
    Index place = at;
    if (by_row) {
      const std::size_t row = length * flat(rows, at);
      place.erase(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(rows.size()));
      for (std::size_t k = length; k-- > 0;) place.insert(place.begin(), node.data(1).whole(row + k));
    } else {
      place[node.axis("axis", 0, shape.size())] = node.data(1).whole(i);
    }
    for (std::size_t k = 0; k < shape.size(); ++k) place[k] = place_along(place[k], shape[k]);
    numbers.values[flat(shape, place)] = node.data(2).values[i];
  }
  return constant_of(shape, node.element(), std::move(numbers));
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
  if (count > most_kept(node.element())) return std::nullopt;
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t rows = count == 0 ? 0 : element_count({shape.begin(), end});  // there may be 2³⁶ empty rows
  Numbers numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const OnnxValue* input : node.inputs) {
      const auto length = static_cast<std::int64_t>(input->numbers->size()) / rows;
      const auto from = input->numbers->values.begin() + row * length;
      numbers.values.insert(numbers.values.end(), from, from + length);
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

Shape lengths_of(const std::vector<SliceRange>& ranges) {
  Shape shape;
  for (const SliceRange& range : ranges) shape.push_back(range.length);
  return shape;
}

Result fold_slice(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  const std::vector<SliceRange> ranges = slice_ranges(node);
  if (ranges.empty()) return std::nullopt;
  return gathered(data, lengths_of(ranges), [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = ranges[i].start + index[i] * ranges[i].step;
    return flat(data.shape, index);
  });
}

/// Along an axis; a tensor of one dimension has but one.
Result fold_compress(const OnnxNode& node) {
  if (!node.known(1) || (node.attribute("axis") == nullptr && node.shape().size() != 1)) return std::nullopt;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < node.data(1).size(); ++i) {
    if (node.data(1).whole(i) != 0) chosen.push_back(static_cast<std::int64_t>(i));
  }
  Shape shape = node.shape();
  const std::size_t axis = node.axis("axis", 0, shape.size());
  shape[axis] = static_cast<std::int64_t>(chosen.size());
  return gathered(node.input(), shape, [&](Index index) {
    index[axis] = place_along(chosen[static_cast<std::size_t>(index[axis])], node.shape()[axis]);
    return flat(node.shape(), index);
  });
}

Result fold_transpose(const OnnxNode& node) {
  const Shape& from = node.shape();
  const std::vector<std::int64_t> axes = permutation_of(node);
  Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(from[static_cast<std::size_t>(axis)]);
  return gathered(node.input(), shape, [&](const Index& index) {
    Index source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) source[static_cast<std::size_t>(axes[i])] = index[i];
    return flat(from, source);
  });
}

/// The tensor again and again along its axes, as a Tile and an Expand have it.
static Result repeated(const OnnxValue& data, const Shape& shape) {
  return gathered(data, shape,
                  [&](const Index& index) { return broadcast_index(data.shape, shape, flat(shape, index)); });
}

Result fold_tile(const OnnxNode& node) {
  if (!node.known(1) || node.data(1).size() != node.shape().size()) return std::nullopt;
  Shape shape = node.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t repeats = node.data(1).whole(i);
    if (repeats < 0 || repeats > kept_integers) return std::nullopt;
    shape[i] *= repeats;
  }
  return repeated(node.input(), shape);
}

Result fold_expand(const OnnxNode& node) {
  return node.known(1) ? repeated(node.input(), broadcast_shape(node.shape(), node.whole_numbers(1))) : std::nullopt;
}

Result fold_non_zero(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < data.numbers->size(); ++i) {
    if (data.numbers->values[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  }
  Numbers numbers;
  std::int64_t stride = element_count(data.shape);
  for (const std::int64_t extent : data.shape) {
    stride /= std::max<std::int64_t>(extent, 1);
    for (const std::int64_t place : places) numbers.values.push_back(place / stride % extent);
  }
  const Shape shape = {static_cast<std::int64_t>(data.shape.size()), static_cast<std::int64_t>(places.size())};
  return constant_of(shape, onnx::TensorProto::INT64, std::move(numbers));
}

Result fold_reduction(const OnnxNode& node) {
  const OnnxValue& data = node.input();
  const std::vector<bool> reduced = reduced_axes(node);
  const std::string kind = node.type().substr(std::string("Reduce").size());
  const std::string way = kind == "Max" || kind == "Min" ? kind : kind == "Prod" ? "Mul" : "Add";
  if (way == kind && data.numbers->size() == 0) return std::nullopt;
  Shape kept, shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : data.shape[i]);
    if (!reduced[i] || node.integer("keepdims", 1) != 0) shape.push_back(kept.back());
  }
  if (element_count(kept) > most_kept(data.element)) return std::nullopt;
  std::vector<bool> begun(static_cast<std::size_t>(element_count(kept)), false);
  Numbers numbers{std::vector<Exact>(begun.size(), way == "Mul" ? 1 : 0)};
  for (std::size_t i = 0; i < data.numbers->size(); ++i) {
    const std::size_t place = broadcast_index(kept, data.shape, i);
    const Exact total = numbers.values[place], number = data.numbers->values[i];
    numbers.values[place] = begun[place] ? paired(way, is_integer(data.element), total, number) : number;
    begun[place] = true;
  }
  const auto each = static_cast<Exact>(data.numbers->size() / std::max<std::size_t>(1, begun.size()));
  for (Exact& number : numbers.values) number = kind == "Mean" && each > 0 ? number / each : number;
  return constant_of(shape, data.element, std::move(numbers));
}

/// The sum of the elements up to each along an axis, or, exclusive, of those before it; reverse, from the end.
Result fold_running_sums(const OnnxNode& node) {
  if (!node.known(1) || node.data(1).size() != 1) return std::nullopt;
  const Shape& shape = node.shape();
  const std::size_t axis = front_axis(node.data(1).whole(0), shape.size());
  const bool exclusive = node.flag("exclusive"), reverse = node.flag("reverse");
  const auto extent = static_cast<std::size_t>(shape[axis]), count = node.data().size();
  const auto stride =
      static_cast<std::size_t>(element_count({shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()}));
  const std::vector<Exact>& values = node.data().values;
  Numbers sums = node.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = reverse ? count - 1 - i : i, before = reverse ? at + stride : at - stride;
    const bool is_first = at / stride % extent == (reverse ? extent - 1 : 0);
    const Exact own = !exclusive ? values[at] : is_first ? 0 : values[before];
    sums.values[at] = is_first ? own : paired("Add", is_integer(node.element()), sums.values[before], own);
  }
  return constant_of(shape, node.element(), std::move(sums));
}

/// Copies of one number around the tensor; those of other modes are not computed.
Result fold_pad(const OnnxNode& node) {
  const std::vector<std::int64_t> pads = pads_of(node);
  const bool copies = node.text("mode", "constant") == "constant" && (!node.has(2) || node.data(2).size() == 1);
  if (pads.empty() || !copies) return std::nullopt;
  OnnxValue data = node.input();
  const std::size_t outside = data.numbers->size();
  data.numbers->values.push_back(node.has(2) ? node.data(2).values[0] : node.real("value", 0));
  Shape shape = node.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += pads[i] + pads[i + shape.size()];
  return gathered(data, shape, [&](Index at) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] -= pads[i];
      if (at[i] < 0 || at[i] >= data.shape[i]) return outside;
    }
    return flat(data.shape, at);
  });
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
