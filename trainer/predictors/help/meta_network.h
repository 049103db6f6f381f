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
  MetaNetwork(int inputs, std::uint64_t seed);
  MetaNetwork(MetaNetwork&&) noexcept;
  MetaNetwork& operator=(MetaNetwork&&) noexcept;
  ~MetaNetwork();

  /// One Adam step on the query losses after adaptation, differentiated through the adaptation. Returns their mean.
  double meta_step(const std::vector<MetaTask>& tasks, int inner_steps, double learning_rate);
  /// The predictor adapted to `support`, with the embedding folded in: layers over the encoding alone.
  std::vector<DenseLayer> adapted(const MetaBatch& support, int inner_steps) const;
  /// Mean squared relative error on the query after adaptation.
  double loss(const MetaTask& task, int inner_steps) const;

  /// Parameters and their moments, in the order of parameters(). Restoring throws as load does.
  AdamState state() const;
  void restore(const AdamState& state);

  std::vector<float> parameters() const;
  /// Throws FormatError when they are another network's.
  void load(const std::vector<float>& parameters);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tenshot::trainer
