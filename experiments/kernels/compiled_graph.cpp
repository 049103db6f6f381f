#include "experiments/kernels/compiled_graph.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/libtorch_script.h"

namespace tenshot::experiments {
namespace {

using descriptor::compiled_module;
using descriptor::require_runnable;
using descriptor::RuntimeOptions;
using torch::jit::Block;
using torch::jit::Node;

std::string kernel_of(const at::Tensor& weight) {
  return ' ' + std::to_string(weight.size(2)) + 'x' + std::to_string(weight.size(3));
}

/// What the mobile rewrite packs: weight, bias, stride, padding, dilation, groups, least and largest output.
std::string packed_convolution(const c10::IValue& packed) {
  constexpr std::size_t weight = 0, least_output = 6;
  const auto object = packed.toObject();
  const auto state = object->type()->getMethod("__getstate__")({object}).toTupleRef().elements().vec();
  return kernel_of(state.at(weight).toTensor()) + (state.at(least_output).isNone() ? "" : " relu");
}

/// What a convolution's kind does not say; empty of all other nodes.
std::string convolution_suffix(const Node& node) {
  if (node.inputs().size() < 2) return "";
  const std::string kind = node.kind().toQualString();
  const torch::jit::Value& weight = *node.input(1);
  if (kind == "aten::conv2d" || kind == "aten::_convolution") {
    return kernel_of(torch::jit::toIValue(&weight).value().toTensor());
  }
  if (kind == "prim::mkldnn_convolution") return kernel_of(weight.node()->t(c10::attr::value));
  if (kind == "prepacked::conv2d_clamp_run") return packed_convolution(torch::jit::toIValue(&weight).value());
  return "";
}

void count_nodes(const Block& block, std::map<std::string, int>& counts) {
  for (const Node* node : block.nodes()) {
    ++counts[node->kind().toQualString() + convolution_suffix(*node)];
    for (const Block* nested : node->blocks()) count_nodes(*nested, counts);
  }
}

}  // namespace

std::map<std::string, int> compiled_node_counts(std::string_view runtime, const nasbench::Network& network) {
  const RuntimeOptions options;
  require_runnable(network);
  const c10::InferenceMode inference;
  torch::jit::Module module = compiled_module(runtime, network, options);
  std::vector<c10::IValue> inputs;
  for (const nasbench::NetworkInput& input : network.inputs) inputs.emplace_back(at::zeros(input.type.shape));
  std::map<std::string, int> counts;
  module.forward(inputs);  // the executor profiles the first run and compiles in the second
  module.forward(inputs);
  count_nodes(*torch::jit::lastExecutedOptimizedGraph()->block(), counts);
  return counts;
}

}  // namespace tenshot::experiments
