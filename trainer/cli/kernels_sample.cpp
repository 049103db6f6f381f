#include "trainer/cli/kernels_sample.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "datasets/operators/kernel_table.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/isolation/isolation.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/synthetic_cnn.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/network_options.h"
#include "trainer/cli/signals.h"
#include "trainer/predictors/kernels/kernel_sampling.h"
#include "trainer/predictors/kernels/kernels_predictor.h"

namespace tenshot::cli {
namespace {

using datasets::KernelRow;
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

/// The file of the measurements, which an interrupted run goes on with.
class Journal {
 public:
  Journal(std::string path, const std::string& purpose) : path_(std::move(path)), purpose_(purpose) {
    if (!std::filesystem::exists(path_)) return;
    rows_ = datasets::read_kernel_table(path_);
    for (const KernelRow& row : rows_) {
      if (row.purpose != purpose_) {
        throw InputError(path_ + " holds kernels of '" + excerpt(row.purpose) + "', expected '" + purpose_ +
                         "'; name another file, or remove it");
      }
      found_.emplace(key(row), row.refused.empty() ? row.latency_ms : std::nan(""));
    }
  }

  std::optional<double> find(const KernelRow& row) const {
    const auto found = found_.find(key(row));
    return found == found_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(KernelRow row) {
    constexpr std::size_t rows_at_a_time = 25;
    row.purpose = purpose_;
    found_.emplace(key(row), row.refused.empty() ? row.latency_ms : std::nan(""));
    rows_.push_back(std::move(row));
    if (rows_.size() % rows_at_a_time == 0) write_file_quickly(path_, datasets::kernel_table(rows_));
  }

  void keep() const { write_file_atomically(path_, datasets::kernel_table(rows_)); }
  const std::vector<KernelRow>& rows() const { return rows_; }

 private:
  static std::string key(const KernelRow& row) { return row.kernel + " " + format(row.leading); }

  std::string path_, purpose_;
  std::vector<KernelRow> rows_;
  std::map<std::string, double> found_;
};

/// Measures one kernel after the other, those that the journal lacks.
class Measuring {
 public:
  Measuring(const descriptor::Runtime& runtime, const descriptor::RuntimeOptions& options, Journal& journal, bool quiet)
      : runtime_(runtime), journal_(journal), progress_(quiet) {
    isolation_.runtime = options;
  }

  double operator()(const std::string& type, const Network& network) {
    KernelRow row;
    row.kernel = type;
    row.leading = leading_operator(network);
    if (const auto found = journal_.find(row)) return *found;
    if (stop_requested()) {
      journal_.keep();
      throw Interrupted("stopped after " + std::to_string(journal_.rows().size()) +
                        " kernels, which are kept; the same command goes on");
    }
    try {
      // A call alone has nothing to be taken off.
      const descriptor::IsolatedTiming timing = type == "call" ? call() : time_isolated(runtime_, network, isolation_);
      constexpr double least_ms = 1e-4;  // less is the noise of a call
      row.latency_ms = std::max(timing.latency_ms, least_ms);
      row.deviation_ms = timing.deviation_ms;
      row.seconds = timing.seconds;
    } catch (const InputError& error) {
      row.refused = excerpt(error.what(), 120);
    }
    journal_.add(row);
    progress_.show(type + ", " + std::to_string(journal_.rows().size()) + " kernels");
    return row.refused.empty() ? row.latency_ms : std::nan("");
  }

 private:
  descriptor::IsolatedTiming call() const {
    const auto prepared = runtime_.prepare(descriptor::empty_case(), isolation_.runtime);
    descriptor::IsolatedTiming timing;
    const descriptor::Timing found = descriptor::measure([&] { prepared->run(); }, {});
    timing.latency_ms = found.median_ms;
    timing.deviation_ms = found.stddev_ms;
    timing.seconds = (found.warmup_total_ms + found.loop_total_ms) / 1000;
    return timing;
  }

