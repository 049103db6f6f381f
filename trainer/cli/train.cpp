#include <algorithm>

#include "datasets/pool/joined_pools.h"
#include "datasets/pool/validate.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A setting of the command line in JSON, of the kind of its default; what is not of that kind stays a text.
json value_of(const std::string& text, const json& otherwise) {
  if (otherwise.is_array()) {
    json values = json::array();
    for (const std::string& entry : filled_parts(text)) values.push_back(value_of(entry, otherwise.front()));
    return values;
  }
  if (otherwise.is_number_integer()) {
    if (const auto value = parse_integer(text)) return *value;
  } else if (otherwise.is_number()) {
    if (const auto value = parse_number(text)) return *value;
  }
  return text;
}

json settings_of(const OptionParser& options, const trainer::PredictorRow& row) {
  json given = json::object();
  for (const trainer::OptionText& option : row.settings) {
    if (option.name == "seed") given["seed"] = options.integer("seed", 0);
    if (option.argument.empty() || !options.has(option.argument)) continue;
    const bool is_switch = option.otherwise.is_boolean();
    given[option.name] = is_switch ? json(false) : value_of(options.get(option.argument), option.otherwise);
  }
  try {
    return row.complete(given);
  } catch (const trainer::BadOption& bad) {
    for (const trainer::OptionText& option : row.settings) {
      if (option.name != bad.path.front()) continue;
      throw UsageError("--" + option.argument + " is '" + options.get(option.argument) + "', expected " + bad.expected);
    }
    throw;
  }
}

/// An option that another predictor has would be ignored.
void require_options_of(const trainer::PredictorRow& predictor, const OptionParser& options) {
  std::vector<std::string> own, all;
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    for (const trainer::OptionText& option : row.settings) {
      if (option.argument.empty()) continue;
      all.push_back(option.argument);
      if (row.name == predictor.name) own.push_back(option.argument);
    }
  }
  options.require_of(own, all, "--predictor " + predictor.name);
}

/// Whose operators were measured, and that this is of no use to a program without XGBoost.
void say_of_operator_latencies(const datasets::Pool& pool, const trainer::PredictorRow& predictor) {
  std::vector<std::string> devices;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    if (!device.operator_latencies.empty()) devices.push_back(device.id);
  }
  if (devices.empty() || !predictor.adapts_by("operators")) return;
  say("operators were measured on " + joined(devices) +
      (trainer::has_xgboost() ? ": what they take is learned"
                              : ": nothing is learned of that, since this program was built without XGBoost "
                                "(libxgboost-dev)"));
}

datasets::Pool read_pools(const OptionParser& options, const std::vector<fs::path>& folders) {
  datasets::Pool pool = datasets::read_pools(folders, quantity_option(options));
  report(pool.findings);
  if (options.has("without")) {
    from_option("without", [&] { datasets::leave_out_devices(pool, filled_parts(options.get("without"))); });
  }
  return pool;
}

}  // namespace

std::string settings_in_help() {
  std::vector<trainer::OptionText> found;
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    for (const trainer::OptionText& option : row.settings) {
      if (option.argument.empty()) continue;
      const bool is_text = option.otherwise.is_string();
      const std::string owner =
          row.name + " " + (is_text ? option.otherwise.get<std::string>() : option.otherwise.dump());
      auto known = std::find_if(found.begin(), found.end(),
                                [&](const auto& other) { return other.argument == option.argument; });
      const bool is_new = known == found.end();
      if (is_new) known = found.insert(known, option);
      known->meaning += (is_new ? " (" : ", ") + owner;
    }
  }
  std::string lines;
  for (const trainer::OptionText& option : found) {
    lines += (option.otherwise.is_boolean() ? "flag " : "text ") + option.argument + ": " + option.meaning + ")\n";
  }
  return lines;
}

std::string predictors_in_help() {
  std::vector<std::string> words;
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    if (row.train != nullptr) words.push_back(row.name + ": " + row.meaning);
  }
  return joined(words, "; ");
}

