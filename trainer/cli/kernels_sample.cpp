#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "nasbench/kernels/kernel_network.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/synthetic_cnn.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/kernel_verbs.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/shared_options.h"
#include "trainer/predictors/kernels/kernel_sampling.h"
#include "trainer/predictors/kernels/kernels_predictor.h"

namespace tenshot::cli {
namespace {

using nasbench::KernelSizes;
using nasbench::Network;

/// Sizes of the kernels of each type that a zoo has.
using Zoo = std::map<std::string, std::vector<KernelSizes>>;

/// The kernels of the networks of --networks, or of the synthetic ones that `network generate` makes.
Zoo zoo_of(const OptionParser& options, const nasbench::FusionRules& rules) {
  constexpr std::uint64_t synthetic_networks = 50;
  std::vector<Network> graphs;
  for (const nasbench::Architecture& identity : networks_of(options)) {
    graphs.push_back(trainer::kernels::graph_of(nasbench::named_network(identity)));
  }
  for (std::uint64_t i = 0; graphs.empty() || (i < synthetic_networks && !options.has("networks")); ++i) {
    graphs.push_back(nasbench::synthetic_cnn(1, i));
  }
  Zoo zoo;
  for (const Network& graph : graphs) {
    for (const trainer::kernels::NetworkKernel& kernel : trainer::kernels::kernels_of(graph, rules)) {
      if (nasbench::can_be_made(kernel.kernel)) zoo[kernel.kernel].push_back(nasbench::kernel_sizes(kernel.leading));
    }
  }
  return zoo;
}

/// The types that --kind names: a type of the zoo, or all that begin with an operator ("conv", "dwconv" for short).
std::vector<std::string> kinds_of(const OptionParser& options, const Zoo& zoo) {
  std::vector<std::string> kinds, all;
  for (const auto& [type, sizes] : zoo) all.push_back(type);
  if (!options.has("kind")) return all;
  for (std::string wanted : split_list(joined(options.get<std::vector<std::string>>("kind"), ","))) {
    if (wanted == "conv") wanted = "convolution";
    if (wanted == "dwconv") wanted = "depthwise_convolution";
    const std::size_t before = kinds.size();
    std::copy_if(all.begin(), all.end(), std::back_inserter(kinds),
                 [&](const std::string& type) { return type == wanted || type.rfind(wanted + "++", 0) == 0; });
    if (kinds.size() == before) {
      throw InputError("no network has kernels of kind '" + excerpt(wanted) + "'; there are: " + joined(all));
    }
  }
  return kinds;
}

double number_over_zero(const OptionParser& options, const std::string& option) {
  const std::optional<double> value = parse_number(options.get(option));
  if (value && *value > 0 && std::isfinite(*value)) return *value;
  throw UsageError("--" + option + " is '" + excerpt(options.get(option)) + "', expected a number over 0");
}

void add_sample_options(OptionParser& options) {
  options.text("runtime", "required: " + joined(descriptor::runtime_names()));
  options.text("threads", "threads of the runtime", "1");
  options.texts("kind",
                "kernels to measure, as conv, dwconv, max_pool or convolution++relu; may be repeated; all by default");
  options.text("rules", "what the runtime fuses: a file (kernels detect), or " + joined(nasbench::shipped_rule_names()),
               "none");
  options.text("initial", "N: kernels of each kind drawn from the sizes in the networks", "100");
  options.text("around", "M: kernels measured around each one that is predicted badly", "10");
  options.text("threshold", "relative error at which a kind is done", "0.1");
  options.text("most", "kernels of each kind in all", "1000");
  options.text("seed", "seed of every random draw", "1");
  options.text("out", "required: CSV of the kernels; one that is there is gone on with");
  add_network_options(options, "whose kernels say which sizes are drawn (otherwise fifty synthetic CNNs)");
}

}  // namespace

const char* const sample_kernels_example =
    "  tenshot kernels sample --runtime libtorch-frozen --kind conv --kind dwconv --out kernels.csv\n";

void sample_kernels(const std::vector<std::string>& arguments) {
  OptionParser options(
      "kernels sample",
      "Measures kernels of a runtime, most of them where they are predicted badly (nn-Meter, Algorithm "
      "2); an interrupted run goes on.",
      sample_kernels_example);
  add_sample_options(options);
  if (!options.parse(arguments)) return;
  const std::string out = options.required("out"), runtime_name = options.required("runtime");
  sampling::AdaptiveOptions adaptive;
  FileRoles files;
  files.reads_file_or_name("--rules", options.get("rules"));
  reads_networks(files, options);
  files.writes_last("--out", out);
  adaptive.initial = static_cast<std::size_t>(options.integer("initial", 2));
  adaptive.around = static_cast<std::size_t>(options.integer("around", 1));
  adaptive.most_kernels = static_cast<std::size_t>(options.integer("most", 2));
  adaptive.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  adaptive.threshold = number_over_zero(options, "threshold");
  const nasbench::FusionRules rules = nasbench::fusion_rules(options.get("rules"));
  const Zoo zoo = zoo_of(options, rules);
  const std::vector<std::string> kinds = kinds_of(options, zoo);
  const MadeFolders made(out);
  KernelMeasuring measure(options, "sample", out);
  std::size_t refused = 0, left_out = 0;
  for (const std::string& kind : kinds) {
    try {
      const sampling::AdaptiveSamples samples = trainer::kernels::sample_kernels(
          kind, zoo.at(kind),
          [&](const KernelSizes& sizes) { return measure(kind, nasbench::made_kernel(kind, sizes)); }, adaptive);
      refused += samples.refused.size();
      say(kind + ": " + std::to_string(samples.training.latency_ms.size() + samples.test.latency_ms.size()) +
              " kernels, mean error of a forest " + std::to_string(std::lround(100 * samples.errors.back())) + " %",
          options.has("quiet"));
    } catch (const InputError& error) {
      say(kind + " is left out: " + error.what(), options.has("quiet"));
      ++left_out;
    }
  }
  measure.journal().keep();
  if (left_out == kinds.size()) throw InputError("no kernel of " + joined(kinds) + " could be measured");
  say(std::to_string(measure.journal().rows().size()) + " kernels of " + runtime_name + ", " + std::to_string(refused) +
          " refused; written to " + out + "; next: tenshot kernels train --kernels " + out + " --rules " +
          options.get("rules") + " --out device.tenshot",
      options.has("quiet"));
}

}  // namespace tenshot::cli
