#include "trainer/predictors/maple_edge/network_model.h"

namespace tenshot::trainer {
namespace {

using Settings = MapleEdgeSettings;
using Options = std::vector<DeclaredOption<Settings>>;

constexpr int many = 100'000'000, most_layers = 64, widest_layer = 1'000'000;
constexpr std::int64_t most_weights = 100'000'000;  ///< between two hidden layers: 400 MB

template <class Value>
auto of_fit(Value FitOptions::*member) {
  return [member](auto& settings) -> auto& { return settings.fit.*member; };
}

constexpr const char* about_descriptors =
    "What of a device's descriptor counts: all that the pool has (auto), counters and the latencies of operators alone "
    "(counters), those latencies (latency), what operations cost inside a network (in-network) or nothing (inferred).";

const Options of_all = {
    {"hidden", &Settings::hidden, Allowed(1, widest_layer),
     "Widths of the hidden layers. Wider ones express more, take longer and know a small pool by heart.", "hidden"},
    {"epochs", of_fit(&FitOptions::epochs), Allowed(1, many),
     "Passes over the samples (MAPLE-Edge §2.4), of maple-edge over as many simulated ones. More take longer and "
     "follow noise.",
     "epochs"},
    {"batch", of_fit(&FitOptions::batch), Allowed(1, many),
     "Samples in a step (MAPLE-Edge §2.4). More are faster and take fewer steps.", "batch"},
    {"learning_rate", of_fit(&FitOptions::learning_rate), Allowed(0, 1000),
     "Adam's learning rate at the start. Larger learns faster, and too large never settles.", "learning-rate"},
    {"seed", of_fit(&FitOptions::seed), Allowed(0, 9.2e18), "Seed of every random draw."},
    {"fine_tune_epochs", &Settings::fine_tune_epochs, Allowed(1, many),
     "Epochs of adaptation from the checkpoint's weights. More follow the few measurements further."},
    {"fine_tune_learning_rate", &Settings::fine_tune_learning_rate, Allowed(0, 1000),
     "Learning rate of adaptation from the checkpoint's weights. Larger follows the few measurements further."},
    {"default_clones", &Settings::default_clones, Allowed(1, many),
     "Augmentation factor K (§2.4) unless adaptation is told one: each measured architecture is present K times. "
     "Larger weighs the new device against the pool."},
};

const Options of_plain = {
    {"descriptor_kind", &Settings::descriptor, Allowed({"auto", "counters", "latency", "inferred"}), about_descriptors,
     "descriptor-kind"},
    {"reference_samples", &Settings::reference_samples, Allowed(1, many),
     "Architectures that describe a pool device in an epoch of the pool's own training: as many as a new device will "
     "have measured. More describe it better than the new device will be."},
    {"normalise", &Settings::normalise, Allowed(),
     "Whether descriptors are relative: counters to operator latency (§2.1.2), costs to the device's scale.",
     "no-normalisation"},
    {"scale_latencies", &Settings::scale_latencies, Allowed(),
     "Whether targets are latencies over the device's scale, and not milliseconds.", "no-scaling"},
    {"redraw_references", &Settings::redraw_references, Allowed(),
     "Whether adaptation from scratch describes pool devices anew in every epoch, as training does."},
};

const Options of_simulated = {
    {"descriptor_kind", &Settings::descriptor, Allowed({"auto", "in-network", "counters", "latency", "inferred"}),
     about_descriptors, "descriptor-kind"},
    {"weight_decay", of_fit(&FitOptions::weight_decay), Allowed(0, 1),
     "What a step takes off the weights, biases aside, as a share of the learning rate (AdamW; Loshchilov and Hutter, "
     "ICLR 2019). Larger keeps weights smaller and follows the samples less."},
    {"pretraining_epochs", &Settings::pretraining_epochs, Allowed(0, many),
     "Epochs that teach the network now to take any measurements, so that adapt --mode set-encoder or fine-tune can "
     "use it; 0: only adapt trains.",
     "pretraining-epochs"},
    {"simulation", &Settings::simulation, Allowed(), "How the simulated devices are made up."},
};

void require_trainable(const Settings& settings) {
  const std::vector<int>& hidden = settings.hidden;
  if (hidden.size() > most_layers) throw BadOption({"hidden"}, "at most 64 widths");
  for (std::size_t layer = 1; layer < hidden.size(); ++layer) {
    const std::int64_t most = most_weights / hidden[layer - 1];
    if (hidden[layer] > most) {
      throw BadOption({"hidden", std::to_string(layer)}, "at most " + std::to_string(most) + " after that layer");
    }
  }
}

Declaration<Settings> declaration(const Options& own, const Settings& otherwise) {
  Options options = of_all;
  options.insert(options.end(), own.begin(), own.end());
  return Declaration<Settings>(std::move(options), require_trainable, otherwise);
}

Settings simulated_settings() {
  Settings settings;
  settings.kind = "maple-edge";
  settings.hidden = {256, 128, 64};
  settings.fit.epochs = 10;
  settings.fit.batch = 1024;
  settings.fit.learning_rate = 2e-3;
  settings.default_clones = 1;
  settings.fine_tune_epochs = 4;
  return settings;
}

Settings maple_settings() {
  Settings settings;
  settings.kind = "maple";
  settings.default_clones = 1;
  settings.normalise = settings.scale_latencies = settings.redraw_references = false;
  return settings;
}

using Simulation = SimulationOptions;

const Declaration<Simulation> simulation(
    {
        {"cost_spreads", &Simulation::cost_spreads, Allowed(0, 5),
         "Costs of a device are those of an entry of the library, each times exp(spread · z), z ~ N(0, 1), with one of "
         "these spreads. Larger ones make up devices that are less like the pool."},
        {"described_share", &Simulation::described_share, Allowed(0, 1),
         "Share of devices that are drawn as described, where there is a descriptor. Larger trusts the descriptor "
         "more."},
        {"descriptor_inputs", &Simulation::descriptor_inputs, Allowed(),
         "When training for one set of measurements, whether the kinds of descriptor by which devices are not drawn "
         "are inputs of the network, made up for made-up devices."},
        {"masked_share", &Simulation::masked_share, Allowed(0, 1),
         "Share of devices that lack a kind of descriptor, each kind by itself. Larger needs descriptors less."},
        {"wild_share", &Simulation::wild_share, Allowed(0, 1),
         "Share of devices whose costs are log-uniform over two decades, whatever the library says. Larger is ready "
         "for stranger devices, and less exact on those like the pool."},
        {"least_noise", &Simulation::least_noise, Allowed(1e-6, 1),
         "Least σ of log latency of one measurement, which is log-uniform per device. Larger follows measurements "
         "less."},
        {"most_noise", &Simulation::most_noise, Allowed(1e-6, 1),
         "Largest σ of log latency of one measurement. Larger follows measurements less."},
        {"residual_share", &Simulation::residual_share, Allowed(0, 10),
         "Standard deviation, as a share of σ, of what no structure explains: of log latency, a sum of one number per "
         "decision taken and one per live decision taken. Larger believes structures less."},
        {"two_speed_share", &Simulation::two_speed_share, Allowed(0, 1),
         "Share of devices that measure in two speeds, a quarter of all in the slow one. Larger suspects it sooner."},
        {"slow_step", &Simulation::slow_step, Allowed(0, 2),
         "By how much log latency is larger in the slow speed, at most. Larger expects slower ones."},
        {"acceptance", &Simulation::acceptance, Allowed(1e-6, 1),
         "Share of made-up devices kept: those whose latencies of the measured architectures are nearest to the "
         "measured ones; 1: all. Training on that part of the prior alone changes no conditional expectation at the "
         "measured values as long as all plausible devices are in it (truncated proposals: Deistler, Goncalves and "
         "Macke, NeurIPS 2022)."},
        {"rows", &Simulation::rows, Allowed(1, 10'000'000),
         "Rows of training, drawn anew for every epoch. More take longer."},
        {"pool_share", &Simulation::pool_share, Allowed(0, 1),
         "Share of the rows that are of the pool's devices. Larger believes the pool more than what was made up."},
        {"error_unit", &Simulation::error_unit, Allowed(1e-6, 10),
         "Of log latency: up to which errors count by their squares, beyond by their sizes. Larger lets large errors "
         "count more."},
    },
    [](const Simulation& options) {
      if (options.least_noise > options.most_noise)
        throw BadOption({"least_noise"}, "a least_noise of at most most_noise");
    });

}  // namespace

const Declaration<Settings> simulated_options = declaration(of_simulated, simulated_settings());
const Declaration<Settings> plain_options = declaration(of_plain, {});
const Declaration<Settings> maple_options = declaration(of_plain, maple_settings());

Settings settings_of(const Declaration<Settings>& options, const JsonField& card) {
  const JsonField given = card.at("settings");
  Settings settings = read_settings(options, given);
  settings.kind = card.at("predictor").text();
  settings.fit.seed = seed_of(card);
  if (const auto descriptor = given.find("descriptor")) settings.descriptor = descriptor->text();
  return settings;
}

const Declaration<Simulation>& declared(const Simulation&) { return simulation; }

}  // namespace tenshot::trainer
