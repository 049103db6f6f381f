#include "experiments/kernels/deduced_kernels.h"

#include <algorithm>
#include <set>

namespace tenshot::experiments {

using nasbench::Kernel;
using nasbench::Network;
using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::Shape;
using nasbench::Source;

namespace {

/// IsLinkable, Algorithm B.2, lines 21 to 26.
bool is_linkable(const NetworkNode& node) {
  static const std::set<std::string> elementwise = {"subtract", "divide", "power",   "equal",
                                                    "greater",  "less",   "maximum", "minimum"};
  if (node.outputs.size() != 1) return false;
  const OperatorKind kind = node.operation.kind;
  return kind == OperatorKind::activation || kind == OperatorKind::add || kind == OperatorKind::multiply ||
         (kind == OperatorKind::elementwise && elementwise.count(node.operation.name) != 0);
}

/// The inputs in the order in which the delegate sees them.
std::vector<Source> ordered_inputs(const NetworkNode& node, InputOrder order) {
  std::vector<Source> inputs = node.inputs;
  const OperatorKind kind = node.operation.kind;
  const bool commutes = (kind == OperatorKind::add || kind == OperatorKind::multiply) && inputs.size() > 1;
  const bool same_shapes = std::all_of(node.operation.inputs.begin(), node.operation.inputs.end(),
                                       [&](const Shape& shape) { return shape == node.operation.output; });
  if (order == InputOrder::latest_written && commutes && same_shapes) {
    std::iter_swap(inputs.begin(), std::max_element(inputs.begin(), inputs.end()));
  }
  return inputs;
}

bool is_foldable(OperatorKind kind) {
  return kind == OperatorKind::convolution || kind == OperatorKind::transposed_convolution ||
         kind == OperatorKind::linear;
}

}  // namespace

std::vector<Kernel> tflite_gpu_kernels(const Network& network, InputOrder order) {
  const std::size_t count = network.nodes.size();
  std::vector<std::vector<Source>> inputs(count);
  for (std::size_t i = 0; i < count; ++i) inputs[i] = ordered_inputs(network.nodes[i], order);
  std::vector<std::vector<int>> members(count);  // of the kernel that ends with this node
  std::vector<bool> merged(count, false);        // into a later node
  for (std::size_t current = 0; current < count; ++current) {
    members[current].push_back(static_cast<int>(current));
    if (network.nodes[current].outputs.size() != 1) continue;  // line 5
    const Source tensor{static_cast<int>(current), 0};
    std::vector<std::size_t> candidates;
    std::size_t position = 0;
    for (std::size_t next = current + 1; next < count; ++next) {
      for (std::size_t k = 0; k < inputs[next].size(); ++k) {
        if (!(inputs[next][k] == tensor)) continue;
        position = k;
        candidates.push_back(next);
      }
    }
    const bool is_output = std::find(network.outputs.begin(), network.outputs.end(), tensor) != network.outputs.end();
    if (candidates.size() != 1 || position != 0 || is_output) continue;  // line 14
    // Line 17: the first input is this node's output, which has just been computed, hence ready.
    if (!is_linkable(network.nodes[candidates[0]])) continue;
    members[candidates[0]].insert(members[candidates[0]].begin(), members[current].begin(), members[current].end());
    merged[current] = true;
  }
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < count; ++i) {
    if (!merged[i]) kernels.push_back({members[i], kernel_name(network, members[i])});
  }
  return kernels;
}

Network with_batch_norms_converted(const Network& network) {
  std::vector<int> readers(network.nodes.size(), 0);
  const auto count_reader = [&](const Source& source) {
    if (source.node >= 0) ++readers[static_cast<std::size_t>(source.node)];
  };
  for (const NetworkNode& node : network.nodes) std::for_each(node.inputs.begin(), node.inputs.end(), count_reader);
  std::for_each(network.outputs.begin(), network.outputs.end(), count_reader);

  Network converted;
  converted.inputs = network.inputs;
  std::vector<std::vector<Source>> now(network.nodes.size());  // where the outputs of each node are
  const auto moved = [&](const Source& source) {
    return source.node < 0 ? source
                           : now[static_cast<std::size_t>(source.node)][static_cast<std::size_t>(source.output)];
  };
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    NetworkNode node = network.nodes[i];
    const Source before = node.inputs.empty() ? Source{} : node.inputs[0];
    std::transform(node.inputs.begin(), node.inputs.end(), node.inputs.begin(), moved);
    const auto append = [&](NetworkNode added) {
      converted.nodes.push_back(std::move(added));
      return static_cast<int>(converted.nodes.size()) - 1;
    };
    if (node.operation.kind != OperatorKind::batch_norm) {
      const auto outputs = static_cast<int>(node.outputs.size());
      const int at = append(std::move(node));
      for (int output = 0; output < outputs; ++output) now[i].push_back({at, output});
      continue;
    }
    const bool folds = before.node >= 0 && readers[static_cast<std::size_t>(before.node)] == 1 &&
                       is_foldable(network.nodes[static_cast<std::size_t>(before.node)].operation.kind);
    if (folds) {
      NetworkNode& weights = converted.nodes[static_cast<std::size_t>(node.inputs[0].node)];
      weights.operation.bias = true;
      now[i] = {node.inputs[0]};
      continue;
    }
    node.attributes = {};
    node.operation.constants = {{channel_count(node.operation, node.operation.output)}};
    const std::string stem = node.name;
    for (const OperatorKind kind : {OperatorKind::multiply, OperatorKind::add}) {
      node.operation.kind = kind;
      node.name = stem + (kind == OperatorKind::add ? "_shift" : "_scale");
      node.inputs = {Source{append(node), 0}};
    }
    now[i] = {node.inputs[0]};
  }
  for (const Source& output : network.outputs) converted.outputs.push_back(moved(output));
  return converted;
}

}  // namespace tenshot::experiments
