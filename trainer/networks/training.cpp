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

double train_epoch(RegressionNetwork& network, const TrainingSet& set, const FitOptions& options, int epoch) {
  const auto width = static_cast<std::size_t>(set.width);
  std::vector<int> order = numbers_below<int>(static_cast<std::size_t>(set.rows()));
  Rng rng(options.seed, static_cast<std::uint64_t>(epoch));
  rng.shuffle(order);

  TrainingSet batch;
  batch.width = set.width;
  const int batches = (set.rows() + options.batch - 1) / options.batch;
  double loss_sum = 0;
  for (int b = 0; b < batches; ++b) {
    batch.clear();
    const int begin = b * options.batch;
    for (int i = begin; i < std::min(begin + options.batch, set.rows()); ++i) {
      const auto sample = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      const auto inputs = set.inputs.begin() + static_cast<std::ptrdiff_t>(sample * width);
      batch.inputs.insert(batch.inputs.end(), inputs, inputs + set.width);
      batch.targets.push_back(set.targets[sample]);
      batch.units.push_back(set.units[sample]);
    }
    const double progress = (epoch + static_cast<double>(b) / batches) / options.epochs;
    const double rate = options.learning_rate * 0.5 * (1 + std::cos(M_PI * progress));
    loss_sum += batch.rows() * network.train_step(batch, rate, options.weight_decay);
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
  const LibTorchTraining threads(control.threads);
  TrainingState state = find_training_state(fingerprint, control.state_file);
  try {
    if (state.done > 0) network.restore(state.adam);
  } catch (const FormatError&) {
    state = {};
  }
  const int done_before = state.done;
  const Clock::time_point start = Clock::now();
  while (state.done < options.epochs) {
    state.loss = train_epoch(network, samples(state.done), options, state.done);
    ++state.done;
    if (!std::isfinite(state.loss)) {
      std::error_code ignored;  // the state before it would only diverge again
      std::filesystem::remove(control.state_file, ignored);
      throw Error("training diverged in epoch " + std::to_string(state.done) +
                  " (the loss is not finite); use a smaller learning rate");
    }
    save_training_state({network.state(), state.done, state.loss}, fingerprint, control.state_file);
    const double seconds_left = seconds_since(start) / (state.done - done_before) * (options.epochs - state.done);
    report_progress(control, {state.done, options.epochs, state.loss, seconds_left}, "epoch", [] {});
  }
  return state.loss;
}

void save_training_state(const TrainingState& state, const std::string& fingerprint,
                         const std::filesystem::path& file) {
  if (file.empty()) return;
  Archive archive;
  archive.card = {{"content", "training state"}, {"fingerprint", fingerprint},     {"epochs_done", state.done},
                  {"loss", state.loss},          {"best_score", state.best_score}, {"steps", state.adam.steps}};
  archive.put("parameters", to_array(state.adam.parameters));
  archive.put("first_moment", to_array(state.adam.first_moment));
  archive.put("second_moment", to_array(state.adam.second_moment));
  archive.put("best", to_array(state.best));
  write_file_quickly(file, archive.serialise());
}

TrainingState find_training_state(const std::string& fingerprint, const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file)) return {};
  try {
    const Archive archive = load_archive(file);
    if (archive.card.at("fingerprint") != fingerprint) return {};
    return {{archive.floats("parameters"), archive.floats("first_moment"), archive.floats("second_moment"),
             archive.card.at("steps")},
            archive.card.at("epochs_done"),
            archive.card.at("loss"),
            archive.floats("best"),
            archive.card.at("best_score")};
  } catch (const Error&) {
    return {};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void report_progress(const TrainingControl& control, const TrainingProgress& now, const std::string& what,
                     const std::function<void()>& save) {
  if (!control.on_epoch || control.on_epoch(now) || now.epoch == now.epochs) return;
  save();
  throw Interrupted("stopped after " + what + " " + std::to_string(now.epoch) + " of " + std::to_string(now.epochs) +
                    (control.state_file.empty() ? "" : "; the same command goes on from there"));
}

}  // namespace tenshot::trainer
