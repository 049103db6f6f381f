#include "nasbench/graph/onnx_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench {

Source OnnxSteps::node(OperatorKind kind, std::vector<Source> inputs, Shape output, std::string name,
                       OperatorAttributes attributes, std::vector<Shape> constants, bool bias) const {
  NetworkNode node;
  node.operation.kind = kind;
  node.operation.name = std::move(name);
  node.operation.type = type_;
  node.operation.bias = bias;
  node.operation.output = output;
  node.operation.constants = std::move(constants);
  for (const Source& source : inputs) node.operation.inputs.push_back(shape(source));
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = {{std::move(output), type_}};
  return append_(std::move(node));
}

Source OnnxSteps::transpose(const Source& input, std::vector<std::int64_t> axes) const {
  if (std::is_sorted(axes.begin(), axes.end())) return input;
  Shape output;
  for (const std::int64_t axis : axes) output.push_back(shape(input)[static_cast<std::size_t>(axis)]);
  OperatorAttributes attributes;
  attributes.axes = std::move(axes);
  return node(OperatorKind::transpose, {input}, std::move(output), "", std::move(attributes));
}

Source OnnxSteps::reshape(const Source& input, Shape to) const {
  return shape(input) == to ? input : node(OperatorKind::reshape, {input}, std::move(to));
}

Source OnnxSteps::diagonal(const Source& input, Shape to) const {
  return node(OperatorKind::opaque, {input}, std::move(to), "Einsum");
}

Source OnnxSteps::sum_over(const Source& input, const std::vector<std::int64_t>& axes) const {
  if (axes.empty()) return input;
  Shape output;
  for (std::size_t i = 0; i < shape(input).size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) {
      output.push_back(shape(input)[i]);
    }
  }
  OperatorAttributes attributes;
  attributes.axes = axes;
  return node(OperatorKind::reduce, {input}, std::move(output), "sum", std::move(attributes));
}

Source OnnxSteps::linear(const Source& input, std::int64_t units, bool bias) const {
  Shape output = shape(input);
  output.back() = units;
  return node(OperatorKind::linear, {input}, std::move(output), "", {}, {}, bias);
}

Source OnnxSteps::matrix_product(const Source& left, const Source& right) const {
  const Shape &a = shape(left), &b = shape(right);
  Shape output = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  output.push_back(a[a.size() - 2]);
  output.push_back(b.back());
  return node(OperatorKind::matrix_product, {left, right}, std::move(output));
}

Source OnnxSteps::constant_product(const Source& input, const Shape& constant, Shape output) const {
  return node(OperatorKind::opaque, {input}, std::move(output), "MatMul", {}, {constant});
}

Source OnnxSteps::multiply(const Source& left, const Source& right, Shape output) const {
  return node(OperatorKind::multiply, {left, right}, std::move(output));
}

Source OnnxSteps::multiply_by(const Source& input, const Shape& constant, Shape output) const {
  return node(OperatorKind::multiply, {input}, std::move(output), "", {}, {constant});
}

Source OnnxSteps::add(const Source& left, const Source& right) const {
  return node(OperatorKind::add, {left, right}, broadcast_shape(shape(left), shape(right)));
}

Source OnnxSteps::add_constant(const Source& input, const Shape& constant) const {
  OperatorAttributes attributes;
  const bool single = element_count(constant) == 1;
  if (single) attributes.alpha = 1;
  return node(OperatorKind::add, {input}, shape(input), "", attributes,
              single ? std::vector<Shape>{} : std::vector<Shape>{constant});
}

Source OnnxSteps::activation(const Source& input, const std::string& function, double alpha, double beta) const {
  OperatorAttributes attributes;
  attributes.alpha = alpha;
  attributes.beta = beta;
  return node(OperatorKind::activation, {input}, shape(input), function, attributes);
}

}  // namespace tenshot::nasbench
