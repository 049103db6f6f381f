#include "nasbench/graph/onnx_shape_rules.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

OnnxTypes broadcast(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 1) == nullptr) return std::nullopt;
  OnnxTypes types = one_type(*inputs[0], broadcast_shape(inputs[0]->shape, inputs[1]->shape));
  if (node.op_type().find("OrEqual") != std::string::npos) types->front()->element = onnx::TensorProto::BOOL;
  return types;
}

/// Besides the output, the mean and the deviation, which have 1 in the place of every axis that was normalised.
OnnxTypes layer_norm(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape statistics = inputs[0]->shape;
  if (statistics.empty()) return same_type(node, inputs);
  for (std::size_t i = front_axis(integer_attribute(node, "axis", -1), statistics.size()); i < statistics.size(); ++i) {
    statistics[i] = 1;
  }
  OnnxTypes types = types_like(*inputs[0], {inputs[0]->shape, statistics, statistics});
  for (const std::size_t i : {1, 2}) (*types)[i]->element = onnx::TensorProto::FLOAT;
  return types;
}

OnnxTypes reduction(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (const OnnxValue* axes = given(inputs, 1); axes != nullptr && !axes->numbers) return std::nullopt;
  const std::vector<bool> reduced = reduced_axes(node, inputs);
  Shape shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) shape.push_back(inputs[0]->shape[i]);
    if (reduced[i] && integer_attribute(node, "keepdims", 1) != 0) shape.push_back(1);
  }
  return one_type(*inputs[0], shape);
}

/// Axes that an operator of opset 18 or newer acts on: all, or those given, by attribute or input.
std::vector<std::size_t> chosen_axes(const onnx::NodeProto& node, const OnnxInputs& inputs, std::size_t index) {
  const std::size_t rank = inputs[0]->shape.size();
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : listed_numbers(node, inputs, "axes", index)) axes.push_back(front_axis(axis, rank));
  return axes.empty() ? numbers_below(rank) : axes;
}

/// With axes: those given alone are padded (opset 18).
OnnxTypes pad(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue* pads = given(inputs, 1);
  if (pads == nullptr || !pads->numbers || given(inputs, 3) == nullptr || !inputs[3]->numbers) return std::nullopt;
  const std::vector<std::size_t> axes = chosen_axes(node, inputs, 3);
  if (pads->numbers->size() != 2 * axes.size()) {
    throw FormatError("it pads " + std::to_string(axes.size()) + " axes by " + std::to_string(pads->numbers->size()) +
                      " numbers; expected two for each");
  }
  Shape shape = inputs[0]->shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    shape[axes[i]] += pads->numbers->whole(i) + pads->numbers->whole(i + axes.size());
  }
  return one_type(*inputs[0], shape);
}

/// Sizes or scales of some axes alone, and sizes that keep the image's proportions (opset 18).
OnnxTypes resize(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue *scales = given(inputs, 2), *sizes = given(inputs, 3);
  const bool by_size = sizes != nullptr && (!sizes->numbers || sizes->numbers->size() > 0);
  const OnnxValue* numbers = by_size ? sizes : scales;
  if (numbers == nullptr || !numbers->numbers) return std::nullopt;
  const std::vector<std::size_t> axes = chosen_axes(node, inputs, 99);
  if (numbers->numbers->size() != axes.size()) return std::nullopt;
  Shape shape = inputs[0]->shape;
  const std::string policy = text_attribute(node, "keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (std::size_t i = 0; by_size && i < axes.size(); ++i) {
    const double ratio = numbers->numbers->real(i) / static_cast<double>(shape[axes[i]]);
    common = i == 0 ? ratio : policy == "not_smaller" ? std::max(common, ratio) : std::min(common, ratio);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto extent = static_cast<double>(shape[axes[i]]);
    shape[axes[i]] = !by_size              ? whole_number(std::floor(extent * numbers->numbers->real(i)))
                     : policy == "stretch" ? numbers->numbers->whole(i)
                                           : whole_number(std::floor(extent * common + 0.5));
  }
  return one_type(*inputs[0], shape);
}

OnnxTypes split(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::optional<std::vector<std::int64_t>> sizes = split_sizes(node, inputs);
  if (!sizes || static_cast<int>(sizes->size()) != node.output_size()) return std::nullopt;
  const std::size_t axis = front_axis(integer_attribute(node, "axis", 0), inputs[0]->shape.size());
  std::vector<Shape> shapes(sizes->size(), inputs[0]->shape);
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][axis] = (*sizes)[i];
  return types_like(*inputs[0], shapes);
}

