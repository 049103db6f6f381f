#include "nasbench/graph/onnx_steps.h"

namespace tenshot::nasbench {

NetworkNode OnnxSteps::node(OperatorKind kind, const Source& input, Shape output, std::string name,
                            std::vector<Shape> constants) const {
  NetworkNode node = builder_.node(kind, name_, {input}, std::move(output), std::move(name));
  node.operation.constants = std::move(constants);
  return node;
}

Source OnnxSteps::append(NetworkNode node) const {
  node.name = name_;
  return builder_.append(std::move(node));
}

Source OnnxSteps::diagonal(const Source& input, Shape to) const {
  return append(node(OperatorKind::opaque, input, std::move(to), "Einsum"));
}

Source OnnxSteps::sum_over(const Source& input, const std::vector<std::int64_t>& axes) const {
  if (axes.empty()) return input;
  Shape output;
  for (std::size_t i = 0; i < shape(input).size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) {
      output.push_back(shape(input)[i]);
    }
  }
  NetworkNode sum = node(OperatorKind::reduce, input, std::move(output), "sum");
  sum.attributes.axes = axes;
  return append(std::move(sum));
}

Source OnnxSteps::constant_product(const Source& input, const Shape& constant, Shape output) const {
  return append(node(OperatorKind::opaque, input, std::move(output), "MatMul", {constant}));
}

Source OnnxSteps::multiply_by(const Source& input, const Shape& constant) const {
  return append(node(OperatorKind::multiply, input, shape(input), "", {constant}));
}

Source OnnxSteps::add_constant(const Source& input, const Shape& constant) const {
  NetworkNode sum = node(OperatorKind::add, input, shape(input), "", {constant});
  if (element_count(constant) == 1) {
    sum.attributes.alpha = 1;
    sum.operation.constants.clear();
  }
  return append(std::move(sum));
}

}  // namespace tenshot::nasbench
