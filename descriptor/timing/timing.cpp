#include "descriptor/timing/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "nasbench/support/elapsed.h"

namespace tenshot::descriptor {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The largest k with P(Binomial(n, ½) < k) ≤ 2.5 %; zero when there is none.
std::size_t lower_rank(std::size_t n) {
  const double log_half_to_n = -static_cast<double>(n) * std::log(2.0);
  double log_choose = 0;
  double below = 0;
  for (std::size_t k = 0; k < n; ++k) {
    below += std::exp(log_choose + log_half_to_n);
    if (below > 0.025) return k;
    log_choose += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  return 0;
}

/// Runs until caches, lazily compiled code and clocks have settled: until neither of the last two runs is more than 5 %
/// faster than every run before them. Bounded, because a machine that only gets faster must be measured too.
void warm_up(const std::function<void()>& run, const TimingOptions& options) {
  constexpr int most_extra_runs = 50;
  constexpr double still_falling = 0.95;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Clock::time_point start = Clock::now();
  double best_before = infinity, last_but_one = infinity, last = infinity;
  int extra = 0;
  for (int runs = 0; extra < most_extra_runs; ++runs) {
    if (runs >= options.warmup_runs && milliseconds_since(start) >= options.warmup_ms) {
      if (runs < 3 || std::min(last_but_one, last) >= still_falling * best_before) return;
      ++extra;
    }
    best_before = std::min(best_before, last_but_one);
    last_but_one = last;
    last = time_ms(run);
  }
}

/// The runs with what measuring them cost.
Timing with_costs(const std::vector<double>& run_times_ms, double warmup_ms, double loop_ms) {
  Timing timing = summarise(run_times_ms);
  timing.warmup_total_ms = warmup_ms;
  timing.runs_total_ms = std::accumulate(run_times_ms.begin(), run_times_ms.end(), 0.0);
  timing.loop_total_ms = loop_ms;
  return timing;
}

constexpr double seconds = 1e-3;  // a millisecond

class Turn {
 public:
  Turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options, const MachineWatch& watch,
       const std::function<bool()>& go_on, const TurnJournal& journal)
      : networks_(networks), options_(options), watch_(watch), go_on_(go_on), journal_(journal) {
    for (std::size_t n = 0; n < networks.size(); ++n) settle(n);
  }

  TurnTimings run() {
    if (!warm_up_all()) return {};
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
  bool warm_up_all() {
    for (const std::function<void()>& network : networks_) {
      warmup_ms_.push_back(time_ms([&] { warm_up(network, options_); }));
      if (!go_on_()) return false;
    }
    warm_up(watch_.sentinel, options_);
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

  double look() {
    constexpr int runs = 5;
    const Clock::time_point start = Clock::now();
    std::vector<double> times_ms;
    watch_.sentinel();
    for (int i = 0; i < runs; ++i) times_ms.push_back(time_ms(watch_.sentinel));
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
      while (times_ms.back().size() < visit.runs) times_ms.back().push_back(time_ms(networks_[n]));
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
                  precise_enough(all, options_.relative_precision);
  }

  TurnTimings summarised() {
    for (std::size_t n = 0; n < networks_.size(); ++n) {
      found_.networks.push_back(with_costs(done_.run_times_ms[n], warmup_ms_[n], done_.loop_ms[n]));
    }
    found_.sentinel_ms = summarise(std::move(done_.sentinels_ms)).median_ms;
    return std::move(found_);
  }

  const std::vector<std::function<void()>>& networks_;
  const TimingOptions& options_;
  const MachineWatch& watch_;
  const std::function<bool()>& go_on_;
  const TurnJournal& journal_;
  TurnProgress done_ = journal_.found ? *journal_.found : planned();
  std::vector<double> warmup_ms_, visit_ms_;
  std::vector<bool> settled_ = std::vector<bool>(networks_.size());
  double last_look_s_ = 0;
  TurnTimings found_;
};

}  // namespace

Timing summarise(std::vector<double> run_times_ms) {
  std::sort(run_times_ms.begin(), run_times_ms.end());
  Timing timing;
  timing.runs = static_cast<std::int64_t>(run_times_ms.size());
  timing.median_ms = quantile(run_times_ms, 0.5);
  timing.interquartile_range_ms = quantile(run_times_ms, 0.75) - quantile(run_times_ms, 0.25);
  for (double& value : run_times_ms) value = std::abs(value - timing.median_ms);
  std::sort(run_times_ms.begin(), run_times_ms.end());
  constexpr double normal_consistency = 1.4826;  // of the median absolute deviation with a normal's σ
  timing.stddev_ms = normal_consistency * quantile(run_times_ms, 0.5);
  return timing;
}

Interval median_interval(const std::vector<double>& sorted) {
  const std::size_t rank = lower_rank(sorted.size());
  if (rank == 0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

bool precise_enough(std::vector<double> run_times_ms, double relative_precision) {
  std::sort(run_times_ms.begin(), run_times_ms.end());
  const double median = quantile(run_times_ms, 0.5);
  const Interval interval = median_interval(run_times_ms);
  return std::max(interval.upper - median, median - interval.lower) <= relative_precision * median;
}

Timing measure(const std::function<void()>& run, const TimingOptions& options) {
  const double warmup_ms = time_ms([&] { warm_up(run, options); });
  std::vector<double> run_times_ms;
  run_times_ms.reserve(static_cast<std::size_t>(options.maximum_runs));
  const auto maximum = static_cast<std::size_t>(options.maximum_runs);
  auto next_check = static_cast<std::size_t>(options.minimum_runs);
  const Clock::time_point loop_start = Clock::now();
  while (run_times_ms.size() < maximum) {
    run_times_ms.push_back(time_ms(run));
    if (run_times_ms.size() < next_check) continue;
    if (precise_enough(run_times_ms, options.relative_precision)) break;
    next_check += std::max<std::size_t>(5, next_check / 10);  // sorting after every run would cost short networks much
  }
  return with_costs(run_times_ms, warmup_ms, milliseconds_since(loop_start));
}

TurnTimings measure_in_turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options,
                            const MachineWatch& watch, const std::function<bool()>& go_on, const TurnJournal& journal) {
  return Turn(networks, options, watch, go_on, journal).run();
}

}  // namespace tenshot::descriptor