OnnxTypes pool(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  return one_type(*inputs[0], pooled_shape(node, inputs[0]->shape, false));
}

OnnxTypes centre_crop_pad(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (!known(inputs, 1)) return std::nullopt;
  Shape shape = inputs[0]->shape;
  const std::vector<std::size_t> axes = chosen_axes(node, inputs, 99);
  const std::vector<std::int64_t> target = whole_numbers(*inputs[1]);
  for (std::size_t i = 0; i < axes.size() && i < target.size(); ++i) shape[axes[i]] = target[i];
  return one_type(*inputs[0], shape);
}

OnnxTypes column_to_image(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (!known(inputs, 1) || !known(inputs, 2) || inputs[0]->shape.size() != 3) return std::nullopt;
  const std::int64_t area = element_count(whole_numbers(*inputs[2]));
  if (area < 1) throw FormatError("its block has no elements");
  Shape shape = {inputs[0]->shape[0], inputs[0]->shape[1] / area};
  for (const std::int64_t extent : whole_numbers(*inputs[1])) shape.push_back(extent);
  return one_type(*inputs[0], shape);
}

/// The offsets have the positions of the output.
OnnxTypes deformable(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const OnnxValue *weight = given(inputs, 1), *offset = given(inputs, 2);
  if (weight == nullptr || offset == nullptr || weight->shape.empty() || offset->shape.size() < 3 ||
      offset->shape.size() != inputs[0]->shape.size()) {
    return std::nullopt;
  }
  Shape shape = offset->shape;
  shape[0] = inputs[0]->shape[0];
  shape[1] = weight->shape[0];
  return one_type(*inputs[0], shape);
}

/// Where input 2 says the shape.
OnnxTypes unpooled(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (!known(inputs, 2)) return std::nullopt;
  return one_type(*inputs[0], whole_numbers(*inputs[2]));
}

/// A grid of positions for an image of batch × channels × the extents that input 1 says.
OnnxTypes affine_grid(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (!known(inputs, 1) || inputs[1]->numbers->size() < 3) return std::nullopt;
  Shape shape = whole_numbers(*inputs[1]);
  shape.erase(shape.begin() + 1);
  shape.push_back(static_cast<std::int64_t>(shape.size()) - 1);
  return one_type(*inputs[0], shape);
}

/// Indices, how many classes there are, and the two numbers that tell them apart.
OnnxTypes one_hot(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue *depth = given(inputs, 1), *values = given(inputs, 2);
  if (depth == nullptr || values == nullptr || !depth->numbers || depth->numbers->size() != 1) return std::nullopt;
  Shape shape = inputs[0]->shape;
  const std::size_t axis = front_axis(integer_attribute(node, "axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth->numbers->whole(0));
  return one_type(*values, shape);
}

OnnxTypes grid_sample(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const OnnxValue* grid = given(inputs, 1);
  if (grid == nullptr || inputs[0]->shape.size() < 3 || grid->shape.size() != inputs[0]->shape.size())
    return std::nullopt;
  Shape shape = {inputs[0]->shape[0], inputs[0]->shape[1]};
  shape.insert(shape.end(), grid->shape.begin() + 1, grid->shape.end() - 1);
  return one_type(*inputs[0], shape);
}

/// To any type, also to those that libonnx 1.12 does not know.
OnnxTypes cast(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  OnnxTypes types = same_type(node, inputs);
  types->front()->element = static_cast<int>(integer_attribute(node, "to", onnx::TensorProto::FLOAT));
  return types;
}

const std::map<std::string, ShapeRule*>& rules() {
  static const std::map<std::string, ShapeRule*> table = by_name<ShapeRule*>(
      {{cast, "Cast"},
       {layer_norm, "LayerNormalization"},
       {pad, "Pad"},
       {centre_crop_pad, "CenterCropPad"},
       {column_to_image, "Col2Im"},
       {deformable, "DeformConv"},
       {affine_grid, "AffineGrid"},
       {unpooled, "MaxUnpool"},
       {grid_sample, "GridSample"},
       {one_hot, "OneHot"},
       {standard_attention, "Attention"},
       {linear_attention, "LinearAttention"},
       {einsum_types, "Einsum"},
       {broadcast, "BitwiseAnd BitwiseOr BitwiseXor GreaterOrEqual LessOrEqual ComplexMul ComplexMulConj"},
       {same_type,
        "Gelu Mish GroupNormalization RMSNormalization MeanVarianceNormalization SimplifiedLayerNormalization "
        "RotaryEmbedding Swish Silu BitwiseNot TensorScatter CumProd ImageScaler ScaledTanh ParametricSoftplus "
        "Affine"}});
  return table;
}

onnx::NodeProto without(const onnx::NodeProto& node, const std::string& name) {
  onnx::NodeProto result = node;
  auto& attributes = *result.mutable_attribute();
  attributes.erase(
      std::remove_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name() == name; }),
      attributes.end());
  return result;
}

