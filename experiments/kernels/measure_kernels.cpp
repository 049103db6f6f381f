// What predictors by kernels need of a device-runtime, measured piece by piece: whole networks, the kernels of
// networks, adaptive samples of kernels, a grid of convolutions, and layers isolated in three ways. Each piece goes on
// where the last one stopped. Usage: measure_kernels --runtime R --rules RULES --zoo FOLDER --split split.csv --out
// FOLDER [--seconds 280]

#include <chrono>
#include <cmath>
#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "datasets/operators/kernel_table.h"
#include "datasets/tables/csv.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/isolation/isolation.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"
#include "experiments/kernels/repeated_layer.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace {

using namespace tenshot;
using Clock = std::chrono::steady_clock;
using datasets::KernelRow;
using nasbench::KernelSizes;
using nasbench::Network;

struct Settings {
  std::string runtime, rules;
  std::filesystem::path zoo, split, out;
  double seconds = 280;
};

/// Thrown where the time of this piece is over.
struct Enough {};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Networks to learn from, in the order in which their kernels are measured, and networks to predict.
struct Split {
  std::vector<std::string> train, test;
};

Split read_split(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, path.string());
  const std::size_t network = csv.require("network", "network,role"), role = csv.require("role", "network,role");
  Split split;
  while (csv.next()) {
    (csv.fields().at(role) == "train" ? split.train : split.test).emplace_back(csv.fields().at(network));
  }
  return split;
}

/// How a kernel is known among those of one purpose.
std::string key_of(const std::string& purpose, const std::string& kernel, const nasbench::OperatorSpecification& op) {
  return purpose + " " + kernel + " " + format(op);
}

class Measuring {
 public:
  explicit Measuring(const Settings& settings)
      : settings_(settings),
        runtime_(descriptor::make_runtime(settings.runtime)),
        rules_(nasbench::fusion_rules(settings.rules)),
        split_(read_split(settings.split)) {
    make_folder(settings.out);
    if (std::filesystem::exists(kernels_file())) {
      rows_ = datasets::read_kernel_table(kernels_file());
      for (KernelRow& row : rows_) {
        row.leading.type = nasbench::ElementType::float32;
        found_.emplace(key_of(row.purpose.substr(0, row.purpose.find(' ')), row.kernel, row.leading), row.latency_ms);
      }
    }
    if (std::filesystem::exists(networks_file())) read_networks();
  }

  void run() {
    try {
      call();
      networks();
      samples();
      grid();
      kernels_of_networks();
      isolation();
      std::cerr << settings_.runtime << ": all measured\n";
    } catch (const Enough&) {
      std::cerr << settings_.runtime << ": to be continued\n";
    }
    keep();
  }

 private:
  std::filesystem::path kernels_file() const { return settings_.out / "kernels.csv"; }
  std::filesystem::path networks_file() const { return settings_.out / "networks.csv"; }

  void read_networks() {
    const std::string text = read_file(networks_file());
    datasets::CsvReader csv(text, networks_file().string());
    const std::size_t network = csv.require("network", "network,latency_ms");
    for (std::string header = "network,latency_ms,stddev_ms,runs,seconds,refused"; csv.next();) {
      std::ostringstream row;
      for (std::size_t i = 0; i < csv.fields().size(); ++i) row << (i == 0 ? "" : ",") << csv.fields()[i];
      measured_networks_.insert(std::string(csv.fields().at(network)));
      network_rows_.push_back(row.str());
    }
  }

  void keep() {
    if (!network_rows_.empty()) {
      std::string text = "network,latency_ms,stddev_ms,runs,seconds,refused\n";
      for (const std::string& row : network_rows_) text += row + "\n";
      write_file_quickly(networks_file(), text);
    }
    if (!rows_.empty()) write_file_quickly(kernels_file(), datasets::kernel_table(rows_));
  }

  void go_on() {
    if (++steps_ % 50 == 0) keep();
    if (seconds_since(begin_) > settings_.seconds) throw Enough();
  }

  Network read(const std::string& network) const {
    return nasbench::read_onnx((settings_.zoo / (network + ".onnx")).string(), {});
  }

