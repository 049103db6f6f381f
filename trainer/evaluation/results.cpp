#include "trainer/evaluation/results.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "datasets/pool/describe.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
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
std::string choice_fields(const ExperimentResults& results, const GridCell& cell) {
  return field(cell.target) + ',' + field(results.spec.pools[cell.pool].name) + ',' + field(cell.pool_device) + ',' +
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

constexpr double nan_of_none = std::numeric_limits<double>::quiet_NaN();

/// A metric of the cells of one variant: spreads by target, and over trials the mean over targets.
class Accumulator {
 public:
  void add(std::size_t target, int trial, double value) {
    by_target_[target].push_back(value);
    by_trial_[trial][target].push_back(value);
  }

  MetricSummary summary(std::size_t targets) const {
    MetricSummary summary;
    for (std::size_t t = 0; t < targets; ++t) {
      const auto found = by_target_.find(t);
      summary.targets.push_back(spread_of(found == by_target_.end() ? std::vector<double>{} : found->second));
    }
    std::vector<double> means;
    for (const auto& [trial, values] : by_trial_) {
      std::vector<double> of_targets;
      for (const auto& [target, list] : values) of_targets.push_back(spread_of(list).mean);
      means.push_back(spread_of(of_targets).mean);
    }
    summary.mean = spread_of(means);
    return summary;
  }

 private:
  std::map<std::size_t, std::vector<double>> by_target_;
  std::map<int, std::map<std::size_t, std::vector<double>>> by_trial_;
};

/// The metrics that are summarised: where they are in the results of a cell and of a variant, and their name in JSON.
struct SummarisedMetric {
  double Metrics::*of_cell;
  MetricSummary VariantSummary::*of_variant;
  const char* name;
};

constexpr std::array<SummarisedMetric, 4> summarised = {
    {{&Metrics::acc5, &VariantSummary::acc5, "acc5"},
     {&Metrics::acc10, &VariantSummary::acc10, "acc10"},
     {&Metrics::spearman, &VariantSummary::spearman, "spearman"},
     {&Metrics::coverage, &VariantSummary::coverage, "coverage90"}}};

json to_json(const Spread& spread) {
  if (spread.count == 0) return nullptr;
  return {{"mean", spread.mean}, {"deviation", spread.deviation}, {"count", spread.count}};
}

json spreads_json(const std::vector<std::string>& targets, const std::vector<Spread>& spreads) {
  json object = json::object();
  for (std::size_t t = 0; t < targets.size(); ++t) object[targets[t]] = to_json(spreads[t]);
  return object;
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
      const double rho = common[i].size() < 3 ? nan_of_none : datasets::spearman(common[i], common[j]);
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
  const json& versions = results.description.at("versions");
  const std::string constants = results.data.sha256 + ',' + versions.at("tenshot").get<std::string>() + ',' +
                                versions.at("libtorch").get<std::string>();
  std::string text =
      "experiment,trial,seed,target,pool,pool_device,sampler,samples,clones,method,predictor,mode,descriptor,counters,"
      "measured,architectures,acc1,acc5,acc10," +
      datasets::column("rmse", results.data.test.quantity()) +
      ",rmspe,mape,spearman,kendall,coverage90,relative_width90,data_sha256,tenshot,libtorch\n";
  for (std::size_t c = 0; c < results.grid.cells.size(); ++c) {
    const GridCell& cell = results.grid.cells[c];
    const Method& method = results.spec.methods[cell.method];
    const Metrics& m = results.cells[c].metrics;
    const bool network = predictor_row(method.predictor).adapts_by("clones");
    text += field(results.spec.name) + ',' + std::to_string(cell.trial + 1) + ',' +
            std::to_string(results.spec.seed + static_cast<std::uint64_t>(cell.trial)) + ',' +
            choice_fields(results, cell) + ',' + field(method.name) + ',' + method.predictor + ',' +
            (network ? method.mode : std::string()) + ',' + field(results.cells[c].descriptor) + ',' +
            counter_source(results.cells[c].descriptor, results.data.train.devices) + ',' +
            std::to_string(results.cells[c].measured) + ',' + std::to_string(m.architectures);
    for (const double value : {m.acc1, m.acc5, m.acc10, m.rmse_ms, m.rmspe, m.mape, m.spearman, m.kendall, m.coverage,
                               m.mean_relative_width}) {
      text += ',' + field(value);
    }
    text += ',' + constants + '\n';
  }
  return text;
}

json results_json(const ExperimentResults& results) {
  json document = results.description;
  const Summary summary = summarise(results);
  json variants = json::array();
  for (const VariantSummary& v : summary.variants) {
    json variant = {{"label", v.label},
                    {"method", results.spec.methods[v.variant.method].name},
                    {"pool", results.spec.pools[v.variant.pool].name},
                    {"sampler", v.variant.sampler},
                    {"samples", v.variant.samples == every_sample ? json("all") : json(v.variant.samples)},
                    {"clones", v.variant.clones ? json(*v.variant.clones) : json(nullptr)}};
    for (const SummarisedMetric& metric : summarised) {
      variant[metric.name] = spreads_json(summary.targets, (v.*metric.of_variant).targets);
      variant[std::string("mean_") + metric.name] = to_json((v.*metric.of_variant).mean);
    }
    variants.push_back(std::move(variant));
  }
  json calibration = json::array();
  for (std::size_t c = 0; c < results.grid.cells.size(); ++c) {
    for (const auto& [confidence, coverage] : results.cells[c].calibration) {
      calibration.push_back({{"method", results.spec.methods[results.grid.cells[c].method].name},
                             {"target", results.grid.cells[c].target},
                             {"confidence", confidence},
                             {"coverage", coverage}});
    }
  }
  put_quantity(document, results.data.test.quantity());
  document["targets"] = summary.targets;
  document["variants"] = variants;
  document["calibration"] = calibration;
  document["similarity"] = similarity_json(results.data.train);
  document["notes"] = results.grid.notes;
  return document;
}

/// target, pool, pool_device, sampler, samples, clones, method, architecture, measured_ms, predicted_ms, lower_ms,
/// upper_ms: the first trial of each.
std::string predictions_csv(const ExperimentResults& results) {
  std::string text = "experiment,target,pool,pool_device,sampler,samples,clones,method,architecture";
  for (const char* column : {"measured", "predicted", "lower", "upper"}) {
    text += "," + datasets::column(column, results.data.test.quantity());
  }
  text += "\n";
  for (std::size_t c = 0; c < results.grid.cells.size(); ++c) {
    const GridCell& cell = results.grid.cells[c];
    const CellResult& result = results.cells[c];
    const std::string start = field(results.spec.name) + ',' + choice_fields(results, cell) + ',' +
                              field(results.spec.methods[cell.method].name) + ',';
    const auto& rows = results.data.test.find(cell.target)->latencies;
    for (std::size_t i = 0; i < result.measured_ms.size() && i < rows.size(); ++i) {
      text += start + results.data.test.space->format(rows[i].architecture) + ',' + field(result.measured_ms[i]) + ',' +
              field(result.predictions.latency_ms[i]);
      const bool interval = !result.predictions.lower_ms.empty();
      text += ',' + (interval ? field(result.predictions.lower_ms[i]) : std::string()) + ',' +
              (interval ? field(result.predictions.upper_ms[i]) : std::string()) + '\n';
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
  spread.mean = spread.count == 0 ? nan_of_none : sum / static_cast<double>(spread.count);
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = spread.count > 1 ? std::sqrt(squares / static_cast<double>(spread.count - 1)) : 0;
  return spread;
}

Summary summarise(const ExperimentResults& results) {
  Summary summary;
  std::vector<std::array<Accumulator, summarised.size()>> accumulators;
  for (std::size_t c = 0; c < results.grid.cells.size(); ++c) {
    const GridCell& cell = results.grid.cells[c];
    auto target = std::find(summary.targets.begin(), summary.targets.end(), cell.target);
    if (target == summary.targets.end()) target = summary.targets.insert(target, cell.target);
    const auto t = static_cast<std::size_t>(target - summary.targets.begin());

    const Variant& variant = cell;
    const auto found = std::find_if(summary.variants.begin(), summary.variants.end(),
                                    [&](const VariantSummary& known) { return known.variant == variant; });
    const auto v = static_cast<std::size_t>(found - summary.variants.begin());
    if (found == summary.variants.end()) {
      const bool ceiling = results.spec.methods[variant.method].all_samples;
      summary.variants.push_back({variant, label_of(results.spec, variant), ceiling, {}, {}, {}, {}});
      accumulators.emplace_back();
    }
    for (std::size_t m = 0; m < summarised.size(); ++m) {
      accumulators[v][m].add(t, cell.trial, results.cells[c].metrics.*summarised[m].of_cell);
    }
  }
  for (std::size_t v = 0; v < summary.variants.size(); ++v) {
    for (std::size_t m = 0; m < summarised.size(); ++m) {
      summary.variants[v].*summarised[m].of_variant = accumulators[v][m].summary(summary.targets.size());
    }
  }
  return summary;
}

void write_results(const ExperimentResults& results, const std::filesystem::path& out) {
  write_file_atomically(out / "predictions.csv", predictions_csv(results));
  write_file_atomically(out / "results.json", results_json(results).dump(1) + "\n");
  write_file_atomically(out / "README.md", results_markdown(results));
  write_file_atomically(out / "results.csv", results_csv(results));
}

}  // namespace tenshot::trainer::evaluation
