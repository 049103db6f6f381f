#include "trainer/predictors/help/help.h"

#include <algorithm>
#include <cmath>

#include "datasets/pool/describe.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/libtorch.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/help/meta_network.h"

namespace tenshot::trainer {

namespace {

using Settings = HelpSettings;

constexpr double many = 1'000'000, most_steps = 1000;

const Declaration<Settings> help_options({
    {"episodes", &Settings::episodes, Allowed(0, many), "Episodes of meta-training. More take longer."},
    {"devices_per_episode", &Settings::devices_per_episode, Allowed(1, many),
     "Devices of the pool in an episode. More are steadier and take longer."},
    {"support", &Settings::support, Allowed(1, many),
     "Measured architectures of a device in an episode: as many as a new device will have. More teach the network to "
     "expect more."},
    {"query", &Settings::query, Allowed(1, many),
     "Architectures that the adapted predictor is judged on in an episode. More are steadier."},
    {"inner_steps", &Settings::inner_steps, Allowed(0, most_steps),
     "Gradient steps of adaptation in an episode. More take longer and more memory."},
    {"adaptation_steps", &Settings::adaptation_steps, Allowed(0, most_steps),
     "Gradient steps on the new device. More follow its few measurements further."},
    {"learning_rate", &Settings::learning_rate, Allowed(0, 1),
     "Learning rate of meta-training. Larger learns faster, and too large never settles."},
    {"graph", &Settings::graph, Allowed(),
     "Read cells of NAS-Bench-201 as graphs. Without, as of other spaces, the encoder is fully connected."},
    {"references", &Settings::references, Allowed(),
     "Train for the first architectures of the pool as the ones that are measured, as many as support says. Without, "
     "for any."},
    {"validation", &Settings::validation, Allowed(),
     "Devices of the pool that teach nothing and judge: of the states after every 25 episodes, the one is kept whose "
     "adapted predictors rank their architectures best. None: the last state is kept."},
    {"seed", &Settings::seed, Allowed(0, 9.2e18), "Seed of every random draw."},
});

nlohmann::json settings_json(const Settings& settings) {
  nlohmann::json json = help_options.to_json(settings);
  json.erase("seed");
  return json;
}

/// The network predicts 0 at the least of the measured latencies and 1 at the most.
struct Range {
  explicit Range(const std::vector<double>& latency_ms)
      : zero_ms(*std::min_element(latency_ms.begin(), latency_ms.end())),
        unit_ms(*std::max_element(latency_ms.begin(), latency_ms.end()) - zero_ms) {
    if (!(unit_ms > 0)) unit_ms = zero_ms;
  }
  double zero_ms, unit_ms;
};

MetaBatch batch_of(const SearchSpace& space, const AdaptationSet& set, const Range& range) {
  MetaBatch batch;
  batch.inputs.resize(set.architectures.size() * space.encoding_width());
  for (std::size_t i = 0; i < set.architectures.size(); ++i) {
    space.encode(set.architectures[i], batch.inputs.data() + i * space.encoding_width());
    batch.targets.push_back(static_cast<float>((set.latency_ms[i] - range.zero_ms) / range.unit_ms));
  }
  return batch;
}

class HelpModel : public PoolModel {
 public:
  HelpModel(datasets::Pool pool, HelpSettings settings, std::unique_ptr<MetaNetwork> network)
      : PoolModel(std::move(pool), "help"), settings_(settings), network_(std::move(network)) {}

  void put_learned(Archive& archive) const override {
    archive.card["seed"] = settings_.seed;
    archive.card["settings"] = settings_json(settings_);
    archive.put("parameters", to_array(network_->state().parameters));
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    const LibTorchThreads threads(options.control.threads);
    return feed_forward_predictor(adapted(set), predictor_card(*this, set, options.seed));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<std::vector<double>> latency_ms;
    for (const datasets::DeviceRuntime& device : pool_.devices) {
      AdaptationSet first;
      for (std::size_t i = 0; i < std::min<std::size_t>(settings_.support, device.latencies.size()); ++i) {
        first.add(device.latencies[i].architecture, device.latencies[i].latency_ms);
      }
      latency_ms.push_back(evaluate(adapted(first), nasbench::search_space(*pool_.space), architectures));
    }
    return latency_ms;
  }

 private:
  FeedForward adapted(const AdaptationSet& set) const {
    const Range range(set.latency_ms);
    FeedForward network{
        network_->adapted(batch_of(nasbench::search_space(*pool_.space), set, range), settings_.adaptation_steps),
        range.unit_ms, smallest_prediction_ms(set)};
    network.layers.back().bias.front() += static_cast<float>(range.zero_ms / range.unit_ms);
    return network;
  }

  HelpSettings settings_;
  std::unique_ptr<MetaNetwork> network_;
};

constexpr std::uint64_t first_stream = 1000;  // of episodes: far from those of the weights
constexpr std::uint64_t validation_stream = 999;
constexpr int tasks_of_validation = 8;  // of each device
constexpr int episodes_between_saves = 25;

/// Draws the tasks of episodes: a device of the pool but those of validation, and its own architectures for both parts.
class TaskSource {
 public:
  TaskSource(const datasets::Pool& pool, const HelpSettings& settings) : pool_(pool), settings_(settings) {
    for (const datasets::DeviceRuntime& device : pool.devices) {
      const auto& judges = settings.validation;
      const bool judge = std::find(judges.begin(), judges.end(), device.id) != judges.end();
      (judge ? validation_ : learning_).push_back(rows_.size());
      rows_.emplace_back();
      for (std::size_t i = 0; i < device.latencies.size(); ++i) {
        if (pool.space->connected(device.latencies[i].architecture)) rows_.back().push_back(i);
      }
      if (rows_.back().size() <= static_cast<std::size_t>(settings.support)) {
        throw InputError("device '" + device.id + "' has " + std::to_string(rows_.back().size()) +
                         " connected architectures, help needs at least " + std::to_string(settings.support + 1));
      }
    }
    if (learning_.empty() || validation_.size() != settings.validation.size()) {
      throw InputError("the pool has " + std::to_string(validation_.size()) + " of the validation devices " +
                       joined(settings.validation) + " and " + std::to_string(learning_.size()) +
                       " others; expected all of them, and another to learn from");
    }
  }

