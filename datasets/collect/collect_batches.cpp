#include "datasets/collect/collect_batches.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

/// The value below which less than a quarter lies.
double lower_quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 4];
}

}  // namespace

std::function<descriptor::Contention()> watched_machine() {
  return [watch = std::make_shared<descriptor::ContentionWatch>()] { return watch->since(); };
}

CollectBatches::CollectBatches(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, CollectRecord& record, CollectJournal& journal)
    : options_(options),
      record_(record),
      journal_(journal),
      timer_(options, space, runtime, record),
      patience_s_(options.patience_s) {}

void CollectBatches::judge_by(std::vector<double> sentinels_ms) {
  const auto unknown = std::remove_if(sentinels_ms.begin(), sentinels_ms.end(), [](double v) { return std::isnan(v); });
  sentinels_ms.erase(unknown, sentinels_ms.end());
  if (!sentinels_ms.empty()) undisturbed_ms_ = lower_quartile(std::move(sentinels_ms));
}

bool CollectBatches::steady(double sentinel_ms) {
  double usual_ms = undisturbed_ms_;
  if (std::isnan(usual_ms)) {
    looks_ms_.push_back(sentinel_ms);
    usual_ms = lower_quartile(looks_ms_);
  }
  return sentinel_ms <= (1 + options_.sentinel_tolerance) * usual_ms;
}

bool CollectBatches::patient(double spent_s) {
  if (patience_s_ <= 0) return false;
  patience_s_ -= spent_s;
  return true;
}

double CollectBatches::moved(double sentinel_ms) const {
  if (std::isnan(sentinel_ms)) return std::numeric_limits<double>::infinity();
  return std::isnan(undisturbed_ms_) ? 0 : std::abs(sentinel_ms / undisturbed_ms_ - 1);
}

std::string CollectBatches::complaint(const Measurement& row) const {
  if (std::isnan(row.sentinel_ms)) return "others used the processor";
  return "the sentinel moved by " + shortest(std::round(1000 * moved(row)) / 10) + " %";
}

bool CollectBatches::wait_until_settled(const std::function<void()>& step) {
  if (options_.patience_s == 0) return true;
  while (moved(timer_.sentinel_ms()) > options_.sentinel_tolerance) {
    if (patience_s_ <= 0) return false;
    const Clock::time_point start = Clock::now();
    step();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    patience_s_ -= seconds_since(start);
  }
  return true;
}

std::vector<Measurement> CollectBatches::measure(const std::vector<Architecture>& batch,
                                                 const std::function<bool(std::size_t)>& go_on) {
  timer_.prepare_sentinel();
  const auto contention = options_.watch_contention ? options_.watch_contention() : nullptr;
  CollectTimer::Turn turn;
  if (options_.timing.rounds > 1) {
    const CollectTimer::Steadiness steadiness = {[this](double sentinel_ms) { return steady(sentinel_ms); },
                                                 [this](double spent_s) { return patient(spent_s); }};
    const descriptor::TurnJournal journal = {
        journal_.turn(batch), [&](const descriptor::TurnProgress& done) { journal_.keep_turn(batch, done); }};
    turn = timer_.in_turn(
        batch, steadiness, [&] { return go_on(0); }, journal);
    if (turn.rows.empty()) return {};
    go_on(batch.size());
  } else {
    turn.rows = journal_.rows(batch);
    while (turn.rows.size() < batch.size()) {
      turn.rows.push_back(timer_.architecture(batch[turn.rows.size()]));
      journal_.keep_rows(batch, turn.rows);
      if (!go_on(turn.rows.size())) break;
    }
    turn.sentinel_ms = timer_.sentinel_ms();
  }
  record_.sentinel_ms.push_back(turn.sentinel_ms);
  if (contention) {
    const descriptor::Contention seen = contention();
    record_.contention = record_.contention ? *record_.contention + seen : seen;
    if (descriptor::contended(seen)) turn.sentinel_ms = std::numeric_limits<double>::quiet_NaN();
  }
  for (Measurement& row : turn.rows) row.sentinel_ms = turn.sentinel_ms;
  return std::move(turn.rows);
}

}  // namespace tenshot::datasets
