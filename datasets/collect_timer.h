#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "datasets/collect.h"
#include "datasets/collect_record.h"

namespace tenshot::datasets {

/// Prepares and times networks under the options of a collection, and adds what that costs to its record. The
/// arguments must outlive the timer.
class CollectTimer {
 public:
  CollectTimer(const CollectOptions& options, const SearchSpace& space, const descriptor::Runtime& runtime,
               CollectRecord& record);

  Measurement architecture(const Architecture& architecture);
  double operator_ms(const nasbench::Operator& op);

  /// When the machine is undisturbed by what the sentinel takes, and for how long to come back later when it is not
  /// (descriptor::MachineWatch).
  struct Steadiness {
    std::function<bool(double sentinel_ms)> steady;
    std::function<bool(double visit_s)> patient;
  };
  /// Architectures measured in turn over the rounds of the options, between looks at the sentinel. Empty when `go_on`,
  /// asked many times a second, said no; what was measured until then is in the journal.
  struct Turn {
    std::vector<Measurement> rows;
    double sentinel_ms = 0;
  };
  Turn in_turn(const std::vector<Architecture>& architectures, const Steadiness& steadiness,
               const std::function<bool()>& go_on, const descriptor::TurnJournal& journal);

  /// Prepares the sentinel, once, so that all its values are of the same network.
  void prepare_sentinel();
  /// The sentinel's latency now.
  double sentinel_ms();

 private:
  std::unique_ptr<descriptor::PreparedNetwork> prepared(const nasbench::LayerGraph& graph);
  descriptor::Timing timed(descriptor::PreparedNetwork& network, const descriptor::TimingOptions& timing);
  void record_cost(const descriptor::Timing& timing);

  const CollectOptions& options_;
  const SearchSpace& space_;
  const descriptor::Runtime& runtime_;
  CollectRecord& record_;
  std::unique_ptr<descriptor::PreparedNetwork> sentinel_;
};

}  // namespace tenshot::datasets