  /// Measures a kernel unless that has been done; its latency, NaN where the runtime refuses it.
  double kernel(const std::string& purpose, const std::string& detail, const std::string& type, const Network& network,
                descriptor::Isolation mode = descriptor::Isolation::standalone) {
    KernelRow row;
    row.kernel = type;
    row.leading = leading_operator(network);
    const std::string key = key_of(purpose, type, row.leading);
    if (const auto found = found_.find(key); found != found_.end()) return found->second;
    go_on();
    row.purpose = detail.empty() ? purpose : purpose + " " + detail;
    row.isolation = name(mode);
    descriptor::IsolationOptions options;
    options.mode = mode;
    try {
      const descriptor::IsolatedTiming timing = time_isolated(*runtime_, network, options);
      // Less than a tenth of a microsecond is within the noise of a call.
      row.latency_ms = std::max(timing.latency_ms, 1e-4);
      row.deviation_ms = timing.deviation_ms;
      row.seconds = timing.seconds;
    } catch (const InputError& error) {
      row.refused = error.what();
      row.latency_ms = std::nan("");
    }
    rows_.push_back(row);
    found_.emplace(key, row.latency_ms);
    return row.latency_ms;
  }

  /// What a call costs: an operator on a single pixel.
  void call() {
    const auto begin = Clock::now();
    const Network empty = descriptor::empty_case();
    const auto prepared = runtime_->prepare(empty, {});
    KernelRow row;
    row.kernel = "call";
    row.leading = empty.nodes.front().operation;
    row.purpose = "call";
    row.latency_ms = descriptor::measure([&] { prepared->run(); }, {}).median_ms;
    row.seconds = seconds_since(begin);
    rows_.push_back(row);
  }

  void networks() {
    std::vector<std::string> all = split_.train;
    all.insert(all.end(), split_.test.begin(), split_.test.end());
    for (const std::string& network : all) {
      if (measured_networks_.count(network) != 0) continue;
      go_on();
      const Network graph = read(network);
      const auto begin = Clock::now();
      std::ostringstream row;
      try {
        const auto prepared = runtime_->prepare(graph, {});
        descriptor::TimingOptions timing;
        timing.warmup_runs = 3;
        timing.minimum_runs = 8;
        timing.maximum_runs = 25;
        const descriptor::Timing found = descriptor::measure([&] { prepared->run(); }, timing);
        row << network << "," << found.median_ms << "," << found.stddev_ms << "," << found.runs << ","
            << seconds_since(begin) << ",";
      } catch (const InputError& error) {
        row << network << ",,,,,"
            << "the runtime cannot run it";
        std::cerr << network << ": " << error.what() << "\n";
      }
      network_rows_.push_back(row.str());
    }
  }

  /// Types of kernels of the networks to learn from and the sizes that they have there.
  std::map<std::string, std::vector<KernelSizes>> zoo() const {
    std::map<std::string, std::vector<KernelSizes>> types;
    for (const std::string& network : split_.train) {
      const Network graph = read(network);
      for (const nasbench::Kernel& found : find_kernels(graph, rules_)) {
        types[kernel_type(graph, found)].push_back(nasbench::kernel_sizes(leading_operator(graph, found)));
      }
    }
    return types;
  }

  /// nn-Meter's adaptive samples. Convolutions get most, as in the paper's Table 6.
  void samples() {
    for (const auto& [type, sizes] : zoo()) {
      if (!nasbench::can_be_made(type) || sizes.size() < 10) continue;
      const bool convolution = type.rfind("convolution", 0) == 0, depthwise = type.rfind("depthwise", 0) == 0;
      sampling::AdaptiveOptions options;
      options.initial = convolution ? 200 : depthwise ? 80 : 25;
      options.around = 2;
      options.most_rounds = 3;
      options.most_kernels = 2 * options.initial;
      const std::string of_type = type;
      const auto measure = [&](const KernelSizes& made) {
        return kernel("sample", "", of_type, nasbench::made_kernel(of_type, made));
      };
      try {
        trainer::kernels::sample_kernels(type, sizes, measure, options);
      } catch (const InputError& error) {
        std::cerr << type << ": " << error.what() << "\n";
      }
    }
  }

  /// MONNET's grid, thinned: equal ratios, no layer over two billion multiply-adds.
  void grid() {
    for (const bool depthwise : {false, true}) {
      const std::string type = depthwise ? "depthwise_convolution" : "convolution";
      for (const int image : {7, 14, 28, 56, 112}) {
        for (const int inputs : {8, 32, 128, 512}) {
          for (const int outputs : depthwise ? std::vector<int>{inputs} : std::vector<int>{8, 32, 128, 512}) {
            for (const int window : {1, 3, 5}) {
              for (const int stride : {1, 2}) grid_point(type, {image, inputs, outputs, window, stride});
            }
          }
        }
      }
    }
  }

