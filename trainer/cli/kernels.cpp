#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "descriptor/fusion/fusion_detection.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/kernel_verbs.h"
#include "trainer/cli/shared_options.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {
namespace {

using Arguments = std::vector<std::string>;
using nasbench::Kernel;
using nasbench::Network;

constexpr const char* detect_example =
    "  tenshot kernels detect --runtime libtorch-frozen --out rules.json\n"
    "  tenshot kernels detect --kit cases/ --out rules.json\n";
constexpr const char* find_example =
    "  tenshot kernels find --rules activation-add model.onnx\n"
    "  tenshot kernels find --rules rules.json model.onnx --json\n";
constexpr const char* deduce_example =
    "  tenshot kernels deduce --runtime tflite-gpu --gpu mali --out rules.json\n"
    "  tenshot kernels deduce --runtime pytorch-vulkan model.onnx --json\n";

std::map<std::string, int> counts_of(const std::vector<Kernel>& kernels) {
  std::map<std::string, int> counts;
  for (const Kernel& kernel : kernels) ++counts[kernel.name];
  return counts;
}

nlohmann::ordered_json to_json(const Network& network, const std::vector<Kernel>& kernels, const std::string& rules) {
  nlohmann::ordered_json json = {{"rules", rules}, {"hash", content_hash(network)}, {"count", kernels.size()}};
  json["kinds"] = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : counts_of(kernels)) json["kinds"][kind] = count;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const Kernel& kernel : kernels) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (const int node : kernel.nodes) operators.push_back(network.nodes[static_cast<std::size_t>(node)].name);
    json["kernels"].push_back({{"kernel", kernel.name}, {"operators", operators}});
  }
  return json;
}

/// The kernels of a network's file under rules, for people or as JSON.
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

