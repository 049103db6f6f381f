#include "experiments/kernels/repeated_layer.h"

#include <algorithm>

#include "nasbench/support/error.h"

namespace tenshot::experiments {

using nasbench::Network;
using nasbench::NetworkNode;
using nasbench::Source;

Network with_repeated_layer(const Network& network, int layer, int copies) {
  const NetworkNode& original = network.nodes.at(static_cast<std::size_t>(layer));
  const bool repeats = original.inputs.size() == 1 && original.outputs.size() == 1 &&
                       original.operation.inputs[0] == original.operation.output;
  if (!repeats || copies < 1) {
    throw InputError("node '" + original.name + "' cannot be repeated: its output is not shaped as its one input");
  }
  Network longer = network;
  const auto behind = longer.nodes.begin() + layer + 1;
  std::vector<NetworkNode> added(static_cast<std::size_t>(copies), original);
  for (int i = 0; i < copies; ++i) {
    added[static_cast<std::size_t>(i)].name += "_copy_" + std::to_string(i + 1);
    added[static_cast<std::size_t>(i)].inputs = {{layer + i, 0}};
  }
  // Whoever read the layer reads the last copy; nodes behind it move on.
  const auto moved = [&](Source& source) {
    if (source.node >= layer) source.node += copies;
  };
  for (auto node = behind; node != longer.nodes.end(); ++node) {
    std::for_each(node->inputs.begin(), node->inputs.end(), moved);
  }
  std::for_each(longer.outputs.begin(), longer.outputs.end(), moved);
  longer.nodes.insert(behind, added.begin(), added.end());
  require_sound(longer);
  return longer;
}

}  // namespace tenshot::experiments
