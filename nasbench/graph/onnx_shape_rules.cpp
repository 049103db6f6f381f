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

OnnxTypes broadcast(const OnnxNode& node) {
  if (!node.has(1)) return std::nullopt;
  const bool compares = node.type().find("OrEqual") != std::string::npos;
  return one_type(compares ? static_cast<int>(onnx::TensorProto::BOOL) : node.element(),
                  broadcast_shape(node.shape(), node.shape(1)));
}

/// Besides the output, the mean and the deviation, which have 1 in the place of every axis that was normalised.
OnnxTypes layer_norm(const OnnxNode& node) {
  Shape statistics = node.shape();
  if (statistics.empty()) return same_type(node);
  for (std::size_t i = node.axis("axis", -1, statistics.size()); i < statistics.size(); ++i) statistics[i] = 1;
  OnnxTypes types = types_of(node.element(), {node.shape(), statistics, statistics});
  for (const std::size_t i : {1, 2}) (*types)[i]->element = onnx::TensorProto::FLOAT;
  return types;
}

OnnxTypes reduction(const OnnxNode& node) {
  if (node.has(1) && !node.known(1)) return std::nullopt;
  const std::vector<bool> reduced = reduced_axes(node);
  Shape shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) shape.push_back(node.shape()[i]);
    if (reduced[i] && node.integer("keepdims", 1) != 0) shape.push_back(1);
  }
  return one_type(node.element(), shape);
}

/// Axes that an operator of opset 18 or newer acts on: all, or those given, by attribute or input.
std::vector<std::size_t> chosen_axes(const OnnxNode& node, std::size_t index) {
  const std::size_t rank = node.shape().size();
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : node.listed("axes", index)) axes.push_back(front_axis(axis, rank));
  return axes.empty() && !node.has(index) ? numbers_below(rank) : axes;
}

OnnxTypes pad(const OnnxNode& node) {
  const std::vector<std::int64_t> pads = pads_of(node);
  Shape shape = node.shape();
  for (std::size_t i = 0; i < pads.size() / 2; ++i) shape[i] += pads[i] + pads[i + shape.size()];
  return pads.empty() ? std::nullopt : one_type(node.element(), shape);
}

/// Sizes or scales of some axes alone, and sizes that keep the image's proportions (opset 18).
OnnxTypes resize(const OnnxNode& node) {
  const bool by_size = node.has(3) && (!node.known(3) || node.data(3).size() > 0);
  if (!node.known(by_size ? 3 : 2)) return std::nullopt;
  const Numbers& numbers = node.data(by_size ? 3 : 2);
  const std::vector<std::size_t> axes = chosen_axes(node, 99);
  if (numbers.size() != axes.size()) return std::nullopt;
  Shape shape = node.shape();
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  float common = 0;
  for (std::size_t i = 0; by_size && i < axes.size(); ++i) {
    const float ratio = static_cast<float>(numbers.real(i)) / static_cast<float>(shape[axes[i]]);
    common = i == 0 ? ratio : policy == "not_smaller" ? std::max(common, ratio) : std::min(common, ratio);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto extent = static_cast<float>(shape[axes[i]]);
    shape[axes[i]] = !by_size              ? whole_number(std::floor(extent * static_cast<float>(numbers.real(i))))
                     : policy == "stretch" ? numbers.whole(i)
                                           : whole_number(std::round(extent * common));
  }
  return one_type(node.element(), shape);
}

OnnxTypes split(const OnnxNode& node) {
  const std::optional<std::vector<std::int64_t>> sizes = split_sizes(node);
  if (!sizes || static_cast<int>(sizes->size()) != node.output_count()) return std::nullopt;
  const std::size_t axis = node.axis("axis", 0, node.shape().size());
  std::vector<Shape> shapes(sizes->size(), node.shape());
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][axis] = (*sizes)[i];
  return types_of(node.element(), shapes);
}

/// The places of the maxima are its second output.
OnnxTypes pool(const OnnxNode& node) {
  const Shape shape = pooled_shape(node, false);
  OnnxTypes types = types_of(node.element(), {shape, shape});
  types->back()->element = onnx::TensorProto::INT64;
  return types;
}

/// A transposed convolution that says how large its image is, which may be smaller than the input's.
OnnxTypes sized_convolution(const OnnxNode& node) {
  const std::vector<std::int64_t> extents = node.integers("output_shape");
  const std::size_t axes = node.shape().size() - 2;
  if (extents.size() < axes) return std::nullopt;
  Shape shape = {node.shape()[0], node.shape(1)[1] * node.integer("group", 1)};
  shape.insert(shape.end(), extents.end() - static_cast<std::ptrdiff_t>(axes), extents.end());
  return one_type(node.element(), shape);
}

