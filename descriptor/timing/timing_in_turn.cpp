#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "descriptor/timing/timing.h"
#include "descriptor/timing/timing_detail.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

constexpr double seconds = 1e-3;  // a millisecond

class Turn {
 public:
  Turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options, const MachineWatch& watch,
       const std::function<bool()>& go_on, const TurnJournal& journal)
      : networks_(networks),
        options_(options),
        watch_(watch),
        go_on_(go_on),
        journal_(journal),
        done_(journal.found ? *journal.found : planned()),
        settled_(networks.size(), false) {
    if (done_.run_times_ms.size() != networks.size() || done_.loop_ms.size() != networks.size()) {
      throw InputError("the journal is of " + std::to_string(done_.run_times_ms.size()) + " networks, not of " +
                       std::to_string(networks.size()));
    }
    for (std::size_t n = 0; n < networks.size(); ++n) settle(n);
  }

  TurnTimings run() {
    if (!warm_up()) return {};
    double before_ms = look();
    while (!done_.left.empty()) {
      if (!steady(before_ms) && come_back_later(last_look_s_)) {
        if (!go_on_()) return {};
        before_ms = look();
        continue;
      }
      const TurnVisit visit = done_.left.front();
      done_.left.erase(done_.left.begin());
      const Clock::time_point start = Clock::now();
      std::vector<std::vector<double>> times_ms;
      if (!make(visit, times_ms)) return {};
      const double after_ms = look();
      if ((!steady(before_ms) || !steady(after_ms)) && come_back_later(seconds * milliseconds_since(start))) {
        done_.left.push_back(visit);
        ++found_.thrown_away;
      } else {
        done_.sentinels_ms.insert(done_.sentinels_ms.end(), {before_ms, after_ms});
        keep(visit, times_ms);
        if (journal_.keep) journal_.keep(done_);
      }
      before_ms = after_ms;
    }
    return summarised();
  }

 private:
  bool warm_up() {
    for (const std::function<void()>& network : networks_) {
      const Clock::time_point start = Clock::now();
      detail::warm_up(network, options_);
      warmup_ms_.push_back(milliseconds_since(start));
      if (!go_on_()) return false;
    }
    detail::warm_up(watch_.sentinel, options_);
    return true;
  }

  TurnProgress planned() const {
    constexpr std::size_t at_a_time = 10;
    TurnProgress progress;
    progress.run_times_ms.resize(networks_.size());
    progress.loop_ms.resize(networks_.size(), 0);
    const auto runs = static_cast<std::size_t>(options_.maximum_runs);
    const auto rounds = static_cast<std::size_t>(options_.rounds);
    for (std::size_t round = 1; round <= rounds; ++round) {
      const std::size_t of_round = runs * round / rounds - runs * (round - 1) / rounds;
      for (std::size_t begin = 0; begin < networks_.size(); begin += at_a_time) {
        progress.left.push_back({begin, std::min(networks_.size(), begin + at_a_time), of_round});
      }
    }
    return progress;
  }

  /// The median of a few runs of the sentinel.
  double look() {
    constexpr int runs = 5;
    const Clock::time_point start = Clock::now();
    std::vector<double> times_ms;
    watch_.sentinel();
    for (int i = 0; i < runs; ++i) {
      const Clock::time_point run_start = Clock::now();
      watch_.sentinel();
      times_ms.push_back(milliseconds_since(run_start));
    }
    last_look_s_ = seconds * milliseconds_since(start);
    found_.sentinel_s += last_look_s_;
    return summarise(std::move(times_ms)).median_ms;
  }

  bool steady(double sentinel_ms) const { return !watch_.steady || watch_.steady(sentinel_ms); }
  bool come_back_later(double spent_s) const { return watch_.patient && watch_.patient(spent_s); }

  /// Times the networks of a visit; false once told to stop.
  bool make(const TurnVisit& visit, std::vector<std::vector<double>>& times_ms) {
    visit_ms_.assign(networks_.size(), 0);
    for (std::size_t n = visit.begin; n < visit.end; ++n) {
      times_ms.emplace_back();
      if (settled_[n]) continue;
      const Clock::time_point start = Clock::now();
      networks_[n]();
      while (times_ms.back().size() < visit.runs) {
        const Clock::time_point run_start = Clock::now();
        networks_[n]();
        times_ms.back().push_back(milliseconds_since(run_start));
      }
      visit_ms_[n] = milliseconds_since(start);
      if (!go_on_()) return false;
    }
    return true;
  }

  void keep(const TurnVisit& visit, const std::vector<std::vector<double>>& times_ms) {
    for (std::size_t n = visit.begin; n < visit.end; ++n) {
      const std::vector<double>& times = times_ms[n - visit.begin];
      std::vector<double>& all = done_.run_times_ms[n];
      all.insert(all.end(), times.begin(), times.end());
      done_.loop_ms[n] += visit_ms_[n];
      settle(n);
    }
  }

  void settle(std::size_t n) {
    const std::vector<double>& all = done_.run_times_ms[n];
    settled_[n] = all.size() >= static_cast<std::size_t>(options_.minimum_runs) &&
                  detail::precise_enough(all, options_.relative_precision);
  }

  TurnTimings summarised() {
    for (std::size_t n = 0; n < networks_.size(); ++n) {
      const double runs_total_ms = std::accumulate(done_.run_times_ms[n].begin(), done_.run_times_ms[n].end(), 0.0);
      Timing timing = summarise(std::move(done_.run_times_ms[n]));
      timing.warmup_total_ms = warmup_ms_[n];
      timing.runs_total_ms = runs_total_ms;
      timing.loop_total_ms = done_.loop_ms[n];
      found_.networks.push_back(timing);
    }
    found_.sentinel_ms = summarise(std::move(done_.sentinels_ms)).median_ms;
    return std::move(found_);
  }

  const std::vector<std::function<void()>>& networks_;
  const TimingOptions& options_;
  const MachineWatch& watch_;
  const std::function<bool()>& go_on_;
  const TurnJournal& journal_;
  TurnProgress done_;
  std::vector<double> warmup_ms_, visit_ms_;
  std::vector<bool> settled_;
  double last_look_s_ = 0;
  TurnTimings found_;
};

}  // namespace

TurnTimings measure_in_turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options,
                            const MachineWatch& watch, const std::function<bool()>& go_on, const TurnJournal& journal) {
  detail::require_usable(options);
  return Turn(networks, options, watch, go_on, journal).run();
}

}  // namespace tenshot::descriptor
