#include "nasbench/graph/onnx_conversion.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench::onnx_conversions {

const std::map<std::string, std::string>& activation_names() {
  static const std::map<std::string, std::string> names = lower_cased(
      "Relu Sigmoid Tanh Elu Selu Softplus Gelu Mish Erf Sqrt Exp Log Reciprocal Floor Ceil Round Sign Not "
      "Cast Softsign Sin Cos Silu Celu HardSwish=hard_swish HardSigmoid=hard_sigmoid "
      "QLinearSigmoid=sigmoid LeakyRelu=leaky_relu QLinearLeakyRelu=leaky_relu FastGelu=gelu Neg=negate "
      "Abs=absolute Swish=silu QuickGelu=quick_gelu ThresholdedRelu=thresholded_relu");
  return names;
}

const std::map<std::string, std::string>& elementwise_names() {
  static const std::map<std::string, std::string> names = lower_cased(
      "PRelu Where Equal Less Greater And Or Xor Sub=subtract Div=divide Pow=power Min=minimum Max=maximum "
      "Mod=modulo LessOrEqual=less_or_equal GreaterOrEqual=greater_or_equal");
  return names;
}

bool activation(Conversion& c) {
  c.result.operation.name = activation_names().at(c.node.op_type());
  OperatorAttributes& a = c.result.attributes;
  const std::string& type = c.node.op_type();
  if (type == "LeakyRelu" || type == "QLinearLeakyRelu") a.alpha = real_attribute(c.node, "alpha", 0.01F);
  if (type == "Elu" || type == "Celu" || type == "ThresholdedRelu") a.alpha = real_attribute(c.node, "alpha", 1);
  if (type == "HardSigmoid") {
    a.alpha = real_attribute(c.node, "alpha", 0.2F);
    a.beta = real_attribute(c.node, "beta", 0.5);
  }
  keep_first_input(c);
  return true;
}

/// Attributes until opset 6, inputs since opset 11.
bool clip(Conversion& c) {
  const auto bound = [&](const char* name, std::size_t index, double otherwise) {
    if (c.known(index) && c.inputs[index]->numbers->size() == 1) return c.inputs[index]->numbers->real(0);
    return real_attribute(c.node, name, otherwise);
  };
  if (!c.is_computed(0) || c.is_computed(1) || c.is_computed(2)) return false;
  constexpr double open = 3.4028234663852886e38;
  c.result.attributes.alpha = bound("min", 1, -open);
  c.result.attributes.beta = bound("max", 2, open);
  const bool relu6 = c.result.attributes.alpha == 0 && c.result.attributes.beta == 6;
  c.result.operation.name = relu6 ? "relu6" : "clip";
  if (relu6) c.result.attributes.alpha = c.result.attributes.beta = 0;
  keep_first_input(c);
  return true;
}

/// Operators of two tensors, or of one and a constant.
bool elementwise(Conversion& c) {
  if (c.result.operation.kind == OperatorKind::elementwise) {
    c.result.operation.name = elementwise_names().at(c.node.op_type());
  }
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.is_constant(i)) continue;
    c.result.attributes.constant_first =
        i == 0 && c.inputs.size() == 2 && c.result.operation.kind == OperatorKind::elementwise;
    if (element_count(c.shape(i)) == 1) c.result.attributes.alpha = c.known(i) ? c.inputs[i]->numbers->real(0) : 1;
  }
  return c.result.operation.constants.size() + c.result.inputs.size() <= 3;
}

/// QLinearAdd and QLinearMul (com.microsoft): (a, scale, zero point, b, scale, zero point, …).
bool quantised_pair(Conversion& c) {
  if (!c.is_computed(0) || !c.has(3)) return false;
  c.result.inputs = {c.inputs[0]->source};
  c.result.operation.inputs = {c.shape(0)};
  c.result.operation.constants.clear();
  if (c.is_constant(3)) {
    if (element_count(c.shape(3)) > 1) c.result.operation.constants = {c.shape(3)};
    return true;
  }
  c.result.inputs.push_back(c.inputs[3]->source);
  c.result.operation.inputs.push_back(c.shape(3));
  return true;
}

}  // namespace tenshot::nasbench::onnx_conversions
