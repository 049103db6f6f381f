#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/onnx_weights.h"

namespace tenshot::descriptor {

/// What a layer of the cold engine computes.
enum class ColdKind {
  convolution,  ///< also a batch norm that nothing could be folded into: 1 × 1, one group for each channel
  linear,
  max_pool,
  average_pool,
  activation,
  add,
  multiply,
  concatenate,
  slice,
  shuffle,
  softmax,
  reshape
};

/// A function applied element by element: a layer of its own, or what a layer applies to what it computed.
struct ColdActivation {
  std::string name;  ///< "relu", …, as in the network; "linear": alpha · x + beta; empty: none
  double alpha = 0, beta = 0;
};

/// One layer: an operator with the batch norms and the activation behind it that it takes in.
struct ColdLayer {
  ColdKind kind = ColdKind::reshape;
  std::string name;         ///< name of the operator's node
  std::vector<int> inputs;  ///< numbers of tensors
  int output = 0;
  nasbench::Extent kernel, stride, dilation;
  nasbench::Padding padding;
  bool count_padding = false;
  int groups = 1;
  int axis = 1;            ///< concatenate, slice, softmax
  std::int64_t start = 0;  ///< slice
  ColdActivation activation;
  std::string weights_of;             ///< node that has the weights; empty for a batch norm of its own
  std::vector<std::string> norms_of;  ///< nodes of the batch norms that are folded into the weights
  std::vector<double> norm_epsilons;
  bool has_weights() const { return kind == ColdKind::convolution || kind == ColdKind::linear; }
};

/// A network as the cold engine runs it: layers in order of execution, from one image to one tensor.
struct ColdNetwork {
  std::vector<nasbench::Shape> tensors;
  int input = 0, output = 0;
  std::vector<ColdLayer> layers;
};

inline const nasbench::Shape& shape_of(const ColdNetwork& network, int tensor) {
  return network.tensors[static_cast<std::size_t>(tensor)];
}

/// The network in terms of the engine's layers: batch norms are folded into the convolution or linear layer before
/// them, activations are applied by the layer before them where nothing else reads it. Throws InputError that names
/// the node that the engine has no kernel for, and where the network has not one input and one output.
ColdNetwork cold_network(const nasbench::Network& network);

/// Shape of a layer's weights: {out, in / groups, height, width} or {out, in}. Its bias has `out` numbers, always.
nasbench::Shape weight_shape(const ColdNetwork& network, const ColdLayer& layer);

/// A layer's weights with its batch norms folded in, and its bias, zeros where it had none.
struct FoldedWeights {
  std::vector<float> weight, bias;
};
FoldedWeights folded_weights(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights);

/// Heights and widths of the layer's kernel, stride and dilation, then its padding: top, left, bottom, right.
std::array<int, 10> window_numbers(const ColdLayer& layer);

/// What a layer computes, weights aside: equal texts, equal kernels. "convolution 3x3 stride 1x1 … 1x64x56x56 -> …".
std::string shape_key(const ColdNetwork& network, const ColdLayer& layer);

nlohmann::json to_json(const ColdNetwork& network);
/// Throws FormatError that names `file` and the place.
ColdNetwork cold_network_from(const nlohmann::json& json, const std::string& file);

}  // namespace tenshot::descriptor
