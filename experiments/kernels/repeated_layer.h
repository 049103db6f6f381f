#pragma once

#include "nasbench/graph/network.h"

namespace tenshot::experiments {

/// The network with `copies` more of `layer` behind it: what each adds is the layer's time inside of the network.
/// Throws InputError where the layer's output is not shaped as its one input, and without a copy.
nasbench::Network with_repeated_layer(const nasbench::Network& network, int layer, int copies);

}  // namespace tenshot::experiments
