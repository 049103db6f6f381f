#include "nasbench/graph/onnx_operators.h"

#include <map>
#include <string>

#include "nasbench/graph/onnx_conversion.h"

namespace tenshot::nasbench {
namespace {

using namespace onnx_conversions;

struct Rule {
  OperatorKind kind;
  Convert convert;
};

const std::map<std::string, Rule>& rules() {
  using Kind = OperatorKind;
  static const std::map<std::string, Rule> table = [] {
    std::map<std::string, Rule> rules = {{"Conv", {Kind::convolution, convolution}},
                                         {"ConvInteger", {Kind::convolution, convolution}},
                                         {"QLinearConv", {Kind::convolution, convolution}},
                                         {"ConvTranspose", {Kind::transposed_convolution, convolution}},
                                         {"Gemm", {Kind::linear, gemm}},
                                         {"QGemm", {Kind::linear, gemm}},
                                         {"MatMul", {Kind::matrix_product, matrix_product}},
                                         {"MatMulInteger", {Kind::matrix_product, matrix_product}},
                                         {"QLinearMatMul", {Kind::matrix_product, matrix_product}},
                                         {"MatMulIntegerToFloat", {Kind::matrix_product, matrix_product}},
                                         {"DynamicQuantizeMatMul", {Kind::matrix_product, matrix_product}},
                                         {"MatMulNBits", {Kind::opaque, packed_product}},
                                         {"MatMulBnb4", {Kind::opaque, packed_product}},
                                         {"MaxPool", {Kind::max_pool, pool}},
                                         {"AveragePool", {Kind::average_pool, pool}},
                                         {"QLinearAveragePool", {Kind::average_pool, pool}},
                                         {"GlobalAveragePool", {Kind::global_pool, global_pool}},
                                         {"QLinearGlobalAveragePool", {Kind::global_pool, global_pool}},
                                         {"GlobalMaxPool", {Kind::global_pool, global_pool}},
                                         {"Clip", {Kind::activation, clip}},
                                         {"Add", {Kind::add, elementwise}},
                                         {"Sum", {Kind::add, elementwise}},
                                         {"Mul", {Kind::multiply, elementwise}},
                                         {"QLinearAdd", {Kind::add, quantised_pair}},
                                         {"QLinearMul", {Kind::multiply, quantised_pair}},
                                         {"Concat", {Kind::concatenate, with_axis}},
                                         {"Softmax", {Kind::softmax, with_axis}},
                                         {"LogSoftmax", {Kind::softmax, with_axis}},
                                         {"QLinearSoftmax", {Kind::softmax, with_axis}},
                                         {"QLinearConcat", {Kind::concatenate, quantised_concat}},
                                         {"Split", {Kind::split, split}},
                                         {"Slice", {Kind::split, slice}},
                                         {"Gather", {Kind::opaque, gather}},
                                         {"Pad", {Kind::pad, pad}},
                                         {"Resize", {Kind::resize, resize}},
                                         {"Upsample", {Kind::resize, resize}},
                                         {"Transpose", {Kind::transpose, transpose}},
                                         {"BatchNormalization", {Kind::batch_norm, batch_norm}},
                                         {"LayerNormalization", {Kind::layer_norm, layer_norm}},
                                         {"GroupNormalization", {Kind::group_norm, group_norm}},
                                         {"InstanceNormalization", {Kind::group_norm, group_norm}}};
    for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
      rules[type] = {Kind::reshape, first_input_alone};
    for (const auto& names : reduction_names()) rules[names.first] = {Kind::reduce, reduce};
    for (const auto& names : elementwise_names()) rules[names.first] = {Kind::elementwise, elementwise};
    for (const auto& names : activation_names()) rules[names.first] = {Kind::activation, activation};
    return rules;
  }();
  return table;
}

NetworkNode opaque_node(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs) {
  NetworkNode result;
  result.operation.name = node.op_type();
  result.operation.type = outputs.empty() ? ElementType::float32 : element_type(outputs[0].element);
  const std::size_t trained = node.op_type() == "BatchNormalization" ? 3 : inputs.size();  // statistics come after
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OnnxValue* input = inputs[i];
    if (input == nullptr) continue;
    if (is_trained(*input)) result.operation.constants.push_back(input->stored);
    if (input->constant && i < trained) add_origins(*input, result.stored);
    if (input->constant) continue;
    result.inputs.push_back(input->source);
    result.operation.inputs.push_back(input->shape);
  }
  return result;
}

/// What the operator computes in: the bytes of quantised inputs, for products the type of what they multiply.
ElementType computing_type(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs) {
  for (const OnnxValue* input : inputs) {
    if (input != nullptr && !input->constant && input->bytes) return *input->bytes;
  }
  const bool product = node.op_type() == "ConvInteger" || node.op_type() == "MatMulInteger";
  return element_type(product ? inputs[0]->element : outputs[0].element);
}

}  // namespace

NetworkNode operator_of(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs,
                        const std::vector<Source>& implicit, const std::vector<Shape>& implicit_shapes) {
  NetworkNode opaque = opaque_node(node, inputs, outputs);
  opaque.inputs.insert(opaque.inputs.end(), implicit.begin(), implicit.end());
  opaque.operation.inputs.insert(opaque.operation.inputs.end(), implicit_shapes.begin(), implicit_shapes.end());
  opaque.operation.type = computing_type(node, inputs, outputs);
  for (const OnnxValue& output : outputs) {
    const bool quantised = opaque.operation.type == ElementType::int8 || opaque.operation.type == ElementType::uint8;
    opaque.outputs.push_back({output.shape, quantised ? opaque.operation.type : element_type(output.element)});
  }
  opaque.operation.output = outputs[0].shape;
  const auto rule = rules().find(node.op_type());
  if (rule == rules().end() || inputs.empty() || inputs[0] == nullptr || opaque.inputs.empty()) return opaque;
  NetworkNode known = opaque;
  known.operation.kind = rule->second.kind;
  known.operation.name.clear();
  Conversion conversion{node, inputs, outputs, known};
  if (!rule->second.convert(conversion)) return opaque;
  const bool implied = known.operation.kind == OperatorKind::convolution ||
                       known.operation.kind == OperatorKind::linear ||
                       known.operation.kind == OperatorKind::transposed_convolution ||
                       known.operation.kind == OperatorKind::matrix_product;
  if (implied) known.operation.constants.clear();
  return known;
}

}  // namespace tenshot::nasbench