/// With starts and ends as attributes, until opset 9.
OnnxTypes slice(const OnnxNode& node) {
  const std::vector<SliceRange> ranges = slice_ranges(node);
  return ranges.empty() ? std::nullopt : one_type(node.element(), lengths_of(ranges));
}

OnnxTypes centre_crop_pad(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  Shape shape = node.shape();
  const std::vector<std::size_t> axes = chosen_axes(node, 99);
  const std::vector<std::int64_t> target = node.whole_numbers(1);
  for (std::size_t i = 0; i < axes.size() && i < target.size(); ++i) shape[axes[i]] = target[i];
  return one_type(node.element(), shape);
}

OnnxTypes column_to_image(const OnnxNode& node) {
  if (!node.known(1) || !node.known(2) || node.shape().size() != 3) return std::nullopt;
  const std::int64_t area = element_count(node.whole_numbers(2));
  if (area < 1) throw FormatError("its block has no elements");
  Shape shape = {node.shape()[0], node.shape()[1] / area};
  for (const std::int64_t extent : node.whole_numbers(1)) shape.push_back(extent);
  return one_type(node.element(), shape);
}

/// The offsets have the positions of the output.
OnnxTypes deformable(const OnnxNode& node) {
  const std::size_t rank = node.shape().size();
  if (rank < 3 || !node.has(1) || node.shape(1).empty() || !node.has_ranks({{2, rank}})) return std::nullopt;
  Shape shape = node.shape(2);
  shape[0] = node.shape()[0];
  shape[1] = node.shape(1)[0];
  return one_type(node.element(), shape);
}

OnnxTypes unpooled(const OnnxNode& node) {
  if (!node.known(2)) return std::nullopt;
  return one_type(node.element(), node.whole_numbers(2));
}

/// A grid of positions for an image of batch × channels × the extents that input 1 says.
OnnxTypes affine_grid(const OnnxNode& node) {
  if (!node.known(1) || node.data(1).size() < 3) return std::nullopt;
  Shape shape = node.whole_numbers(1);
  shape.erase(shape.begin() + 1);
  shape.push_back(static_cast<std::int64_t>(shape.size()) - 1);
  return one_type(node.element(), shape);
}

/// Indices, how many classes there are, and the two numbers that tell them apart.
OnnxTypes one_hot(const OnnxNode& node) {
  if (!node.known(1) || !node.has(2) || node.data(1).size() != 1) return std::nullopt;
  Shape shape = node.shape();
  const std::size_t axis = node.axis("axis", -1, shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), node.data(1).whole(0));
  return one_type(node.element(2), shape);
}

/// A depthwise convolution of a sequence, and the last inputs of its window, which the next call has before its own.
OnnxTypes causal_convolution(const OnnxNode& node) {
  if (!node.has_ranks({{0, 3}, {1, 3}})) return std::nullopt;
  return types_of(node.element(), {node.shape(), {node.shape()[0], node.shape()[1], node.shape(1)[2] - 1}});
}

/// Elements, or slices along an axis, where a constant says which.
OnnxTypes compress(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  const std::vector<std::int64_t> taken = node.whole_numbers(1);
  Shape shape = node.attribute("axis") == nullptr ? Shape{1} : node.shape();
  shape[node.axis("axis", 0, shape.size())] = std::count_if(taken.begin(), taken.end(), [](auto t) { return t != 0; });
  return one_type(node.element(), shape);
}

OnnxTypes grid_sample(const OnnxNode& node) {
  const std::size_t rank = node.shape().size();
  if (rank < 3 || !node.has_ranks({{1, rank}})) return std::nullopt;
  Shape shape = {node.shape()[0], node.shape()[1]};
  shape.insert(shape.end(), node.shape(1).begin() + 1, node.shape(1).end() - 1);
  return one_type(node.element(), shape);
}

/// A signal and its spectrum, each of real (1) or complex (2) numbers in the last dimension. A one-sided spectrum is
/// half as long, that of a real signal. The axis is an input since opset 20.
OnnxTypes spectrum(const OnnxNode& node, std::int64_t usual_axis) {
  for (const std::size_t i : {1, 2}) {
    if (node.has(i) && (!node.known(i) || node.data(i).size() != 1)) return std::nullopt;
  }
  Shape shape = node.shape();
  const std::size_t axis =
      front_axis(node.has(2) ? node.data(2).whole(0) : node.integer("axis", usual_axis), shape.size());
  const bool one_sided = node.flag("onesided"), inverse = node.flag("inverse");
  const std::int64_t implied = one_sided && inverse ? 2 * (shape[axis] - 1) : shape[axis],
                     length = node.has(1) ? node.data(1).whole(0) : implied;
  shape[axis] = one_sided && !inverse ? length / 2 + 1 : length;
  shape.back() = one_sided && inverse ? 1 : 2;
  return one_type(node.element(), shape);
}

