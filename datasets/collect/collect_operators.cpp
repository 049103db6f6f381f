#include "datasets/collect/collect_operators.h"

#include <algorithm>
#include <set>

#include "descriptor/isolation/isolation.h"
#include "descriptor/machine/machine.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using descriptor::Isolation;
using nasbench::Network;

class OperatorCollection {
 public:
  OperatorCollection(const descriptor::Runtime& runtime, const CollectOperatorsOptions& options)
      : runtime_(runtime), options_(options) {
    if (!std::filesystem::exists(options_.file)) return;
    rows_ = read_kernel_table(options_.file);
    for (const KernelRow& row : rows_)
      measured_.insert(key(row.isolation == profiled_isolation ? row.purpose : "", row.leading));
  }

  void measure(const NetworkToMeasure& network) {
    const std::vector<std::vector<int>> all = equal_nodes(network.network);
    const bool of_this = is_measured(network.name, network.network, all);
    if (of_this || is_measured("", network.network, all)) return;
    const auto prepared = runtime_.prepare(network.network, options_.runtime);
    prepared->run_timed().empty() ? measure_apart(network, all) : measure_inside(network, all, *prepared);
    write_file_quickly(options_.file, kernel_table(rows_));
  }

  std::vector<KernelRow> finish() {
    write_file_atomically(options_.file, kernel_table(rows_));
    return std::move(rows_);
  }

 private:
  /// An operator of a network, or of all networks where `network` is empty.
  static std::string key(const std::string& network, const nasbench::OperatorSpecification& op) {
    return network + " " + operator_key(op);
  }

  bool is_measured(const std::string& name, const Network& network, const std::vector<std::vector<int>>& all) const {
    return std::all_of(all.begin(), all.end(), [&](const auto& nodes) {
      return measured_.count(key(name, operation(network, nodes.front()))) > 0;
    });
  }

  static const nasbench::OperatorSpecification& operation(const Network& network, int node) {
    return network.nodes[static_cast<std::size_t>(node)].operation;
  }

  void measure_inside(const NetworkToMeasure& network, const std::vector<std::vector<int>>& all,
                      descriptor::PreparedNetwork& prepared) {
    constexpr int warm_up = 3;  // beside the run that asked whether the runtime tells
    const Clock::time_point start = Clock::now();
    for (int run = 0; run < warm_up; ++run) prepared.run();
    std::vector<std::vector<double>> runs;
    for (int run = 0; run < options_.runs; ++run) runs.push_back(prepared.run_timed());
    const double seconds = seconds_since(start) / static_cast<double>(all.size());
    for (const std::vector<int>& nodes : all) {
      std::vector<double> times_ms;
      for (const std::vector<double>& run : runs) {
        for (const int node : nodes) times_ms.push_back(run[static_cast<std::size_t>(node)]);
      }
      KernelRow row = profiled_row(network.network, nodes.front(), network.name, std::move(times_ms));
      row.seconds = seconds;
      keep(std::move(row), network.name);
    }
  }

  void measure_apart(const NetworkToMeasure& network, const std::vector<std::vector<int>>& all) {
    for (const std::vector<int>& nodes : all) {
      KernelRow row;
      row.kernel = nasbench::kernel_name(network.network, {nodes.front()});
      row.leading = operation(network.network, nodes.front());
      row.purpose = network.name;
      if (measured_.count(key("", row.leading)) > 0) continue;
      const Network alone = nasbench::kernel_network(network.network, {{nodes.front()}, row.kernel});
      if (!measure_isolated(alone, Isolation::embedded, row)) measure_isolated(alone, Isolation::standalone, row);
      keep(std::move(row), "");
    }
  }

  /// False where that is not possible; the row then says why.
  bool measure_isolated(const Network& kernel, Isolation mode, KernelRow& row) const {
    constexpr double least_ms = 1e-4;  // less is the noise of a call
    descriptor::IsolationOptions isolation;
    isolation.mode = mode;
    isolation.runtime = options_.runtime;
    try {
      const descriptor::IsolatedTiming timing = time_isolated(runtime_, kernel, isolation);
      row.isolation = std::string(descriptor::name(mode));
      row.latency_ms = std::max(timing.latency_ms, least_ms);
      row.deviation_ms = timing.deviation_ms;
      row.seconds = timing.seconds;
      row.refused.clear();
      return true;
    } catch (const InputError& error) {
      row.refused = excerpt(error.what(), 120);
      return false;
    }
  }

  void keep(KernelRow row, const std::string& network) {
    measured_.insert(key(network, row.leading));
    rows_.push_back(std::move(row));
  }

  const descriptor::Runtime& runtime_;
  const CollectOperatorsOptions& options_;
  std::vector<KernelRow> rows_;
  std::set<std::string> measured_;
};

}  // namespace

std::vector<KernelRow> collect_operators(
    const descriptor::Runtime& runtime, const std::vector<NetworkToMeasure>& networks,
    const CollectOperatorsOptions& options,
    const std::function<bool(std::size_t, std::size_t, const std::string&)>& progress) {
  const descriptor::CpuPin pin(options.runtime.threads);
  OperatorCollection collection(runtime, options);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (progress && !progress(i, networks.size(), "operators of " + networks[i].name)) {
      collection.finish();
      throw Interrupted("stopped after the operators of " + std::to_string(i) + " of " +
                        std::to_string(networks.size()) + " networks, kept in " + options.file.string() +
                        "; the same call resumes");
    }
    collection.measure(networks[i]);
  }
  return collection.finish();
}

}  // namespace tenshot::datasets
