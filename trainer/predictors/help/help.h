#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/options.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// How HELP is meta-trained. Each option is explained where it is declared (help.cpp).
struct HelpSettings {
  int episodes = 2000;
  int devices_per_episode = 8;
  int support = 10;
  int query = 100;
  int inner_steps = 2;
  int adaptation_steps = 2;
  double learning_rate = 1e-3;
  bool graph = true;
  bool references = false;
  std::vector<std::string> validation;
  std::uint64_t seed = 1;
};
const Declaration<HelpSettings>& declared(const HelpSettings&);

/// "help": the meta-learned predictor of HELP (Lee, Lee, Chong and Hwang, NeurIPS 2021), in LibTorch. A hardware
/// embedding is computed from the latencies of the measured architectures; a network maps architecture and embedding to
/// latency, cells by a graph encoder; the embedding also scales each layer's initial weights (Lee et al., Bayesian
/// TAML, ICLR 2020); a few gradient steps on the measured architectures, of learned sizes, adapt them.
///
/// Where it differs from the authors' code: the embedding is a mean over (architecture, latency) pairs, so that any ten
/// can be measured; latencies are scaled by the least and the most of the ten, not of 900 of the new device, and the
/// same ten adapt the network (the authors' adapts on ten more); the scaling of weights is a point, not sampled;
/// without validation devices, the last state is kept.
///
/// Throws InputError for a device with too few connected architectures, for a validation device that is not in the pool
/// and where no other is left, Interrupted. Every 25 episodes the state is saved in control.state_file, where a later
/// call on the same pool with the same settings goes on, to the same bytes.
std::unique_ptr<PoolModel> train_help(const datasets::Pool& pool, const HelpSettings& settings,
                                      const TrainingControl& control);
/// Throws FormatError. Its predictors are feed-forward networks (trainer/networks/feed_forward_predictor.h).
std::unique_ptr<PoolModel> load_help(const Archive& archive);

}  // namespace tenshot::trainer