void find(const Arguments& arguments) {
  OptionParser options("kernels find",
                       "Says which kernels a runtime executes of a network: its operators, fused by the rules of "
                       "the runtime (nn-Meter, Algorithm 1).",
                       find_example);
  options.add_positional("model", "required: the network's file, *.onnx, *.tflite or *.param");
  options.text("rules",
               "required: file of fusion rules (tenshot.fusion/1), or " + joined(nasbench::shipped_rule_names()));
  add_shape_option(options);
  options.flag("json", "as JSON on standard output");
  if (!options.parse(arguments)) return;
  const std::string rules_name = options.required("rules");
  const std::string model = options.required("model");
  show(model, nasbench::fusion_rules(rules_name), options);
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

void deduce(const Arguments& arguments) {
  OptionParser options("kernels deduce",
                       "Says by the rules in a mobile runtime's source, nothing measured, which kernel it takes for an "
                       "operator and what it fuses (Li et al., Algorithms B.1 to B.3): as JSON, or for a network.",
                       deduce_example);
  options.add_positional("model", "the network's file, *.onnx, *.tflite or *.param");
  options.text("runtime", "required: tflite-gpu (TensorFlow Lite's GPU delegate) or pytorch-vulkan (PyTorch Mobile)");
  options.text("gpu", "required with tflite-gpu: adreno6xx, adreno (others of Adreno), amd, mali (PowerVR, Apple too)");
  options.text("out", "file of the rules (tenshot.fusion/1), which --rules takes; - is standard output");
  add_shape_option(options);
  options.flag("json", "the network's kernels as JSON on standard output");
  if (!options.parse(arguments)) return;
  const std::string name = deduced_rules(options);
  const std::vector<ShippedFile>& shipped = nasbench::shipped_rules();
  const auto rules = std::find_if(shipped.begin(), shipped.end(), [&](const auto& each) { return each.name == name; });
  const std::string out = options.has("out") ? options.get("out") : options.has("model") ? "" : "-";
  if (options.has("model")) {
    FileRoles files("MODEL", options.get("model"));
    if (!out.empty()) files.writes_last("--out", out);
    show(options.get("model"), nasbench::fusion_rules(name), options);
  }
  if (out.empty()) return;
  if (out == "-") {
    std::cout << rules->content;
    return;
  }
  const MadeFolders made(out);
  write_file_atomically(out, std::string(rules->content));
  say_written(out, "rules of " + name, "tenshot kernels find --rules " + out + " model.onnx", options.has("quiet"));
}

double share(const OptionParser& options, const std::string& option) {
  const std::optional<double> value = parse_number(options.get(option));
  if (value && *value > 0 && *value < 1) return *value;
  throw UsageError("--" + option + " is '" + excerpt(options.get(option)) + "', expected a number between 0 and 1");
}

void add_detect_options(OptionParser& options) {
  options.text("runtime", "required, or --kit: " + joined(descriptor::runtime_names()));
  options.text("kit", "folder of test cases that a board measured (plan --kit FOLDER --fusion)");
  options.text("threads", "threads of the runtime", "1");
  options.text("alpha", "share of the usual operator's time that fusing must save", "0.15");
  options.text("rounds", "most rounds of a case; one that stays within the noise counts as not fused", "100");
  options.text("channels", "of the image of the test cases", "32");
  options.text("size", "height and width of that image", "2");
  options.texts("operators", "which operators to pair: " + joined(descriptor::testable_operators()));
  options.text("out", "required: file of the rules");
}

descriptor::FusionFindings findings_of(const OptionParser& options, const descriptor::TimeCase& time_case,
                                       const descriptor::FusionDetectionOptions& detection) {
  ProgressLine progress(options.has("quiet"));
  std::size_t cases = 0;
  return detect_fusion(time_case, detection, [&] {
    progress.show("case " + std::to_string(++cases) + ", " +
                  std::to_string(detection.operators.size() * detection.operators.size()) + " pairs");
    return !stop_requested();
  });
}

/// The rules of a runtime here, or of a board that measured a kit of test cases.
nlohmann::ordered_json detected(const OptionParser& options, descriptor::FusionDetectionOptions detection,
                                descriptor::FusionFindings& findings) {
  if (options.has("kit")) {
    const MeasuredCases measured = measured_cases(options.get("kit"), options.has("quiet"));
    detection.image = measured.image;
    detection.least_rounds = detection.most_rounds = std::min(detection.most_rounds, measured.rounds);
    findings = findings_of(options, measured.time_case, detection);
    findings.rules.name = measured.device;
    return to_json(findings);
  }
  descriptor::RuntimeOptions run;
  run.threads = options.integer("threads", 1);
  const auto runtime = descriptor::make_runtime(options.required("runtime"));
  findings = findings_of(options, descriptor::time_on(*runtime, run), detection);
  findings.rules.name = std::string(runtime->name());
  nlohmann::ordered_json document = to_json(findings);
  document["version"] = runtime->version();
  return document;
}

void detect(const Arguments& arguments) {
  OptionParser options("kernels detect",
                       "Finds out by test cases which operators a runtime fuses (nn-Meter, Inequality 1), and writes "
                       "the rules.",
                       detect_example);
  add_detect_options(options);
  if (!options.parse(arguments)) return;
  const std::string out = options.required("out");
  if (options.has("kit") && options.has("runtime")) throw UsageError("--runtime and --kit are two ways: give one");
  descriptor::FusionDetectionOptions detection;
  if (options.has("operators")) {
    detection.operators = filled_parts(joined(options.all("operators"), ","));
  }
  detection.alpha = share(options, "alpha");
  detection.most_rounds = options.integer("rounds", detection.least_rounds);
  detection.image = {options.integer("channels", 1), options.integer("size", 2)};
  FileRoles files;
  if (options.has("kit")) files.reads_kit("--kit", options.get("kit"));
  files.writes_last("--out", out);
  const MadeFolders made(out);
  descriptor::FusionFindings findings;
  const nlohmann::ordered_json document = detected(options, detection, findings);
  write_file_atomically(out, document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const auto undecided = std::count_if(findings.pairs.begin(), findings.pairs.end(),
                                       [](const descriptor::PairFinding& pair) { return !pair.decided; });
  say(std::to_string(findings.rules.pairs.size()) + " of " + std::to_string(findings.pairs.size()) + " pairs fuse, " +
          std::to_string(undecided) + " stayed within the noise, " + std::to_string(findings.refused.size()) +
          " cases were refused; written to " + out + "; next: tenshot kernels find --rules " + out + " model.onnx",
      options.has("quiet"));
}

void run(const Arguments& arguments) {
  run_sub_verb("kernels",
               {{"detect", detect},
                {"find", find},
                {"deduce", deduce},
                {"sample", sample_kernels},
                {"grid", grid_kernels},
                {"train", train_kernels}},
               std::string(detect_example) + find_example + deduce_example + sample_kernels_example +
                   grid_kernels_example + train_kernels_example,
               arguments);
}

}  // namespace

const Command kernels_command = {
    "kernels", "detect or deduce what a runtime fuses, find the kernels of a network, measure kernels, predict by them",
    run};

}  // namespace tenshot::cli
