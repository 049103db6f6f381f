// Accuracy against measuring time: predictors of a new runtime's networks, each at growing budgets of measurements, on
// the same networks, whose families none of them has seen. Usage:
// accuracy_against_time --pool datasets/data/networks --measured datasets/data/kernels --out FOLDER

#include <algorithm>
#include <cmath>
#include <cxxopts.hpp>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "datasets/pool/pool.h"
#include "experiments/kernels/kept_rows.h"
#include "experiments/kernels/measured_target.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/metrics.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/kernels/kernel_model.h"
#include "trainer/predictors/registry.h"

namespace {

using namespace tenshot;
using datasets::KernelRow;
using datasets::Pool;
using experiments::KeptRows;
using experiments::MeasuredNetwork;
using experiments::Target;
using nasbench::Architecture;
using nasbench::OperatorSpecification;
using trainer::kernels::KernelModel;
using trainer::kernels::KernelSample;
using trainer::kernels::LearnerKind;
using trainer::kernels::NetworkKernel;

/// What a predictor was given.
struct Given {
  std::string method, budget;
  std::size_t networks = 0, kernels = 0;
  double seconds = 0;
};

constexpr const char* header =
    "runtime,method,budget,networks,kernels,seconds,acc10,median_error,mape,rmspe,spearman,bias,predicted\n";

std::string key_of(const NetworkKernel& kernel) { return kernel.kernel + " " + format(kernel.leading); }

class Comparison {
 public:
  Comparison(const Pool& everything, const Target& target, const std::map<std::string, std::string>& roles,
             KeptRows& rows)
      : target_(target), rows_(rows) {
    pool_.space = everything.space;
    // Devices of the target's runtime are its family; networks to predict are new to the pool.
    for (datasets::DeviceRuntime device : everything.devices) {
      if (device.id.rfind(target.runtime.substr(0, target.runtime.find('_')), 0) == 0) continue;
      auto& latencies = device.latencies;
      latencies.erase(std::remove_if(latencies.begin(), latencies.end(),
                                     [&](const datasets::Measurement& m) {
                                       const auto role = roles.find(pool_.space->format(m.architecture));
                                       return role == roles.end() || role->second != "train";
                                     }),
                      latencies.end());
      pool_.devices.push_back(std::move(device));
    }
    model_ = trainer::train_pool_model("operators", pool_, {}, {});
  }

  void run() {
    unmeasured();
    for (const std::size_t count : {3, 10, 20, 50}) by_networks(count);
    for (const double share : {0.05, 0.1, 0.25, 0.5, 1.0}) nn_meter(share);
    for (const int level : {1, 2, 3}) monnet(level);
    for (const std::size_t count : {3, 10, 50}) {
      for (const double share : {0.05, 0.25, 1.0}) combined(count, share);
    }
    for (const LearnerKind learner :
         {LearnerKind::lasso, LearnerKind::small_forest, LearnerKind::small_boosted, LearnerKind::perceptron}) {
      for (const std::size_t count : {3, 10, 30, 1000}) li(learner, count);
    }
  }

 private:
  using Predict = std::function<double(const MeasuredNetwork&)>;

  bool has(const std::string& method, const std::string& budget) { return rows_.has(target_.runtime, method, budget); }

  void add(const Given& given, const Predict& predict) {
    std::vector<double> predicted, measured;
    for (const MeasuredNetwork& network : target_.test) {
      predicted.push_back(predict(network));
      measured.push_back(network.latency_ms);
    }
    add(given, predicted, measured);
  }

  void add(const Given& given, const std::vector<double>& predicted, const std::vector<double>& measured) {
    std::vector<double> errors, ratios;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      ratios.push_back(predicted[i] / measured[i]);
      errors.push_back(std::abs(ratios.back() - 1));
    }
    const trainer::Metrics metrics = trainer::evaluate({predicted, {}, {}}, measured);
    std::ostringstream line;
    line << given.networks << "," << given.kernels;
    for (const double number : {given.seconds, metrics.acc10, upper_median(errors), metrics.mape, metrics.rmspe,
                                metrics.spearman, upper_median(ratios)}) {
      line << "," << shortest(number);
    }
    line << "," << metrics.architectures;
    rows_.add(KeptRows::start(target_.runtime, given.method, given.budget), line.str());
    std::cerr << target_.runtime << " " << given.method << " " << given.budget << ": " << 100 * metrics.acc10 << " %, "
              << given.seconds << " s\n";
  }

