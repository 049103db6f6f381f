#pragma once

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// The network without nodes that no output needs, and with one operator for each group of nodes that stands for one:
///
///   linear layer + its constant        → linear with bias
///   global pool + flattening           → global pool
///   reshape after reshape              → one of them
///   reshape to the same shape, padding by nothing → none
///   reshape, transpose, reshape of channels in groups → shuffle
///   x · sigmoid(x), x · hard_sigmoid(x), relu6(x + 3) / 6 → SiLU, hard-swish, hard-sigmoid
///   x · (1 + erf(x / √2)) / 2          → GELU
///   mean, difference, power, mean, addition, root, division, scale, shift → layer norm
///   reshape, instance norm, reshape, scale, shift → group norm
///
/// Nodes in between are merged only where nothing else reads them.
Network simplified(Network network);

}  // namespace tenshot::nasbench
