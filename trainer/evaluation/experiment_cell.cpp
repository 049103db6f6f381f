#include "trainer/evaluation/experiment_cell.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/core/adaptation.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer::evaluation {
namespace {

constexpr std::uint64_t ensemble_stream = 0x656e73;
constexpr double shown_confidence = 0.9;
constexpr std::array<double, 6> confidences = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

/// Architectures of the target's training rows that every device of the pool has measured.
std::vector<Architecture> candidates_of(const datasets::Pool& pool, const datasets::DeviceRuntime& target) {
  std::vector<LatencyOf> known;
  for (const datasets::DeviceRuntime& device : pool.devices) known.push_back(latencies_of(device));
  std::vector<Architecture> candidates;
  for (const datasets::Measurement& row : target.latencies) {
    if (std::all_of(known.begin(), known.end(), [&](const auto& k) { return k.count(row.architecture) != 0; })) {
      candidates.push_back(row.architecture);
    }
  }
  return candidates;
}

AdaptationSet adaptation_set(const datasets::DeviceRuntime& target, const std::vector<Architecture>& architectures,
                             bool with_descriptor) {
  const LatencyOf latency_ms = latencies_of(target);
  AdaptationSet set;
  for (const Architecture& architecture : architectures) set.add(architecture, latency_ms.at(architecture));
  set.whole_milliseconds = datasets::are_whole_milliseconds(set.latency_ms);
  if (with_descriptor && target.descriptor.has_latencies()) set.descriptor = target.descriptor;
  return set;
}

/// That of a device-runtime of another runtime, by turns: what a predictor makes of it owes nothing to the device.
datasets::HardwareDescriptor descriptor_of_another(const ExperimentData& data, const datasets::DeviceRuntime& target,
                                                   int trial) {
  std::vector<const datasets::DeviceRuntime*> others;
  const std::vector<datasets::DeviceRuntime>& devices = data.train.devices;
  const auto own = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.id == target.id; });
  for (std::size_t i = 1; i < devices.size(); ++i) {
    const auto& device = devices[(static_cast<std::size_t>(own - devices.begin()) + i) % devices.size()];
    if (device.runtime != target.runtime && device.descriptor.has_latencies()) others.push_back(&device);
  }
  if (others.empty()) throw InputError("a shuffled descriptor needs another runtime with a descriptor, there is none");
  return others[static_cast<std::size_t>(trial) % others.size()]->descriptor;
}

/// The geometric mean of what `count` adaptations predict, of which the first has predicted `first`. No intervals.
Predictions ensemble_mean(const PoolModel& model, const AdaptationSet& set, AdaptOptions options, int count,
                          const std::vector<Architecture>& architectures, const Predictions& first) {
  Predictions mean;
  mean.latency_ms = first.latency_ms;
  for (double& value : mean.latency_ms) value = std::log(value);
  Rng seeds(options.seed, ensemble_stream);
  for (int member = 1; member < count; ++member) {
    options.seed = seeds.bits();
    const Predictions more = model.adapt(set, options)->predict(architectures, shown_confidence);
    for (std::size_t i = 0; i < mean.latency_ms.size(); ++i) mean.latency_ms[i] += std::log(more.latency_ms[i]);
  }
  for (double& value : mean.latency_ms) value = std::exp(value / count);
  return mean;
}

}  // namespace

std::shared_ptr<const PlanningPrior> prior_of(PlanningPriors& priors, const Experiment& experiment,
                                              const GridCell& cell) {
  const std::vector<std::string>& members = experiment.model(cell).members;
  PoolPrior& known = priors[members];
  if (known.prior == nullptr) {
    known.pool = subset(experiment.data.known(), members);
    known.prior = planning_prior(known.pool);
  }
  return known.prior;
}

nlohmann::json to_json(const CellResult& result) {
  return {{"measured", result.measured},
          {"descriptor", result.descriptor},
          {"metrics", trainer::to_json(result.metrics)},
          {"calibration", result.calibration},
          {"measured_ms", result.measured_ms},
          {"predicted_ms", result.predictions.latency_ms},
          {"lower_ms", result.predictions.lower_ms},
          {"upper_ms", result.predictions.upper_ms}};
}

CellResult cell_result_from_json(const GridCell& cell, const nlohmann::json& json, const std::string& file) {
  try {
    CellResult result{cell};
    result.measured = json.at("measured");
    result.descriptor = json.value("descriptor", "");
    result.metrics = metrics_from_json(json.at("metrics"));
    json.at("calibration").get_to(result.calibration);
    json.at("measured_ms").get_to(result.measured_ms);
    json.at("predicted_ms").get_to(result.predictions.latency_ms);
    json.at("lower_ms").get_to(result.predictions.lower_ms);
    json.at("upper_ms").get_to(result.predictions.upper_ms);
    const std::size_t count = result.measured_ms.size();
    for (const auto* list :
         {&result.predictions.latency_ms, &result.predictions.lower_ms, &result.predictions.upper_ms}) {
      if (list->size() == count || list->empty()) continue;
      throw FormatError(file + ": has " + std::to_string(list->size()) + " predictions of " + std::to_string(count) +
                        " architectures; remove it and run with --resume");
    }
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(file + ": is no result of a cell (" + error.what() + "); remove it and run with --resume");
  }
}

