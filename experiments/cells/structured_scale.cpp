// How `structured` grows with its pool, on device-runtimes that are drawn and not measured: seconds to fit and to
// calibrate, milliseconds to adapt to ten, and whether looking at the nearest entries alone costs accuracy. Usage:
// structured_scale --devices 100 [--targets 100] [--architectures 900] [--exhaustive 100] [--seed 1] --out FOLDER
// Each call adds its rows to FOLDER/results.csv. --pool FOLDER writes the drawn pool as one table instead.

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <cxxopts.hpp>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>

#include "experiments/cells/drawn_devices.h"
#include "experiments/shared/program.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "sampling/architectures/information.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace {

using namespace tenshot;
using experiments::DrawnDevice;
using trainer::structured::StructuredLibrary;

constexpr std::size_t samples = 10;
constexpr double confidence = 0.9;

/// Processor seconds of this one thread: machines have other work too.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The first `devices` of the drawn ones are the pool, the others the targets.
struct Drawn {
  const nasbench::StructureModel& model;
  std::vector<std::string> ids;
  datasets::LatencyMatrix latencies;
  std::vector<DrawnDevice> targets;
  std::vector<nasbench::Architecture> test;
};

Drawn draw(std::size_t devices, std::size_t targets, std::size_t architectures, std::uint64_t seed) {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  Drawn drawn{nasbench::structures_of(space), {}, {}, {}, {}};
  std::vector<nasbench::Architecture> all;
  for (const nasbench::Architecture& a : space.all()) {
    if (space.connected(a)) all.push_back(a);
  }
  Rng(seed, 1).shuffle(all);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(architectures);
  drawn.latencies.architectures.assign(all.begin(), middle);
  drawn.test.assign(middle, middle + 1000);
  std::vector<DrawnDevice> both = experiments::draw_devices(drawn.model, devices + targets, {0.01, 0.03, 0.06}, seed);
  // Structures, patterns and noises take turns, so the order is drawn before the targets are cut off.
  Rng(seed, 2).shuffle(both);
  for (std::size_t d = 0; d < devices; ++d) {
    drawn.ids.push_back(both[d].id);
    drawn.latencies.latency_ms.push_back(
        experiments::measure(drawn.model, both[d], drawn.latencies.architectures, seed + 1));
  }
  drawn.targets.assign(both.begin() + static_cast<std::ptrdiff_t>(devices), both.end());
  return drawn;
}

void write_table(const Drawn& drawn, const std::string& path) {
  std::string text = "architecture";
  for (const std::string& id : drawn.ids) text += "," + id;
  for (std::size_t a = 0; a < drawn.latencies.architectures.size(); ++a) {
    text += "\n" + drawn.model.space().format(drawn.latencies.architectures[a]);
    for (const std::vector<double>& of_device : drawn.latencies.latency_ms) text += "," + decimals(of_device[a], 5);
  }
  write_file_atomically(path, text + "\n");
}

struct Accuracy {
  double acc10 = 0, spearman = 0, coverage = 0, milliseconds = 0;
  double standard_error = 0;  ///< of acc10, over targets
};

/// Adapts to the first `count` targets from the same ten architectures.
Accuracy accuracy_of(const StructuredLibrary& library, const Drawn& drawn, const std::vector<std::size_t>& chosen,
                     std::size_t count, std::uint64_t seed) {
  Accuracy accuracy;
  std::vector<double> shares;
  const nasbench::StructureTable table = drawn.model.table(drawn.test);
  for (std::size_t t = 0; t < count; ++t) {
    const DrawnDevice& target = drawn.targets[t];
    trainer::AdaptationSet set;
    for (const std::size_t c : chosen) set.architectures.push_back(drawn.latencies.architectures[c]);
    set.latency_ms = experiments::measure(drawn.model, target, set.architectures, seed + 2);
    set.whole_milliseconds = target.whole_milliseconds;
    trainer::structured::StructuredPosterior posterior;
    accuracy.milliseconds += 1e3 * seconds_of([&] { posterior = trainer::structured::adapt(library, set); });
    const auto predicted =
        trainer::predictions_of(trainer::structured::predict(posterior, table), posterior.calibration, confidence);
    const trainer::Metrics metrics =
        trainer::evaluate(predicted, experiments::measure(drawn.model, target, drawn.test, seed + 3));
    shares.push_back(metrics.acc10);
    accuracy.spearman += metrics.spearman;
    accuracy.coverage += metrics.coverage;
  }
  const auto n = static_cast<double>(count);
  accuracy.acc10 = std::accumulate(shares.begin(), shares.end(), 0.0) / n;
  double square = 0;
  for (const double share : shares) square += (share - accuracy.acc10) * (share - accuracy.acc10);
  accuracy.standard_error = std::sqrt(square / n / std::max(n - 1, 1.0));
  accuracy.spearman /= n;
  accuracy.coverage /= n;
  accuracy.milliseconds /= n;
  return accuracy;
}

