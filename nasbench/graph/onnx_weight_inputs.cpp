#include "nasbench/graph/onnx_weight_inputs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "nasbench/graph/onnx_values.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// Operators, as words, and places among their inputs: those from `first` to before `end`.
struct Places {
  const char* types;
  int first, end;
};
constexpr const char* factor_types = "Gemm MatMul";
constexpr std::array<Places, 5> weight_places = {
    {{"Conv ConvTranspose ConvInteger InstanceNormalization LayerNormalization GroupNormalization", 1, 3},
     {"DeformConv RMSNormalization PRelu", 1, 2},
     {"BatchNormalization", 1, 5},
     {"LSTM GRU RNN", 1, 4},
     {"QLinearConv", 3, 9}}};

/// As PyTorch names them: "fc.weight", "lstm.weight_ih_l0", "attention.in_proj_bias".
bool is_called_weight(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return false;
  constexpr std::array<std::string_view, 6> parts = {"weight", "bias", "running_mean", "running_var", "gamma", "beta"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part, dot) != std::string::npos; });
}

/// Adds what the tensors `names` are made of by operators of these types.
void add_origins(const OnnxFile& file, const std::set<std::string>& types, std::set<std::string>& names) {
  for (auto node = file.nodes.rbegin(); node != file.nodes.rend(); ++node) {
    if (types.count(node->op_type()) == 0 || node->output_size() == 0 || names.count(node->output(0)) == 0) continue;
    names.insert(node->input().begin(), node->input().end());
  }
}

/// Adds what nodes read at these places, and what it is made of by moving and rounding numbers.
void add_read_at(const OnnxFile& file, const Places& places, std::set<std::string>& names) {
  static const auto movers =
      words_of("Identity Cast QuantizeLinear DequantizeLinear Transpose Reshape Squeeze Unsqueeze Slice");
  const auto types = words_of(places.types);
  for (const onnx::NodeProto& node : file.nodes) {
    if (types.count(node.op_type()) == 0) continue;
    for (int i = places.first; i < std::min(places.end, node.input_size()); ++i) names.insert(node.input(i));
  }
  add_origins(file, movers, names);
}

}  // namespace

bool is_fixed(const onnx::ValueInfoProto& input, int from) {
  const auto& dimensions = input.type().tensor_type().shape().dim();
  return input.type().has_tensor_type() && input.type().tensor_type().has_shape() &&
         std::all_of(dimensions.begin() + std::min(from, dimensions.size()), dimensions.end(),
                     [](const auto& dimension) { return dimension.has_dim_value() && dimension.dim_value() > 0; });
}

WeightInputs::WeightInputs(const OnnxFile& file) : file_(file) {
  std::set<std::string> stored;
  bool stores_matrix = false;
  for (const onnx::TensorProto& tensor : file.initializers) {
    stored.insert(tensor.name());
    stores_matrix = stores_matrix || tensor.dims_size() > 1;
  }
  for (const onnx::ValueInfoProto& input : file.inputs) {
    if (stored.count(input.name()) == 0) inputs_.push_back(&input);
  }
  if (inputs_.size() < 2) return;
  find_sure(stores_matrix);
  if (!weights_.empty()) find_others();
}

std::string WeightInputs::remark() const {
  if (undecided_.empty()) return {};
  return "the file does not say whether of its inputs " + joined(undecided_) +
         " are data or weights: they are read as " +
         (weights_.empty() ? "data; a weight is better stored in the file" : "weights");
}

void WeightInputs::find_sure(bool stores_matrix) {
  std::set<std::string> places, given, matrices;
  for (const Places& weights : weight_places) {
    add_read_at(file_, weights, places);
    add_read_at(file_, {weights.types, 0, 1}, data_);
  }
  add_read_at(file_, {factor_types, 0, 1}, data_);
  add_read_at(file_, {"LSTM GRU RNN", 4, 7}, data_);
  add_read_at(file_, {factor_types, 1, 3}, factors_);
  for (const onnx::ValueInfoProto* input : inputs_) given.insert(input->name());
  const auto products = words_of(stores_matrix ? "" : factor_types);
  for (const onnx::NodeProto& node : file_.nodes) {
    const bool is_product = products.count(node.op_type()) != 0 && node.input_size() > 1;
    if (is_product && given.count(node.input(0)) == 0) matrices.insert(node.input(1));
  }
  add_read_at(file_, {"Attention QAttention", 1, 2}, matrices);  // keys and values have more axes than its matrix
  for (const onnx::ValueInfoProto* input : inputs_) {
    const std::string& name = input->name();
    const bool is_matrix = input->type().tensor_type().shape().dim_size() == 2;
    if (!is_fixed(*input) || data_.count(name) != 0) continue;
    const bool is_weight = places.count(name) != 0 || (is_matrix && matrices.count(name) != 0);
    if (is_weight || (input != inputs_[0] && is_called_weight(name))) weights_.insert(name);
    if (is_matrix && factors_.count(name) != 0) undecided_.insert(name);
  }
  if (weights_.size() == inputs_.size()) weights_.erase(inputs_[0]->name());
}

void WeightInputs::find_others() {
  const bool data_first = weights_.count(inputs_[0]->name()) == 0;
  bool is_behind = false;
  undecided_.clear();
  for (const onnx::ValueInfoProto* input : inputs_) {
    const std::string& name = input->name();
    is_behind = is_behind || (data_first && weights_.count(name) != 0);
    if (input == inputs_[0] || !is_fixed(*input) || data_.count(name) != 0 || weights_.count(name) != 0) continue;
    const bool is_decided = is_behind || factors_.count(name) != 0;
    if (!is_decided && is_integer(input->type().tensor_type().elem_type())) continue;
    weights_.insert(name);
    if (!is_decided) undecided_.insert(name);
  }
}

std::set<std::string> sequences_of(const OnnxFile& file) {
  static const auto keepers = words_of(
      "Identity Cast QuantizeLinear DequantizeLinear Dropout Relu LeakyRelu Tanh Sigmoid Clip Add Sub Mul Div MatMul "
      "Gather LayerNormalization");
  std::set<std::string> names;
  for (const onnx::NodeProto& node : file.nodes) {
    const std::string& type = node.op_type();
    if ((type == "LSTM" || type == "GRU" || type == "RNN") && node.input_size() > 0 &&
        integer_attribute(node, "layout", 0) == 0) {
      names.insert(node.input(0));
    }
  }
  add_origins(file, keepers, names);
  return names;
}

}  // namespace tenshot::nasbench
