#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "descriptor/timing.h"
#include "descriptor/timing_detail.h"

namespace tenshot::descriptor {
namespace {

using detail::Clock;
using detail::milliseconds_since;

constexpr double seconds = 1e-3;  // a millisecond

/// Some of the networks, to be run so often each.
struct Visit {
  std::size_t begin, end, runs;
};

class Turn {
 public:
  Turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options, const MachineWatch& watch,
       const std::function<bool()>& go_on)
      : networks_(networks),
        options_(options),
        watch_(watch),
        go_on_(go_on),
        run_times_ms_(networks.size()),
        loop_ms_(networks.size(), 0),
        settled_(networks.size(), false) {}

  TurnTimings run() {
    if (!warm_up()) return {};
    plan_visits();
    double before_ms = look();
    while (!visits_.empty()) {
      if (!steady(before_ms) && come_back_later(last_look_s_)) {
        if (!go_on_()) return {};
        before_ms = look();
        continue;
      }
      const Visit visit = visits_.front();
      visits_.pop_front();
      const Clock::time_point start = Clock::now();
      std::vector<std::vector<double>> times_ms;
      if (!make(visit, times_ms)) return {};
      const double after_ms = look();
      if ((!steady(before_ms) || !steady(after_ms)) && come_back_later(seconds * milliseconds_since(start))) {
        visits_.push_back(visit);
        ++found_.thrown_away;
      } else {
        keep(visit, times_ms);
        sentinels_ms_.insert(sentinels_ms_.end(), {before_ms, after_ms});
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

  void plan_visits() {
    constexpr std::size_t at_a_time = 10;
    const auto runs = static_cast<std::size_t>(options_.maximum_runs);
    const auto rounds = static_cast<std::size_t>(options_.rounds);
    for (std::size_t round = 1; round <= rounds; ++round) {
      const std::size_t of_round = runs * round / rounds - runs * (round - 1) / rounds;
      for (std::size_t begin = 0; begin < networks_.size(); begin += at_a_time) {
        visits_.push_back({begin, std::min(networks_.size(), begin + at_a_time), of_round});
      }
    }
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
  bool make(const Visit& visit, std::vector<std::vector<double>>& times_ms) {
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

  void keep(const Visit& visit, const std::vector<std::vector<double>>& times_ms) {
    const auto least_runs = static_cast<std::size_t>(options_.minimum_runs);
    for (std::size_t n = visit.begin; n < visit.end; ++n) {
      const std::vector<double>& times = times_ms[n - visit.begin];
      std::vector<double>& all = run_times_ms_[n];
      all.insert(all.end(), times.begin(), times.end());
      loop_ms_[n] += visit_ms_[n];
      settled_[n] = all.size() >= least_runs && detail::precise_enough(all, options_.relative_precision);
    }
  }

  TurnTimings summarised() {
    for (std::size_t n = 0; n < networks_.size(); ++n) {
      const double runs_total_ms = std::accumulate(run_times_ms_[n].begin(), run_times_ms_[n].end(), 0.0);
      Timing timing = summarise(std::move(run_times_ms_[n]));
      timing.warmup_total_ms = warmup_ms_[n];
      timing.runs_total_ms = runs_total_ms;
      timing.loop_total_ms = loop_ms_[n];
      found_.networks.push_back(timing);
    }
    found_.sentinel_ms = summarise(std::move(sentinels_ms_)).median_ms;
    return std::move(found_);
  }

  const std::vector<std::function<void()>>& networks_;
  const TimingOptions& options_;
  const MachineWatch& watch_;
  const std::function<bool()>& go_on_;
  std::deque<Visit> visits_;
  std::vector<std::vector<double>> run_times_ms_;
  std::vector<double> warmup_ms_, loop_ms_, visit_ms_, sentinels_ms_;
  std::vector<bool> settled_;
  double last_look_s_ = 0;
  TurnTimings found_;
};

}  // namespace

TurnTimings measure_in_turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options,
                            const MachineWatch& watch, const std::function<bool()>& go_on) {
  detail::require_usable(options);
  return Turn(networks, options, watch, go_on).run();
}

}  // namespace tenshot::descriptor
