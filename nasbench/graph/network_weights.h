#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Weights of one node, as flat arrays in the order of weight_shapes(); empty where its kind has none.
struct LayerWeights {
  std::vector<float> weight;    ///< convolutions, linear; scale of norms; the constant operand of other kinds
  std::vector<float> bias;      ///< convolutions, linear; shift of norms
  std::vector<float> mean;      ///< running mean of a batch norm
  std::vector<float> variance;  ///< running variance of a batch norm
};

/// Shapes of what a node computes with besides its inputs; an empty shape where the kind has none.
struct WeightShapes {
  Shape weight;    ///< convolution {out, in / groups, height, width}, transposed {in, out / groups, height, width},
                   ///< linear {out, in}, scale of norms, the constant operand of other kinds
  Shape bias;      ///< convolutions and linear layers with bias; shift of norms
  Shape mean;      ///< batch norm
  Shape variance;  ///< batch norm
};
WeightShapes weight_shapes(const NetworkNode& node);

/// Seeded weights of node `index` of `network`. Every instance differs (compilers merge equal ones). Convolutions and
/// linear layers keep the scale of activations: uniform within ±√(6 / fan-in) (He et al., ICCV 2015, §2.2). Norms are
/// non-trivial: scale and variance lie within [0.5, 1.5], shift and mean within ±0.1; biases and added constants lie
/// within ±0.1, other constants within [0.5, 1.5]. The same seed and network give the same numbers everywhere. Throws
/// InputError when the network has no such node.
LayerWeights random_weights(const Network& network, std::size_t index, std::uint64_t seed);

/// A matrix of so many rows and columns with its columns as rows.
std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t rows, std::int64_t columns);

}  // namespace tenshot::nasbench
