#pragma once

#include <cstddef>
#include <cstdint>

#include "nasbench/graph/layer_graph.h"
#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Shapes of what a node computes with besides its inputs; an empty shape where the kind has none.
struct WeightShapes {
  Shape weight;    ///< convolution {out, in / groups, height, width}, transposed {in, out / groups, height, width},
                   ///< linear {out, in}, scale of norms, the constant operand of other kinds
  Shape bias;      ///< convolutions and linear layers with bias; shift of norms
  Shape mean;      ///< batch norm
  Shape variance;  ///< batch norm
};
WeightShapes weight_shapes(const NetworkNode& node);

/// Seeded weights of node `index` of `network`, in the order and with the distributions that random_weights has for a
/// layer graph; biases and added constants lie within ±0.1, other constants within [0.5, 1.5]. A network made of a
/// layer graph (network_of) has that graph's weights. Throws InputError when the network has no such node.
LayerWeights random_weights(const Network& network, std::size_t index, std::uint64_t seed);

}  // namespace tenshot::nasbench
