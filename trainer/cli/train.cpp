#include <algorithm>

#include "datasets/pool/validate.h"
#include "nasbench/support/files.h"
#include "nasbench/support/text.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/outcome.h"
#include "trainer/cli/quantity_option.h"
#include "trainer/cli/shipped.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::cli {
namespace {

trainer::MapleEdgeSettings settings_of(const OptionParser& options, const std::string& predictor) {
  trainer::MapleEdgeSettings settings = trainer::default_settings(predictor);
  settings.fit.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  if (options.has("epochs")) settings.fit.epochs = options.integer("epochs", 1);
  if (options.has("batch")) settings.fit.batch = options.integer("batch", 1);
  if (options.has("learning-rate")) settings.fit.learning_rate = options.get<double>("learning-rate");
  if (options.has("hidden")) settings.hidden.clear();
  for (const std::string& width : split_list(options.has("hidden") ? options.get("hidden") : "")) {
    if (width.find_first_not_of("0123456789") != std::string::npos || width.size() > 5 || std::stoi(width) < 1) {
      throw UsageError("--hidden is '" + options.get("hidden") + "', expected layer widths such as 512,128");
    }
    settings.hidden.push_back(std::stoi(width));
  }
  settings.descriptor = options.get("descriptor-kind");
  const std::string richest = trainer::richest_descriptor(predictor);
  std::vector<std::string> kinds = {"auto", richest, "latency", "inferred"};
  if (predictor == "maple-edge") kinds.insert(kinds.begin() + 2, "counters");
  if (std::find(kinds.begin(), kinds.end(), settings.descriptor) == kinds.end()) {
    throw UsageError("--descriptor-kind is '" + settings.descriptor + "', expected one of " + joined(kinds));
  }
  if (options.has("pretraining-epochs")) settings.pretraining_epochs = options.integer("pretraining-epochs", 1);
  if (options.has("no-normalisation")) settings.normalise = false;
  if (options.has("no-scaling")) settings.scale_latencies = false;
  return settings;
}

/// An option that another predictor has would be ignored.
void require_options_of(const std::string& predictor, const OptionParser& options) {
  std::vector<std::string> all;
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    all.insert(all.end(), row.train_options.begin(), row.train_options.end());
  }
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    if (row.name == predictor) options.require_of(row.train_options, all, "--predictor " + predictor);
  }
}

void add_train_options(OptionParser& options) {
  auto add = options.add();
  add("pool", "required: folder of device-runtimes; data is shipped", cxxopts::value<std::string>());
  add("without", "device-runtimes of the pool to leave out, comma-separated", cxxopts::value<std::string>());
  add("predictor",
      "structured (costs and execution structure; the default for nasbench201), operators (costs of kinds of "
      "operators; "
      "the default for every other space), maple-edge (network taught by simulated devices); to compare with: "
      "maple-edge-plain (the paper's network), maple (without MAPLE-Edge's additions), help, flops, flops-memory, "
      "look-up, additive, transfer, forest",
      cxxopts::value<std::string>());
  add("seed", "seed of every random draw", cxxopts::value<std::string>()->default_value("1"));
  add("out", "required: checkpoint to write", cxxopts::value<std::string>());
  add("epochs", "networks: passes over the pool (200), of maple-edge over as many simulated samples",
      cxxopts::value<std::string>());
  add("batch", "networks: samples a step (128)", cxxopts::value<std::string>());
  add("learning-rate", "networks: Adam's, at the start (0.001)", cxxopts::value<double>());
  add("hidden", "networks: widths of the hidden layers (512,128)", cxxopts::value<std::string>());
  add("pretraining-epochs",
      "maple-edge: teach the network now, for so many epochs, to take any measurements, so that adapt --mode "
      "set-encoder or fine-tune can use it; without it only adapt trains",
      cxxopts::value<std::string>());
  add("descriptor-kind",
      "what of a device's descriptor counts: auto, in-network (structured, maple-edge), counters (networks), latency, "
      "inferred (nothing)",
      cxxopts::value<std::string>()->default_value("auto"));
  add("no-normalisation", "descriptors in absolute units (MAPLE)");
  add("no-scaling", "targets in milliseconds (MAPLE)");
  add_json_option(options);
  add("threads", "processor threads; one gives the same bytes every time",
      cxxopts::value<std::string>()->default_value("1"));
  add_quantity_option(options, "what the pool's devices hold");
}

