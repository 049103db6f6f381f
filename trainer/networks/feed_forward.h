#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/archive.h"

namespace tenshot::trainer {

/// One fully connected layer: y = W x + b.
struct DenseLayer {
  int inputs = 0;
  int outputs = 0;
  std::vector<float> weight;  ///< [outputs, inputs], row-major
  std::vector<float> bias;    ///< [outputs]

  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<const Matrix> matrix() const { return {weight.data(), outputs, inputs}; }
};

/// A predictor that is a feed-forward network over the one-hot encoding x alone, once the descriptor of a known device
/// is folded into the first layer: latency_ms = max(floor, scale · network(x)), or max(floor, scale · exp(network(x))).
struct FeedForward {
  std::vector<DenseLayer> layers;  ///< ReLU between them; the first takes the encoding, the last has one output
  double scale_ms = 1;
  double floor_ms = 0;       ///< positive: a latency is never negative, whatever the network says
  bool logarithmic = false;  ///< the network answers log(latency / scale)
};

/// Folds the constant inputs that follow the first `variable_inputs` into the first layer's bias.
std::vector<DenseLayer> fold_constant_inputs(std::vector<DenseLayer> layers, int variable_inputs,
                                             const std::vector<float>& constant_inputs);

/// latency_ms of each architecture. Needs no LibTorch.
std::vector<double> evaluate(const FeedForward& network, const nasbench::SearchSpace& space,
                             const std::vector<nasbench::Architecture>& architectures);

/// The layers' outputs for raw inputs [rows, layers[0].inputs]: shape [rows].
std::vector<float> evaluate_layers(const std::vector<DenseLayer>& layers, const std::vector<float>& inputs);

void put_layers(Archive& archive, const std::string& prefix, const std::vector<DenseLayer>& layers);
/// Throws FormatError when the arrays are missing or do not fit each other, or the first layer takes another number of
/// inputs, which are `what` in the message (" for the encoding").
std::vector<DenseLayer> get_layers(const Archive& archive, const std::string& prefix, std::size_t inputs,
                                   const std::string& what = "");

/// {"scale_ms", "floor_ms", "logarithmic", "layers": [{"weight": [[…]], "bias": […]}]}.
nlohmann::json to_document(const FeedForward& network);

}  // namespace tenshot::trainer
