#include "descriptor/timing/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "descriptor/timing/timing_detail.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"

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

}  // namespace

namespace detail {

bool precise_enough(std::vector<double> run_times_ms, double relative_precision) {
  std::sort(run_times_ms.begin(), run_times_ms.end());
  const double median = quantile(run_times_ms, 0.5);
  const Interval interval = median_interval(run_times_ms);
  return std::max(interval.upper - median, median - interval.lower) <= relative_precision * median;
}

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
    const Clock::time_point run_start = Clock::now();
    run();
    best_before = std::min(best_before, last_but_one);
    last_but_one = last;
    last = milliseconds_since(run_start);
  }
}

void require_usable(const TimingOptions& options) {
  if (options.minimum_runs < 1 || options.maximum_runs < options.minimum_runs) {
    throw InputError("timing wants 1 <= minimum_runs <= maximum_runs, found minimum_runs " +
                     std::to_string(options.minimum_runs) + ", maximum_runs " + std::to_string(options.maximum_runs));
  }
  if (options.rounds < 1) throw InputError("timing wants at least one round, found " + std::to_string(options.rounds));
}

}  // namespace detail

using detail::precise_enough, detail::require_usable, detail::warm_up;

Timing summarise(std::vector<double> run_times_ms) {
  if (run_times_ms.empty()) throw InputError("no run times to summarise: expected at least one");
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
  if (rank == 0) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

Timing measure(const std::function<void()>& run, const TimingOptions& options) {
  require_usable(options);
  const Clock::time_point warmup_start = Clock::now();
  warm_up(run, options);
  const double warmup_ms = milliseconds_since(warmup_start);

  std::vector<double> run_times_ms;
  run_times_ms.reserve(static_cast<std::size_t>(options.maximum_runs));
  double total_ms = 0;
  const auto maximum = static_cast<std::size_t>(options.maximum_runs);
  auto next_check = static_cast<std::size_t>(options.minimum_runs);
  const Clock::time_point loop_start = Clock::now();
  while (run_times_ms.size() < maximum) {
    const Clock::time_point run_start = Clock::now();
    run();
    run_times_ms.push_back(milliseconds_since(run_start));
    total_ms += run_times_ms.back();
    if (run_times_ms.size() < next_check) continue;
    if (precise_enough(run_times_ms, options.relative_precision)) break;
    next_check += std::max<std::size_t>(5, next_check / 10);  // sorting after every run would cost short networks much
  }
  const double loop_ms = milliseconds_since(loop_start);
  Timing timing = summarise(std::move(run_times_ms));
  timing.warmup_total_ms = warmup_ms;
  timing.runs_total_ms = total_ms;
  timing.loop_total_ms = loop_ms;
  return timing;
}

}  // namespace tenshot::descriptor
