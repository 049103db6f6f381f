#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "datasets/pool/joined_pools.h"
#include "datasets/pool/validate.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"
#include "trainer/cli/checkpoint_choice.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/outcome.h"
#include "trainer/cli/quantity_option.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::cli {
namespace {

namespace fs = std::filesystem;

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
  add("pool", "required: folder of device-runtimes; data is shipped; several are joined, each with its own --pool",
      cxxopts::value<std::vector<std::string>>());
  add("without", "device-runtimes of the pool to leave out, comma-separated ids or patterns with * (pixel4_*)",
      cxxopts::value<std::string>());
  add("from",
      "a checkpoint of knowledge (networks.tenshot is shipped) to which the pool's device-runtimes are added: "
      "operators",
      cxxopts::value<std::string>());
  add("knowledge",
      "write what was learned without a row of the pool: SOURCES.json says where each device-runtime came from "
      "(structured and operators)",
      cxxopts::value<std::string>());
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

/// The name of the predictor, as far as it is known before the pool is read. The default may still turn out to be
/// operators, which has no option that structured has not.
std::string expected_predictor(const OptionParser& options) {
  const std::vector<std::string> known = trainer::predictor_names();
  const std::string expected = options.has("predictor") ? options.get("predictor") : known.front();
  if (std::find(known.begin(), known.end(), expected) == known.end()) {
    throw UsageError("there is no predictor '" + expected + "'; there are: " + joined(known));
  }
  return expected;
}

void require_distinct_files(const OptionParser& options, const std::vector<fs::path>& pools) {
  FileRoles files;
  for (const fs::path& pool : pools) files.reads_folder("--pool", pool);
  if (options.has("knowledge")) files.reads("--knowledge", options.get("knowledge"));
  if (options.has("from")) files.reads("--from", given_or_shipped(options.get("from")));
  files.writes_training("--out", options.get("out"));
  files.require_distinct();
}

std::vector<fs::path> pools_of(const OptionParser& options) {
  if (!options.has("pool")) throw UsageError("tenshot train needs --pool; see tenshot train --help");
  std::vector<fs::path> pools;
  for (const std::string& pool : options.get<std::vector<std::string>>("pool")) {
    pools.emplace_back(given_or_shipped(pool));
  }
  return pools;
}

datasets::Pool read_pools(const OptionParser& options, const std::vector<fs::path>& folders) {
  datasets::Pool pool = datasets::read_pools(folders, quantity_option(options));
  report(pool.findings, options.has("quiet"));
  try {
    if (options.has("without")) datasets::leave_out_devices(pool, split_list(options.get("without")));
  } catch (const InputError& error) {
    throw UsageError(std::string("--without: ") + error.what());
  }
  return pool;
}

std::vector<trainer::KnowledgeSource> sources_of(const OptionParser& options) {
  if (!options.has("knowledge")) return {};
  const std::string file = options.get("knowledge");
  return trainer::sources_from_json(parse_json(read_file(file), file), file);
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("train", "Trains a predictor on a pool of device-runtimes.",
                       "  tenshot train --pool datasets/data --out pool.tenshot\n"
                       "  tenshot train --pool datasets/data --without libtorch-frozen_t1_b1 --predictor maple-edge "
                       "--out network.tenshot\n"
                       "  tenshot train --pool boards --quantity energy --out energy.tenshot\n"
                       "  tenshot train --pool boards --pool phones --without 'pixel4_*' --out both.tenshot\n"
                       "  tenshot train --pool boards --knowledge sources.json --out knowledge.tenshot\n"
                       "  tenshot train --pool mine --from networks.tenshot --out more.tenshot\n");
  add_train_options(options);
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  Outcome outcome(options);
  const std::vector<fs::path> folders = pools_of(options);
  const std::string out = options.required("out"), expected = expected_predictor(options);
  if (options.has("from") && options.has("knowledge")) {
    throw UsageError("--from keeps the sources of its checkpoint, and --knowledge names those of a pool: give one");
  }
  if (options.has("from") && options.has("predictor")) throw UsageError("--from says which predictor it is");
  // Usage errors come before the pool is read.
  settings_of(options, expected);
  quantity_option(options);
  require_options_of(expected, options);
  const int threads = static_cast<int>(options.integer("threads", 1));
  require_distinct_files(options, folders);
  std::vector<trainer::KnowledgeSource> sources = sources_of(options);
  MadeFolders made;
  made.for_file(out);
  const datasets::Pool pool = read_pools(options, folders);
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
  std::unique_ptr<trainer::PoolModel> model;
  if (options.has("from")) {
    model = trainer::load_pool_model(given_or_shipped(options.get("from")))->grown_by(pool);
  } else {
    model = trainer::train_pool_model(predictor, pool, settings, control);
  }
  if (!sources.empty()) model = model->without_rows(std::move(sources));
  trainer::save(model->to_archive(), out);
  forget_training(out);
  const std::string what = model->knowledge() != nullptr ? "knowledge" : "checkpoint";
  const bool names_networks = model->knowledge() != nullptr && !pool.space->composed();
  if (options.has("from")) say("the intervals are those that the checkpoint was calibrated with", quiet);
  outcome.written(
      out, what + " of " + predictor + " and " + std::to_string(model->pool().devices.size()) + " device-runtimes",
      "tenshot plan --checkpoint " + out + (names_networks ? " --networks models/" : "") +
          " --samples 10 --out plan.csv");
  outcome.finish();
}

}  // namespace

const Command train_command = {"train", "train a predictor on a pool of device-runtimes", run};

}  // namespace tenshot::cli
