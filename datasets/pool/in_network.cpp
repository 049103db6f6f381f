#include "datasets/pool/in_network.h"

namespace tenshot::datasets {

std::vector<ChainGraph> chain_graphs(const std::vector<nasbench::OperationChain>& chains) {
  std::vector<ChainGraph> graphs;
  for (const nasbench::OperationChain& chain : chains) {
    const ChainNetwork network{chain.name, chain.key, chain.repeats};
    const bool known = std::any_of(graphs.begin(), graphs.end(),
                                   [&](const ChainGraph& other) { return network.is_surrounded_by(other.network); });
    const ChainNetwork surroundings{"", {chain.key.input, {}}, 0};
    if (!known) graphs.push_back({surroundings, chain.surroundings});
    graphs.push_back({network, chain.graph});
  }
  return graphs;
}

std::string chain_condition(int repeats) {
  return "chains of " + std::to_string(repeats) + " between two convolution blocks";
}

std::vector<OperatorProfile> in_network_latencies(const std::vector<ChainLatency>& networks) {
  std::vector<OperatorProfile> latencies;
  for (const auto& [chain, chain_ms] : networks) {
    if (chain.is_surroundings()) continue;
    const auto surroundings =
        std::find_if(networks.begin(), networks.end(),
                     [&chain = chain](const ChainLatency& other) { return chain.is_surrounded_by(other.network); });
    if (surroundings == networks.end()) {
      throw InputError("the chain of " + chain.operation + " of " + std::to_string(chain.key.channels()) +
                       " channels was measured without its surroundings");
    }
    const double added_ms = std::max(0.0, chain_ms - surroundings->latency_ms);
    latencies.push_back({chain.operation, chain.key, added_ms / chain.repeats});
  }
  return latencies;
}

}  // namespace tenshot::datasets
