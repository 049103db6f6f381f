#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/collect/collect_timer.h"
#include "datasets/pool/pool.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"

namespace tenshot::datasets {

/// What a collection has measured and could not judge yet: the batch in work, whose sentinel is looked at again when it
/// is done, and the finished batches of the repeat check. A file beside the measurements, written after every network
/// or every visit (descriptor::TurnJournal), so that not even a process that is killed loses them. A journal that is
/// damaged or of another batch is as good as none.
class CollectJournal {
 public:
  CollectJournal(std::filesystem::path file, const NetworkSpace& space);

  /// What is measured of the batch in work, one network after the other.
  std::vector<Measurement> rows(const std::vector<Architecture>& batch) const;
  void keep_rows(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows);

  /// The same of a batch whose networks are measured in turn.
  std::optional<descriptor::TurnProgress> turn(const std::vector<Architecture>& batch) const;
  void keep_turn(const std::vector<Architecture>& batch, const descriptor::TurnProgress& progress);

  /// The batch in work is done, and its rows are kept elsewhere.
  void forget_batch();

  /// A batch of the repeat check, with its sentinel.
  std::optional<std::vector<Measurement>> repeated(const std::vector<Architecture>& batch) const;
  void keep_repeated(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows);

  /// Removes the file.
  void forget();

 private:
  nlohmann::json names(const std::vector<Architecture>& batch) const;
  bool in_work(const std::vector<Architecture>& batch, const char* key) const;
  void save() const;

  std::filesystem::path file_;
  const NetworkSpace& space_;
  nlohmann::json content_;
};

/// Measures batches of architectures with the sentinel, by which it judges the machine. The arguments must outlive it.
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