  const descriptor::Runtime& runtime_;
  Journal& journal_;
  ProgressLine progress_;
  descriptor::IsolationOptions isolation_;
};

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

/// What is sampled goes into one file, which may be there; what is trained reads a file as well.
void require_distinct_files(const OptionParser& options) {
  FileRoles files;
  files.reads_file_or_name("--rules", options.get("rules"));
  for (const char* option : {"kernels", "measurements"}) {
    if (options.has(option)) files.reads_measured(std::string("--") + option, options.get(option));
  }
  reads_networks(files, options);
  files.writes("--out", options.get("out"));
  files.require_distinct();
}

std::vector<trainer::kernels::KernelSample> samples_of(const std::vector<KernelRow>& rows, double& call_ms,
                                                       std::size_t& refused) {
  std::vector<trainer::kernels::KernelSample> samples;
  for (const KernelRow& row : rows) {
    if (!row.refused.empty()) {
      ++refused;
    } else if (row.kernel == "call") {
      call_ms = row.latency_ms;
    } else {
      samples.push_back({row.kernel, row.leading, row.latency_ms});
    }
  }
  return samples;
}

/// Says where whole networks take far more or less than their kernels: what is measured alone is not what runs there.
void compare_with_networks(const OptionParser& options, const trainer::Predictor& predictor) {
  const datasets::MeasuredSource measured =
      read_measurements(options, predictor.space(), datasets::Quantity::latency).measured;
  const std::vector<double> sums = predictor.predict(measured.architectures, 0.9).latency_ms;
  std::size_t far = 0;
  double worst = 0;
  std::string name;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double off = sums[i] / measured.latency_ms[i] - 1;
    far += std::abs(off) > 0.5 ? 1 : 0;
    if (std::abs(off) <= std::abs(worst)) continue;
    worst = off;
    name = predictor.space().format(measured.architectures[i]);
  }
  const trainer::Remark remark{
      std::to_string(far) + " of " + std::to_string(sums.size()) +
          " measured networks differ from the sum of their kernels by more than 50 %" +
          (name.empty() ? "" : "; most does " + name + ", by " + std::to_string(std::lround(100 * worst)) + " %"),
      far > 0};
  say(in_words(remark), options.has("quiet"));
}

}  // namespace

const char* const sample_kernels_example =
    "  tenshot kernels sample --runtime libtorch-frozen --kind conv --kind dwconv --out kernels.csv\n";
const char* const train_kernels_example =
    "  tenshot kernels train --kernels kernels.csv --rules rules.json --out device.tenshot\n";

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
  require_distinct_files(options);
  adaptive.initial = static_cast<std::size_t>(options.integer("initial", 2));
  adaptive.around = static_cast<std::size_t>(options.integer("around", 1));
  adaptive.most_kernels = static_cast<std::size_t>(options.integer("most", 2));
  adaptive.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  adaptive.threshold = number_over_zero(options, "threshold");
  descriptor::RuntimeOptions run;
  run.threads = options.integer("threads", 1);
  const auto runtime = descriptor::make_runtime(runtime_name);
  const nasbench::FusionRules rules = nasbench::fusion_rules(options.get("rules"));
  const Zoo zoo = zoo_of(options, rules);
  const std::vector<std::string> kinds = kinds_of(options, zoo);
  MadeFolders made;
  made.for_file(out);
  Journal journal(out, "sample of " + runtime_name + " at " + std::to_string(run.threads) + " threads");
  Measuring measure(*runtime, run, journal, options.has("quiet"));
  measure("call", descriptor::empty_case());
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
  journal.keep();
  if (left_out == kinds.size()) throw InputError("no kernel of " + joined(kinds) + " could be measured");
  say(std::to_string(journal.rows().size()) + " kernels of " + runtime_name + ", " + std::to_string(refused) +
          " refused; written to " + out + "; next: tenshot kernels train --kernels " + out + " --rules " +
          options.get("rules") + " --out device.tenshot",
      options.has("quiet"));
}

void train_kernels(const std::vector<std::string>& arguments) {
  OptionParser options("kernels train",
                       "Makes a predictor of any network from measured kernels: a forest for each kind of kernel, and "
                       "the sum (nn-Meter).",
                       train_kernels_example);
  options.text("kernels", "required: CSV of measured kernels (kernels sample)");
  options.text("rules", "what the runtime fuses: a file (kernels detect), or " + joined(nasbench::shipped_rule_names()),
               "none");
  options.text("measurements", "whole networks, network,latency_ms, to compare the sums with");
  options.text("seed", "seed of every random draw", "1");
  options.text("out", "required: predictor to write");
  add_network_options(options, "that --measurements names");
  if (!options.parse(arguments)) return;
  const std::string file = options.required("kernels"), out = options.required("out");
  require_distinct_files(options);
  const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  const nasbench::FusionRules rules = nasbench::fusion_rules(options.get("rules"));
  networks_of(options);
  double call_ms = 0;
  std::size_t refused = 0;
  const auto samples = samples_of(datasets::read_kernel_table(file), call_ms, refused);
  if (samples.empty()) {
    throw InputError(file + ": no kernel in it was measured; a row is like convolution++relu,convolution,,1x32x56x56," +
                     std::string("1x64x56x56,3x3,1x1,1x1,1,1,0,,1.25,0.01,0.1,"));
  }
  const trainer::kernels::KernelModel model(samples, call_ms, seed);
  const auto predictor = trainer::make_kernels_predictor(model, rules, samples.size(), seed);
  if (options.has("measurements")) compare_with_networks(options, *predictor);
  MadeFolders made;
  made.for_file(out);
  save(predictor->to_archive(), out);
  say(std::to_string(samples.size()) + " kernels of " + std::to_string(model.forests().size()) + " kinds, " +
          std::to_string(refused) + " refused by the runtime are left out; written to " + out +
          "; next: tenshot predict --predictor " + out + " model.onnx",
      options.has("quiet"));
}

}  // namespace tenshot::cli
