#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/networks/regression_network.h"

namespace tenshot::trainer {

/// Architectures of one device: inputs [rows, inputs] and scaled latencies [rows].
struct MetaBatch {
  std::vector<float> inputs;
  std::vector<float> targets;
};

/// One device of an episode: what it is adapted on, and what the adapted network is judged on.
struct MetaTask {
  MetaBatch support;
  MetaBatch query;
};

/// The networks of HELP (trainer/predictors/help/help.h): a set encoder (support → hardware embedding), a modulator
/// (embedding → one scale a layer of the predictor), the predictor ((architecture, embedding) → scaled latency), and
/// its learned step sizes, one for each weight. Losses are mean squared errors.
class MetaNetwork {
 public:
  virtual ~MetaNetwork() = default;

  /// One Adam step on the query losses after adaptation, differentiated through the adaptation. Returns their mean.
  virtual double meta_step(const std::vector<MetaTask>& tasks, int inner_steps, double learning_rate) = 0;
  /// The predictor adapted to `support`, with embedding and graph folded in: layers over the encoding alone.
  virtual std::vector<DenseLayer> adapted(const MetaBatch& support, int inner_steps) const = 0;
  /// Its parameters are weight [outputs, inputs] and bias of each layer (two of the set encoder, two of the modulator,
  /// the encoder's, three that join), then the step size of each weight and bias from the encoder on.
  virtual AdamState state() const = 0;
  /// Throws FormatError when it is another network's.
  virtual void restore(const AdamState& state) = 0;
};

/// The network on LibTorch, with weights drawn from `seed`. With `cells`, the encodings are of NAS-Bench-201 and read
/// as graphs by four layers; otherwise the encoder is two fully connected layers.
std::unique_ptr<MetaNetwork> make_meta_network(int inputs, bool cells, std::uint64_t seed);

}  // namespace tenshot::trainer
