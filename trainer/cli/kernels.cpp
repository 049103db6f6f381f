#include <algorithm>
#include <iostream>
#include <map>

#include "datasets/kit/kit.h"
#include "datasets/kit/kit_results.h"
#include "datasets/tables/network_sources.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/fusion/fusion_detection.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {
namespace {

using nasbench::Kernel;
using nasbench::Network;

std::map<std::string, int> counts_of(const std::vector<Kernel>& kernels) {
  std::map<std::string, int> counts;
  for (const Kernel& kernel : kernels) ++counts[kernel.name];
  return counts;
}

nlohmann::ordered_json to_json(const Network& network, const std::vector<Kernel>& kernels, const std::string& rules) {
  nlohmann::ordered_json json = {{"rules", rules},
                                 {"hash", content_hash(network)},
                                 {"count", kernels.size()},
                                 {"kinds", counts_of(kernels)},
                                 {"kernels", nlohmann::ordered_json::array()}};
  for (const Kernel& kernel : kernels) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (const int node : kernel.nodes) operators.push_back(network.nodes[static_cast<std::size_t>(node)].name);
    json["kernels"].push_back({{"kernel", kernel.name}, {"operators", operators}});
  }
  return json;
}

void show(const std::string& model, const nasbench::FusionRules& rules, const OptionParser& options) {
  const Network network = nasbench::read_network_file(model, read_options(options));
  const std::vector<Kernel> kernels = find_kernels(network, rules);
  if (options.has("json")) {
    std::cout << to_json(network, kernels, rules.name).dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
    return;
  }
  for (const auto& [kind, count] : counts_of(kernels)) std::cout << count << "\t" << kind << "\n";
  std::cout << kernels.size() << " kernels of " << network.nodes.size() << " operators under the rules " << rules.name
            << "\n";
}

/// The shipped rules of a runtime: TensorFlow Lite's depend on the GPU.
std::string deduced_rules(const OptionParser& options) {
  const std::string runtime = options.required("runtime");
  if (runtime == "pytorch-vulkan") {
    if (options.has("gpu")) throw UsageError("--gpu is of tflite-gpu: pytorch-vulkan chooses alike on all");
    return runtime;
  }
  if (runtime != "tflite-gpu") {
    throw UsageError("--runtime is '" + excerpt(runtime) + "', expected tflite-gpu or pytorch-vulkan; of others " +
                     "kernels detect finds out by measuring");
  }
  const std::string gpu = options.required("gpu");
  if (gpu == "adreno6xx" || gpu == "adreno" || gpu == "amd" || gpu == "mali") return runtime + "-" + gpu;
  throw UsageError("--gpu is '" + excerpt(gpu) + "', expected adreno6xx, adreno, amd or mali");
}

descriptor::FusionFindings findings_of(const descriptor::TimeCase& time_case,
                                       const descriptor::FusionDetectionOptions& detection) {
  ProgressLine progress;
  std::size_t cases = 0;
  return detect_fusion(time_case, detection, [&] {
    progress.show("case " + std::to_string(++cases) + ", " +
                  std::to_string(detection.operators.size() * detection.operators.size()) + " pairs");
    return !stop_requested();
  });
}

constexpr int runs_of_a_round = 9;

/// The least time of the runs of a round; the last round first, when the board's code and clocks are warm.
double time_of(const std::vector<double>& runs, std::size_t round) {
  const std::size_t rounds = runs.size() / runs_of_a_round;
  const auto end = runs.end() - static_cast<std::ptrdiff_t>(round % rounds * runs_of_a_round);
  return *std::min_element(end - runs_of_a_round, end);
}

/// What the test cases of a kit tell that a board measured. Throws InputError where the folder is no kit of test cases,
/// or its cases were run too few times; FileError and FormatError as datasets::read_kit_results does.
descriptor::FusionFindings findings_of_kit(const std::string& folder, descriptor::FusionDetectionOptions detection) {
  if (!datasets::is_kit(folder)) {
    throw InputError(folder + ": is no kit; tenshot plan --kit " + folder + " --fusion writes one of test cases");
  }
  const datasets::KitResults results = datasets::read_kit_results(folder);
  report(results);
  std::map<std::string, std::vector<double>> runs;  // of every network of a case, by its name
  std::size_t fewest = SIZE_MAX;
  for (std::size_t i = 0; i < results.latencies.size(); ++i) {
    const nasbench::NamedNetwork& network = nasbench::named_network(results.latencies[i].architecture);
    const nasbench::Shape& image = network.operators.front().inputs.front();
    if (image.size() == 4) detection.image = {static_cast<int>(image[1]), static_cast<int>(image[2])};
    runs[network.name] = results.times_ms[i];
    fewest = std::min(fewest, results.times_ms[i].size());
  }
  const auto least_rounds = static_cast<std::size_t>(detection.least_rounds);
  if (fewest < runs_of_a_round * least_rounds) {
    throw InputError(
        folder + ": a test case was run " + std::to_string(fewest) + " times, expected at least " +
        std::to_string(runs_of_a_round * least_rounds) +
        " times, each with its own time: plan a kit of more --runs, or take a backend that tells every run");
  }
  detection.least_rounds = detection.most_rounds =
      std::min(detection.most_rounds, static_cast<int>(fewest / runs_of_a_round));
  const descriptor::TimeCase time_case = [&runs](const descriptor::FusionCase& one) {
    const auto apart = runs.find(one.name + datasets::apart_suffix),
               together = runs.find(one.name + datasets::together_suffix);
    if (apart == runs.end() || together == runs.end()) throw InputError("the kit has not measured this case");
    return [apart, together, round = std::size_t{0}]() mutable {
      const std::size_t now = round++;
      return descriptor::CaseTimes{time_of(apart->second, now), time_of(together->second, now)};
    };
  };
  descriptor::FusionFindings findings = findings_of(time_case, detection);
  findings.rules.name = datasets::default_device_id(results);
  return findings;
}

}  // namespace