/// Warns of device-runtimes that have a thousand times the latencies of the first, or a thousandth, of what they share.
void say_of_units(const datasets::Pool& pool) {
  const std::vector<std::vector<double>> latency_ms = datasets::latency_matrix(pool).latency_ms;
  for (std::size_t d = 1; d < latency_ms.size() && unit(pool.quantity()) == "ms"; ++d) {
    std::vector<double> ratios;
    for (std::size_t n = 0; n < latency_ms[d].size(); ++n) ratios.push_back(latency_ms[d][n] / latency_ms[0][n]);
    ratios.erase(std::remove_if(ratios.begin(), ratios.end(), [](double r) { return std::isnan(r); }), ratios.end());
    say(datasets::unit_doubt(std::move(ratios), pool.devices[d].id, pool.devices[0].id), {{"warns", true}});
  }
}

void run_train(const OptionParser& options) {
  if (!options.has("pool")) throw UsageError("tenshot train needs --pool; see tenshot train --help");
  std::vector<fs::path> folders;
  for (const std::string& pool : options.all("pool")) folders.emplace_back(trainer::given_or_shipped(pool));
  const std::string out = options.required("out");
  // The predictor as far as it is known yet: the default may turn out to be operators, which has no further options.
  const std::vector<std::string> known = trainer::predictor_names();
  const trainer::PredictorRow& expected = trainer::predictor_row(
      options.has("predictor") ? options.one_of("predictor", "predictor", known) : known.front());
  if (options.has("from") && options.has("predictor")) throw UsageError("--from says which predictor it is");
  if (options.has("from") && options.has("seed")) throw UsageError("--seed: what --from grows draws nothing");
  // Usage errors come before the pool is read.
  settings_of(options, expected);
  quantity_option(options);
  require_options_of(expected, options);
  const int threads = options.integer("threads", 1);
  FileRoles files;
  for (const fs::path& folder : folders) files.reads_folder("--pool", folder);
  if (options.has("knowledge")) files.reads("--knowledge", options.get("knowledge"));
  if (options.has("from")) files.reads("--from", checkpoint_option(options, "from"));
  files.makes_training("--out", out);
  std::vector<trainer::KnowledgeSource> sources;
  if (options.has("knowledge")) {
    const std::string file = options.get("knowledge");
    sources = trainer::sources_from_json(parse_json(read_file(file), file), file);
  }
  const datasets::Pool pool = read_pools(options, folders);
  const trainer::PredictorRow& predictor =
      options.has("predictor") ? expected : trainer::predictor_row(trainer::default_predictor(*pool.space));
  require_options_of(predictor, options);
  const json settings = settings_of(options, predictor);
  if (!options.has("from")) say_of_operator_latencies(pool, predictor);  // knowledge that grows does not learn them
  say_of_units(pool);
  for (const datasets::DeviceRuntime& device : pool.devices) {
    const std::size_t disturbed = datasets::never_undisturbed(device);
    say(datasets::disturbance_remark(device.id, disturbed, device.latencies.size()),
        {{"device", device.id}, {"never_undisturbed", disturbed}});
  }
  ProgressLine progress;
  const trainer::TrainingControl control = training_control(out, threads, progress);
  std::unique_ptr<trainer::PoolModel> model;
  if (options.has("from")) {
    const auto earlier = trainer::load_pool_model(trainer::checkpoint_named(options.get("from")));
    model = earlier->grown_by(pool, std::move(sources));
  } else {
    model = trainer::train_pool_model(predictor.name, pool, settings, control);
    if (!sources.empty()) model = model->without_rows(std::move(sources));
  }
  save_trained(model->to_archive(), out);
  const std::string what = model->knowledge() != nullptr ? "knowledge" : "checkpoint";
  const bool names_networks = model->knowledge() != nullptr && pool.space->search_space() == nullptr;
  if (options.has("from")) say("intervals are the checkpoint's; of a device like one of yours, adapt --like");
  say_written(
      out, what + " of " + predictor.name + " and " + std::to_string(model->pool().devices.size()) + " device-runtimes",
      "tenshot plan --checkpoint " + shell_word(out) + (names_networks ? " --networks models/" : "") +
          " --samples 10 --out plan.csv");
}

}  // namespace tenshot::cli
