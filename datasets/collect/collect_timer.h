#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datasets/collect/collect.h"
#include "datasets/collect/collect_record.h"
#include "datasets/pool/in_network.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"
#include "nasbench/support/error.h"

namespace tenshot::datasets {

constexpr int in_network_rounds = 10;  ///< in which CollectTimer::in_network measures

/// The runtime cannot prepare the network of an architecture, or its first run fails; what() says why.
class CannotRun : public Error {
 public:
  CannotRun(Architecture refused, const std::string& reason) : Error(reason), architecture(std::move(refused)) {}

  Architecture architecture;
};

/// Prepares and times networks under the options of a collection, and records the cost. The arguments must outlive it.
class CollectTimer {
 public:
  CollectTimer(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
               CollectRecord& record);

  /// Throws CannotRun.
  Measurement architecture(const Architecture& architecture);
  /// An operator between two looks at the sentinel, CollectOptions::attempts times at most, until neither says that the
  /// machine is disturbed; the attempt with the fastest slower look. `step` is called before each and throws to stop.
  struct OperatorTiming {
    double latency_ms = 0;
    double sentinel_ms = 0;  ///< the slower look
    bool settled = false;
  };
  OperatorTiming operator_between_looks(const nasbench::Operator& op, const std::function<bool(double)>& steady,
                                        const std::function<void()>& step);

  /// Architectures measured in turn over the rounds of the options, between looks at the sentinel, whose latency all
  /// rows have; the sentinel of `watch` is not used. Empty when `go_on`, asked many times a second, said no; what was
  /// measured until then is in the journal. Throws CannotRun.
  std::vector<Measurement> in_turn(const std::vector<Architecture>& architectures,
                                   const descriptor::MachineWatch& watch, const std::function<bool()>& go_on,
                                   const descriptor::TurnJournal& journal);

  /// What operations cost inside a network: chains and their surroundings measured in turn, so that a machine that
  /// changes its speed changes both, whatever the rounds of the options. `step` is called often and throws to stop.
  struct InNetwork {
    std::vector<OperatorProfile> operations;
    double sentinel_ms = 0;
  };
  InNetwork in_network(const std::vector<ChainGraph>& chains, const std::function<void()>& step);

  /// Prepares the sentinel, once, so that all its values are of the same network.
  void prepare_sentinel();
  /// The sentinel's latency now.
  double sentinel_ms();

 private:
  std::unique_ptr<descriptor::PreparedNetwork> prepared(const nasbench::Network& graph);
  /// The network of an architecture, which has run once. Throws CannotRun.
  std::unique_ptr<descriptor::PreparedNetwork> runnable(const Architecture& architecture);
  /// Times the networks below `count` that `make` prepares, in turn; without networks once `go_on` said no.
  using Maker = std::function<std::unique_ptr<descriptor::PreparedNetwork>(std::size_t)>;
  descriptor::TurnTimings timed_in_turn(std::size_t count, const Maker& make, const descriptor::TimingOptions& timing,
                                        descriptor::MachineWatch watch, const std::function<bool()>& go_on,
                                        const descriptor::TurnJournal& journal = {});
  descriptor::Timing timed(descriptor::PreparedNetwork& network, const descriptor::TimingOptions& timing);
  void record_cost(const descriptor::Timing& timing);

  const CollectOptions& options_;
  const NetworkSpace& space_;
  const descriptor::Runtime& runtime_;
  CollectRecord& record_;
  std::unique_ptr<descriptor::PreparedNetwork> sentinel_;
};

}  // namespace tenshot::datasets
