// Devices that are drawn and not measured: what `structured` makes of costs and structures that its pool does not
// resemble. Usage: structured_simulated --pool FOLDER --out FOLDER [--devices 300] [--seed 1] [--noises 0.01,0.03,0.06]
// [--posterior '{"closeness": [0.3, 1.5]}']

#include <cxxopts.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/pool/pool.h"
#include "datasets/tables/measurements.h"
#include "experiments/cells/drawn_devices.h"
#include "experiments/shared/program.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/numbers_below.h"
#include "sampling/architectures/information.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace {

using namespace tenshot;
using experiments::DrawnDevice;
using trainer::AdaptationSet;
using trainer::structured::StructuredLibrary;
using trainer::structured::StructuredPosterior;

constexpr std::size_t tested = 1000;
constexpr std::size_t plans = 8;  ///< first rounds that devices share, each from another half of the candidates
constexpr double confidence = 0.9;
constexpr double acceptable = 0.85;

struct Result {
  const DrawnDevice* device = nullptr;
  std::string method;
  trainer::Metrics metrics;
};

/// What may be measured, what is predicted, and the plans of a first round.
struct Task {
  StructuredLibrary library;
  trainer::structured::StructuredPosteriorOptions posterior;
  std::vector<nasbench::Architecture> candidates;  ///< connected ones of the pool
  nasbench::StructureTable table;                  ///< of the candidates
  std::vector<nasbench::Architecture> test;
  std::map<std::size_t, std::vector<std::vector<std::size_t>>> first_rounds;  ///< by samples
};

Task make_task(const datasets::Pool& pool, const trainer::structured::StructuredPosteriorOptions& posterior) {
  Task task;
  task.posterior = posterior;
  const nasbench::SearchSpace& space = nasbench::search_space(*pool.space);
  const datasets::LatencyMatrix latencies = datasets::latency_matrix(pool);
  task.library = trainer::structured::library_of(pool);
  task.library.calibration = trainer::structured::calibrate(task.library, latencies, posterior);
  for (const auto& architecture : latencies.architectures) {
    if (space.connected(architecture)) task.candidates.push_back(architecture);
  }
  Rng rng(2026);
  while (task.test.size() < tested) {
    const auto architecture = space.random(rng);
    const auto& known = task.candidates;
    if (!space.connected(architecture) || std::find(known.begin(), known.end(), architecture) != known.end()) continue;
    task.test.push_back(architecture);
  }
  task.table = task.library.model->table(task.candidates);
  const auto prior = trainer::structured::prior_covariance(task.library, task.table, posterior);
  sampling::InformationOptions planning;
  planning.noise = posterior.planning_noise;
  for (const std::size_t samples : {std::size_t{10}, std::size_t{4}}) {
    for (std::size_t p = 0; p < plans; ++p) {
      Rng plan_rng(p + 1);
      task.first_rounds[samples].push_back(
          sampling::choose_informative(prior, numbers_below(task.candidates.size()), samples, plan_rng, planning));
    }
  }
  return task;
}

AdaptationSet adaptation_set(const Task& task, const std::vector<double>& latency_ms,
                             const std::vector<std::size_t>& chosen) {
  AdaptationSet set;
  for (const std::size_t c : chosen) {
    set.architectures.push_back(task.candidates[c]);
    set.latency_ms.push_back(latency_ms[c]);
  }
  set.whole_milliseconds = datasets::are_whole_milliseconds(set.latency_ms);
  return set;
}

/// Four, then the six that their posterior asks for.
std::vector<std::size_t> two_rounds(const Task& task, const DrawnDevice& device,
                                    const std::vector<double>& latency_ms) {
  std::vector<std::size_t> chosen = task.first_rounds.at(4)[device.stream % plans];
  const StructuredPosterior posterior =
      trainer::structured::adapt(task.library, adaptation_set(task, latency_ms, chosen), task.posterior);
  std::vector<std::size_t> open;
  for (const std::size_t c : numbers_below(task.candidates.size())) {
    if (std::find(chosen.begin(), chosen.end(), c) == chosen.end()) open.push_back(c);
  }
  sampling::InformationOptions options;
  options.noise = trainer::structured::noise_of(posterior);
  options.random_half = false;
  Rng rng(1);  // draws nothing where all candidates are considered
  const auto more = sampling::choose_informative(trainer::structured::posterior_covariance(posterior, task.table), open,
                                                 6, rng, options);
  chosen.insert(chosen.end(), more.begin(), more.end());
  return chosen;
}

