#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

// Computing with constants. Needs ONNX's headers.

/// The outputs of a node whose inputs are all small constants, or that asks for a tensor's shape: shapes as exporters
/// compute them. Nothing where the operator is none of those that do, or its result would not be small. A missing
/// optional input is a null pointer. Throws FormatError on inputs that make no sense (an index beyond the end).
std::optional<OnnxValues> folded(const OnnxNode& node);

/// Every function takes a node whose inputs are all known constants, and gives its first output, or nothing
/// where the node is in a form that is not computed here. All throw FormatError on inputs that make no sense.
using TensorFold = std::optional<OnnxValue>(const OnnxNode& node);

/// Reductions are ReduceProd, ReduceSum, ReduceMean, ReduceMax and ReduceMin; of pairs arithmetic, comparisons and
/// logic; of several minima, maxima, sums and Clip; of one the identity and functions.
TensorFold fold_gather, fold_scatter, fold_concat, fold_slice, fold_transpose, fold_tile, fold_expand, fold_pad;
TensorFold fold_compress, fold_non_zero, fold_reduction, fold_running_sums;
TensorFold fold_pair, fold_several, fold_one;
/// What a Slice takes of each axis; nothing where that is not known.
std::vector<SliceRange> slice_ranges(const OnnxNode& node);
Shape lengths_of(const std::vector<SliceRange>& ranges);
/// All outputs of a Split.
std::optional<OnnxValues> fold_split(const OnnxNode& node);

/// What the operator `name` of two numbers makes of `a` and `b`. Throws FormatError where integers overflow.
Exact paired(const std::string& name, bool of_integers, Exact a, Exact b);

/// A constant of these numbers, which are cut to integers, or rounded, as its element type has it.
OnnxValue constant_of(Shape shape, int element, Numbers numbers);
OnnxValue constant_integers(Shape shape, const std::vector<std::int64_t>& integers,
                            int element = onnx::TensorProto::INT64);

/// Index into a tensor of `shape` that broadcasts to `target`, of the target's element `index`.
std::size_t broadcast_index(const Shape& shape, const Shape& target, std::size_t index);

}  // namespace tenshot::nasbench