std::unique_ptr<PoolModel> train_model(const Experiment& experiment, const ModelTask& task,
                                       const std::filesystem::path& state_file) {
  const datasets::Pool pool = subset(experiment.data.known(), task.members);
  return train_pool_model(experiment.spec.methods[task.method].predictor, pool, task.settings, {state_file, nullptr});
}

std::vector<Architecture> choose_samples(const Experiment& experiment, const GridCell& cell, PlanningPriors& priors,
                                         const PoolModel* model) {
  if (cell.samples == 0) return {};
  const Method& method = experiment.method(cell);
  const datasets::Pool pool = subset(experiment.data.known(), experiment.model(cell).members);
  const datasets::DeviceRuntime& target = *experiment.data.train.find(cell.target);
  PlanRequest request;
  request.candidates = candidates_of(pool, target);
  if (cell.samples == every_sample) {
    if (request.candidates.empty()) throw InputError("target and pool have no architecture in common");
    return request.candidates;
  }
  if (request.candidates.size() < cell.samples) {
    throw InputError("cannot choose " + std::to_string(cell.samples) + " samples: target and pool have " +
                     std::to_string(request.candidates.size()) + " architectures of the training rows in common");
  }
  request.sampler = cell.sampler;
  request.profiled = method.profiled;
  request.noise = method.planning_noise;
  request.seed = experiment.spec.seed_of(cell.trial);
  // Samplers look at the pool, whose latencies are complete here, at earlier rounds and, if told, at a descriptor.
  std::shared_ptr<const PlanningPrior> prior;
  if (model != nullptr && method.sampler) prior = model->planning_prior();
  if (prior == nullptr && chooses_by_prior(request.sampler)) prior = prior_of(priors, experiment, cell);
  const std::vector<std::size_t> at_once = {cell.samples};
  std::vector<Architecture> chosen;
  for (const std::size_t samples : method.rounds.empty() ? at_once : method.rounds) {
    request.samples = samples;
    request.measured = adaptation_set(target, chosen, method.planning_descriptor);
    const std::vector<Architecture> more = plan(pool, prior.get(), request);
    chosen.insert(chosen.end(), more.begin(), more.end());
  }
  return chosen;
}

CellResult run_cell(const Experiment& experiment, const GridCell& cell, const PoolModel& model,
                    PlanningPriors& priors) {
  const Method& method = experiment.method(cell);
  const ExperimentData& data = experiment.data;
  const datasets::DeviceRuntime& target = *data.train.find(cell.target);
  AdaptationSet set = adaptation_set(target, choose_samples(experiment, cell, priors, &model),
                                     experiment.model(cell).descriptor != "inferred");
  if (set.descriptor && method.shuffled_descriptor) set.descriptor = descriptor_of_another(data, target, cell.trial);
  if (method.profiled) set.operator_latencies = target.operator_latencies;
  AdaptOptions options;
  options.mode = method.mode;
  options.clones = cell.clones;
  options.seed = experiment.spec.seed_of(cell.trial);
  const std::unique_ptr<Predictor> predictor = model.adapt(set, options);

  CellResult result{cell};
  result.measured = set.architectures.size();
  result.descriptor = "none";
  if (set.descriptor) {
    result.descriptor = predictor->to_archive().card.value("descriptor_used", model.descriptor_kind());
  }
  std::vector<Architecture> architectures;
  for (const datasets::Measurement& row : data.test.find(cell.target)->latencies) {
    architectures.push_back(row.architecture);
    result.measured_ms.push_back(row.latency_ms);
  }
  result.predictions = predictor->predict(architectures, shown_confidence);
  if (method.ensemble > 1) {
    result.predictions = ensemble_mean(model, set, options, method.ensemble, architectures, result.predictions);
  }
  result.metrics = evaluate(result.predictions, result.measured_ms);
  if (predictor->has_intervals()) {
    for (const double confidence : confidences) {
      result.calibration[confidence] =
          evaluate(predictor->predict(architectures, confidence), result.measured_ms).coverage;
    }
  }
  if (cell.trial > 0) {
    result.measured_ms.clear();
    result.predictions = {};
  }
  return result;
}

}  // namespace tenshot::trainer::evaluation