std::vector<Result> results_of(const Task& task, const DrawnDevice& device, std::uint64_t seed) {
  const nasbench::StructureModel& model = *task.library.model;
  const std::vector<double> latency_ms = experiments::measure(model, device, task.candidates, seed + 1);
  const std::vector<double> truth_ms = experiments::measure(model, device, task.test, seed + 2);
  std::vector<std::size_t> many = numbers_below(task.candidates.size());
  Rng(seed, device.stream).shuffle(many);
  many.resize(std::min<std::size_t>(many.size(), 250));
  const std::vector<std::pair<std::string, std::vector<std::size_t>>> methods = {
      {"one round of 10", task.first_rounds.at(10)[device.stream % plans]},
      {"two rounds, 4 and 6", two_rounds(task, device, latency_ms)},
      {"250 at random", many}};
  std::vector<Result> results;
  for (const auto& [method, chosen] : methods) {
    const StructuredPosterior posterior =
        trainer::structured::adapt(task.library, adaptation_set(task, latency_ms, chosen), task.posterior);
    const auto predicted = trainer::predictions_of(trainer::structured::predict(posterior, model.table(task.test)),
                                                   posterior.calibration, confidence);
    results.push_back({&device, method, trainer::evaluate(predicted, truth_ms)});
  }
  return results;
}

std::string csv_of(const nasbench::StructureModel& model, const std::vector<Result>& results) {
  std::string csv = "device,structure,costs,noise,whole_milliseconds,method,acc10,spearman,coverage\n";
  for (const Result& result : results) {
    const DrawnDevice& device = *result.device;
    csv += device.id + "," + model.structures()[device.structure].name + "," + device.costs + "," +
           shortest(device.noise) + "," + (device.whole_milliseconds ? "1" : "0") + ",\"" + result.method + "\"," +
           decimals(result.metrics.acc10, 4) + "," + decimals(result.metrics.spearman, 4) + "," +
           decimals(result.metrics.coverage, 4) + "\n";
  }
  return csv;
}

/// Means of one group of devices under one method.
struct Summary {
  double devices = 0, acc10 = 0, unacceptable = 0, coverage = 0;

  void add(const trainer::Metrics& metrics) {
    devices += 1;
    acc10 += metrics.acc10;
    unacceptable += metrics.acc10 < acceptable ? 1 : 0;
    coverage += metrics.coverage;
  }
  std::string cell() const {
    return decimals(100 * acc10 / devices, 1) + " / " + decimals(100 * unacceptable / devices, 1) + " / " +
           decimals(100 * coverage / devices, 1);
  }
};

