#include <algorithm>
#include <cmath>
#include <set>

#include "datasets/operators/kernel_table.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/isolation/isolation.h"
#include "descriptor/timing/timing.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"
#include "trainer/cli/signals.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::cli {
namespace {

using datasets::KernelRow;
using nasbench::KernelSizes;

std::string key(const KernelRow& row) { return row.kernel + " " + format(row.leading); }

double latency_of(const KernelRow& row) { return row.refused.empty() ? row.latency_ms : std::nan(""); }

/// Measures one kernel after the other, those that a file of kernels lacks, which an interrupted run goes on with; what
/// a call costs first. The purpose of its rows: "sample of libtorch-eager at 1 threads".
class KernelMeasuring {
 public:
  /// `what`: "sample", "grid"; --runtime and --threads are read of the options. Throws InputError where the file is
  /// there with another purpose, and as make_runtime() and datasets::read_kernel_table() do.
  KernelMeasuring(const OptionParser& options, const std::string& what, std::string file)
      : runtime_(descriptor::make_runtime(options.required("runtime"))),
        file_(std::move(file)),
        purpose_(what + " of " + options.get("runtime") + " at " + std::to_string(options.integer("threads", 1)) +
                 " threads") {
    isolation_.runtime.threads = options.integer("threads", 1);
    if (std::filesystem::exists(file_)) rows_ = datasets::read_kernel_table(file_);
    for (const KernelRow& row : rows_) {
      if (row.purpose != purpose_) {
        throw InputError(file_ + " holds kernels of '" + excerpt(row.purpose) + "', expected '" + purpose_ +
                         "'; name another file, or remove it");
      }
      found_.emplace(key(row), latency_of(row));
    }
    (*this)("call", descriptor::empty_case());
  }

  /// ms; NaN where the runtime refuses it. Throws Interrupted, after all is kept, where the program is to stop.
  double operator()(const std::string& type, const nasbench::Network& network) {
    constexpr double least_ms = 1e-4;  // less is the noise of a call
    KernelRow row;
    row.kernel = type;
    row.leading = leading_operator(network);
    row.purpose = purpose_;
    if (const auto found = found_.find(key(row)); found != found_.end()) return found->second;
    if (stop_requested()) {
      keep();
      throw Interrupted("stopped after " + std::to_string(count()) +
                        " kernels, which are kept; the same command goes on");
    }
    try {
      // A call alone has nothing to be taken off.
      const descriptor::IsolatedTiming timing = type == "call" ? call() : time_isolated(*runtime_, network, isolation_);
      row.latency_ms = std::max(timing.latency_ms, least_ms);
      row.deviation_ms = timing.deviation_ms;
      row.seconds = timing.seconds;
    } catch (const InputError& error) {
      row.refused = excerpt(error.what(), 120);
    }
    found_.emplace(key(row), latency_of(row));
    rows_.push_back(row);
    write_file_quickly(file_, datasets::kernel_table(rows_));  // a signal may end the program within the next kernel
    progress_.show(type + ", " + std::to_string(count()) + " kernels");
    return latency_of(row);
  }

  std::size_t count() const { return rows_.size(); }
  void keep() const { write_file_atomically(file_, datasets::kernel_table(rows_)); }

 private:
  descriptor::IsolatedTiming call() const {
    const auto prepared = runtime_->prepare(descriptor::empty_case(), isolation_.runtime);
    const descriptor::Timing found = descriptor::measure([&] { prepared->run(); }, {});
    return {found.median_ms, found.stddev_ms, 0, false, (found.warmup_total_ms + found.loop_total_ms) / 1000};
  }

