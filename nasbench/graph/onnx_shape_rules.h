#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

// Rules for the shapes of operators that libonnx has not, or has of an older version alone. Needs ONNX's headers.

/// Shape and ONNX element type of an output; nothing where neither is known.
using InferredType = std::optional<OnnxValue>;

/// Types of the outputs of a node; nothing where they are not known.
using OnnxTypes = std::optional<std::vector<InferredType>>;

/// Types of the outputs of `node`, an operator of version `opset` of `domain`, as libonnx infers them; newer operators
/// and those of other domains by rules of our own, where we know them. Throws FormatError where a window, a stride or
/// a group count makes no sense or libonnx refuses the node. A missing optional input is a null pointer.
std::vector<InferredType> inferred_types(const onnx::NodeProto& node, std::int64_t opset, const OnnxInputs& inputs);

/// Types of the outputs of `node`, where a rule of ours covers it in this form; else nothing. Throws FormatError where
/// its inputs and attributes contradict each other.
OnnxTypes own_types(const OnnxNode& node, std::int64_t opset);

/// Which axes of the first input a reduction takes: its attribute, or since opset 18 (sums: 13) its second input, which
/// is known. Throws FormatError where there is no such axis.
std::vector<bool> reduced_axes(const OnnxNode& node);

/// What a Pad adds before all axes, then behind them; nothing where that is computed. Throws FormatError where the
/// numbers do not fit the axes.
std::vector<std::int64_t> pads_of(const OnnxNode& node);

/// How many elements each output of a Split takes; nothing where that is computed.
std::optional<std::vector<std::int64_t>> split_sizes(const OnnxNode& node);

/// The order in which a Transpose takes the axes of its input. Throws FormatError where it is none.
std::vector<std::int64_t> permutation_of(const OnnxNode& node);

/// The order in which a product (Gemm, FusedMatMul) takes the axes of its factor `side`, "A" or "B": attributes transA
/// and transBatchA, which moves the first axis behind those of the batch.
std::vector<std::int64_t> factor_axes(const OnnxNode& node, std::size_t rank, const std::string& side);

/// Outputs of that element type and those shapes; one of that shape; and one like the first input.
OnnxTypes types_of(int element, const std::vector<Shape>& shapes);
OnnxTypes one_type(int element, const Shape& shape);
inline OnnxTypes same_type(const OnnxNode& node) { return one_type(node.element(), node.shape()); }

/// The shapes of a node's outputs: of attention, of the operators of com.microsoft, and of Einsum.
using ShapeRule = OnnxTypes(const OnnxNode& node);
ShapeRule standard_attention, packed_attention, attention_of_heads, grouped_attention, paged_attention;
ShapeRule linear_attention, gated_delta_net, microsoft_types, einsum_types, transposable_product;
/// The shape of a product of matrices, or of vectors (numpy.matmul). Throws FormatError where they do not fit.
Shape product_shape(Shape left, Shape right);
/// The windows of a pool: attributes kernel_shape, strides, pads, dilations, auto_pad and ceil_mode.
Shape pooled_shape(const OnnxNode& node, bool channels_last);

}  // namespace tenshot::nasbench
