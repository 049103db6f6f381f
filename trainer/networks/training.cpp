#include "trainer/networks/training.h"

#include <cmath>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/libtorch.h"

namespace tenshot::trainer {
namespace {

/// Restores what an earlier call left, where it fits the network.
TrainingState resumed(RegressionNetwork& network, const std::string& fingerprint, const std::filesystem::path& file) {
  std::optional<TrainingState> found = find_training_state(fingerprint, file);
  if (!found) return {};
  try {
    network.restore(found->adam);
  } catch (const FormatError&) {
    return {};
  }
  return *std::move(found);
}

/// One pass over the shuffled samples; returns the mean loss.
double train_epoch(RegressionNetwork& network, const TrainingSet& set, const FitOptions& options, int epoch) {
  constexpr double pi = 3.14159265358979323846;
  const auto width = static_cast<std::size_t>(set.width);
  std::vector<int> order = numbers_below<int>(static_cast<std::size_t>(set.rows()));
  Rng rng(options.seed, static_cast<std::uint64_t>(epoch));
  rng.shuffle(order);

  std::vector<float> inputs(width * static_cast<std::size_t>(options.batch));
  std::vector<float> targets(static_cast<std::size_t>(options.batch)), units(targets.size());
  const int batches = (set.rows() + options.batch - 1) / options.batch;
  double loss_sum = 0;
  for (int b = 0; b < batches; ++b) {
    const int begin = b * options.batch;
    const int rows = std::min(options.batch, set.rows() - begin);
    for (int r = 0; r < rows; ++r) {
      const auto sample = static_cast<std::size_t>(order[static_cast<std::size_t>(begin + r)]);
      std::copy_n(set.inputs.begin() + static_cast<std::ptrdiff_t>(sample * width), width,
                  inputs.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * width));
      targets[static_cast<std::size_t>(r)] = set.targets[sample];
      units[static_cast<std::size_t>(r)] = set.units[sample];
    }
    const double progress = (epoch + static_cast<double>(b) / batches) / options.epochs;
    const double rate = options.learning_rate * 0.5 * (1 + std::cos(pi * progress));
    loss_sum +=
        rows * network.train_step({rows, inputs.data(), targets.data(), units.data()}, rate, options.weight_decay);
  }
  return loss_sum / set.rows();
}

}  // namespace

double fit(RegressionNetwork& network, const EpochSamples& samples, const FitOptions& options,
           const std::string& fingerprint, const TrainingControl& control) {
  if (options.epochs < 1 || options.batch < 1 || !(options.learning_rate > 0) || !(options.weight_decay >= 0)) {
    throw InputError(
        "training needs at least one epoch, a batch of at least one, a positive learning rate and a weight decay of at "
        "least 0");
  }
  const LibTorchThreads threads(control.threads);
  const FlushedDenormals flushed;
  const TrainingState before = resumed(network, fingerprint, control.state_file);
  double loss = before.loss;
  const Clock::time_point start = Clock::now();
  for (int epoch = before.done; epoch < options.epochs; ++epoch) {
    loss = train_epoch(network, samples(epoch), options, epoch);
    if (!std::isfinite(loss)) {
      std::error_code ignored;  // the state before it would only diverge again
      std::filesystem::remove(control.state_file, ignored);
      throw Error("training diverged in epoch " + std::to_string(epoch + 1) +
                  " (the loss is not finite); use a smaller learning rate");
    }
    const int done = epoch + 1;
    if (!control.state_file.empty()) {
      save_training_state({network.state(), done, loss}, fingerprint, control.state_file);
    }
    if (!control.on_epoch) continue;
    const double seconds = seconds_since(start);
    const double seconds_left = seconds / (done - before.done) * (options.epochs - done);
    if (!control.on_epoch({done, options.epochs, loss, seconds_left}) && done < options.epochs) {
      throw Interrupted("stopped after epoch " + std::to_string(done) + " of " + std::to_string(options.epochs) +
                        (control.state_file.empty() ? "" : "; the same command goes on from there"));
    }
  }
  return loss;
}

void save_training_state(const TrainingState& state, const std::string& fingerprint,
                         const std::filesystem::path& file) {
  const auto count = static_cast<std::int64_t>(state.adam.parameters.size());
  Archive archive;
  archive.card = {{"content", "training state"}, {"fingerprint", fingerprint},     {"epochs_done", state.done},
                  {"loss", state.loss},          {"best_score", state.best_score}, {"steps", state.adam.steps}};
  archive.put("parameters", to_array(state.adam.parameters, {count}));
  archive.put("first_moment", to_array(state.adam.first_moment, {count}));
  archive.put("second_moment", to_array(state.adam.second_moment, {count}));
  archive.put("best", to_array(state.best));
  write_file_quickly(file, archive.serialise());
}

std::optional<TrainingState> find_training_state(const std::string& fingerprint, const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file)) return std::nullopt;
  try {
    const Archive archive = load_archive(file);
    if (archive.card.at("fingerprint") != fingerprint) return std::nullopt;
    return TrainingState{{archive.floats("parameters"), archive.floats("first_moment"), archive.floats("second_moment"),
                          archive.card.at("steps")},
                         archive.card.at("epochs_done"),
                         archive.card.at("loss"),
                         archive.floats("best"),
                         archive.card.at("best_score")};
  } catch (const Error&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tenshot::trainer