/// One row a group, one column a method, in the order in which they first come.
std::string table_of(const std::vector<Result>& results, const std::string& heading,
                     const std::function<std::string(const DrawnDevice&)>& group_of) {
  std::vector<std::string> groups, methods;
  std::map<std::pair<std::string, std::string>, Summary> summaries;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Result& result : results) {
    const std::string group = group_of(*result.device);
    note(groups, group);
    note(methods, result.method);
    summaries[{group, result.method}].add(result.metrics);
  }
  std::string text = "| " + heading + " | devices |", line = "\n|---|---|";
  for (const std::string& method : methods) {
    text += " " + method + " |";
    line += "---|";
  }
  text += line + "\n";
  for (const std::string& group : groups) {
    text += "| " + group + " | " + decimals(summaries[{group, methods.front()}].devices, 0) + " |";
    for (const std::string& method : methods) text += " " + summaries[{group, method}].cell() + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string readme_of(const nasbench::StructureModel& model, const std::vector<Result>& results,
                      const std::string& command, std::size_t pool_devices) {
  const auto noise = [](const DrawnDevice& d) { return shortest(100 * d.noise) + " %"; };
  std::string text =
      "# structured_simulated\n\nDevices that are drawn: every execution structure under costs of four patterns "
      "(any: each operation log-uniform from .01 to .5 of the median latency; launch: all operations about the same; "
      "pooling: a pooling as dear as a 3×3 convolution; compute: all but convolutions nearly free), base .1 to .8, "
      "every fifth with a clock of whole milliseconds. `structured` knows the pool of " +
      std::to_string(pool_devices) +
      " device-runtimes and measures ten planned architectures in one round, four and the six that their posterior "
      "asks for in two, or 250 at random; " +
      std::to_string(tested) + " others, measured with the same noise, are predicted.\n\n`" + command +
      "`. Cells: mean share within ±10 %, in percent / share of devices under 85, in percent / mean share of "
      "latencies in their 90 % interval, in percent. Each row of `results.csv` is one device and method.\n\n";
  text += "## By noise\n\n" + table_of(results, "noise", noise);
  std::vector<Result> usual;
  for (const Result& result : results) {
    if (result.device->noise == 0.03) usual.push_back(result);
  }
  if (usual.empty()) return text;
  text += "## By costs, 3 % noise\n\n" + table_of(usual, "costs", [](const DrawnDevice& d) { return d.costs; });
  text += "## By structure, 3 % noise\n\n" +
          table_of(usual, "structure", [&](const DrawnDevice& d) { return model.structures()[d.structure].name; });
  text += "## By clock, 3 % noise\n\n" + table_of(usual, "clock", [](const DrawnDevice& d) {
            return std::string(d.whole_milliseconds ? "whole milliseconds" : "fine");
          });
  return text;
}

void run(int argc, char** argv) {
  cxxopts::Options options("structured_simulated", "structured on simulated devices");
  options.add_options()("pool", "folder of the pool", cxxopts::value<std::string>())("out", "folder of the results",
                                                                                     cxxopts::value<std::string>())(
      "devices", "how many are drawn", cxxopts::value<std::size_t>()->default_value("300"))(
      "seed", "of the draws", cxxopts::value<std::uint64_t>()->default_value("1"))(
      "posterior", "what adaptation assumes, as JSON", cxxopts::value<std::string>()->default_value("{}"))(
      "noises", "σ of log latency", cxxopts::value<std::vector<double>>()->default_value("0.01,0.03,0.06"));
  const auto parsed = options.parse(argc, argv);
  const std::string folder = parsed["pool"].as<std::string>(), out = parsed["out"].as<std::string>();
  const auto seed = parsed["seed"].as<std::uint64_t>();
  const datasets::Pool pool = datasets::read_pool(folder);
  const auto& declaration = declared(trainer::structured::StructuredPosteriorOptions());
  const Task task = make_task(pool, declaration.read(nlohmann::json::parse(parsed["posterior"].as<std::string>())));
  const nasbench::StructureModel& model = *task.library.model;
  const std::vector<DrawnDevice> devices = experiments::draw_devices(model, parsed["devices"].as<std::size_t>(),
                                                                     parsed["noises"].as<std::vector<double>>(), seed);
  std::vector<Result> results;
  for (const DrawnDevice& device : devices) {
    for (Result& result : results_of(task, device, seed)) results.push_back(std::move(result));
  }
  std::string command = "structured_simulated";
  for (int i = 1; i < argc; ++i) command += " " + std::string(argv[i]);
  const std::string readme = readme_of(model, results, command, pool.devices.size());
  make_folder(out);
  write_file_atomically(std::filesystem::path(out) / "results.csv", csv_of(model, results));
  write_file_atomically(std::filesystem::path(out) / "README.md", readme);
  std::cout << readme;
}

}  // namespace

int main(int argc, char** argv) { return tenshot::experiments::run_program("structured_simulated", run, argc, argv); }
