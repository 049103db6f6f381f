#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "nasbench/graph/onnx_reader.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/text.h"
#include "trainer/cli/command.h"
#include "trainer/cli/network_options.h"

namespace tenshot::cli {
namespace {

using Arguments = std::vector<std::string>;
using nasbench::Kernel;
using nasbench::Network;

constexpr const char* find_example =
    "  tenshot kernels find --rules activation-add model.onnx\n"
    "  tenshot kernels find --rules rules.json model.onnx --json\n";

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

void find(const Arguments& arguments) {
  OptionParser options("kernels find",
                       "Says which kernels a runtime executes of an ONNX network: its operators, fused by the rules of "
                       "the runtime (nn-Meter, Algorithm 1).",
                       find_example);
  options.add_positional("model.onnx", "the ONNX file");
  options.add()("rules", "file of fusion rules (tenshot.fusion/1), or " + joined(nasbench::shipped_rule_names()),
                cxxopts::value<std::string>());
  options.add()("shape", "shape of an input, as input=1x3x224x224; may be repeated",
                cxxopts::value<std::vector<std::string>>());
  options.add()("json", "as JSON on standard output");
  if (!options.parse(arguments)) return;
  const std::string rules_name = options.required("rules");
  const std::string model = options.required("model.onnx");
  const nasbench::FusionRules rules = nasbench::fusion_rules(rules_name);
  const Network network = nasbench::read_onnx(model, onnx_options(options));
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

void run(const Arguments& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (verb == "find") return find(rest);
  if (verb == "--help" || verb == "-h") {
    std::cout << "Usage: tenshot kernels find [options]; it has --help\n\nExample:\n" << find_example;
    return;
  }
  throw UsageError("tenshot kernels needs find" + (verb.empty() ? std::string() : ", not '" + excerpt(verb) + "'"));
}

}  // namespace

const Command kernels_command = {"kernels", "find the kernels that a runtime executes of a network", run};

}  // namespace tenshot::cli
