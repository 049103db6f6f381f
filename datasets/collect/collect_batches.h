#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "datasets/collect/collect_journal.h"
#include "datasets/collect/collect_timer.h"
#include "descriptor/runtimes/runtime.h"

namespace tenshot::datasets {

/// Measures batches of architectures, each with the sentinel, and judges by it how disturbed the machine was. The
/// arguments must outlive it.
class CollectBatches {
 public:
  CollectBatches(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
                 CollectRecord& record, CollectJournal& journal);

  /// Measures `batch` now, or what the journal does not have of it. `go_on` is asked with how many architectures are
  /// measured, many times a second where they are measured in turn; once it says no, what was measured so far is
  /// returned, which is nothing of a batch in turn: that is in the journal.
  /// A row's sentinel_ms is the batch's, NaN when the batch was contended (descriptor::contended).
  std::vector<Measurement> measure(const std::vector<Architecture>& batch,
                                   const std::function<bool(std::size_t)>& go_on);

  /// Takes from the sentinels of all rows that are kept what the sentinel takes when nothing disturbs the machine:
  /// disturbance only slows, and never most of the time, so the lower quartile. What was replaced does not count: a
  /// busy hour of attempts must not become the rule.
  void judge_by(std::vector<double> sentinels_ms);

  /// How far the machine was from undisturbed when a row was measured, as a fraction; infinity without a sentinel.
  double moved(const Measurement& row) const { return moved(row.sentinel_ms); }
  bool settled(const Measurement& row) const { return moved(row) <= options_.sentinel_tolerance; }
  /// "the sentinel moved by 8 %", or that others used the processor.
  std::string complaint(const Measurement& row) const;

  /// Waits until the sentinel is what it usually is; false when options.patience_s are used up, in all calls together.
  /// Without any patience it does not look. `step` is called in between and throws to stop.
  bool wait_until_settled(const std::function<void()>& step);

  CollectTimer& timer() { return timer_; }

  /// Whether nothing disturbs the machine, as far as is known yet.
  bool steady(double sentinel_ms);

 private:
  double moved(double sentinel_ms) const;
  bool patient(double spent_s);

  const CollectOptions& options_;
  CollectRecord& record_;
  CollectJournal& journal_;
  CollectTimer timer_;
  double patience_s_;
  std::vector<double> looks_ms_;  ///< at the sentinel, while no row is kept yet
  double undisturbed_ms_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace tenshot::datasets