struct Run {
  std::size_t devices = 0, architectures = 0, targets = 0;
  std::string way;
  double fit_s = 0, calibrate_s = 0;
  Accuracy accuracy;
};

std::string row_of(const Run& run) {
  const Accuracy& a = run.accuracy;
  return std::to_string(run.devices) + "," + std::to_string(run.architectures) + "," + std::to_string(run.targets) +
         "," + run.way + "," + decimals(run.fit_s, 1) + "," +
         (run.calibrate_s < 0 ? std::string() : decimals(run.calibrate_s, 1)) + "," + decimals(a.milliseconds, 1) +
         "," + decimals(100 * a.acc10, 2) + "," + decimals(100 * a.standard_error, 2) + "," + decimals(a.spearman, 4) +
         "," + decimals(100 * a.coverage, 2) + "," + decimals(peak_mb(), 0) + "\n";
}

cxxopts::ParseResult parsed_options(int argc, char** argv) {
  cxxopts::Options options("structured_scale", "how structured grows with its pool");
  auto add = options.add_options();
  add("devices", "of the pool", cxxopts::value<std::size_t>()->default_value("100"));
  add("targets", "other devices, adapted to", cxxopts::value<std::size_t>()->default_value("100"));
  add("architectures", "measured on each", cxxopts::value<std::size_t>()->default_value("900"));
  add("exhaustive", "targets that are also adapted to by looking at every entry",
      cxxopts::value<std::size_t>()->default_value("100"));
  add("exhaustive-calibration", "hold out every device of the pool in turn too");
  add("seed", "of the draws", cxxopts::value<std::uint64_t>()->default_value("1"));
  add("out", "folder of the results", cxxopts::value<std::string>());
  add("pool", "table of the drawn pool to write instead", cxxopts::value<std::string>());
  return options.parse(argc, argv);
}

void run(int argc, char** argv) {
  const cxxopts::ParseResult parsed = parsed_options(argc, argv);
  const auto seed = parsed["seed"].as<std::uint64_t>();
  Run near{parsed["devices"].as<std::size_t>(),
           parsed["architectures"].as<std::size_t>(),
           parsed["targets"].as<std::size_t>(),
           "nearest",
           0,
           0,
           {}};
  const Drawn drawn = draw(near.devices, near.targets, near.architectures, seed);
  if (parsed.count("pool") > 0) return write_table(drawn, parsed["pool"].as<std::string>());

  StructuredLibrary library;
  near.fit_s = seconds_of([&] { library = trainer::structured::fit_library(drawn.model, drawn.ids, drawn.latencies); });
  near.calibrate_s =
      seconds_of([&] { library.calibration = trainer::structured::calibrate(library, drawn.latencies); });
  std::vector<std::size_t> candidates(near.architectures);
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  Rng rng(seed, 3);
  const auto chosen = sampling::choose_informative(
      trainer::structured::prior_covariance(library, drawn.model.table(drawn.latencies.architectures)), candidates,
      samples, rng);
  near.accuracy = accuracy_of(library, drawn, chosen, near.targets, seed);
  std::string rows = row_of(near);
  const std::size_t exhaustive = std::min(near.targets, parsed["exhaustive"].as<std::size_t>());
  if (exhaustive > 0) {
    Run every = near;
    every.targets = exhaustive;
    if (exhaustive < near.targets) {
      every.accuracy = accuracy_of(library, drawn, chosen, exhaustive, seed);
      rows += row_of(every);  // the same targets both ways
    }
    every.way = "every entry";
    every.calibrate_s = -1;
    library.cluster_of.clear();
    if (parsed.count("exhaustive-calibration") > 0) {
      every.calibrate_s =
          seconds_of([&] { library.calibration = trainer::structured::calibrate(library, drawn.latencies); });
    }
    every.accuracy = accuracy_of(library, drawn, chosen, exhaustive, seed);
    rows += row_of(every);
  }
  const std::filesystem::path out = parsed["out"].as<std::string>();
  make_folder(out);
  const std::filesystem::path file = out / "results.csv";
  const std::string before = std::filesystem::exists(file) ? read_file(file)
                                                           : "devices,architectures,targets,way,fit_s,calibrate_s,"
                                                             "adapt_ms,acc10,acc10_error,spearman,coverage,peak_mb\n";
  write_file_atomically(file, before + rows);
  std::cout << rows;
}

}  // namespace

int main(int argc, char** argv) { return tenshot::experiments::run_program("structured_scale", run, argc, argv); }
