#include "trainer/evaluation/results.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "datasets/pool/describe.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer::evaluation {
namespace {

using nlohmann::json;

/// Text as a CSV field (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string field(double value) { return std::isnan(value) ? std::string() : shortest(value); }

/// The fields that say which cell a row is of.
std::string choice_fields(const ExperimentSpec& spec, const GridCell& cell) {
  return field(cell.target) + ',' + field(spec.pools[cell.pool].name) + ',' + field(cell.pool_device) + ',' +
         cell.sampler + ',' + (cell.samples == every_sample ? "all" : std::to_string(cell.samples)) + ',' +
         (cell.clones ? std::to_string(*cell.clones) : std::string());
}

/// The method's name, and the parts of the variant that take more than one value in this grid.
std::string label_of(const ExperimentSpec& spec, const Variant& variant) {
  std::string label = spec.methods[variant.method].name;
  if (spec.pools.size() > 1) label += ", " + spec.pools[variant.pool].name;
  if (variant.samples == every_sample) return label;
  if (spec.samplers.size() > 1) label += ", " + variant.sampler;
  if (spec.samples.size() > 1) label += ", " + std::to_string(variant.samples) + " samples";
  if (spec.clones.size() > 1 && variant.clones) label += ", K = " + std::to_string(*variant.clones);
  return label;
}

/// The metrics that are summarised.
const std::vector<std::pair<const char*, double Metrics::*>> summarised = {{"acc5", &Metrics::acc5},
                                                                           {"acc10", &Metrics::acc10},
                                                                           {"spearman", &Metrics::spearman},
                                                                           {"coverage90", &Metrics::coverage}};

json to_json(const Spread& spread) {
  if (spread.count == 0) return nullptr;
  return {{"mean", spread.mean}, {"deviation", spread.deviation}, {"count", spread.count}};
}

/// Adds a metric of the cells of a variant to its summary: of each target, and over trials the mean over targets.
void add_spreads(const ExperimentResults& results, const std::vector<std::size_t>& cells, const char* name,
                 double Metrics::*metric, const std::vector<std::string>& targets, json& summary) {
  std::map<int, std::vector<double>> of_trials;  ///< the means of the targets
  for (const std::string& target : targets) {
    std::vector<double> all;
    std::map<int, std::vector<double>> by_trial;
    for (const std::size_t c : cells) {
      const GridCell& cell = results.experiment.cells[c];
      if (cell.target != target) continue;
      all.push_back(results.cells[c].metrics.*metric);
      by_trial[cell.trial].push_back(all.back());
    }
    summary[name][target] = to_json(spread_of(all));
    for (const auto& [trial, values] : by_trial) of_trials[trial].push_back(spread_of(values).mean);
  }
  std::vector<double> means;
  for (const auto& [trial, values] : of_trials) means.push_back(spread_of(values).mean);
  summary[std::string("mean_") + name] = to_json(spread_of(means));
}

/// Spearman's ρ between the latencies of the data's devices on the training rows that all of them have.
json similarity_json(const datasets::Pool& pool) {
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  std::vector<std::vector<double>> common(matrix.latency_ms.size());
  for (std::size_t a = 0; a < matrix.architectures.size(); ++a) {
    const bool everywhere = std::none_of(matrix.latency_ms.begin(), matrix.latency_ms.end(),
                                         [&](const auto& device) { return std::isnan(device[a]); });
    for (std::size_t d = 0; everywhere && d < common.size(); ++d) common[d].push_back(matrix.latency_ms[d][a]);
  }
  json devices = json::array(), rows = json::array();
  for (std::size_t i = 0; i < common.size(); ++i) {
    devices.push_back(pool.devices[i].id);
    rows.push_back(json::array());
    for (std::size_t j = 0; j < common.size(); ++j) {
      const double rho = common[i].size() < 3 ? std::nan("") : datasets::spearman(common[i], common[j]);
      rows.back().push_back(std::isnan(rho) ? json(nullptr) : json(rho));
    }
  }
  return {{"devices", devices}, {"spearman", rows}, {"architectures", common.empty() ? 0 : common.front().size()}};
}

/// Where the counters come from that a cell's descriptor has: "hardware", "simulated", or nothing where it has none.
std::string counter_source(const std::string& descriptor, const std::vector<datasets::DeviceRuntime>& devices) {
  if (descriptor.find("counters") == std::string::npos) return "";
  const bool simulated = std::any_of(devices.begin(), devices.end(), [](const datasets::DeviceRuntime& device) {
    return device.descriptor.has_counters() && device.descriptor.simulated();
  });
  return simulated ? "simulated" : "hardware";
}

/// One row a cell: experiment, trial, seed, target, pool, pool_device, sampler, samples, clones, method, predictor,
/// mode, measured, architectures, acc1, acc5, acc10, rmse_ms, rmspe, mape, spearman, kendall, coverage90,
/// relative_width90, data_sha256, tenshot, libtorch. Shares are 0…1; what a method does not have is empty. `samples` is
/// what was asked for ("all": a ceiling), `measured` how many it came to.
std::string results_csv(const ExperimentResults& results) {
  const Experiment& experiment = results.experiment;
  const json& versions = results.description.at("versions");
  const std::string constants = experiment.data.sha256 + ',' + versions.at("tenshot").get<std::string>() + ',' +
                                versions.at("libtorch").get<std::string>();
  std::string text =
      "experiment,trial,seed,target,pool,pool_device,sampler,samples,clones,method,predictor,mode,descriptor,counters,"
      "measured,architectures,acc1,acc5,acc10," +
      datasets::column("rmse", experiment.data.test.quantity()) +
      ",rmspe,mape,spearman,kendall,coverage90,relative_width90,data_sha256,tenshot,libtorch\n";
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    const GridCell& cell = experiment.cells[c];
    const CellResult& result = results.cells[c];
    const Method& method = experiment.method(cell);
    const bool network = predictor_row(method.predictor).adapts_by("clones");
    text +=
        joined(std::vector<std::string>{field(experiment.spec.name), std::to_string(cell.trial + 1),
                                        std::to_string(experiment.spec.seed_of(cell.trial)),
                                        choice_fields(experiment.spec, cell), field(method.name), method.predictor,
                                        network ? method.mode : "", field(result.descriptor),
                                        counter_source(result.descriptor, experiment.data.train.devices),
                                        std::to_string(result.measured), std::to_string(result.metrics.architectures)},
               ",");
    for (const auto& [name, metric] : named_metrics) text += ',' + field(result.metrics.*metric);
    text += ',' + constants + '\n';
  }
  return text;
}