/// Pools that libonnx 1.12 takes for those of an older opset.
bool is_new_pool(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return (type == "AveragePool" || type == "LpPool" || (type == "MaxPool" && node.output_size() == 1)) &&
         (attribute(node, "dilations") != nullptr || attribute(node, "ceil_mode") != nullptr);
}

}  // namespace

OnnxValue typed_as(const OnnxValue& like, Shape shape) {
  OnnxValue value;
  value.shape = std::move(shape);
  value.element = like.element;
  return value;
}

OnnxTypes types_like(const OnnxValue& like, const std::vector<Shape>& shapes) {
  std::vector<InferredType> types;
  for (const Shape& shape : shapes) types.emplace_back(typed_as(like, shape));
  return types;
}

OnnxTypes one_type(const OnnxValue& like, const Shape& shape) { return types_like(like, {shape}); }

std::vector<std::int64_t> factor_axes(const onnx::NodeProto& node, std::size_t rank, const std::string& side) {
  std::vector<std::int64_t> axes = numbers_below<std::int64_t>(rank);
  if (rank < 2) return axes;
  if (integer_attribute(node, ("transBatch" + side).c_str(), 0) != 0) {
    std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  }
  if (integer_attribute(node, ("trans" + side).c_str(), 0) != 0) std::swap(axes.back(), axes[rank - 2]);
  return axes;
}

std::vector<bool> reduced_axes(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::vector<std::int64_t> axes = listed_numbers(node, inputs, "axes", 1);
  std::vector<bool> reduced(inputs[0]->shape.size(), axes.empty());
  if (axes.empty() && integer_attribute(node, "noop_with_empty_axes", 0) != 0) reduced.assign(reduced.size(), false);
  for (const std::int64_t axis : axes) reduced[front_axis(axis, reduced.size())] = true;
  return reduced;
}

/// Equal parts are rounded up, and the last one is smaller (opset 18).
std::optional<std::vector<std::int64_t>> split_sizes(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 1) != nullptr && !inputs[1]->numbers) return std::nullopt;
  std::vector<std::int64_t> sizes = listed_numbers(node, inputs, "split", 1);
  const std::size_t axis = front_axis(integer_attribute(node, "axis", 0), inputs[0]->shape.size());
  const std::int64_t extent = inputs[0]->shape[axis],
                     parts = integer_attribute(node, "num_outputs", node.output_size());
  if (sizes.empty() && parts > 0 && parts == node.output_size()) {
    const std::int64_t size = (extent + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<std::int64_t>(extent - i * size, 0, size));
  }
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > extent) throw FormatError("it has a part of " + std::to_string(size));
    sum += size;
  }
  if (sum != extent) {
    throw FormatError("its parts are " + std::to_string(sum) + " together, the axis has " + std::to_string(extent));
  }
  return sizes;
}

bool is_permutation(const std::vector<std::int64_t>& axes, std::size_t rank) {
  const std::vector<std::int64_t> all = numbers_below<std::int64_t>(rank);
  return std::is_permutation(axes.begin(), axes.end(), all.begin(), all.end());
}

