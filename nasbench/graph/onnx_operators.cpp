#include "nasbench/graph/onnx_operators.h"

#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using namespace onnx_conversions;

struct Rule {
  OperatorKind kind;
  Convert* convert;
};

const std::map<std::string, Rule>& rules() {
  using Kind = OperatorKind;
  static const std::map<std::string, Rule> table = [] {
    std::map<std::string, Rule> rules = by_name<Rule>(
        {{{Kind::convolution, convolution}, "Conv ConvInteger QLinearConv"},
         {{Kind::transposed_convolution, convolution}, "ConvTranspose"},
         {{Kind::linear, gemm}, "Gemm QGemm"},
         {{Kind::matrix_product, matrix_product},
          "MatMul MatMulInteger MatMulInteger16 QLinearMatMul MatMulIntegerToFloat DynamicQuantizeMatMul"},
         {{Kind::opaque, packed_product},
          "MatMulNBits MatMulBnb4 MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight"},
         {{Kind::opaque, packed_rows}, "GatherBlockQuantized"},
         {{Kind::opaque, experts}, "MoE QMoE"},
         {{Kind::opaque, recurrent_attention}, "LinearAttention GatedDeltaNet"},
         {{Kind::opaque, attention_with_past}, "GroupQueryAttention"},
         {{Kind::max_pool, pool}, "MaxPool"},
         {{Kind::average_pool, pool}, "AveragePool QLinearAveragePool"},
         {{Kind::global_pool, global_pool}, "GlobalAveragePool QLinearGlobalAveragePool GlobalMaxPool"},
         {{Kind::activation, clip}, "Clip"},
         {{Kind::add, elementwise}, "Add Sum"},
         {{Kind::multiply, elementwise}, "Mul"},
         {{Kind::add, quantised_parts}, "QLinearAdd"},
         {{Kind::multiply, quantised_parts}, "QLinearMul"},
         {{Kind::concatenate, with_axis}, "Concat"},
         {{Kind::concatenate, quantised_parts}, "QLinearConcat"},
         {{Kind::softmax, with_axis}, "Softmax LogSoftmax QLinearSoftmax"},
         {{Kind::split, split}, "Split"},
         {{Kind::split, slice}, "Slice"},
         {{Kind::opaque, gather}, "Gather"},
         {{Kind::pad, pad}, "Pad"},
         {{Kind::resize, resize}, "Resize Upsample"},
         {{Kind::transpose, transpose}, "Transpose"},
         {{Kind::reshape, first_input_alone}, "Reshape Flatten Squeeze Unsqueeze"},
         {{Kind::batch_norm, batch_norm}, "BatchNormalization"},
         {{Kind::layer_norm, layer_norm}, "LayerNormalization"},
         {{Kind::group_norm, group_norm}, "GroupNormalization InstanceNormalization"}});
    for (const auto& names : reduction_names()) rules[names.first] = {Kind::reduce, reduce};
    for (const auto& names : elementwise_names()) rules[names.first] = {Kind::elementwise, elementwise};
    for (const auto& names : activation_names()) rules[names.first] = {Kind::activation, activation};
    return rules;
  }();
  return table;
}

/// Statistics, scales, initial states, sines and cosines of positions and the two numbers of OneHot are none.
bool may_be_trained(const std::string& type, std::size_t input) {
  if (type == "OneHot") return false;
  if (type == "GroupQueryAttention") return input < 7 || input > 8;
  if (type == "LinearAttention" || type == "GatedDeltaNet") return input != (type == "LinearAttention" ? 3 : 6);
  if (type == "PagedAttention") return input > 9;
  if (type == "RotaryEmbedding" || type == "MRotaryEmbedding") return input == 0;
  if (type == "BatchNormalization") return input < 3;
  if (type == "QLinearConv" || type == "QLinearMatMul") return input % 5 == 3 || input == 0;
  if (type == "QGemm") return input % 3 == 0;
  if (type == "QAttention") return input < 3;
  if (type == "DynamicQuantizeLSTM") return input < 4 || input == 7;
  if (type == "ConvInteger" || type.rfind("MatMulInteger", 0) == 0) return input < 2 || input == 6;
  return (type != "LSTM" && type != "GRU" && type != "RNN") || input < 5 || input > 6;
}