/// Whose operators were measured, and that this is of no use to a program without XGBoost.
void say_of_operator_latencies(const datasets::Pool& pool, const std::string& predictor, bool quiet) {
  std::vector<std::string> devices;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    if (!device.operator_latencies.empty()) devices.push_back(device.id);
  }
  if (devices.empty() || predictor != "operators") return;
  say("operators were measured on " + joined(devices) +
          (trainer::has_xgboost() ? ": what they take is learned"
                                  : ": nothing is learned of that, since this program was built without XGBoost "
                                    "(libxgboost-dev)"),
      quiet);
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("train", "Trains a predictor on a pool of device-runtimes.",
                       "  tenshot train --pool datasets/data --out pool.tenshot\n"
                       "  tenshot train --pool datasets/data --without libtorch-frozen_t1_b1 --predictor maple-edge "
                       "--out network.tenshot\n"
                       "  tenshot train --pool boards --quantity energy --out energy.tenshot\n");
  add_train_options(options);
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  Outcome outcome(options);
  const std::string folder = given_or_shipped(options.required("pool")), out = options.required("out");
  const std::vector<std::string> known = trainer::predictor_names();
  // Usage errors come before the pool is read. The default may still turn out to be operators, which has no option that
  // structured has not.
  const std::string expected = options.has("predictor") ? options.get("predictor") : known.front();
  if (std::find(known.begin(), known.end(), expected) == known.end()) {
    throw UsageError("there is no predictor '" + expected + "'; there are: " + joined(known));
  }
  settings_of(options, expected);
  quantity_option(options);
  require_options_of(expected, options);
  const int threads = static_cast<int>(options.integer("threads", 1));
  FileRoles files;
  files.reads_folder("--pool", folder);
  files.writes_training("--out", out);
  files.require_distinct();
  MadeFolders made;
  made.for_file(out);
  datasets::Pool pool = datasets::read_pool(folder, quantity_option(options));
  report(pool.findings, quiet);
  for (const std::string& id : split_list(options.has("without") ? options.get("without") : "")) {
    if (pool.find(id) == nullptr) throw UsageError("--without names '" + id + "', which is not in " + folder);
    pool.devices.erase(
        std::find_if(pool.devices.begin(), pool.devices.end(), [&](const auto& d) { return d.id == id; }));
  }
  const std::string predictor =
      options.has("predictor") ? options.get("predictor") : trainer::default_predictor(*pool.space);
  require_options_of(predictor, options);
  const trainer::MapleEdgeSettings settings = settings_of(options, predictor);
  say_of_operator_latencies(pool, predictor, quiet);
  for (const datasets::DeviceRuntime& device : pool.devices) {
    const std::size_t disturbed = datasets::never_undisturbed(device);
    outcome.remark(datasets::disturbance_remark(device.id, disturbed, device.latencies.size()),
                   {{"device", device.id}, {"never_undisturbed", disturbed}});
  }
  ProgressLine progress(quiet);
  const trainer::TrainingControl control = training_control(out, threads, progress);
  trainer::save(trainer::train_pool_model(predictor, pool, settings, control)->to_archive(), out);
  forget_training(out);
  outcome.written(out,
                  "checkpoint of " + predictor + " and " + std::to_string(pool.devices.size()) + " device-runtimes",
                  "tenshot plan --checkpoint " + out + " --samples 10 --out plan.csv");
  outcome.finish();
}

}  // namespace

const Command train_command = {"train", "train a predictor on a pool of device-runtimes", run};

}  // namespace tenshot::cli
