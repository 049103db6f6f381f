#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench {

/// Writes one ONNX node as several operators, each of which reads the one before. Every method adds an operator and
/// returns its output; those that would change nothing return their input.
class OnnxSteps {
 public:
  /// The operators are called by `name`, with numbers behind it.
  OnnxSteps(NetworkBuilder& builder, std::string name) : builder_(builder), name_(std::move(name)) {}

  Source append(NetworkNode node) const {
    node.name = name_;
    return builder_.append(std::move(node));
  }
  Source append(OperatorKind kind, const Source& input, Shape output, std::string function,
                std::vector<Shape> constants = {}) const {
    NetworkNode node = builder_.node(kind, name_, {input}, std::move(output), std::move(function));
    node.operation.constants = std::move(constants);
    return append(std::move(node));
  }
  const Shape& shape(const Source& source) const { return builder_.type(source).shape; }

  Source transpose(const Source& input, const std::vector<std::int64_t>& axes) const {
    return std::is_sorted(axes.begin(), axes.end()) ? input : builder_.transpose(name_, input, axes);
  }
  Source reshape(const Source& input, const Shape& to) const {
    return shape(input) == to ? input : builder_.reshape(name_, input, to);
  }
  Source linear(const Source& input, std::int64_t units) const { return builder_.linear(name_, input, units, false); }
  Source matrix_product(const Source& left, const Source& right) const {
    return builder_.matrix_product(name_, left, right);
  }
  Source multiply(const Source& left, const Source& right) const { return builder_.multiply(name_, left, right); }
  Source add(const Source& left, const Source& right) const { return builder_.add(name_, left, right); }
  Source sum_over(const Source& input, const std::vector<std::int64_t>& axes) const;  ///< the axes are dropped
  /// A product with a constant that is no plain layer: on the left, or of several matrices.
  Source constant_product(const Source& input, const Shape& constant, Shape output) const {
    return append(OperatorKind::opaque, input, std::move(output), "MatMul", {constant});
  }
  Source add_constant(const Source& input, const Shape& constant) const;
  Source activation(const Source& input, const std::string& function, double alpha = 0, double beta = 0) const {
    return builder_.activation(name_, input, function, alpha, beta);
  }

 private:
  NetworkBuilder& builder_;
  std::string name_;
};

struct EinsumOperand {
  bool constant = false;
  Source source;  ///< of a computed one
  Shape shape;
};

/// An Einsum as products of matrices: operands are taken from left to right, the axes of each pair brought in order,
/// multiplied, and brought back. The first is computed, or the second. Nothing where
/// a label stands twice in an operand, an extent of 1 is stretched, or an axis is summed over in a constant alone.
std::optional<Source> einsum_operators(const OnnxSteps& steps, const std::string& equation,
                                       const std::vector<EinsumOperand>& operands);

}  // namespace tenshot::nasbench