  /// Without any measurement: the geometric mean of what the pool's devices take.
  void unmeasured() {
    if (has("operators", "0 networks")) return;
    add({"operators", "0 networks"}, [&](const MeasuredNetwork& network) {
      double sum = 0;
      for (const auto& device : model_->predict_pool({network.identity})) sum += std::log(device.front());
      return std::exp(sum / static_cast<double>(pool_.devices.size()));
    });
  }

  /// The networks to measure, chosen before any is: by information, as `plan` does.
  std::vector<const MeasuredNetwork*> planned(std::size_t count) {
    trainer::PlanRequest request;
    request.samples = std::min(count, target_.train.size());
    for (const MeasuredNetwork& network : target_.train) request.candidates.push_back(network.identity);
    std::vector<const MeasuredNetwork*> chosen;
    for (const Architecture& identity : trainer::plan(*model_, request)) {
      chosen.push_back(&*std::find_if(target_.train.begin(), target_.train.end(),
                                      [&](const MeasuredNetwork& n) { return n.identity == identity; }));
    }
    return chosen;
  }

  static trainer::AdaptationSet set_of(const std::vector<const MeasuredNetwork*>& networks) {
    trainer::AdaptationSet set;
    for (const MeasuredNetwork* network : networks) {
      set.architectures.push_back(network->identity);
      set.latency_ms.push_back(network->latency_ms);
    }
    return set;
  }

  static double seconds_of(const std::vector<const MeasuredNetwork*>& networks) {
    return std::accumulate(networks.begin(), networks.end(), 0.0,
                           [](double sum, const MeasuredNetwork* n) { return sum + n->seconds; });
  }

  void add_adapted(Given given, const trainer::PoolModel& model, const std::vector<const MeasuredNetwork*>& networks) {
    const auto predictor = model.adapt(set_of(networks), {});
    given.networks = networks.size();
    given.seconds += seconds_of(networks);
    add(given,
        [&](const MeasuredNetwork& network) { return predictor->predict({network.identity}, 0.9).latency_ms.front(); });
  }

  void by_networks(std::size_t count) {
    const auto networks = planned(count);
    const std::string budget = std::to_string(networks.size()) + " networks";
    if (!has("operators", budget)) add_adapted({"operators", budget}, *model_, networks);
    for (const std::string name : {"flops", "lasso"}) {
      if (has(name, budget)) continue;
      add_adapted({name, budget}, *trainer::train_pool_model(name, pool_, {}, {}), networks);
    }
  }

  /// The first share of the samples of each type, in the order in which they were measured.
  struct Sampled {
    std::vector<KernelSample> samples;
    double seconds = 0;
    std::size_t refused = 0;
  };
  Sampled sampled(double share) const {
    std::map<std::string, std::size_t> all, taken;
    for (const KernelRow& row : target_.samples) ++all[row.kernel];
    Sampled result;
    result.seconds = target_.call_s;
    for (const KernelRow& row : target_.samples) {
      const auto most = static_cast<std::size_t>(std::ceil(share * static_cast<double>(all[row.kernel])));
      if (taken[row.kernel]++ >= std::max<std::size_t>(most, 3)) continue;
      result.seconds += row.seconds;
      if (!row.refused.empty()) {
        ++result.refused;
        continue;
      }
      result.samples.push_back({row.kernel, row.leading, row.latency_ms});
    }
    return result;
  }

