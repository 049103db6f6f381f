#pragma once

#include <cstdint>
#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/options.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// How HELP is meta-trained. Each option is explained where it is declared (help.cpp).
struct HelpSettings {
  int episodes = 1500;
  int devices_per_episode = 4;
  int support = 10;
  int query = 64;
  int inner_steps = 2;
  int adaptation_steps = 20;
  double learning_rate = 3e-3;
  std::uint64_t seed = 1;
};
const Declaration<HelpSettings>& declared(const HelpSettings&);

/// "help": the meta-learned predictor of HELP (Lee, Lee, Chong and Hwang, NeurIPS 2021), from its paper's description,
/// in LibTorch. A hardware embedding is computed from the latencies of the measured architectures; a network
/// maps architecture and embedding to latency; the embedding also scales each layer's initial weights (after Lee
/// et al., Bayesian TAML, ICLR 2020); and a few steps of gradient descent on the measured architectures, with learned
/// step sizes, adapt them (MAML, Finn et al., ICML 2017, through whose steps training differentiates). Each episode of
/// training plays new devices with those of the pool.
///
/// Where it differs from the authors' code: the embedding is a mean over (architecture, latency) pairs, so that any ten
/// architectures can be the references and one training serves all of them, not one fixed set; the scale of the new
/// device is the geometric mean of its measured latencies, not the range of its 900 training latencies; the loss is the
/// squared relative error; the architecture encoder is fully connected on the one-hot encoding, not a graph network;
/// the scaling is a point, not sampled. Nothing but the measurements is needed of the new device.
///
/// On the HELP task it reaches a mean ρ of .907, and 62 % within ±10 % (experiments/cells/help_task/peers.md). The
/// paper reports .932, on architectures of its own choice. On eyeriss it is .71 against .94; on the five other devices
/// the means are .946 and .931.
///
/// Throws InputError for a device with too few connected architectures, Interrupted. Every 25 episodes the state is
/// saved in control.state_file, where a later call on the same pool with the same settings goes on, to the same bytes.
std::unique_ptr<PoolModel> train_help(const datasets::Pool& pool, const HelpSettings& settings,
                                      const TrainingControl& control);
/// Throws FormatError. Its predictors are FeedForwardPredictors.
std::unique_ptr<PoolModel> load_help(const Archive& archive);

}  // namespace tenshot::trainer
