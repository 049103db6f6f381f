#include <cstdio>
#include <unordered_map>
#include <unordered_set>

#include "datasets/tables/measurements.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/text.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

using ArchitectureSet = std::unordered_set<nasbench::Architecture, nasbench::ArchitectureHash>;

/// What is both predicted and measured, side by side.
struct Joined {
  trainer::Predictions predictions;
  std::vector<double> measured_ms;
  datasets::Quantity quantity = datasets::Quantity::latency;
};

Joined join(const trainer::PredictionTable& table, const datasets::MeasuredSource& truth) {
  std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash> row_of;
  for (std::size_t i = 0; i < table.architectures.size(); ++i) row_of.emplace(table.architectures[i], i);
  Joined joined;
  for (std::size_t i = 0; i < truth.architectures.size(); ++i) {
    const auto found = row_of.find(truth.architectures[i]);
    if (found == row_of.end()) continue;
    joined.measured_ms.push_back(truth.latency_ms[i]);
    joined.predictions.add(table.predictions, found->second);
  }
  return joined;
}

/// Takes out of `truth` what is in `excluded`; how many that were.
std::size_t leave_out(datasets::MeasuredSource& truth, const ArchitectureSet& excluded) {
  const std::size_t all = truth.architectures.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (excluded.count(truth.architectures[i]) != 0) continue;
    truth.architectures[kept] = truth.architectures[i];
    truth.latency_ms[kept++] = truth.latency_ms[i];
  }
  truth.architectures.resize(kept);
  truth.latency_ms.resize(kept);
  return all - kept;
}

/// What a predictor was adapted on, as its card says.
ArchitectureSet adapted_on(const trainer::Predictor& predictor) {
  ArchitectureSet used;
  const nlohmann::json card = predictor.to_archive().card;
  for (const nlohmann::json& row : card.value("adaptation_set", nlohmann::json::array())) {
    used.insert(predictor.space().parse(row.at("architecture").get<std::string>()));
  }
  return used;
}

void print(const trainer::Metrics& m, datasets::Quantity quantity) {
  std::printf("architectures  %zu\n", m.architectures);
  std::printf("within 1 %%     %.1f %%\n", 100 * m.acc1);
  std::printf("within 5 %%     %.1f %%\n", 100 * m.acc5);
  std::printf("within 10 %%    %.1f %%\n", 100 * m.acc10);
  std::printf("RMSE           %.4g %s\n", m.rmse_ms, std::string(unit(quantity)).c_str());
  std::printf("RMSPE          %.2f %%\n", 100 * m.rmspe);
  std::printf("MAPE           %.2f %%\n", 100 * m.mape);
  std::printf("Spearman       %.4f\n", m.spearman);
  std::printf("Kendall        %.4f\n", m.kendall);
  if (m.coverage == m.coverage) {
    std::printf("intervals hold %.1f %%, mean width %.1f %%\n", 100 * m.coverage, 100 * m.mean_relative_width);
  }
}

/// The measurements of --measurements without those of `used` and --exclude.
datasets::MeasuredSource read_truth(const OptionParser& options, const nasbench::NetworkSpace& space,
                                    datasets::Quantity quantity, const ArchitectureSet& used) {
  datasets::MeasuredSource truth = read_measurements(options, options.all("measurements"), space, quantity).measured;
  const std::size_t count = leave_out(truth, used);
  if (count > 0) say(std::to_string(count) + " measured architectures were adapted on and are left out");
  if (options.has("exclude")) {
    const auto list = datasets::read_architectures(options.get("exclude"), space).architectures;
    leave_out(truth, ArchitectureSet(list.begin(), list.end()));
  }
  return truth;
}

Joined compare_predictor(const OptionParser& options, double confidence) {
  const std::string file = options.get("predictor");
  const auto predictor = trainer::load_predictor(file);
  require_quantity(options, *predictor, file);
  const ArchitectureSet used_before = adapted_on(*predictor);  // before --networks gives its names another meaning
  networks_of(options);
  const datasets::MeasuredSource truth = read_truth(options, predictor->space(), predictor->quantity(), used_before);
  if (truth.architectures.empty()) {
    throw InputError("there is nothing to compare: " + tenshot::joined(options.all("measurements")) +
                     " holds nothing but what " + file + " was adapted on; measure further architectures");
  }
  return {predictor->predict(truth.architectures, confidence), truth.latency_ms, predictor->quantity()};
}

Joined compare_table(const OptionParser& options) {
  const std::string predictions = options.get("predictions");
  const nasbench::NetworkSpace& space = datasets::named_space(options.get("space"));
  networks_of(options);
  const datasets::Quantity quantity = quantity_option(options).value_or(datasets::Quantity::latency);
  const trainer::PredictionTable table = trainer::read_predictions(predictions, space, quantity);
  report(table.findings);
  const datasets::MeasuredSource truth = read_truth(options, space, quantity, {});
  Joined joined = join(table, truth);
  joined.quantity = quantity;
  const std::size_t unpredicted = truth.architectures.size() - joined.measured_ms.size();
  if (unpredicted > 0) {
    say(std::to_string(unpredicted) + " measured architectures have no prediction and are left out");
  }
  if (joined.measured_ms.empty()) {
    throw InputError("there is nothing to compare: no architecture is both in " + predictions + " and in " +
                     tenshot::joined(options.all("measurements")));
  }
  return joined;
}

}  // namespace

void run_evaluate(const OptionParser& options) {
  if (options.has("predictor") && options.has("predictions")) {
    throw UsageError("--predictor and --predictions are two ways: give one");
  }
  Outcome outcome(options);
  quantity_option(options);
  const bool by_predictor = options.has("predictor");
  if (!by_predictor) options.required("predictions");
  options.required("measurements");
  const double confidence = by_predictor ? confidence_option(options) : 0;
  FileRoles files;
  reads_given(files, options);
  files.writes("standard output", "-");  // which may be a file
  const Joined joined = by_predictor ? compare_predictor(options, confidence) : compare_table(options);
  const trainer::Metrics metrics = trainer::evaluate(joined.predictions, joined.measured_ms);
  if (options.has("json")) {
    const nlohmann::json found = trainer::to_json(metrics, joined.quantity);
    for (const auto& [key, value] : found.items()) outcome.set(key, value);
    outcome.finish();
  } else {
    print(metrics, joined.quantity);
  }
}

}  // namespace tenshot::cli
