#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

// Arithmetic of constants, for onnx_folding.h. Needs ONNX's headers.

/// A constant of these numbers.
OnnxValue constant_of(Shape shape, int element, Numbers numbers);

/// Index into a tensor of `shape` that broadcasts to `target`, of the target's element `index`.
std::size_t broadcast_index(const Shape& shape, const Shape& target, std::size_t index);

/// Whether arithmetic(), or one_by_one(), computes operators of `type`.
bool is_arithmetic(const std::string& type);
bool is_function(const std::string& type);

/// Add, Sub, Mul, Div, Mod, Pow, Min, Max, comparisons and logic of two constants; nothing where the result is too
/// large to keep. Throws FormatError where integers overflow.
std::optional<OnnxValue> arithmetic(const onnx::NodeProto& node, const OnnxInputs& inputs);

/// Identity and functions of one constant.
std::optional<OnnxValue> one_by_one(const onnx::NodeProto& node, const OnnxInputs& inputs);

}  // namespace tenshot::nasbench