  void grid_point(const std::string& type, const KernelSizes& sizes) {
    constexpr double most_multiply_adds = 5e8;
    const Network network = nasbench::made_kernel(type, sizes);
    if (static_cast<double>(nasbench::multiply_adds(network)) > most_multiply_adds) return;
    kernel("grid", "", type, network);
  }

  /// Li et al.: the kernels of one network after the other, each once.
  void kernels_of_networks() {
    for (const std::string& network : split_.train) {
      const Network graph = read(network);
      for (const nasbench::Kernel& found : find_kernels(graph, rules_)) {
        if (leading_operator(graph, found).kind == nasbench::OperatorKind::reshape) continue;
        kernel("network", network, kernel_type(graph, found), kernel_network(graph, found));
      }
    }
  }

  /// MONNET's Table 1: layers inside of their networks, and isolated in three ways.
  void isolation() {
    const std::filesystem::path file = settings_.out / "isolation.csv";
    if (std::filesystem::exists(file)) return;
    std::ostringstream csv;
    csv << "network,layer,way,latency_ms,deviation_ms,rounds,seconds\n";
    for (const std::string& network : split_.train) {
      const Network graph = read(network);
      std::set<std::string> seen;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const nasbench::NetworkNode& node = graph.nodes[i];
        const bool repeats = node.operation.kind == nasbench::OperatorKind::convolution && node.inputs.size() == 1 &&
                             node.operation.inputs[0] == node.operation.output;
        if (!repeats || seen.size() >= 2 || !seen.insert(format(node.operation)).second) continue;
        if (!all_layers_.insert(format(node.operation)).second) continue;
        try {
          isolate(network, graph, static_cast<int>(i), csv);
        } catch (const InputError& error) {
          std::cerr << network << ": " << error.what() << "\n";
        }
      }
      if (all_layers_.size() >= 30) break;
    }
    write_file_atomically(file, csv.str());
  }

  void isolate(const std::string& network, const Network& graph, int layer, std::ostream& csv) {
    descriptor::IsolationOptions options;
    options.precision = 0.03;
    options.least_rounds = 5;
    options.most_rounds = 12;
    const Network alone = kernel_network(graph, {{layer}, ""});
    const auto say = [&](const std::string& way, const descriptor::IsolatedTiming& t) {
      csv << network << "," << format(graph.nodes[static_cast<std::size_t>(layer)].operation) << "," << way << ","
          << t.latency_ms << "," << t.deviation_ms << "," << t.rounds << "," << t.seconds << "\n";
    };
    go_on();
    constexpr int copies = 4;
    const Network longer = experiments::with_repeated_layer(graph, layer, copies);
    descriptor::IsolatedTiming inside = time_signed(*runtime_, {{longer, 1}, {graph, -1}}, options);
    inside.latency_ms /= copies;
    inside.deviation_ms /= copies;
    say("inside", inside);
    for (const auto mode :
         {descriptor::Isolation::standalone, descriptor::Isolation::fed, descriptor::Isolation::embedded}) {
      options.mode = mode;
      say("mode " + std::string(name(mode)), time_isolated(*runtime_, alone, options));
    }
  }

  const Settings& settings_;
  std::unique_ptr<descriptor::Runtime> runtime_;
  nasbench::FusionRules rules_;
  Split split_;
  std::vector<KernelRow> rows_;
  std::map<std::string, double> found_;
  std::set<std::string> measured_networks_, all_layers_;
  std::vector<std::string> network_rows_;
  Clock::time_point begin_ = Clock::now();
  std::size_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("measure_kernels", "Measures networks and kernels of a runtime of this machine.");
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options()("runtime", "of this machine", text())("rules", "of fusion: a file or a shipped name", text())(
      "zoo", "folder of the networks' ONNX files", text())("split", "CSV network,role with train and test", text())(
      "out", "folder of the measurements", text())("seconds", "after which the piece ends",
                                                   cxxopts::value<double>()->default_value("280"))("help", "this");
  try {
    const cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0 || given.count("out") == 0) {
      std::cout << options.help();
      return given.count("help") != 0 ? 0 : 2;
    }
    const Settings settings{given["runtime"].as<std::string>(), given["rules"].as<std::string>(),
                            given["zoo"].as<std::string>(),     given["split"].as<std::string>(),
                            given["out"].as<std::string>(),     given["seconds"].as<double>()};
    Measuring(settings).run();
  } catch (const std::exception& error) {
    std::cerr << "measure_kernels: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
