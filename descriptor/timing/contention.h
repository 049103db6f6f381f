#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptor/counters/counters.h"

namespace tenshot::descriptor {

/// How much the machine interfered with this process over an interval. Nothing where the system does not say.
struct Contention {
  double elapsed_s = 0;
  long involuntary_switches = 0;  ///< threads of this process that had to leave a processor (getrusage(2), ru_nivcsw)
  std::optional<double> steal_s;  ///< time the hypervisor ran something else, summed over the watched processors
  int cpus = 1;                   ///< how many those are
  std::optional<double> wait_s;   ///< time the threads of this process were ready to run and waited for a processor
  // Counted by perf_event_open(2) in threads of this process.
  std::optional<double> task_clock_s;
  std::optional<double> page_faults;
  std::optional<double> context_switches;
};

/// The share of the watched processors' time that the hypervisor may take.
constexpr double tolerated_steal = 0.05;
/// The share of the elapsed time that threads of this process may wait for a processor.
constexpr double tolerated_wait = 0.05;
/// Where the system does not tell the wait: involuntary switches a second that cost about as much: Linux gives what it
/// runs instead about 3 ms, so 16 take 5 %.
constexpr double tolerated_switches_per_s = 16;

/// Whether measurements of the interval should be distrusted: more than `tolerated_steal` was stolen or more than
/// `tolerated_wait` waited. Where the wait is unknown, more than `tolerated_switches_per_s` involuntary switches a
/// second and more than one at all (a single one says nothing about a short interval) stand for it: most switches cost
/// a few microseconds, so that they accuse too often. Unknown steal time counts as none.
bool contended(const Contention& contention);

/// Contention over two intervals one after the other, on the same processors; what either does not know is unknown.
Contention operator+(const Contention& a, const Contention& b);

/// The steal time in a text of /proc/stat (proc_stat(5)), summed over `cpus`, in clock ticks (sysconf _SC_CLK_TCK).
/// Nothing when a processor is not listed or has no steal column (kernels before 2.6.11).
std::optional<std::uint64_t> steal_ticks(std::string_view proc_stat, const std::vector<int>& cpus);

/// The time that the threads of `tasks` (a /proc/PID/task folder) waited on a run queue, in nanoseconds: the second
/// number of each schedstat (Linux, Documentation/scheduler/sched-stats). Nothing where the kernel does not keep it.
std::optional<std::uint64_t> wait_nanoseconds(const std::filesystem::path& tasks);

/// What tells that other programs disturb a measurement.
struct ContentionOptions {
  std::vector<int> cpus;  ///< whose steal time to watch; empty: those the calling thread may use (allowed_cpus)
  std::filesystem::path proc_stat = "/proc/stat";
  /// Task-clock, page-faults and context-switches too, where they can be opened: they see what other programs of the
  /// same guest do, and cost a few microseconds for each measurement.
  bool software_counts = true;
  std::filesystem::path tasks = "/proc/self/task";
};

/// Watches from its construction on. No thread may start or end while it is constructed with software counts
/// (CounterOptions::running_threads).
class ContentionWatch {
 public:
  explicit ContentionWatch(ContentionOptions options = {});

  /// What happened since construction; may be asked any number of times. Throws Error when a count cannot be read.
  Contention since() const;

 private:
  struct Moment {
    double clock_s = 0;
    long involuntary_switches = 0;
    std::optional<std::uint64_t> steal;
    std::optional<std::uint64_t> wait_ns;
  };
  Moment now() const;
  std::optional<double> counted(std::string_view event) const;

  ContentionOptions options_;
  std::vector<std::pair<std::string, CounterGroup>> counters_;  // one event each: any may be forbidden
  Moment start_;
};

}  // namespace tenshot::descriptor
