// Operators of TensorFlow Lite that move numbers: shapes, parts, joins and sizes.

#include <algorithm>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

/// A slice of the input with that first element along each axis of the file.
NetworkNode slice_node(const Operation& op, const std::vector<std::int64_t>& starts,
                       const std::vector<std::int64_t>& steps) {
  NetworkNode node = op.lone_node(OperatorKind::split, op.output().shape, "slice");
  const Shape& from = op.shape();
  for (std::size_t i = 0; i < starts.size() && i < from.size(); ++i) {
    const std::int64_t axis = op.axis(static_cast<std::int64_t>(i)), extent = from[static_cast<std::size_t>(axis)];
    const std::int64_t start = starts[i] < 0 ? starts[i] + extent : starts[i];
    const std::int64_t step = i < steps.size() ? steps[i] : 1;
    if (step == 0) throw FormatError("it steps by 0");
    node.attributes.axes.push_back(axis);
    node.attributes.starts.push_back(std::clamp<std::int64_t>(start, 0, step < 0 ? extent - 1 : extent));
    node.attributes.steps.push_back(step);
  }
  return node;
}

}  // namespace

void reshape(Operation& op) { op.give_reshaped(op.source()); }

void transpose(Operation& op) {
  const std::vector<std::int64_t> order = op.numbers(1);
  const std::size_t rank = op.shape().size();
  std::vector<std::int64_t> axes(rank, -1);
  if (order.size() != rank || op.output().shape.size() != rank) throw FormatError("it has no axis for each dimension");
  for (std::size_t i = 0; i < rank; ++i) {
    const auto to = static_cast<std::size_t>(op.output().image ? image_axis(static_cast<std::int64_t>(i)) : i);
    axes[to] = op.axis(order[i]);
  }
  op.give(op.builder().transpose(op.name(), op.source(), axes));
}

void concatenate(Operation& op) {
  const auto file_axis = static_cast<std::int64_t>(front_axis(op.whole(0), op.output().shape.size()));
  NetworkNode node = op.node(OperatorKind::concatenate, op.output().shape);
  node.attributes.axes = {op.output().image ? image_axis(file_axis) : file_axis};  // a constant is no image
  node.attributes.constant_first = op.is_constant(0) && node.inputs.size() == 1;
  op.give_activated(op.builder().append(std::move(node)), op.small(1));
}

void pack(Operation& op) {
  const std::size_t rank = op.output().shape.size();
  const auto file_axis = static_cast<std::int64_t>(front_axis(op.whole(1), rank));
  const std::int64_t axis = op.output().image ? image_axis(file_axis) : file_axis;
  Shape part = op.output().shape;
  part[static_cast<std::size_t>(axis)] = 1;
  NetworkNode node = op.node(OperatorKind::concatenate, op.output().shape);
  for (Source& source : node.inputs) source = op.builder().reshape(op.name() + "_part", source, part);
  node.attributes.axes = {axis};
  op.append(std::move(node));
}

/// The inputs are the axis and the tensor, or of SPLIT_V the tensor, sizes and the axis.
void split(Operation& op) {
  const std::size_t tensor = op.code() == code::split_v ? 0 : 1;
  const std::vector<std::int64_t> axis_numbers = op.numbers(op.code() == code::split_v ? 2 : 0);
  if (axis_numbers.size() != 1) throw FormatError("it has no axis");
  const std::int64_t axis = op.axis(axis_numbers.front(), tensor);
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < op.outputs(); ++i) {
    const Shape& shape = op.output(i).shape;
    if (shape.size() != op.shape(tensor).size()) throw FormatError("its parts have other dimensions");
    sizes.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  for (const Source& part : op.builder().split(op.name(), op.source(tensor), sizes, axis)) op.give(part);
}

void unpack(Operation& op) {
  const std::int64_t axis = op.axis(op.whole(1));
  const auto parts = static_cast<std::size_t>(op.shape()[static_cast<std::size_t>(axis)]);
  if (parts != op.outputs()) reject({"it gives ", op.outputs(), " parts"});
  for (const Source& part : op.builder().split(op.name(), op.source(), std::vector<std::int64_t>(parts, 1), axis)) {
    op.give_reshaped(part);
  }
}

/// The inputs are the tensor, where its part begins, and ends or sizes; of STRIDED_SLICE also steps.
void slice(Operation& op) {
  constexpr int begin_mask = 0;
  if (op.is_computed(1)) return opaque(op);
  std::vector<std::int64_t> starts = op.numbers(1), steps;
  if (op.code() == code::strided_slice) {
    steps = op.numbers(3);
    for (std::size_t i = 0; i < starts.size() && i < 31; ++i) {
      if ((op.whole(begin_mask) >> i & 1) != 0) starts[i] = i < steps.size() && steps[i] < 0 ? -1 : 0;
    }
    constexpr int ellipsis_mask = 2, new_axis_mask = 3;
    if (op.whole(ellipsis_mask) != 0 || op.whole(new_axis_mask) != 0) return opaque(op);
  }
  op.append(slice_node(op, starts, steps));
}

/// One constant index is a slice; the rows of a table are an opaque look-up.
void gather(Operation& op) {
  const std::optional<std::vector<std::int64_t>> place = op.few_numbers(1);
  if (!op.is_computed(0) || !place || place->size() != 1) return opaque(op);
  std::vector<std::int64_t> starts(front_axis(op.whole(0), op.shape().size()) + 1, 0);
  starts.back() = place->front();
  op.append(slice_node(op, starts, {}));
}

void pad(Operation& op) {
  const std::vector<std::int64_t> zeros = op.numbers(1);
  const std::size_t rank = op.shape().size();
  if (zeros.size() != 2 * rank) throw FormatError("its padding is not of two numbers for each dimension");
  Shape shape = op.shape();
  NetworkNode node = op.lone_node(OperatorKind::pad, shape);
  node.attributes.starts.assign(rank, 0);
  node.attributes.ends.assign(rank, 0);
  node.attributes.mode = op.code() == code::mirror_pad ? "reflect" : "constant";
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(op.axis(static_cast<std::int64_t>(i)));
    constexpr std::int64_t most = 1 << 30;
    if (zeros[2 * i] < 0 || zeros[2 * i] > most || zeros[2 * i + 1] < 0 || zeros[2 * i + 1] > most) {
      throw FormatError("it pads by a negative or an immense number");
    }
    node.attributes.starts[axis] = zeros[2 * i];
    node.attributes.ends[axis] = zeros[2 * i + 1];
    shape[axis] += zeros[2 * i] + zeros[2 * i + 1];
  }
  node.outputs[0].shape = shape;
  op.append(std::move(node));
}

void resize(Operation& op) {
  const bool bilinear = op.code() == code::resize_bilinear;
  const bool aligned = op.flag(bilinear ? 2 : 0), half_pixel = op.flag(bilinear ? 3 : 1);
  NetworkNode node = op.lone_node(OperatorKind::resize, op.output().shape);
  node.attributes.mode = bilinear ? (aligned      ? "linear_aligned"
                                     : half_pixel ? "linear"
                                                  : "other")
                                  : (aligned || half_pixel ? "other" : "nearest");
  op.append(std::move(node));
}

}  // namespace tenshot::nasbench::tflite