void run_fusion_kit(const OptionParser& options) {
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
      const std::string name = one.name + (apart ? datasets::apart_suffix : datasets::together_suffix);
      write_file_quickly(models.path() / (name + ".onnx"),
                         nasbench::onnx_model(apart ? one.apart : one.together, {seed++, name}));
    }
  }
  kit.architectures = datasets::read_networks(models.path());
  const datasets::KitSummary written = datasets::write_kit(folder, kit);
  say_written(folder, std::to_string(written.models) + " test cases",
              "copy it to the device, run measure.sh there, copy results/ back, then tenshot kernels detect --kit " +
                  shell_word(folder) + " --out rules.json");
}

void run_kernels_detect(const OptionParser& options) {
  const std::string out = options.required("out");
  if (options.has("kit") && options.has("runtime")) throw UsageError("--runtime and --kit are two ways: give one");
  descriptor::FusionDetectionOptions detection;
  if (options.has("operators")) detection.operators = filled_parts(joined(options.all("operators"), ","));
  detection.alpha = options.number_between("alpha", 0, 1, "a number between 0 and 1");
  detection.most_rounds = options.integer("rounds", detection.least_rounds);
  detection.image = {options.integer("channels", 1), options.integer("size", 2)};
  FileRoles files;
  if (options.has("kit")) files.reads_measured("--kit", options.get("kit"));
  files.makes("--out", out);
  descriptor::FusionFindings findings;
  nlohmann::ordered_json document;
  if (options.has("kit")) {
    findings = findings_of_kit(options.get("kit"), detection);
    document = to_json(findings);
  } else {
    descriptor::RuntimeOptions run;
    run.threads = options.integer("threads", 1);
    const auto runtime = descriptor::make_runtime(options.required("runtime"));
    findings = findings_of(descriptor::time_on(*runtime, run), detection);
    findings.rules.name = std::string(runtime->name());
    document = to_json(findings);
    document["version"] = runtime->version();
  }
  write_file_atomically(out, document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const auto undecided = std::count_if(findings.pairs.begin(), findings.pairs.end(),
                                       [](const descriptor::PairFinding& pair) { return !pair.decided; });
  say(std::to_string(findings.rules.pairs.size()) + " of " + std::to_string(findings.pairs.size()) + " pairs fuse, " +
      std::to_string(undecided) + " stayed within the noise, " + std::to_string(findings.refused.size()) +
      " cases were refused; written to " + out + "; next: tenshot kernels find --rules " + shell_word(out) +
      " model.onnx");
}

void run_kernels_find(const OptionParser& options) {
  const std::string rules = options.required("rules"), model = options.required("model");
  show(model, nasbench::fusion_rules(rules), options);
}

void run_kernels_deduce(const OptionParser& options) {
  const std::string name = deduced_rules(options);
  const std::vector<ShippedFile>& shipped = nasbench::shipped_rules();
  const auto rules = std::find_if(shipped.begin(), shipped.end(), [&](const auto& each) { return each.name == name; });
  const std::string out = options.has("out") ? options.get("out") : options.has("model") ? "" : "-";
  if (options.has("model")) {
    FileRoles files("MODEL", options.get("model"));
    if (!out.empty()) files.writes("--out", out);
    show(options.get("model"), nasbench::fusion_rules(name), options);
  }
  if (out.empty()) return;
  if (out == "-") {
    std::cout << rules->content;
    return;
  }
  const MadeFolders made(out);
  write_file_atomically(out, std::string(rules->content));
  say_written(out, "rules of " + name, "tenshot kernels find --rules " + shell_word(out) + " model.onnx");
}

}  // namespace tenshot::cli
