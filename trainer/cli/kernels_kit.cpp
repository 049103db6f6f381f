#include "trainer/cli/kernels_kit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "datasets/kit/kit.h"
#include "datasets/kit/kit_results.h"
#include "datasets/tables/network_sources.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/timing/timing.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporary_folder.h"

namespace tenshot::cli {
namespace {

constexpr int runs_of_a_round = 9;

double median(std::vector<double> values) { return descriptor::summarise(std::move(values)).median_ms; }

/// The runs of every case, by the hash of its network.
struct Runs {
  std::map<std::string, std::vector<double>> times_ms;
  std::size_t rounds = 0;
  double call_ms = 0;

  double of(const std::string& hash, std::size_t round) const {
    const std::vector<double>& all = times_ms.at(hash);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(round % rounds * runs_of_a_round);
    return median({begin, begin + runs_of_a_round});
  }
};

struct CallCost {
  double call_ms = 0;
  double drift_ms = 0;  ///< standard error of one network's time, from how far operators disagree about the call
};

/// What a call costs with an image of this size, which a board copies in and out: twice the time of an operator, less
/// the time of two of it in a row; the median over the operators, but no more than the cheapest of them.
CallCost call_cost(const Runs& runs, const descriptor::CaseImage& image) {
  std::vector<double> found, deviations;
  double cheapest_ms = std::numeric_limits<double>::infinity();
  for (const std::string& type : descriptor::testable_operators()) {
    const auto one = runs.times_ms.find(content_hash(single_case(type, image)));
    const auto two = runs.times_ms.find(content_hash(pair_case(type, type, image)));
    if (one == runs.times_ms.end() || two == runs.times_ms.end()) continue;
    found.push_back(2 * median(one->second) - median(two->second));
    cheapest_ms = std::min(cheapest_ms, median(one->second));
  }
  if (found.empty()) {
    throw InputError(
        "the kit has measured no test cases of fusion; tenshot plan --kit NEW --fusion writes a kit of them");
  }
  const double middle = median(found);
  for (const double value : found) deviations.push_back(std::abs(value - middle));
  constexpr double normal = 1.4826;                 // of a median absolute deviation
  const double times_in_estimate = std::sqrt(5.0);  // 2² of one time, 1² of the other
  return {std::max(0.0, std::min(middle, cheapest_ms)), normal * median(deviations) / times_in_estimate};
}

}  // namespace

void write_fusion_kit(const OptionParser& options, Outcome& outcome) {
  const std::string folder = options.required("kit");
  for (const char* other : {"checkpoint", "out", "networks", "archs", "measurements", "descriptor", "converted"}) {
    if (options.has(other))
      throw UsageError("--fusion makes a kit of test cases: --" + std::string(other) + " has no use");
  }
  descriptor::CaseImage image;
  if (options.has("resolution")) image.size = options.integer("resolution", 8);
  datasets::KitRequest kit;
  kit.space = &nasbench::networks();
  kit.weight_seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  kit.runs = options.integer("runs", 1);
  if (options.integer("batch", 1) != 1) throw UsageError("--batch: test cases take one image");
  const TemporaryFolder models;
  std::uint64_t seed = kit.weight_seed;
  for (const descriptor::NamedCase& one : descriptor::all_cases(image)) {
    const std::filesystem::path file = models.path() / (one.name + ".onnx");
    write_file_quickly(file, nasbench::onnx_model(one.network, {seed++, one.name}));
  }
  kit.architectures = datasets::read_networks(models.path());
  const datasets::KitSummary written = datasets::write_kit(folder, kit);
  outcome.written(
      folder, std::to_string(written.models) + " test cases",
      "copy it to the device, run measure.sh there, copy results/ back, then tenshot kernels detect --kit " + folder +
          " --out rules.json");
  outcome.finish();
}

MeasuredCases measured_cases(const std::string& folder, bool quiet) {
  if (!datasets::is_kit(folder)) {
    throw InputError(folder + ": is no kit; tenshot plan --kit " + folder + " --fusion writes one of test cases");
  }
  const datasets::KitResults results = datasets::read_kit_results(folder);
  report(results, quiet);
  MeasuredCases measured;
  measured.device = datasets::default_device_id(results);
  const auto runs = std::make_shared<Runs>();
  std::size_t fewest = SIZE_MAX;
  for (std::size_t i = 0; i < results.latencies.size(); ++i) {
    const nasbench::NamedNetwork& network = nasbench::named_network(results.latencies[i].architecture);
    const nasbench::Shape& image = network.operators.front().inputs.front();
    if (image.size() == 4) measured.image = {static_cast<int>(image[1]), static_cast<int>(image[2]), true};
    runs->times_ms[network.hash] = results.times_ms[i];
    fewest = std::min(fewest, results.times_ms[i].size());
  }
  const std::size_t least_rounds = 2 * static_cast<std::size_t>(descriptor::FusionDetectionOptions().least_rounds);
  if (fewest < runs_of_a_round * least_rounds) {
    throw InputError(folder + ": a test case was run " + std::to_string(fewest) + " times, expected at least " +
                     std::to_string(runs_of_a_round * least_rounds) +
                     " times, each with its own time: plan the kit with larger --runs, or let a backend measure that "
                     "tells every run");
  }
  runs->rounds = fewest / runs_of_a_round;
  const CallCost cost = call_cost(*runs, measured.image);
  runs->call_ms = cost.call_ms;
  measured.drift_ms = cost.drift_ms;
  measured.rounds = static_cast<int>(runs->rounds);
  const std::string call = content_hash(descriptor::empty_case());
  measured.time_case = [runs, call](const std::vector<nasbench::Network>& networks) {
    std::vector<std::string> hashes;
    for (const nasbench::Network& network : networks) {
      hashes.push_back(content_hash(network));
      if (hashes.back() != call && runs->times_ms.count(hashes.back()) == 0)
        throw InputError("the kit has not measured this case");
    }
    return [runs, call, hashes, round = std::make_shared<std::size_t>(0)] {
      std::vector<double> times;
      for (const std::string& hash : hashes) times.push_back(hash == call ? runs->call_ms : runs->of(hash, *round));
      ++*round;
      return times;
    };
  };
  return measured;
}

}  // namespace tenshot::cli