  MetaTask draw(Rng& rng) const { return draw(learning_[rng.below(learning_.size())], rng); }

  /// Keeps the network's state where its adapted predictors rank the architectures of validation devices better than
  /// those of all states before, by the sum of rank correlations over tasks that are always the same.
  void judge(const MetaNetwork& network, TrainingState& state) const {
    if (validation_.empty()) return;
    Rng rng(settings_.seed, validation_stream);
    double score = 0;
    for (int task = 0; task < tasks_of_validation; ++task) {
      for (const std::size_t device : validation_) {
        const MetaTask judged = draw(device, rng);
        const std::vector<float> predicted =
            evaluate_layers(network.adapted(judged.support, settings_.adaptation_steps), judged.query.inputs);
        score += datasets::spearman({predicted.begin(), predicted.end()},
                                    {judged.query.targets.begin(), judged.query.targets.end()});
      }
    }
    if (!(score > state.best_score)) return;  // nor where it is not a number
    state.best = network.state().parameters;
    state.best_score = score;
  }

 private:
  MetaTask draw(std::size_t d, Rng& rng) const {
    std::vector<std::size_t> rows = rows_[d];
    const auto support = static_cast<std::size_t>(settings_.support);
    const std::size_t wanted = std::min(support + static_cast<std::size_t>(settings_.query), rows.size());
    AdaptationSet parts[2];
    for (std::size_t i = 0; i < wanted; ++i) {
      if (i >= support || !settings_.references) std::swap(rows[i], rows[i + rng.below(rows.size() - i)]);
      const datasets::Measurement& row = pool_.devices[d].latencies[rows[i]];
      parts[i < support ? 0 : 1].add(row.architecture, row.latency_ms);
    }
    const Range range(parts[0].latency_ms);
    return {batch_of(nasbench::search_space(*pool_.space), parts[0], range),
            batch_of(nasbench::search_space(*pool_.space), parts[1], range)};
  }

  const datasets::Pool& pool_;
  const HelpSettings& settings_;
  std::vector<std::vector<std::size_t>> rows_;
  std::vector<std::size_t> learning_, validation_;  ///< devices of the pool
};

std::unique_ptr<MetaNetwork> network_of(const datasets::Pool& pool, const HelpSettings& settings) {
  return make_meta_network(static_cast<int>(nasbench::search_space(*pool.space).encoding_width()),
                           settings.graph && pool.space == &nasbench::nasbench201(), settings.seed);
}

}  // namespace

const Declaration<Settings>& declared(const Settings&) { return help_options; }

std::unique_ptr<PoolModel> train_help(const datasets::Pool& pool, const HelpSettings& settings,
                                      const TrainingControl& control) {
  const LibTorchTraining threads(control.threads);
  const TaskSource source(pool, settings);
  auto network = network_of(pool, settings);
  const std::string fingerprint =
      training_fingerprint({{"help", settings_json(settings)}, {"seed", settings.seed}}, pool);
  TrainingState state = find_training_state(fingerprint, control.state_file);
  if (state.done > 0) network->restore(state.adam);
  const int done_before = state.done;
  const auto save = [&] {
    state.adam = network->state();
    save_training_state(state, fingerprint, control.state_file);
  };
  const Clock::time_point start = Clock::now();
  while (state.done < settings.episodes) {
    // Episodes draw from streams of their own, so that what is resumed sees what would have been.
    Rng rng(settings.seed, first_stream + static_cast<std::uint64_t>(state.done));
    std::vector<MetaTask> tasks;
    for (int d = 0; d < settings.devices_per_episode; ++d) tasks.push_back(source.draw(rng));
    const double phase = static_cast<double>(state.done) / settings.episodes;
    const double rate = settings.learning_rate * 0.5 * (1 + std::cos(M_PI * phase));
    state.loss = network->meta_step(tasks, settings.inner_steps, rate);
    ++state.done;
    if (state.done == settings.episodes || state.done % episodes_between_saves == 0) {
      source.judge(*network, state);
      save();
    }
    const double left_s = seconds_since(start) / (state.done - done_before) * (settings.episodes - state.done);
    report_progress(control, {state.done, settings.episodes, state.loss, left_s}, "episode", save);
  }
  if (!state.best.empty()) {
    state.adam.parameters = state.best;
    network->restore(state.adam);
  }
  return std::make_unique<HelpModel>(pool, settings, std::move(network));
}

std::unique_ptr<PoolModel> load_help(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  const JsonField card(archive);
  HelpSettings settings = read_settings(help_options, card.at("settings"));
  settings.seed = seed_of(card);
  auto network = network_of(pool, settings);
  AdamState state = network->state();
  state.parameters = checked_floats(archive, "parameters", {-1e9, 1e9});
  network->restore(state);
  return std::make_unique<HelpModel>(std::move(pool), settings, std::move(network));
}

}  // namespace tenshot::trainer