  static std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " % of samples"; }

  void nn_meter(double share) {
    const std::string budget = percent(share);
    if (has("nn-Meter", budget) && has("nn-Meter, one factor", budget)) return;
    const Sampled given = sampled(share);
    const KernelModel model(given.samples, target_.call_ms, 1);
    add({"nn-Meter", budget, 0, given.samples.size(), given.seconds},
        [&](const MeasuredNetwork& network) { return model.network_ms(network.kernels); });
    // Kernels alone find their data in the caches, and a runtime may convert layouts around them: one factor for all
    // networks, the median over three whole ones, as MONNET gets below.
    std::vector<double> factors;
    const auto networks = planned(3);
    for (const MeasuredNetwork* n : networks) factors.push_back(n->latency_ms / model.network_ms(n->kernels));
    const double factor = upper_median(factors);
    add({"nn-Meter, one factor", budget, networks.size(), given.samples.size(), given.seconds + seconds_of(networks)},
        [&](const MeasuredNetwork& network) { return factor * model.network_ms(network.kernels); });
  }

  /// The kernels of the first networks, one by one, and those networks as a whole, which tell T_overhead.
  void li(LearnerKind learner, std::size_t count) {
    count = std::min(count, target_.train.size());
    const bool forest = learner == LearnerKind::small_forest, boosted = learner == LearnerKind::small_boosted;
    const std::string method = "Li, " + (forest    ? "forest"
                                         : boosted ? "boosting"
                                                   : std::string(name(learner))),
                      budget = std::to_string(count) + " networks' kernels";
    if (has(method, budget)) return;
    std::set<std::string> names;
    double seconds = target_.call_s;
    for (std::size_t i = 0; i < count; ++i) {
      names.insert(target_.train[i].name);
      seconds += target_.train[i].seconds;
    }
    std::vector<KernelSample> samples;
    std::map<std::string, double> latency_ms;
    for (const KernelRow& row : target_.of_networks) {
      if (names.count(row.purpose.substr(std::string("network ").size())) == 0) continue;
      seconds += row.seconds;
      if (!row.refused.empty()) continue;
      samples.push_back({row.kernel, row.leading, row.latency_ms});
      latency_ms[key_of({row.kernel, row.leading})] = row.latency_ms;
    }
    const KernelModel model(samples, 0, 1, learner);
    double overhead_ms = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (const NetworkKernel& kernel : target_.train[i].kernels) {
        const auto found = latency_ms.find(key_of(kernel));
        sum += found != latency_ms.end() ? found->second : model.kernel(kernel).latency_ms;
      }
      overhead_ms += (target_.train[i].latency_ms - sum) / static_cast<double>(count);
    }
    const double least_ms = 1e-3;
    add({method, budget, count, samples.size(), seconds}, [&](const MeasuredNetwork& network) {
      return std::max(overhead_ms + model.network_ms(network.kernels), least_ms);
    });
  }

  /// Convolutions and depthwise convolutions on grids of fewer or more points of those measured.
  struct Grids {
    std::vector<KernelSample> samples;
    double seconds = 0;
  };
  Grids grids(int level) const {
    const std::vector<std::set<std::int64_t>> images = {{14, 56}, {7, 28, 112}, {7, 14, 28, 56, 112}},
                                              channels = {{8, 512}, {8, 128, 512}, {8, 32, 128, 512}};
    const std::vector<std::set<int>> windows = {{1, 3}, {1, 3, 5}, {1, 3, 5}},
                                     depthwise_windows = {{3}, {3, 5}, {1, 3, 5}};
    const auto l = static_cast<std::size_t>(level - 1);
    Grids found;
    for (const KernelRow& row : target_.grid) {
      const OperatorSpecification& op = row.leading;
      const auto& heights = row.kernel == "depthwise_convolution" ? depthwise_windows[l] : windows[l];
      const bool is_point = images[l].count(op.inputs[0][2]) != 0 && channels[l].count(op.inputs[0][1]) != 0 &&
                            channels[l].count(op.output[1]) != 0 && heights.count(op.kernel.height) != 0;
      if (!is_point) continue;
      found.seconds += row.seconds;
      if (row.refused.empty()) found.samples.push_back({row.kernel, op, row.latency_ms});
    }
    return found;
  }

  /// A layer by its grid, whatever is fused to it; nothing where it is no convolution of images.
  static double layer_ms(const KernelModel& model, const OperatorSpecification& layer) {
    if (layer.kind != nasbench::OperatorKind::convolution || layer.inputs[0].size() != 4) return 0;
    const bool depthwise = layer.groups == layer.inputs[0][1];
    return model.kernel({depthwise ? "depthwise_convolution" : "convolution", layer}).latency_ms;
  }

  /// MONNET models no other layer than its grids': one factor, the median over three whole networks, stands for them.
  void monnet(int level) {
    const std::string budget = "grid " + std::to_string(level);
    if (has("MONNET, single layers", budget) && has("MONNET", budget)) return;
    const Grids given = grids(level);
    const KernelModel model(given.samples, target_.call_ms, 1, LearnerKind::grid);
    double seconds = target_.call_s + given.seconds;
    const auto sum = [&](const MeasuredNetwork& network) {
      double total = target_.call_ms;
      for (const NetworkKernel& kernel : network.kernels) total += layer_ms(model, kernel.leading);
      return total;
    };
    add_layers(budget, model, given, seconds);
    std::vector<double> factors;
    for (const MeasuredNetwork* network : planned(3)) {
      factors.push_back(network->latency_ms / sum(*network));
      seconds += network->seconds;
    }
    const double factor = upper_median(factors);
    add({"MONNET", budget, 3, given.samples.size(), seconds},
        [&](const MeasuredNetwork& network) { return factor * sum(network); });
  }

  /// MONNET's error on single layers: the convolutions of networks, each alone, which no grid was given.
  void add_layers(const std::string& budget, const KernelModel& model, const Grids& given, double seconds) {
    std::vector<double> predicted, measured;
    for (const KernelRow& row : target_.of_networks) {
      const double ms = row.refused.empty() ? layer_ms(model, row.leading) : 0;
      if (ms == 0) continue;
      predicted.push_back(ms);
      measured.push_back(row.latency_ms);
    }
    add({"MONNET, single layers", budget, 0, given.samples.size(), seconds}, predicted, measured);
  }

  /// `operators`, with what nn-Meter's kernels say of every network as one more device of the pool.
  void combined(std::size_t count, double share) {
    const auto networks = planned(count);
    const std::string method = "operators + kernels",
                      budget = std::to_string(networks.size()) + " networks, " + percent(share);
    if (has(method, budget)) return;
    const Sampled given = sampled(share);
    const KernelModel kernels(given.samples, target_.call_ms, 1);
    Pool pool = pool_;
    datasets::DeviceRuntime said;
    said.id = "said-by-kernels";
    said.device = "the target";
    said.runtime = target_.runtime;
    for (const auto* networks : {&target_.train, &target_.test}) {
      for (const MeasuredNetwork& network : *networks) {
        datasets::Measurement measurement;
        measurement.architecture = network.identity;
        measurement.latency_ms = kernels.network_ms(network.kernels);
        said.latencies.push_back(measurement);
      }
    }
    pool.devices.push_back(std::move(said));
    const auto model = trainer::train_pool_model("operators", pool, {}, {});
    add_adapted({method, budget, networks.size(), given.samples.size(), given.seconds}, *model, networks);
  }

  const Target& target_;
  KeptRows& rows_;
  Pool pool_;
  std::unique_ptr<trainer::PoolModel> model_;
};

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("accuracy_against_time", "Predictors of networks at growing budgets of measuring time.");
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options()("pool", "of networks measured on other runtimes", text())(
      "measured", "folder of measure_kernels: split.csv, and a folder for each runtime", text())(
      "out", "folder of the results: RUNTIME.csv of each", text())("only", "this runtime", text())("help", "this");
  try {
    const cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0 || given.count("out") == 0) {
      std::cout << options.help();
      return given.count("help") != 0 ? 0 : 2;
    }
    const std::filesystem::path measured = given["measured"].as<std::string>();
    const auto roles = experiments::read_roles(measured / "split.csv");
    const Pool pool = datasets::read_pool(given["pool"].as<std::string>());
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(measured)) {
      if (std::filesystem::exists(entry.path() / "networks.csv")) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    const std::filesystem::path out = given["out"].as<std::string>();
    make_folder(out);
    for (const auto& folder : folders) {
      const std::filesystem::path file = out / (folder.filename().string() + ".csv");
      if (given.count("only") != 0 && given["only"].as<std::string>() != folder.filename().string()) continue;
      KeptRows rows(file, header);
      const Target target = experiments::read_target(folder, roles);
      Comparison(pool, target, roles, rows).run();
      rows.keep();
    }
  } catch (const std::exception& error) {
    std::cerr << "accuracy_against_time: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