NetworkNode opaque_node(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs) {
  NetworkNode result;
  const std::string& type = result.operation.name = node.op_type();
  const bool computes_with_integers = type[0] == 'Q' || type.find("Integer") != std::string::npos;
  result.operation.type = outputs.empty() ? ElementType::float32 : element_type(outputs[0].element);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OnnxValue* input = inputs[i];
    if (input == nullptr) continue;
    if (input->sequence != nullptr) throw FormatError("it reads a sequence where it takes a tensor");
    if (computes_with_integers && input->constant && !may_be_trained(type, i)) continue;  // one for each column
    if (is_trained(*input)) result.operation.constants.push_back(input->stored);
    if (input->constant && may_be_trained(node.op_type(), i)) add_origins(*input, result.stored);
    if (is_trained(*input) && input->origins.empty() && !input->bytes) {
      result.stored.push_back({"", element_count(input->stored)});
    }
    const bool is_few = !is_trained(*input);  // a bias of integers, or of one number
    if (i == bias_place(node) && input->constant && (is_few || (input->bytes && input->origins.empty()))) {
      if (is_few) result.operation.constants.push_back(input->stored);
      result.stored.push_back({node.input(static_cast<int>(i)), element_count(input->stored)});
    }
    if (input->constant) continue;
    result.inputs.push_back(input->source);
    result.operation.inputs.push_back(input->shape);
  }
  return result;
}

/// What the operator computes in: the type of quantised inputs, also of products whose result is another.
ElementType computing_type(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs) {
  for (const OnnxValue* input : inputs) {
    if (input != nullptr && !input->constant && input->bytes) return *input->bytes;
  }
  static const std::set<std::string> products =
      words_of("ConvInteger MatMulInteger MatMulIntegerToFloat MatMulInteger16 QGemm QAttention");
  const bool product = products.count(node.op_type()) != 0 && inputs[0] != nullptr;
  return element_type(product ? inputs[0]->element : outputs[0].element);
}

/// Bits of the operator's weights in the file: of the largest constant that may be trained; 0 where they are of `type`.
int weight_bits(const onnx::NodeProto& node, const OnnxInputs& inputs, ElementType type) {
  std::int64_t most = 0;
  int bits = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || !is_trained(*inputs[i]) || !may_be_trained(node.op_type(), i)) continue;
    if (element_count(inputs[i]->stored) <= most) continue;
    most = element_count(inputs[i]->stored);
    bits = inputs[i]->bits > 0 ? inputs[i]->bits : bit_count(inputs[i]->element);
  }
  return bits == 8 * byte_size(type) ? 0 : bits;
}

}  // namespace

NetworkNode operator_of(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs) {
  NetworkNode opaque = opaque_node(node, inputs, outputs);
  const ElementType type = opaque.operation.type = computing_type(node, inputs, outputs);
  const bool quantised = type == ElementType::int8 || type == ElementType::uint8 || type == ElementType::int16;
  for (const OnnxValue& output : outputs) {
    opaque.outputs.push_back({output.shape, quantised ? type : element_type(output.element)});
  }
  opaque.operation.output = outputs[0].shape;
  opaque.operation.weight_bits = weight_bits(node, inputs, type);
  const auto rule = rules().find(node.op_type());
  if (rule == rules().end() || inputs.empty() || inputs[0] == nullptr || opaque.inputs.empty()) return opaque;
  NetworkNode known = opaque;
  known.operation.kind = rule->second.kind;
  known.operation.name.clear();
  Conversion conversion{{node, inputs}, outputs, known};
  if (!rule->second.convert(conversion)) return opaque;
  const bool implied = known.operation.kind == OperatorKind::convolution ||
                       known.operation.kind == OperatorKind::linear ||
                       known.operation.kind == OperatorKind::transposed_convolution ||
                       known.operation.kind == OperatorKind::matrix_product;
  if (implied) known.operation.constants.clear();
  if (parameter_count(known.operation) == 0) known.operation.weight_bits = 0;
  return known;
}

}  // namespace tenshot::nasbench
