#include "trainer/evaluation/results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "datasets/pool/describe.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/core/pool_archive.h"
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

std::string choice_fields(const ExperimentSpec& spec, const GridCell& cell) {
  return field(cell.target) + ',' + field(spec.pools[cell.pool].name) + ',' + field(cell.pool_device) + ',' +
         cell.sampler + ',' + (cell.samples == every_sample ? "all" : std::to_string(cell.samples)) + ',' +
         (cell.clones ? std::to_string(*cell.clones) : std::string());
}

/// The method's name, and the parts of the variant that take more than one value in this grid.
std::string label_of(const ExperimentSpec& spec, const GridCell& cell) {
  std::string label = spec.methods[cell.method].name;
  if (spec.pools.size() > 1) label += ", " + spec.pools[cell.pool].name;
  if (cell.samples == every_sample) return label;
  if (spec.samplers.size() > 1) label += ", " + cell.sampler;
  if (spec.samples.size() > 1) label += ", " + std::to_string(cell.samples) + " samples";
  if (spec.clones.size() > 1 && cell.clones) label += ", K = " + std::to_string(*cell.clones);
  return label;
}

const std::vector<std::pair<const char*, double Metrics::*>> summarised = {{"acc5", &Metrics::acc5},
                                                                           {"acc10", &Metrics::acc10},
                                                                           {"spearman", &Metrics::spearman},
                                                                           {"coverage90", &Metrics::coverage}};

/// Adds a metric of a variant's results to its summary: of each target, and the mean of trials that have it of all.
void add_spreads(const std::vector<const CellResult*>& results, const char* name, double Metrics::*metric,
                 const std::vector<std::string>& targets, json& summary) {
  std::map<int, std::vector<double>> of_trials;  ///< the means of the targets
  for (const std::string& target : targets) {
    std::vector<double> all;
    std::map<int, std::vector<double>> by_trial;
    for (const CellResult* result : results) {
      if (result->cell.target != target) continue;
      all.push_back(result->metrics.*metric);
      by_trial[result->cell.trial].push_back(all.back());
    }
    summary[name][target] = spread_of(all);
    for (const auto& [trial, values] : by_trial) of_trials[trial].push_back(mean_of(spread_of(values)));
  }
  std::vector<double> means;
  for (const auto& [trial, values] : of_trials) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);  // NaN where a target has none
    means.push_back(values.size() < targets.size() ? std::nan("") : sum / static_cast<double>(values.size()));
  }
  summary[std::string("mean_") + name] = spread_of(means);
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
  return {{"devices", datasets::device_ids(pool)},
          {"spearman", datasets::rank_correlations(common)},  // NaN is null in JSON
          {"architectures", common.empty() ? 0 : common.front().size()}};
}

/// Where the counters come from that a cell's descriptor has: "hardware", "simulated", or nothing where it has none.
std::string counter_source(const std::string& descriptor, const std::vector<datasets::DeviceRuntime>& devices) {
  if (descriptor.find("counters") == std::string::npos) return "";
  const bool simulated = std::any_of(devices.begin(), devices.end(), [](const datasets::DeviceRuntime& device) {
    return device.descriptor.has_counters() && device.descriptor.simulated();
  });
  return simulated ? "simulated" : "hardware";
}

/// One row a cell; shares are from 0 to 1, and may be empty. `samples` was asked for, `measured` is what it came to.
std::string results_csv(const Experiment& experiment, const std::vector<CellResult>& results) {
  const json versions = version_card();
  const std::string constants = experiment.data.sha256 + ',' + versions.at("tenshot").get<std::string>() + ',' +
                                versions.at("libtorch").get<std::string>();
  std::string text =
      "experiment,trial,seed,target,pool,pool_device,sampler,samples,clones,method,predictor,mode,descriptor,counters,"
      "measured,architectures,acc1,acc5,acc10," +
      datasets::column("rmse", experiment.data.test.quantity()) +
      ",rmspe,mape,spearman,kendall,coverage90,relative_width90,data_sha256,tenshot,libtorch\n";
  for (const CellResult& result : results) {
    const GridCell& cell = result.cell;
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

json results_json(const Experiment& experiment, const std::vector<CellResult>& results, json document) {
  document.update(summary_of(experiment, results));
  json calibration = json::array();
  for (const CellResult& result : results) {
    for (const auto& [confidence, coverage] : result.calibration) {
      calibration.push_back({{"method", experiment.method(result.cell).name},
                             {"pool", experiment.spec.pools[result.cell.pool].name},
                             {"sampler", result.cell.sampler},
                             {"samples", result.measured},
                             {"target", result.cell.target},
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

std::string predictions_csv(const Experiment& experiment, const std::vector<CellResult>& results) {
  const datasets::Pool& test = experiment.data.test;
  std::string text = "experiment,target,pool,pool_device,sampler,samples,clones,method,architecture";
  for (const char* column : {"measured", "predicted", "lower", "upper"}) {
    text += "," + datasets::column(column, test.quantity());
  }
  text += "\n";
  for (const CellResult& result : results) {
    const Predictions& predictions = result.predictions;
    const std::string start = field(experiment.spec.name) + ',' + choice_fields(experiment.spec, result.cell) + ',' +
                              field(experiment.method(result.cell).name) + ',';
    const auto& rows = test.find(result.cell.target)->latencies;
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

json spread_of(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); }),
               values.end());
  if (values.empty()) return nullptr;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {{"mean", mean}, {"deviation", deviation}, {"count", values.size()}};
}

double mean_of(const json& spread) { return spread.is_null() ? std::nan("") : spread.at("mean").get<double>(); }

json summary_of(const Experiment& experiment, const std::vector<CellResult>& results) {
  std::vector<std::string> targets;
  std::vector<std::vector<const CellResult*>> variants;
  for (const CellResult& result : results) {
    if (std::count(targets.begin(), targets.end(), result.cell.target) == 0) targets.push_back(result.cell.target);
    const auto is_its = [&](const auto& known) { return known.front()->cell.same_variant(result.cell); };
    auto variant = std::find_if(variants.begin(), variants.end(), is_its);
    if (variant == variants.end()) variant = variants.emplace(variant);
    variant->push_back(&result);
  }
  json summaries = json::array();
  for (const auto& variant_results : variants) {
    const GridCell& cell = variant_results.front()->cell;
    json summary = {{"label", label_of(experiment.spec, cell)},
                    {"method", experiment.method(cell).name},
                    {"pool", experiment.spec.pools[cell.pool].name},
                    {"sampler", cell.sampler},
                    {"samples", cell.samples == every_sample ? json("all") : json(cell.samples)},
                    {"clones", cell.clones ? json(*cell.clones) : json(nullptr)}};
    for (const auto& [name, metric] : summarised) add_spreads(variant_results, name, metric, targets, summary);
    summaries.push_back(std::move(summary));
  }
  return {{"targets", targets}, {"variants", std::move(summaries)}};
}

void write_results(const Experiment& experiment, const std::vector<CellResult>& results, const json& description,
                   const std::filesystem::path& out) {
  write_file_atomically(out / "predictions.csv", predictions_csv(experiment, results));
  write_file_atomically(out / "results.json", results_json(experiment, results, description).dump(1) + "\n");
  write_file_atomically(out / "README.md", results_markdown(experiment, results));
  write_file_atomically(out / "results.csv", results_csv(experiment, results));
}

}  // namespace tenshot::trainer::evaluation
