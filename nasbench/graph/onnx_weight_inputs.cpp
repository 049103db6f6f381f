#include "nasbench/graph/onnx_weight_inputs.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// Places of weights among the inputs of an operator: those from `first` to before `end`.
struct Places {
  int first, end;
};

const std::map<std::string, Places>& weight_places() {
  static const std::map<std::string, Places> places =
      by_name<Places>({{{1, 3}, "Conv ConvTranspose InstanceNormalization LayerNormalization GroupNormalization"},
                       {{1, 2}, "DeformConv RMSNormalization PRelu"},
                       {{1, 5}, "BatchNormalization"},
                       {{1, 4}, "LSTM GRU RNN"}});
  return places;
}

/// As PyTorch names them: "fc.weight", "lstm.weight_ih_l0", "attention.in_proj_bias".
bool is_called_weight(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return false;
  constexpr std::array<std::string_view, 6> parts = {"weight", "bias", "running_mean", "running_var", "gamma", "beta"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part, dot) != std::string::npos; });
}

bool is_fixed(const onnx::ValueInfoProto& input) {
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  const auto& dimensions = type.shape().dim();
  const bool real = type.elem_type() == onnx::TensorProto::FLOAT || type.elem_type() == onnx::TensorProto::FLOAT16 ||
                    type.elem_type() == onnx::TensorProto::DOUBLE || type.elem_type() == onnx::TensorProto::BFLOAT16;
  return input.type().has_tensor_type() && type.has_shape() && real &&
         std::all_of(dimensions.begin(), dimensions.end(),
                     [](const auto& dimension) { return dimension.has_dim_value() && dimension.dim_value() > 0; });
}

/// Those of `candidates` that nodes read where `places` has weights.
std::set<std::string> read_at(const OnnxFile& file, const std::map<std::string, Places>& places,
                              const std::set<std::string>& candidates) {
  std::set<std::string> found;
  for (const onnx::NodeProto& node : file.nodes) {
    const auto own = places.find(node.op_type());
    if (own == places.end()) continue;
    for (int i = own->second.first; i < std::min(own->second.end, node.input_size()); ++i) {
      if (candidates.count(node.input(i)) != 0) found.insert(node.input(i));
    }
  }
  return found;
}

}  // namespace

std::set<std::string> weight_inputs(const OnnxFile& file) {
  std::set<std::string> stored, candidates;
  for (const onnx::TensorProto& tensor : file.initializers) stored.insert(tensor.name());
  bool is_first = true;
  for (const onnx::ValueInfoProto& input : file.inputs) {
    if (stored.count(input.name()) != 0) continue;
    if (!is_first && is_fixed(input)) candidates.insert(input.name());
    is_first = false;
  }
  if (candidates.empty()) return {};
  std::set<std::string> weights = read_at(file, weight_places(), candidates);
  for (const std::string& name : candidates) {
    if (is_called_weight(name)) weights.insert(name);
  }
  if (weights.empty()) return {};
  // A product of two inputs may be one; in a file that has weights among its inputs its second factor is a weight.
  // So are a matrix that is transposed before anything reads it, and a vector that is added.
  std::map<std::size_t, std::set<std::string>> by_rank;
  for (const onnx::ValueInfoProto& input : file.inputs) {
    if (candidates.count(input.name()) != 0)
      by_rank[static_cast<std::size_t>(input.type().tensor_type().shape().dim_size())].insert(input.name());
  }
  weights.merge(read_at(file, {{"Gemm", {1, 3}}, {"MatMul", {1, 2}}}, candidates));
  weights.merge(read_at(file, {{"Transpose", {0, 1}}}, by_rank[2]));
  weights.merge(read_at(file, {{"Add", {0, 2}}, {"Mul", {0, 2}}}, by_rank[1]));
  return weights;
}

}  // namespace tenshot::nasbench
