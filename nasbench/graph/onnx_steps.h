#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Writes one ONNX node as several operators, each of which reads the one before. Every method adds an operator and
/// returns its output; those that would change nothing return their input.
class OnnxSteps {
 public:
  /// `append` adds a node to the network, under a name of its own, and returns its first output.
  using Append = std::function<Source(NetworkNode)>;
  OnnxSteps(const Network& network, ElementType type, Append append)
      : network_(network), type_(type), append_(std::move(append)) {}

  Source append(NetworkNode node) const { return append_(std::move(node)); }
  const Shape& shape(const Source& source) const { return tensor_type(network_, source).shape; }

  Source transpose(const Source& input, std::vector<std::int64_t> axes) const;
  Source reshape(const Source& input, Shape shape) const;
  Source diagonal(const Source& input, Shape shape) const;  ///< the elements whose repeated indices are equal
  Source sum_over(const Source& input, const std::vector<std::int64_t>& axes) const;  ///< the axes are dropped
  Source linear(const Source& input, std::int64_t units, bool bias) const;
  Source matrix_product(const Source& left, const Source& right) const;
  /// A product with a constant that is no plain layer: on the left, or of several matrices.
  Source constant_product(const Source& input, const Shape& constant, Shape output) const;
  Source multiply(const Source& left, const Source& right, Shape output) const;
  Source multiply_by(const Source& input, const Shape& constant, Shape output) const;
  Source add(const Source& left, const Source& right) const;
  Source add_constant(const Source& input, const Shape& constant) const;
  Source activation(const Source& input, const std::string& function, double alpha = 0, double beta = 0) const;

 private:
  Source node(OperatorKind kind, std::vector<Source> inputs, Shape output, std::string name = "",
              OperatorAttributes attributes = {}, std::vector<Shape> constants = {}, bool bias = false) const;

  const Network& network_;
  ElementType type_;
  Append append_;
};

}  // namespace tenshot::nasbench
