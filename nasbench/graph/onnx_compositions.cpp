#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// A factor of a product, its axes as the product takes them.
EinsumOperand factor_of(const OnnxSteps& steps, const OnnxNode& node, std::size_t input, const char* side) {
  const OnnxValue& value = node.input(input);
  const std::vector<std::int64_t> axes = factor_axes(node, value.shape.size(), side);
  EinsumOperand factor{value.constant, value.source, {}};
  for (const std::int64_t axis : axes) factor.shape.push_back(value.shape[static_cast<std::size_t>(axis)]);
  if (!value.constant) factor.source = steps.transpose(value.source, axes);
  return factor;
}

std::optional<Source> product(const OnnxSteps& steps, const EinsumOperand& left, const EinsumOperand& right,
                              const Shape& output) {
  if ((left.constant && right.constant) || left.shape.empty() || right.shape.empty()) return std::nullopt;
  if (left.constant) return steps.constant_product(right.source, left.shape, output);
  if (!right.constant) {
    const bool row = left.shape.size() < 2, column = right.shape.size() < 2;
    const Source first = row ? steps.reshape(left.source, {1, left.shape[0]}) : left.source,
                 second = column ? steps.reshape(right.source, {right.shape[0], 1}) : right.source;
    return steps.reshape(steps.matrix_product(first, second), output);
  }
  if (right.shape.size() == 2) return steps.linear(left.source, right.shape.back());
  return steps.constant_product(left.source, right.shape, output);
}

/// Whatever computes `type` of one tensor, as FusedConv and FusedGemm name it.
std::optional<Source> activated(const OnnxSteps& steps, const onnx::NodeProto& node, const Source& input) {
  const std::string function = text_attribute(node, "activation", node.op_type() == "GemmFastGelu" ? "FastGelu" : "");
  if (function.empty()) return input;
  std::vector<double> parameters;
  if (const onnx::AttributeProto* found = attribute(node, "activation_params")) {
    parameters.assign(found->floats().begin(), found->floats().end());
  }
  parameters.resize(2, 0);
  if (function == "Clip") {
    const bool relu6 = parameters[0] == 0 && parameters[1] == 6;
    if (relu6) return steps.activation(input, "relu6");
    return steps.activation(input, "clip", parameters[0], parameters[1]);
  }
  const auto name = onnx_conversions::activation_names().find(function);
  if (name == onnx_conversions::activation_names().end()) return std::nullopt;
  const bool has_parameters = function == "LeakyRelu" || function == "HardSigmoid";
  return steps.activation(input, name->second, has_parameters ? parameters[0] : 0, has_parameters ? parameters[1] : 0);
}

/// α · op(A) · op(B) + β · C: factors of numbers are folded into what is constant.
std::optional<Source> general_product(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                                      const OnnxValues& outputs) {
  if (given(inputs, 1) == nullptr) return std::nullopt;
  const OnnxValue* addend = given(inputs, 2);
  if (addend != nullptr && real_attribute(node, "beta", 1) == 0) addend = nullptr;
  const EinsumOperand left = factor_of(steps, {node, inputs}, 0, "A"), right = factor_of(steps, {node, inputs}, 1, "B");
  std::optional<Source> sum = product(steps, left, right, outputs[0].shape);
  if (!sum) return std::nullopt;
  if (addend != nullptr && addend->constant) sum = steps.add_constant(*sum, addend->stored);
  if (addend != nullptr && !addend->constant) sum = steps.add(*sum, addend->source);
  return activated(steps, node, *sum);
}

/// Inputs are image, weights, bias and what is added before the function.
std::optional<Source> fused_convolution(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                                        const OnnxValues& outputs) {
  onnx::NodeProto plain = node;
  plain.clear_domain();
  plain.set_op_type("Conv");
  const OnnxInputs own(inputs.begin(),
                       inputs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, inputs.size())));
  NetworkNode convolution = operator_of(plain, own, {outputs[0]});
  Source last = steps.append(std::move(convolution));
  if (const OnnxValue* addend = given(inputs, 3)) {
    if (addend->constant) return std::nullopt;
    last = steps.add(last, addend->source);
  }
  return activated(steps, node, last);
}

}  // namespace

std::optional<Source> composed(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                               const OnnxValues& outputs) {
  const std::string& type = node.op_type();
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  if (type == "Einsum") {
    std::vector<EinsumOperand> operands;
    for (const OnnxValue* input : inputs) {
      if (input == nullptr) return std::nullopt;
      operands.push_back({input->constant, input->source, input->shape});
    }
    return einsum_operators(steps, text_attribute(node, "equation", ""), operands);
  }
  static const std::set<std::string> products =
      words_of("Gemm FusedGemm FusedMatMul TransposeMatMul FusedMatMulActivation GemmFastGelu");
  if (products.count(type) != 0) return general_product(steps, node, inputs, outputs);
  if (type == "FusedConv") return fused_convolution(steps, node, inputs, outputs);
  return std::nullopt;
}

}  // namespace tenshot::nasbench
