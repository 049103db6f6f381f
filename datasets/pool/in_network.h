#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::datasets {

/// A network that measures operations inside a network: a chain of one, or its surroundings (nasbench::OperationChain).
struct ChainNetwork {
  std::string operation;           ///< empty for surroundings
  nasbench::OperatorSequence key;  ///< operators of one instance; of surroundings none, on the shape they read
  int repeats = 0;                 ///< instances of the operation; 0 for surroundings

  bool is_surroundings() const { return operation.empty(); }
  /// Whether `other` is what surrounds this chain.
  bool is_surrounded_by(const ChainNetwork& other) const {
    return other.is_surroundings() && other.key.input == key.input;
  }
};

struct ChainGraph {
  ChainNetwork network;
  nasbench::Network graph;
};

/// The chains in their order, the surroundings of all whose instances read the same shape once, before the first.
std::vector<ChainGraph> chain_graphs(const std::vector<nasbench::OperationChain>& chains);

/// "chains of 8 between two convolution blocks": how in_network was measured, for HardwareDescriptor::conditions.
std::string chain_condition(int repeats);

struct ChainLatency {
  ChainNetwork network;
  double latency_ms = 0;
};

/// (chain − surroundings) / repeats of every chain, in their order; 0 where that is negative. Throws InputError when a
/// chain's surroundings are not among the networks.
std::vector<OperatorProfile> in_network_latencies(const std::vector<ChainLatency>& networks);

}  // namespace tenshot::datasets
