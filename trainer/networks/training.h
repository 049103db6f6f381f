#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/networks/regression_network.h"

namespace tenshot::trainer {

struct FitOptions {
  int epochs = 200;             ///< passes over the samples (MAPLE-Edge §2.4); more take longer and follow noise
  int batch = 128;              ///< samples in a step (MAPLE-Edge §2.4); larger is faster and takes fewer steps
  double learning_rate = 1e-3;  ///< Adam's, at the start; larger learns faster, and too large never settles
  /// What a step takes off the weights, biases aside, as a share of the learning rate (AdamW; Loshchilov and Hutter,
  /// ICLR 2019). More keeps weights smaller and follows the samples less.
  double weight_decay = 0;
  std::uint64_t seed = 1;  ///< of the order of samples in each epoch
};

/// The samples of an epoch; the same set every time for plain training, another draw where the set is augmented. Must
/// depend on nothing but the epoch, so that resumed training sees what uninterrupted training would have.
using EpochSamples = std::function<const TrainingSet&(int epoch)>;

/// Trains `network` for `options.epochs` epochs over shuffled batches, the learning rate falling to 0 along half a
/// cosine (Loshchilov and Hutter, ICLR 2017, without restarts). Returns the mean loss of the last epoch.
///
/// After every epoch the state is saved in control.state_file, where a later call with the same `fingerprint` (of data
/// and options) finds it and goes on; another fingerprint's state is overwritten. Draws are functions of seed and
/// epoch, so that the result has the same bytes however often it was interrupted. Throws Interrupted as on_epoch says.
double fit(RegressionNetwork& network, const EpochSamples& samples, const FitOptions& options,
           const std::string& fingerprint, const TrainingControl& control);

struct TrainingState {
  AdamState adam;
  int done = 0;  ///< epochs, or episodes
  double loss = 0;
  std::vector<float> best = {};  ///< parameters of the best state so far, where states are judged
  double best_score = -1e9;
};

/// `fingerprint` is of all that the training depends on. Nothing is saved where `file` is empty. Throws FileError.
void save_training_state(const TrainingState& state, const std::string& fingerprint, const std::filesystem::path& file);

/// What an earlier call left, or a state before the first epoch: an unfinished state that cannot be read or belongs to
/// other data is worth no error, the training simply starts over. `file` may be empty.
TrainingState find_training_state(const std::string& fingerprint, const std::filesystem::path& file);

/// Tells control.on_epoch which `what` ("epoch") is done. Where that says stop, calls `save` and throws Interrupted.
void report_progress(const TrainingControl& control, const TrainingProgress& now, const std::string& what,
                     const std::function<void()>& save);

}  // namespace tenshot::trainer
