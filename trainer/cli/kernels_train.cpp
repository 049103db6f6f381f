#include <algorithm>
#include <cmath>

#include "datasets/operators/kernel_table.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/cli/shared_options.h"
#include "trainer/predictors/kernels/kernels_predictor.h"

namespace tenshot::cli {
namespace {

using datasets::KernelRow;
using trainer::kernels::KernelModel;
using trainer::kernels::WholeNetwork;
using trainer::kernels::WholeNetworks;

struct Table {
  std::vector<trainer::kernels::KernelSample> samples;
  double call_ms = 0;
  std::size_t refused = 0;
};

/// Throws InputError where rows say that they are of unlike settings: "sample of RUNTIME at N threads".
void require_one_setting(const std::vector<KernelRow>& rows, const std::string& file) {
  std::string first;
  for (const KernelRow& row : rows) {
    const std::size_t of = row.purpose.find(" of ");
    if (of == std::string::npos || (row.purpose.substr(0, of) != "sample" && row.purpose.substr(0, of) != "grid"))
      continue;
    const std::string setting = row.purpose.substr(of + 4);
    if (first.empty()) first = setting;
    if (setting != first) {
      throw InputError(file + " holds kernels of '" + excerpt(first) + "' and of '" + excerpt(setting) +
                       "', expected one device-runtime; keep each in a file of its own");
    }
  }
}

Table read_table(const std::string& file, const nasbench::FusionRules& rules) {
  const std::vector<KernelRow> rows = datasets::read_kernel_table(file);
  require_one_setting(rows, file);
  Table table;
  for (const KernelRow& row : rows) {
    // A profile tells of a runtime that executes an operator together with another one.
    const bool executed_elsewhere = !row.refused.empty() && row.isolation == datasets::profiled_isolation;
    if (!row.refused.empty() && !executed_elsewhere) {
      ++table.refused;
    } else if (row.kernel == "call") {
      table.call_ms = row.latency_ms;
    } else {
      const bool prefixed = row.purpose.rfind("network ", 0) == 0;
      table.samples.push_back({trainer::kernels::type_under(rules, row.kernel, row.leading), row.leading,
                               executed_elsewhere ? 0 : row.latency_ms, row.purpose.substr(prefixed ? 8 : 0)});
    }
  }
  if (table.samples.empty()) {
    throw InputError(file + ": no kernel in it was measured; a row is like convolution++relu,convolution,,1x32x56x56," +
                     std::string("1x64x56x56,3x3,1x1,1x1,1,1,0,,1.25,0.01,0.1,"));
  }
  return table;
}

std::vector<WholeNetwork> whole_networks(const trainer::AdaptationSet& measured, const nasbench::FusionRules& rules) {
  std::vector<WholeNetwork> networks;
  for (std::size_t i = 0; i < measured.architectures.size(); ++i) {
    const nasbench::NamedNetwork& network = nasbench::named_network(measured.architectures[i]);
    networks.push_back({network.name, trainer::kernels::kernels_of(trainer::kernels::graph_of(network), rules),
                        measured.latency_ms[i]});
  }
  return networks;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

/// Says where whole networks take far more or less than their kernels: what is measured alone is not what runs there.
void compare(const std::vector<WholeNetwork>& networks, const KernelModel& model, const WholeNetworks& whole) {
  std::size_t far = 0;
  double worst = 0;
  std::string name;
  for (const WholeNetwork& network : networks) {
    const double off = model.network_ms(network.kernels) / network.latency_ms - 1;
    far += std::abs(off) > 0.5 ? 1 : 0;
    if (std::abs(off) <= std::abs(worst)) continue;
    worst = off;
    name = network.name;
  }
  say(in_words(trainer::Remark{std::to_string(far) + " of " + std::to_string(networks.size()) +
                                   " measured networks differ from the sum of their kernels by more than 50 %" +
                                   (name.empty() ? "" : "; most does " + name + ", by " + percent(worst)),
                               far > 0}),
      {{"far", far}, {"networks", networks.size()}});
  if (whole.errors.empty()) {
    say("intervals need three measured networks: they are those of held-out kernels");
    return;
  }
  say("nine of ten networks that were held out lie within -" + percent(-std::expm1(-whole.half_width(0.9))) + " and +" +
          percent(std::expm1(whole.half_width(0.9))),
      {{"factor", whole.factor}, {"overhead_ms", whole.overhead_ms}});
}

/// Tells programs the error of held-out kernels of each type, and people the largest.
void tell_kernels(const KernelModel& model) {
  nlohmann::json types = nlohmann::json::array();
  for (const auto& [type, learned] : model.types) {
    types.push_back({{"kernel", type}, {"samples", learned.samples}, {"held_out_error", learned.error}});
    if (!learned.learner->remark().empty()) say(type + ": " + learned.learner->remark());
  }
  put_outcome({{"kernels", types}});
  const auto& [name, worst] =
      *std::max_element(model.types.begin(), model.types.end(),
                        [](const auto& a, const auto& b) { return a.second.error < b.second.error; });
  tell_people("kernels held out are worst predicted of " + name + ": off by a factor of " +
              significant_digits(std::exp(worst.error), 3) + " (root mean square of log latency)");
}

/// Writes the predictor of --out from a table of measured kernels. Throws InputError on two runtimes, or no kernel.
void learn_kernels(const OptionParser& options, const std::string& file, trainer::kernels::LearnerKind learner) {
  const std::string out = options.required("out");
  const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  const auto correction = trainer::kernels::correction(options.get("correction"));
  const nasbench::FusionRules rules = nasbench::fusion_rules(options.get("rules"));
  networks_of(options);
  const Table table = read_table(file, rules);
  trainer::AdaptationSet measured;
  if (options.has("measurements")) {
    const auto read =
        read_measurements(options, options.all("measurements"), nasbench::networks(), datasets::Quantity::latency);
    measured.architectures = read.measured.architectures;
    measured.latency_ms = read.measured.latency_ms;
  }
  const std::vector<WholeNetwork> networks = whole_networks(measured, rules);
  KernelModel model(table.samples, table.call_ms, seed, learner);
  model.find_errors(table.samples, seed, learner);
  const WholeNetworks whole = fit_whole_networks(networks, model, table.samples, correction, seed, learner);
  const auto predictor = trainer::make_kernels_predictor(model, rules, table.samples.size(), seed, whole, measured);
  tell_kernels(model);
  if (!networks.empty()) compare(networks, model, whole);
  const MadeFolders made(out);
  save(predictor->to_archive(), out);
  tell_people(std::to_string(table.samples.size()) + " kernels of " + std::to_string(model.types.size()) + " kinds, " +
              std::to_string(table.refused) + " refused by the runtime are left out");
  put_outcome({{"samples", table.samples.size()}, {"refused", table.refused}});
  say_written(out, "predictor", "tenshot predict --predictor " + shell_word(out) + " model.onnx");
}

}  // namespace

void run_kernels_grid(const OptionParser& options) {
  const std::string table = options.required("kernels");
  FileRoles files(options);
  files.writes("--kernels", table);
  files.writes("--out", options.required("out"));
  if (options.has("runtime")) measure_grid(options);
  learn_kernels(options, table, trainer::kernels::LearnerKind::grid);
}

void run_kernels_train(const OptionParser& options) {
  FileRoles files(options);
  files.reads_measured("--kernels", options.required("kernels"));
  files.writes("--out", options.required("out"));
  learn_kernels(options, options.required("kernels"), trainer::kernels::learner_kind(options.get("learner")));
}

}  // namespace tenshot::cli
