#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tenshot::descriptor {

/// How long a network is timed.
struct TimingOptions {
  /// At least; warm-up goes on until `warmup_ms` have passed and run times stop falling. More take longer; too few
  /// count clocks that still rise, cold caches and code that is compiled on its first run.
  int warmup_runs = 5;
  double warmup_ms = 5;
  /// Runs that are timed before precision may end it. More cost time and make lucky agreement of a few less likely.
  int minimum_runs = 30;
  /// Runs that end it however imprecise it is. More let unsteady machines reach the precision, and take longer on them.
  int maximum_runs = 100;
  /// Enough once the 95 % confidence interval of the median is within this. Larger stops sooner and leaves more noise
  /// in the latency; halving it takes four times the runs.
  double relative_precision = 0.01;
  /// Over 1: networks are measured in turn, `maximum_runs` spread over this many rounds. A shared machine changes its
  /// speed by the second; runs that are seconds apart see what it does most of the time. A network that is precise
  /// enough after a round sits out the rest. More keep all networks of a batch in memory for longer.
  int rounds = 1;
};

/// Robust statistics of the runs of one network, milliseconds.
struct Timing {
  double median_ms = 0;
  double interquartile_range_ms = 0;
  double stddev_ms = 0;  ///< 1.4826 × median absolute deviation: the spread without the outliers of a shared machine
  std::int64_t runs = 0;
  // What measuring cost; zero from summarise().
  double warmup_total_ms = 0;
  double runs_total_ms = 0;  ///< sum of the timed runs
  double loop_total_ms = 0;  ///< the timed runs and what deciding when to stop cost
};

/// Statistics of run times; quartiles interpolate linearly between order statistics. There is at least one.
Timing summarise(std::vector<double> run_times_ms);

struct Interval {
  double lower = 0;
  double upper = 0;
};

/// The 95 % confidence interval of the median by order statistics: the narrowest symmetric pair of ranks k, n + 1 − k
/// that covers the median with that probability, since the number of values under it is Binomial(n, ½). `sorted` is
/// ascending. Under six values no pair does, and the interval is everything (−∞, ∞).
Interval median_interval(const std::vector<double>& sorted);

/// Whether the 95 % confidence interval of the median of one or more run times is within `relative_precision` of it.
bool precise_enough(std::vector<double> run_times_ms, double relative_precision);

/// Warms up, then times single calls of `run` by the steady clock until precise enough.
Timing measure(const std::function<void()>& run, const TimingOptions& options);

/// What tells measure_in_turn that the machine is busy with something else.
struct MachineWatch {
  /// A network that is timed again and again.
  std::function<void()> sentinel;
  /// Whether the machine is undisturbed when the sentinel takes this long. Empty: it always is.
  std::function<bool(double sentinel_ms)> steady = {};
  /// Asked after a disturbed visit of so many seconds whether to throw its runs away and come back later. Empty: no.
  std::function<bool(double visit_s)> patient = {};
};

/// Some of the networks, [begin, end), to be run so often each.
struct TurnVisit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t runs = 0;
};

/// How far measure_in_turn has come: enough to go on from there in another process.
struct TurnProgress {
  std::vector<std::vector<double>> run_times_ms;  ///< [network]
  std::vector<double> loop_ms;                    ///< [network]
  std::vector<double> sentinels_ms;               ///< the sentinel's latencies at the visits that count
  std::vector<TurnVisit> left;                    ///< visits to be made
};

/// Where measure_in_turn begins, and who is told after each visit that counts how far it has come.
struct TurnJournal {
  std::optional<TurnProgress> found = {};
  std::function<void(const TurnProgress&)> keep = {};
};

/// What measure_in_turn found; `networks` is empty once it was told to stop.
struct TurnTimings {
  std::vector<Timing> networks;
  double sentinel_ms = 0;  ///< median over the visits that count
  double sentinel_s = 0;   ///< spent on it
  int thrown_away = 0;     ///< visits
};

/// Warms all of `networks` up, then times them in turn over `options.rounds` rounds, `maximum_runs` runs of each in
/// all, fewer where `minimum_runs` are precise enough; the first run of a network in a round only fills the caches and
/// is not counted. In a round ten networks at a time are visited, between two looks at the sentinel: when either look
/// found the machine disturbed, the visit is thrown away and made again after all others, as long as `watch` is
/// patient. `go_on` is asked after each network of each visit; nothing is returned once it says no. `journal` is of as
/// many networks.
TurnTimings measure_in_turn(const std::vector<std::function<void()>>& networks, const TimingOptions& options,
                            const MachineWatch& watch, const std::function<bool()>& go_on,
                            const TurnJournal& journal = {});

}  // namespace tenshot::descriptor
