#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "datasets/kit/kit.h"
#include "datasets/kit/kit_results.h"
#include "datasets/tables/network_sources.h"
#include "descriptor/fusion/fusion_cases.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporary_folder.h"
#include "trainer/cli/kernel_verbs.h"

namespace tenshot::cli {
namespace {

constexpr int runs_of_a_round = 9;
constexpr const char* apart_suffix = "__apart";
constexpr const char* together_suffix = "__together";

/// The runs of every network of a case, by its name.
using Runs = std::map<std::string, std::vector<double>>;

/// The least time of the runs of a round; the last round first, when the board's code and clocks are warm.
double time_of(const std::vector<double>& runs, std::size_t round) {
  const std::size_t rounds = runs.size() / runs_of_a_round;
  const auto end = runs.end() - static_cast<std::ptrdiff_t>(round % rounds * runs_of_a_round);
  return *std::min_element(end - runs_of_a_round, end);
}

}  // namespace

void write_fusion_kit(const OptionParser& options, Outcome& outcome) {
  const std::string folder = options.required("kit");
  for (const char* other : {"checkpoint", "out", "networks", "archs", "measurements", "descriptor", "converted"}) {
    if (options.has(other))
      throw UsageError("--fusion makes a kit of test cases: --" + std::string(other) + " has no use");
  }
  descriptor::CaseImage image;
  if (options.has("resolution")) image.size = options.integer("resolution", 2);
  datasets::KitRequest kit;
  kit.space = &nasbench::networks();
  kit.weight_seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  kit.runs = options.integer("runs", 1);
  if (options.integer("batch", 1) != 1) throw UsageError("--batch: test cases take one image");
  const TemporaryFolder models;
  std::uint64_t seed = kit.weight_seed;
  for (const descriptor::FusionCase& one : descriptor::all_cases(image)) {
    for (const bool apart : {true, false}) {
      const std::string name = one.name + (apart ? apart_suffix : together_suffix);
      write_file_quickly(models.path() / (name + ".onnx"),
                         nasbench::onnx_model(apart ? one.apart : one.together, {seed++, name}));
    }
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
    if (image.size() == 4) measured.image = {static_cast<int>(image[1]), static_cast<int>(image[2])};
    (*runs)[network.name] = results.times_ms[i];
    fewest = std::min(fewest, results.times_ms[i].size());
  }
  const std::size_t least_rounds = static_cast<std::size_t>(descriptor::FusionDetectionOptions().least_rounds);
  if (fewest < runs_of_a_round * least_rounds) {
    throw InputError(
        folder + ": a test case was run " + std::to_string(fewest) + " times, expected at least " +
        std::to_string(runs_of_a_round * least_rounds) +
        " times, each with its own time: plan a kit of more --runs, or take a backend that tells every run");
  }
  measured.rounds = static_cast<int>(fewest / runs_of_a_round);
  measured.time_case = [runs](const descriptor::FusionCase& one) {
    const auto apart = runs->find(one.name + apart_suffix), together = runs->find(one.name + together_suffix);
    if (apart == runs->end() || together == runs->end()) throw InputError("the kit has not measured this case");
    return [runs, apart, together, round = std::make_shared<std::size_t>(0)] {
      const std::size_t now = (*round)++;
      return descriptor::CaseTimes{time_of(apart->second, now), time_of(together->second, now)};
    };
  };
  return measured;
}

}  // namespace tenshot::cli
