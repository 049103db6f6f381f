#include "nasbench/graph/onnx_weights.h"

#include <fstream>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_values.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
OnnxWeights::OnnxWeights(const std::filesystem::path& path) : path_(path) {
  const OnnxFile file = read_onnx_file(path);
  std::map<std::string, std::string> aliases;  // exporters write equal constants once, and identities for the others
  for (const onnx::NodeProto& node : file.nodes) {
    if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1) {
      aliases[node.output(0)] = node.input(0);
    }
  }
  for (std::size_t i = 0; i < file.initializers.size(); ++i) {
    const onnx::TensorProto& tensor = file.initializers[i];
    const std::vector<Exact> few = numbers_of(tensor).value_or(Numbers()).values;  // of a tensor that was read whole
    const bool outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    places_[tensor.name()] = {{tensor.dims().begin(), tensor.dims().end()},
                              outside ? -1 : static_cast<int>(tensor.data_type()),
                              file.left_out[i].offset,
                              file.left_out[i].bytes,
                              {few.begin(), few.end()}};
  }
  std::map<std::string, int> readers;
  std::map<std::string, Node*> products;  // of two matrices, by what they give
  for (const onnx::NodeProto& node : file.nodes) {
    const std::string name = !node.name().empty() ? node.name() : node.output_size() > 0 ? node.output(0) : "";
    Node kept{node.op_type(), {node.input().begin(), node.input().end()}, integer_attribute(node, "transB", 0) != 0};
    kept.alpha = real_attribute(node, "alpha", 1);
    kept.beta = real_attribute(node, "beta", 1);
    for (std::string& input : kept.inputs) {
      for (auto alias = aliases.find(input); alias != aliases.end(); alias = aliases.find(input)) input = alias->second;
    }
    for (const std::string& input : kept.inputs) ++readers[input];
    const auto kept_as = nodes_.emplace(name, std::move(kept)).first;
    if (node.op_type() == "MatMul" && node.output_size() == 1) products[node.output(0)] = &kept_as->second;
  }
  for (const auto& [name, node] : nodes_) {
    if (node.operation != "Add" || node.inputs.size() != 2) continue;
    for (const std::size_t i : {0, 1}) {
      const auto product = products.find(node.inputs[i]);
      if (product == products.end() || readers[node.inputs[i]] > 1 || places_.count(node.inputs[1 - i]) == 0) continue;
      product->second->inputs.push_back(node.inputs[1 - i]);
    }
  }
}

std::string OnnxWeights::where(const std::string& node) const {
  return "'" + path_.string() + "', node '" + node + "'";
}

const OnnxWeights::Place& OnnxWeights::place(const std::string& node, const std::string& constant) const {
  const auto found = places_.find(constant);
  if (found == places_.end()) throw InputError(where(node) + ": its weights '" + constant + "' are computed");
  if (found->second.element < 0) {
    throw InputError(where(node) + ": its weights lie in another file; expected them inside the model");
  }
  if (found->second.element != onnx::TensorProto::FLOAT) {
    throw InputError(where(node) + ": its weights are no 32-bit floats");
  }
  return found->second;
}

std::vector<float> OnnxWeights::numbers(const std::string& node, const std::string& constant) const {
  const Place& tensor = place(node, constant);
  const auto count = static_cast<std::uint64_t>(element_count(tensor.shape));
  if (tensor.small.size() == count) return tensor.small;
  if (tensor.bytes != count * sizeof(float)) {
    reject({where(node), ": its weights take ", tensor.bytes, " bytes; expected ", count * sizeof(float)});
  }
  std::vector<float> values(count);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(tensor.offset));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(tensor.bytes));
  if (static_cast<std::uint64_t>(file.gcount()) != tensor.bytes) {
    reject({where(node), ": the file ends within its weights: it changed while it was read"});
  }
  return values;
}

LayerWeights OnnxWeights::read(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) throw InputError(where(node) + ": there is no such node to read weights of");
  const Node& kept = found->second;
  const auto input = [&](std::size_t i) {
    const bool given = i < kept.inputs.size() && !kept.inputs[i].empty();
    return given ? numbers(node, kept.inputs[i]) : std::vector<float>();
  };
  if (kept.operation == "Conv") return {input(1), input(2), {}, {}};
  if (kept.operation == "BatchNormalization") return {input(1), input(2), input(3), input(4)};
  if (kept.operation != "Gemm" && kept.operation != "MatMul") {
    throw InputError(where(node) + ": weights of " + kept.operation + " are not read; expected a convolution, a " +
                     "linear layer or a batch norm");
  }
  LayerWeights weights{input(1), input(2), {}, {}};
  const Place& matrix = place(node, kept.inputs[1]);
  if (!kept.transposed) weights.weight = transposed(weights.weight, matrix.shape[0], matrix.shape[1]);
  for (float& weight : weights.weight) weight = static_cast<float>(weight * kept.alpha);
  for (float& bias : weights.bias) bias = static_cast<float>(bias * kept.beta);
  return weights;
}

}  // namespace tenshot::nasbench
