#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/networks/feed_forward.h"
#include "trainer/networks/training_state.h"

namespace tenshot::trainer {

/// Architectures of one device: inputs [rows, inputs] and relative latencies [rows], positive.
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
/// (embedding → one scale a layer of the predictor), the predictor ((architecture, embedding) → relative latency), and
/// its learned step sizes. Losses are mean squared relative errors.
class MetaNetwork {
 public:
  virtual ~MetaNetwork() = default;

  /// One Adam step on the query losses after adaptation, differentiated through the adaptation. Returns their mean.
  virtual double meta_step(const std::vector<MetaTask>& tasks, int inner_steps, double learning_rate) = 0;
  /// The predictor adapted to `support`, with the embedding folded in: layers over the encoding alone.
  virtual std::vector<DenseLayer> adapted(const MetaBatch& support, int inner_steps) const = 0;
  /// Mean squared relative error on the query after adaptation.
  virtual double loss(const MetaTask& task, int inner_steps) const = 0;

  /// Parameters and their moments, in the order of parameters(). Restoring throws as load does.
  virtual AdamState state() const = 0;
  virtual void restore(const AdamState& state) = 0;

  virtual std::vector<float> parameters() const = 0;
  /// Throws FormatError when they are another network's.
  virtual void load(const std::vector<float>& parameters) = 0;
};

/// The network on LibTorch, with weights drawn from `seed`.
std::unique_ptr<MetaNetwork> make_meta_network(int inputs, std::uint64_t seed);

}  // namespace tenshot::trainer
