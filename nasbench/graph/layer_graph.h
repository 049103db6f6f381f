#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::nasbench {

/// What a layer computes. Kinds are those of the networks of our spaces, no more.
enum class LayerKind : std::uint8_t {
  input,        ///< the image
  convolution,  ///< 2-D, square kernel, no bias, symmetric zero padding
  batch_norm,   ///< inference form, with scale and shift
  relu,
  average_pool,  ///< 2-D, square kernel; padding is not counted in the divisor
  global_average_pool,
  add,    ///< of two inputs
  zero,   ///< multiplication by 0: the `none` operation, never left out
  linear  ///< fully connected, with bias
};

/// "convolution", "batch_norm" and so on, as the enumerator is spelt.
std::string_view name(LayerKind kind);

/// Channels, height and width of one image's tensor (batch is a property of the run, not of the graph).
struct TensorShape {
  int channels = 0;
  int height = 0;
  int width = 0;
  friend bool operator==(const TensorShape& a, const TensorShape& b) {
    return a.channels == b.channels && a.height == b.height && a.width == b.width;
  }
  friend bool operator!=(const TensorShape& a, const TensorShape& b) { return !(a == b); }
};

/// One node. `inputs` are indices of earlier layers, so that the order of the vector is an order of execution.
struct Layer {
  LayerKind kind = LayerKind::input;
  std::string name;  ///< unique in its graph, an identifier: letters, digits, '_'
  std::vector<int> inputs;
  TensorShape output;
  int kernel = 0;   ///< convolution and average_pool
  int stride = 1;   ///< convolution and average_pool
  int padding = 0;  ///< convolution and average_pool
};

/// A network as data: what a runtime prepares and runs, and what ONNX writing writes. The first layer is the input and
/// the last the output; a graph of the input alone is the identity.
struct LayerGraph {
  std::vector<Layer> layers;

  const Layer& output() const { return layers.back(); }
  const TensorShape& input_shape() const { return layers.front().output; }
};

/// Trainable parameters: convolution weights, batch-norm scale and shift, linear weights and bias.
std::int64_t parameter_count(const LayerGraph& graph);

/// Multiply–accumulate operations of convolutions, and of linear layers with their bias, for one image: the count that
/// NAS-Bench-201 publishes as "FLOPs" (Dong and Yang, ICLR 2020); pooling, normalisation and additions count nothing.
std::int64_t flop_count(const LayerGraph& graph);

/// What batch norms add to the variance: PyTorch's default.
constexpr double batch_norm_epsilon = 1e-5;

/// Weights of one layer, as flat arrays in the customary order (convolution [out, in, k, k], linear [out, in]).
/// Empty where the kind has none.
struct LayerWeights {
  std::vector<float> weight;    ///< convolution, linear; batch-norm scale
  std::vector<float> bias;      ///< linear; batch-norm shift
  std::vector<float> mean;      ///< batch-norm running mean
  std::vector<float> variance;  ///< batch-norm running variance
};

/// Seeded weights for layer `index` of `graph`. Every instance differs (compilers merge equal ones). Convolutions and
/// linear layers keep the scale of activations: uniform within ±√(6 / fan-in) (He et al., ICCV 2015, §2.2). Batch-norm
/// statistics are non-trivial: scale and variance within [0.5, 1.5], shift and mean within ±0.1. The same seed and
/// graph give the same numbers everywhere. Throws InputError when the graph has no such layer.
LayerWeights random_weights(const LayerGraph& graph, std::size_t index, std::uint64_t seed);

}  // namespace tenshot::nasbench
