#include <algorithm>
#include <cstdio>

#include "datasets/tables/measurements.h"
#include "datasets/tables/quantity.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/text.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

using nasbench::ArchitectureSet;

struct Joined {
  trainer::Predictions predictions;
  std::vector<double> measured_ms;
  datasets::Quantity quantity;
};

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
trainer::AdaptationSet read_truth(const OptionParser& options, const nasbench::NetworkSpace& space,
                                  datasets::Quantity quantity, const ArchitectureSet& used) {
  const auto all = read_measurements(options, options.all("measurements"), space, quantity).measured;
  const auto count = std::count_if(all.architectures.begin(), all.architectures.end(),
                                   [&](const nasbench::Architecture& network) { return used.count(network) != 0; });
  if (count > 0) say(std::to_string(count) + " measured architectures were adapted on and are left out");
  ArchitectureSet left_out = used;
  if (options.has("exclude")) {
    const auto list = usable_architectures(options, options.get("exclude"), space);
    left_out.insert(list.begin(), list.end());
  }
  trainer::AdaptationSet truth;
  for (std::size_t i = 0; i < all.architectures.size(); ++i) {
    if (left_out.count(all.architectures[i]) == 0) truth.add(all.architectures[i], all.latency_ms[i]);
  }
  return truth;
}

Joined compare_predictor(const OptionParser& options, double confidence) {
  const std::string file = options.get("predictor");
  const auto predictor = trainer::load_predictor(file);
  trainer::require_quantity(quantity_option(options), *predictor, file);
  tell_of_no_intervals(options, *predictor);
  const ArchitectureSet used_before = adapted_on(*predictor);  // before --networks gives its names another meaning
  networks_of(options);
  const trainer::AdaptationSet truth = read_truth(options, predictor->space(), predictor->quantity(), used_before);
  if (truth.architectures.empty()) {
    throw InputError("there is nothing to compare: " + tenshot::joined(options.all("measurements")) +
                     " holds nothing but what " + file +
                     " was adapted on, what --exclude names, or is not known here " +
                     "(--networks names networks' files); measure further architectures");
  }
  return {predictor->predict(truth.architectures, confidence), truth.latency_ms, predictor->quantity()};
}

Joined compare_table(const OptionParser& options) {
  const std::string predictions = options.get("predictions");
  const bool by_name = options.has("networks") && !options.has("space");
  const nasbench::NetworkSpace& space = by_name ? nasbench::networks() : datasets::named_space(options.get("space"));
  networks_of(options);
  const datasets::Quantity quantity = quantity_option(options).value_or(datasets::Quantity::latency);
  const trainer::PredictionTable table = trainer::read_predictions(predictions, space, quantity);
  report(table.findings);
  nasbench::ArchitectureMap<std::size_t> row_of;
  for (std::size_t i = 0; i < table.architectures.size(); ++i) row_of.emplace(table.architectures[i], i);
  const trainer::AdaptationSet truth = read_truth(options, space, quantity, {});
  Joined joined{{}, {}, quantity};
  for (std::size_t i = 0; i < truth.architectures.size(); ++i) {
    const auto found = row_of.find(truth.architectures[i]);
    if (found == row_of.end()) continue;
    joined.measured_ms.push_back(truth.latency_ms[i]);
    joined.predictions.add(table.predictions, found->second);
  }
  const std::size_t unpredicted = truth.architectures.size() - joined.measured_ms.size();
  if (unpredicted > 0) say(std::to_string(unpredicted) + " measured architectures have no prediction and are left out");
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
  quantity_option(options);
  const bool by_predictor = options.has("predictor");
  if (by_predictor && options.has("space")) throw UsageError("--space: the predictor has its own");
  if (!by_predictor && options.has("confidence")) throw UsageError("--confidence: --predictions has its own bounds");
  if (!by_predictor) options.required("predictions");
  options.required("measurements");
  const double confidence = by_predictor ? confidence_option(options) : 0;
  FileRoles files(options);
  files.writes("standard output", "-");  // which may be a file
  const Joined joined = by_predictor ? compare_predictor(options, confidence) : compare_table(options);
  const trainer::Metrics metrics = trainer::evaluate(joined.predictions, joined.measured_ms);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < joined.measured_ms.size(); ++i) {
    ratios.push_back(joined.measured_ms[i] / joined.predictions.latency_ms[i]);
  }
  const bool of_time = datasets::unit(joined.quantity) == "ms";
  say(of_time ? datasets::unit_doubt(ratios, "what was measured", "what is predicted") : "", {{"warns", true}});
  options.has("json") ? put_outcome(trainer::to_json(metrics, joined.quantity)) : print(metrics, joined.quantity);
}

}  // namespace tenshot::cli
