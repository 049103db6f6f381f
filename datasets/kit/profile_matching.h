#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/kit/profile_formats.h"
#include "datasets/operators/kernel_table.h"
#include "nasbench/graph/network.h"

namespace tenshot::datasets {

/// A profile's layers as times of a network's operators.
struct MatchedProfile {
  /// What each node takes; 0 where the layer of another node executes it, nothing where the profile does not name it.
  std::vector<std::optional<double>> node_ms;
  std::size_t layers = 0;   ///< of the profile
  std::size_t matched = 0;  ///< of them, those that execute operators of the network
  double ms = 0;            ///< of all layers
  double matched_ms = 0;
};

/// Matches layers to the nodes of `network` by names: `operators` has what the model's file calls by a name
/// (nasbench::operators_by_name). A fused layer names several ("conv1 + relu1", "PWN(sigmoid, mul)", "fused conv1",
/// "a || b", "conv1;relu1", or all between two: "{ForeignNode[first...last]}"); its time counts to the one with the
/// most arithmetic, and the others have none of their own. Layers of one node are added up. Copies that reorder a
/// tensor are no operators and stay unmatched.
///
/// Where fewer than half of the layers have a known name, layers count by their order instead: those of a kind (such as
/// CONV_2D) belong to the nodes of that kind, one after the other, where there are as many.
MatchedProfile match_profile(const std::vector<LayerTime>& layers, const nasbench::Network& network,
                             const std::unordered_map<std::string, int>& operators);

/// The rows of an operators.csv, as collect_operators() writes them: an operator of the network `name` each, the median
/// over its equal nodes. What the profile does not name has no row.
std::vector<KernelRow> operator_rows(const MatchedProfile& matched, const nasbench::Network& network,
                                     const std::string& name);

}  // namespace tenshot::datasets