json results_json(const ExperimentResults& results) {
  const Experiment& experiment = results.experiment;
  json document = results.description;
  document.update(summary_of(results));
  json calibration = json::array();
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    for (const auto& [confidence, coverage] : results.cells[c].calibration) {
      calibration.push_back({{"method", experiment.method(experiment.cells[c]).name},
                             {"target", experiment.cells[c].target},
                             {"confidence", confidence},
                             {"coverage", coverage}});
    }
  }
  put_quantity(document, experiment.data.test.quantity());
  document["calibration"] = calibration;
  document["similarity"] = similarity_json(experiment.data.train);
  document["notes"] = experiment.notes;
  return document;
}

/// target, pool, pool_device, sampler, samples, clones, method, architecture, measured_ms, predicted_ms, lower_ms,
/// upper_ms: the first trial of each.
std::string predictions_csv(const ExperimentResults& results) {
  const Experiment& experiment = results.experiment;
  const datasets::Pool& test = experiment.data.test;
  std::string text = "experiment,target,pool,pool_device,sampler,samples,clones,method,architecture";
  for (const char* column : {"measured", "predicted", "lower", "upper"}) {
    text += "," + datasets::column(column, test.quantity());
  }
  text += "\n";
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    const GridCell& cell = experiment.cells[c];
    const CellResult& result = results.cells[c];
    const Predictions& predictions = result.predictions;
    const std::string start = field(experiment.spec.name) + ',' + choice_fields(experiment.spec, cell) + ',' +
                              field(experiment.method(cell).name) + ',';
    const auto& rows = test.find(cell.target)->latencies;
    for (std::size_t i = 0; i < result.measured_ms.size() && i < rows.size(); ++i) {
      text += start + test.space->format(rows[i].architecture) + ',' + field(result.measured_ms[i]);
      for (const auto* values : {&predictions.latency_ms, &predictions.lower_ms, &predictions.upper_ms}) {
        text += ',' + (values->empty() ? "" : field((*values)[i]));
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  double sum = 0, squares = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++spread.count;
  }
  spread.mean = spread.count == 0 ? std::nan("") : sum / static_cast<double>(spread.count);
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = spread.count > 1 ? std::sqrt(squares / static_cast<double>(spread.count - 1)) : 0;
  return spread;
}

json summary_of(const ExperimentResults& results) {
  const Experiment& experiment = results.experiment;
  std::vector<std::string> targets;
  std::vector<std::pair<Variant, std::vector<std::size_t>>> variants;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    const GridCell& cell = experiment.cells[c];
    if (std::count(targets.begin(), targets.end(), cell.target) == 0) targets.push_back(cell.target);
    const auto is_its = [&](const auto& known) { return known.first == cell; };
    auto variant = std::find_if(variants.begin(), variants.end(), is_its);
    if (variant == variants.end()) variant = variants.insert(variant, {cell, {}});
    variant->second.push_back(c);
  }
  json summaries = json::array();
  for (const auto& [variant, cells] : variants) {
    json summary = {{"label", label_of(experiment.spec, variant)},
                    {"method", experiment.method(variant).name},
                    {"pool", experiment.spec.pools[variant.pool].name},
                    {"sampler", variant.sampler},
                    {"samples", variant.samples == every_sample ? json("all") : json(variant.samples)},
                    {"clones", variant.clones ? json(*variant.clones) : json(nullptr)}};
    for (const auto& [name, metric] : summarised) add_spreads(results, cells, name, metric, targets, summary);
    summaries.push_back(std::move(summary));
  }
  return {{"targets", targets}, {"variants", std::move(summaries)}};
}

void write_results(const ExperimentResults& results, const std::filesystem::path& out) {
  write_file_atomically(out / "predictions.csv", predictions_csv(results));
  write_file_atomically(out / "results.json", results_json(results).dump(1) + "\n");
  write_file_atomically(out / "README.md", results_markdown(results));
  write_file_atomically(out / "results.csv", results_csv(results));
}

}  // namespace tenshot::trainer::evaluation