  descriptor::IsolationOptions isolation_;
  std::unique_ptr<descriptor::Runtime> runtime_;
  std::string file_, purpose_;
  std::vector<KernelRow> rows_;
  std::map<std::string, double> found_;  ///< ms; NaN where the runtime refused it
  ProgressLine progress_;
};

using Zoo = std::map<std::string, std::vector<KernelSizes>>;

/// The kernels of the networks of --networks, or of the synthetic ones that `network generate` makes.
Zoo zoo_of(const OptionParser& options, const nasbench::FusionRules& rules) {
  constexpr std::uint64_t synthetic_networks = 50;
  std::vector<nasbench::Network> graphs;
  for (const nasbench::Architecture& identity : networks_of(options)) {
    graphs.push_back(trainer::kernels::graph_of(nasbench::named_network(identity)));
  }
  for (std::uint64_t i = 0; graphs.empty() || (i < synthetic_networks && !options.has("networks")); ++i) {
    graphs.push_back(nasbench::synthetic_cnn(1, i));
  }
  Zoo zoo;
  for (const nasbench::Network& graph : graphs) {
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
  for (std::string wanted : filled_parts(joined(options.all("kind"), ","))) {
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

std::vector<int> sizes(const OptionParser& options, const std::string& option) {
  std::set<int> numbers;
  for (const std::string& text : filled_parts(options.get(option))) {
    const std::optional<double> value = parse_number(text);
    if (!value || *value < 1 || *value > 1e5 || *value != std::floor(*value)) {
      throw UsageError("--" + option + ": '" + excerpt(text) + "' is no whole number from 1 to 100000");
    }
    numbers.insert(static_cast<int>(*value));
  }
  if (numbers.empty()) throw UsageError("--" + option + " names no size, expected some as 7,14,28");
  return {numbers.begin(), numbers.end()};
}

/// The kernels of a type on the grid, each once; what has no place for its window is no point of it.
std::vector<nasbench::Network> points_of(const OptionParser& options, const std::string& type) {
  const double most_multiply_adds = 1e6 * options.integer("most", 1);
  if (!nasbench::can_be_made(type)) nasbench::made_kernel(type, {});  // throws, and says why
  std::vector<nasbench::Network> points;
  std::set<std::string> known;
  for (const int image : sizes(options, "image")) {
    for (const int inputs : sizes(options, "channels")) {
      for (const int outputs : sizes(options, "channels")) {
        for (const int window : sizes(options, "window")) {
          for (const int stride : sizes(options, "stride")) {
            try {
              nasbench::Network network = nasbench::made_kernel(type, {image, inputs, outputs, window, stride});
              const bool small = static_cast<double>(nasbench::multiply_adds(network)) <= most_multiply_adds;
              if (small && known.insert(format(leading_operator(network))).second) points.push_back(std::move(network));
            } catch (const InputError&) {
              continue;
            }
          }
        }
      }
    }
  }
  return points;
}

}  // namespace

void run_kernels_sample(const OptionParser& options) {
  const std::string out = options.required("out"), runtime_name = options.required("runtime");
  sampling::AdaptiveOptions adaptive;
  FileRoles files(options);
  files.writes("--out", out);
  adaptive.initial = static_cast<std::size_t>(options.integer("initial", 2));
  adaptive.around = static_cast<std::size_t>(options.integer("around", 1));
  adaptive.most_kernels = static_cast<std::size_t>(options.integer("most", 2));
  adaptive.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  adaptive.threshold = options.number_between("threshold", 0, HUGE_VAL, "a number over 0");
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
          " kernels, mean error of a forest " + std::to_string(std::lround(100 * samples.errors.back())) + " %");
    } catch (const InputError& error) {
      say(kind + " is left out: " + error.what());
      ++left_out;
    }
  }
  measure.keep();
  if (left_out == kinds.size()) throw InputError("no kernel of " + joined(kinds) + " could be measured");
  say(std::to_string(measure.count()) + " kernels of " + runtime_name + ", " + std::to_string(refused) +
      " refused; written to " + out + "; next: tenshot kernels train --kernels " + shell_word(out) + " --rules " +
      shell_word(options.get("rules")) + " --out device.tenshot");
}

void measure_grid(const OptionParser& options) {
  std::vector<std::string> kinds = filled_parts(joined(options.all("kind"), ","));
  if (kinds.empty()) kinds = {"convolution", "depthwise_convolution"};
  std::vector<std::vector<nasbench::Network>> grids;
  for (const std::string& kind : kinds) grids.push_back(points_of(options, kind));
  const std::string table = options.required("kernels");
  const MadeFolders made(table);
  KernelMeasuring measure(options, "grid", table);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::size_t refused = 0;
    for (const nasbench::Network& network : grids[i]) refused += std::isnan(measure(kinds[i], network)) ? 1 : 0;
    tell_people(kinds[i] + ": " + std::to_string(grids[i].size()) + " points, " + std::to_string(refused) +
                " refused by the runtime");
  }
  measure.keep();
}

}  // namespace tenshot::cli