Shape product_shape(Shape left, Shape right) {
  if (left.empty() || right.empty()) throw FormatError("a factor of its product is a scalar");
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  if (left.back() != right[right.size() - 2]) {
    throw FormatError("rows of " + std::to_string(left.back()) + " numbers meet columns of " +
                      std::to_string(right[right.size() - 2]));
  }
  Shape shape = broadcast_shape({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
  if (!row) shape.push_back(left[left.size() - 2]);
  if (!column) shape.push_back(right.back());
  return shape;
}

/// As ONNX Runtime 1.30 has it: with ceil_mode, the last window begins in the image or in the zeros before it.
Shape pooled_shape(const onnx::NodeProto& node, const Shape& input, bool channels_last) {
  const std::vector<std::int64_t> kernel = integers_attribute(node, "kernel_shape");
  std::vector<std::int64_t> strides = integers_attribute(node, "strides"), pads = integers_attribute(node, "pads"),
                            dilations = integers_attribute(node, "dilations");
  const std::size_t axes = kernel.size();
  if (axes == 0 || input.size() != axes + 2) {
    throw FormatError("its window has " + std::to_string(axes) + " dimensions, its input " +
                      std::to_string(input.size()));
  }
  strides.resize(axes, 1);
  dilations.resize(axes, 1);
  pads.resize(2 * axes, 0);
  const std::string mode = text_attribute(node, "auto_pad", "NOTSET");
  const bool ceil = integer_attribute(node, "ceil_mode", 0) != 0;
  Shape shape = input;
  for (std::size_t i = 0; i < axes; ++i) {
    std::int64_t& extent = shape[i + (channels_last ? 1 : 2)];
    const std::int64_t window = dilations[i] * (kernel[i] - 1) + 1;
    const std::int64_t same = (extent - 1) / strides[i] * strides[i] + kernel[i] - extent;  // without the dilation
    const std::int64_t zeros = mode == "VALID" ? 0 : mode == "NOTSET" ? pads[i] + pads[i + axes] : same;
    const std::int64_t room = extent + zeros - window;
    if (room < 0) throw FormatError("its window of " + std::to_string(window) + " is wider than its input");
    const std::int64_t start = (room + (ceil ? strides[i] - 1 : 0)) / strides[i] * strides[i];
    const bool is_behind = ceil && start >= extent + (mode == "NOTSET" ? pads[i] : 0);
    extent = start / strides[i] + (is_behind ? 0 : 1);
  }
  return shape;
}

OnnxTypes own_types(const onnx::NodeProto& node, std::int64_t opset, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  constexpr std::int64_t older_dft = 19;
  if (inputs.empty() || inputs[0] == nullptr || node.output_size() == 0) return std::nullopt;
  if (node.domain() == "com.microsoft") {
    if (OnnxTypes types = microsoft_types(node, inputs)) return types;
  }
  if (is_new_pool(node)) return pool(node, inputs);
  if (type == "STFT" && integer_attribute(node, "onesided", 1) != 0) {  // libonnx 1.12 counts its steps wrongly
    onnx::NodeProto both_sides = without(node, "onesided");
    add_integer(both_sides, "onesided", 0);
    std::vector<InferredType> types = inferred_types(both_sides, opset, inputs);
    if (!types.empty() && types[0] && types[0]->shape.size() == 4) types[0]->shape[2] = types[0]->shape[2] / 2 + 1;
    return types;
  }
  if (type == "DFT" && opset > older_dft) {  // the axis was an attribute
    const OnnxValue* axis = given(inputs, 2);
    if (axis != nullptr && (!axis->numbers || axis->numbers->size() != 1)) return std::nullopt;
    onnx::NodeProto older = node;
    add_integer(
        older, "axis",
        static_cast<std::int64_t>(front_axis(axis == nullptr ? -2 : axis->numbers->whole(0), inputs[0]->shape.size())));
    OnnxInputs older_inputs = inputs;
    older_inputs.resize(std::min<std::size_t>(2, inputs.size()));
    return inferred_types(older, older_dft, older_inputs);
  }
  if (type == "ConvTranspose" && attribute(node, "output_padding") != nullptr &&
      text_attribute(node, "auto_pad", "NOTSET").rfind("SAME", 0) == 0) {
    // The image times the stride, whatever it is.
    return inferred_types(without(node, "output_padding"), opset, inputs);
  }
  if (type == "Resize" && opset >= 18) return resize(node, inputs);
  if (type == "Split" && (opset >= 18 || attribute(node, "split") != nullptr)) return split(node, inputs);
  if (type.rfind("Reduce", 0) == 0) return reduction(node, inputs);
  const auto rule = rules().find(type);
  return rule == rules().end() ? std::nullopt : rule->second(node, inputs);
}

}  // namespace tenshot::nasbench