/// To any type, also to those that libonnx 1.12 does not know.
OnnxTypes cast(const OnnxNode& node) {
  return one_type(static_cast<int>(node.integer("to", onnx::TensorProto::FLOAT)), node.shape());
}

const std::map<std::string, ShapeRule*>& rules() {
  static const std::map<std::string, ShapeRule*> table = by_name<ShapeRule*>(
      {{cast, "Cast"},
       {layer_norm, "LayerNormalization"},
       {pad, "Pad"},
       {pool, "AveragePool LpPool MaxPool"},
       {centre_crop_pad, "CenterCropPad"},
       {column_to_image, "Col2Im"},
       {deformable, "DeformConv"},
       {affine_grid, "AffineGrid"},
       {unpooled, "MaxUnpool"},
       {grid_sample, "GridSample"},
       {causal_convolution, "CausalConvWithState"},
       {compress, "Compress"},
       {one_hot, "OneHot"},
       {standard_attention, "Attention"},
       {linear_attention, "LinearAttention"},
       {einsum_types, "Einsum"},
       {broadcast, "BitwiseAnd BitwiseOr BitwiseXor GreaterOrEqual LessOrEqual ComplexMul ComplexMulConj StringConcat"},
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

}  // namespace

OnnxTypes types_of(int element, const std::vector<Shape>& shapes) {
  std::vector<InferredType> types;
  for (const Shape& shape : shapes) {
    OnnxValue& value = types.emplace_back().emplace();
    value.shape = shape;
    value.element = element;
  }
  return types;
}

OnnxTypes one_type(int element, const Shape& shape) { return types_of(element, {shape}); }

std::vector<std::int64_t> factor_axes(const OnnxNode& node, std::size_t rank, const std::string& side) {
  std::vector<std::int64_t> axes = numbers_below<std::int64_t>(rank);
  if (rank < 2) return axes;
  if (node.flag("transBatch" + side)) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (node.flag("trans" + side)) std::swap(axes.back(), axes[rank - 2]);
  return axes;
}

std::vector<bool> reduced_axes(const OnnxNode& node) {
  const std::vector<std::int64_t> axes = node.listed("axes", 1);
  std::vector<bool> reduced(node.shape().size(), axes.empty());
  if (axes.empty() && node.flag("noop_with_empty_axes")) reduced.assign(reduced.size(), false);
  for (const std::int64_t axis : axes) reduced[front_axis(axis, reduced.size())] = true;
  return reduced;
}

/// With axes: those given alone are padded (opset 18).
std::vector<std::int64_t> pads_of(const OnnxNode& node) {
  const bool is_given = node.attribute("pads") != nullptr || node.known(1);
  if (!is_given || (node.has(3) && !node.known(3))) return {};
  const std::vector<std::int64_t> pads = node.listed("pads", 1);
  const std::vector<std::size_t> axes = chosen_axes(node, 3);
  if (pads.size() != 2 * axes.size()) {
    reject({"it pads ", axes.size(), " axes by ", pads.size(), " numbers; expected two for each"});
  }
  constexpr std::int64_t most = std::int64_t{1} << 32;  // more than any tensor has
  const std::size_t rank = node.shape().size();
  std::vector<std::int64_t> all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    all[axes[i]] = std::clamp(pads[i], -most, most);
    all[axes[i] + rank] = std::clamp(pads[i + axes.size()], -most, most);
  }
  return all;
}

/// Equal parts are rounded up, and the last one is smaller (opset 18).
std::optional<std::vector<std::int64_t>> split_sizes(const OnnxNode& node) {
  if (node.has(1) && !node.known(1)) return std::nullopt;
  std::vector<std::int64_t> sizes = node.listed("split", 1);
  const std::size_t axis = node.axis("axis", 0, node.shape().size());
  const std::int64_t extent = node.shape()[axis], parts = node.integer("num_outputs", node.output_count());
  if (sizes.empty() && parts > 0 && parts == node.output_count()) {
    const std::int64_t size = (extent + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<std::int64_t>(extent - i * size, 0, size));
  }
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > extent) reject({"it has a part of ", size});
    sum += size;
  }
  if (sum != extent) reject({"its parts are ", sum, " together, the axis has ", extent});
  return sizes;
}

