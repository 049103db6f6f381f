#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/onnx_steps.h"

namespace tenshot::nasbench {

/// The shape of an Einsum's output: each label of the equation stands for one extent. Throws FormatError where the
/// equation does not fit the operands.
Shape einsum_shape(const std::string& equation, const std::vector<Shape>& operands);

struct EinsumOperand {
  bool constant = false;
  Source source;  ///< of a computed one
  Shape shape;
};

/// The same as products of matrices: operands are taken from left to right, the axes of each pair brought in order,
/// multiplied, and brought back. The first is computed, or the second. Nothing where
/// a label stands twice in an operand, an extent of 1 is stretched, or an axis is summed over in a constant alone.
std::optional<Source> einsum_operators(const OnnxSteps& steps, const std::string& equation,
                                       const std::vector<EinsumOperand>& operands);

}  // namespace tenshot::nasbench