std::vector<std::int64_t> permutation_of(const OnnxNode& node) {
  std::vector<std::int64_t> all = numbers_below<std::int64_t>(node.shape().size()), axes = node.integers("perm");
  if (axes.empty()) axes.assign(all.rbegin(), all.rend());
  if (!std::is_permutation(axes.begin(), axes.end(), all.begin(), all.end())) {
    reject({"its attribute 'perm' is no permutation of ", all.size(), " axes"});
  }
  return axes;
}

Shape product_shape(Shape left, Shape right) {
  if (left.empty() || right.empty()) throw FormatError("a factor of its product is a scalar");
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  if (left.back() != right[right.size() - 2]) {
    reject({"rows of ", left.back(), " numbers meet columns of ", right[right.size() - 2]});
  }
  Shape shape = broadcast_shape({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
  if (!row) shape.push_back(left[left.size() - 2]);
  if (!column) shape.push_back(right.back());
  return shape;
}

/// As ONNX Runtime 1.30 has it: with ceil_mode, the last window begins in the image or in the zeros before it.
Shape pooled_shape(const OnnxNode& node, bool channels_last) {
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  std::vector<std::int64_t> strides = node.integers("strides"), pads = node.integers("pads"),
                            dilations = node.integers("dilations");
  const std::size_t axes = kernel.size();
  Shape shape = node.shape();
  if (axes == 0 || shape.size() != axes + 2) reject({"its window has ", axes, " dimensions, its input ", shape.size()});
  strides.resize(axes, 1);
  dilations.resize(axes, 1);
  pads.resize(2 * axes, 0);
  const std::string mode = node.text("auto_pad", "NOTSET");
  const bool ceil = node.flag("ceil_mode");
  for (std::size_t i = 0; i < axes; ++i) {
    std::int64_t& extent = shape[i + (channels_last ? 1 : 2)];
    const std::int64_t window = dilations[i] * (kernel[i] - 1) + 1;
    const std::int64_t same = (extent - 1) / strides[i] * strides[i] + kernel[i] - extent;  // without the dilation
    const std::int64_t zeros = mode == "VALID" ? 0 : mode == "NOTSET" ? pads[i] + pads[i + axes] : same;
    const std::int64_t room = extent + zeros - window;
    if (room < 0) reject({"its window of ", window, " is wider than its input"});
    const std::int64_t start = (room + (ceil ? strides[i] - 1 : 0)) / strides[i] * strides[i];
    const bool is_behind = ceil && start >= extent + (mode == "NOTSET" ? pads[i] : 0);
    extent = start / strides[i] + (is_behind ? 0 : 1);
  }
  return shape;
}

OnnxTypes own_types(const OnnxNode& node, std::int64_t opset) {
  const std::string& type = node.type();
  if (!node.has(0) || node.output_count() == 0) return std::nullopt;
  if (node.proto.domain() == "com.microsoft") {
    if (OnnxTypes types = microsoft_types(node)) return types;
  }
  if (type == "STFT" && node.integer("onesided", 1) != 0) {  // libonnx 1.12 counts its steps wrongly
    onnx::NodeProto both_sides = without(node.proto, "onesided");
    std::vector<InferredType> types = inferred_types(add_integer(both_sides, "onesided", 0), opset, node.inputs);
    if (!types.empty() && types[0] && types[0]->shape.size() == 4) types[0]->shape[2] = types[0]->shape[2] / 2 + 1;
    return types;
  }
  const bool takes_one = type == "GatherND" && node.has(1) && node.shape(1) == Shape{std::int64_t(node.shape().size())};
  if (takes_one && node.integer("batch_dims", 0) == 0) return one_type(node.inputs[0]->element, {});  // x[0, 1]
  if (type == "DFT") return spectrum(node, opset < 20 ? 1 : -2);
  if (type == "ConvTranspose" && node.attribute("output_padding") != nullptr &&
      node.text("auto_pad", "NOTSET").rfind("SAME", 0) == 0) {
    // The image times the stride, whatever it is.
    return inferred_types(without(node.proto, "output_padding"), opset, node.inputs);
  }
  if (type == "Gemm" && node.has_ranks({{0, 2}, {1, 2}})) return transposable_product(node);
  if (type == "ConvTranspose" && node.attribute("output_shape") != nullptr) return sized_convolution(node);
  if (type == "Slice" && node.attribute("starts") != nullptr) return slice(node);
  if (type == "Resize" && opset >= 18) return resize(node);
  if (type == "Split" && (opset >= 18 || node.attribute("split") != nullptr)) return split(node);
  if (type.rfind("Reduce", 0) == 0) return reduction(node);
  const auto rule = rules().find(type);
  return rule == rules().end() ? std::nullopt : rule->second(node);
}

}  // namespace tenshot::nasbench
