#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/counters/core_types.h"

namespace tenshot::descriptor {

/// What the kernel says of one event: its count, the time it was asked for and the time it had a hardware counter.
/// Over several threads these are sums.
struct RawCount {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// One event over an interval.
struct CountedValue {
  double count = std::numeric_limits<double>::quiet_NaN();  ///< NaN: missing
  bool scaled = false;  ///< an estimate: the event shared its hardware counter with others and ran part of the time

  bool missing() const { return count != count; }
};

/// What a raw count means. Missing when the event never ran: all hardware counters were taken, or the thread was on
/// cores of another type. When it ran part of the time, count × enabled / running, marked scaled. A zero is missing too
/// for cycles, instructions, cache-references and L1-dcache-loads: an interval in which anything ran has some of each,
/// so such a zero comes from a core (or a virtual one) that accepts the event and does not implement it.
CountedValue interpret(std::string_view event, const RawCount& raw);

/// Whose events a group of counters sees.
struct CounterOptions {
  /// Counts in all threads of this process, not only in the calling one; for thread pools that run already. No thread
  /// may start or end while the group opens: one that starts then may be counted twice or not at all.
  bool running_threads = false;
  /// Counts only while on this processor; −1: on any. On a machine of several core types this has the kernel choose the
  /// counters of that processor's type (it takes the first type's otherwise); the threads must be pinned to it.
  int cpu = -1;
};

/// Events of perf_event_open(2), counted in user mode together. Owns the kernel's descriptors.
///
/// Threads: the events are inherited by threads that counted threads start after `open`, so open before the runtime
/// starts its threads, or ask for `running_threads`. Each event has a descriptor of its own (one a thread): kernels
/// before 4.13 refuse groups that are inherited, and others lose a group where the core has a counter too few.
/// `context-switches` happen in the kernel and count there, which takes perf_event_paranoid 1 or less.
class CounterGroup {
 public:
  /// Opens the events, stopped. Names are perf(1)'s: cycles, instructions, cache-references, cache-misses,
  /// L1-dcache-loads, L1-dcache-load-misses, task-clock (ns), page-faults, context-switches; or any that libpfm4 knows
  /// ("skl::UOPS_ISSUED"). An event that this core has not is no error but missing whenever it is read, see
  /// `unavailable`. Throws InputError on a name that libpfm4 does not know on this processor; Error
  /// with a diagnosis when nothing can be counted: no PMU, not permitted, too many open files.
  static CounterGroup open(const std::vector<std::string>& events, const CounterOptions& options = {});

  CounterGroup(CounterGroup&&) noexcept = default;
  CounterGroup& operator=(CounterGroup&&) noexcept = default;
  CounterGroup(const CounterGroup&) = delete;
  CounterGroup& operator=(const CounterGroup&) = delete;

  /// Counts from zero.
  void start();
  /// What was counted since start(), without stopping, in the order of the events.
  std::vector<CountedValue> read() const;
  /// Stops and returns what was counted since start().
  std::vector<CountedValue> stop();

  /// Why this core cannot count an event, one text an event; empty for those that it counts.
  std::vector<std::string> unavailable() const;

 private:
  struct Close {
    void operator()(const int* descriptor) const;
  };
  struct Event {
    std::string name;
    std::vector<std::unique_ptr<const int, Close>> descriptors;  // one a thread
    std::string unavailable;
    RawCount at_start;  // counts only grow: resetting them would leave those of threads that have ended
  };

  CounterGroup() = default;
  static Event open_event(const std::string& name, const std::vector<int>& threads, int cpu);
  static RawCount total(const Event& event);
  void command(unsigned long request, const char* what);

  std::vector<Event> events_;
};

/// Why perf_event_open(2) refuses an event.
enum class WhyNotCounted { no_pmu, paranoid, seccomp, event_unknown, file_limit, no_kernel_support, other };

/// What is known when perf_event_open(2) failed.
struct OpenFailure {
  int error = 0;                ///< errno
  std::optional<int> paranoid;  ///< kernel.perf_event_paranoid; nothing where the kernel has no such setting
  bool hardware_pmu = false;    ///< whether the kernel lists a PMU of the cores (core_types)
  bool seccomp = false;         ///< whether a seccomp filter watches this process
  bool kernel_mode = false;     ///< whether the event counts in the kernel too, which needs more rights
};

struct Diagnosis {
  WhyNotCounted why = WhyNotCounted::other;
  std::string text;  ///< one line: what it is, and what to do
};

/// Which of the reasons it is, by what perf_event_open(2) says of its errors. A seccomp filter answers EPERM (Docker,
/// Podman, systemd) or ENOSYS, and the kernel itself EACCES where perf_event_paranoid forbids, which tells them apart:
/// - no such event and no PMU of the cores at all: a virtual machine; with a PMU: the core lacks the event;
/// - EACCES and perf_event_paranoid over what the event needs (2 in user mode, 1 in the kernel): paranoid;
/// - other refusals and ENOSYS on a kernel that has the setting, under a filter: seccomp;
/// - ENOSYS otherwise: the kernel was built without perf events.
Diagnosis diagnose(const OpenFailure& failure);

/// Gathers what `diagnose` wants about this process and machine. `proc` and `sources` are other folders in tests.
OpenFailure observe_failure(int error, bool kernel_mode, const std::filesystem::path& proc = "/proc",
                            const std::filesystem::path& sources = event_sources);

/// "libpfm 4.0": the version of its interface, which every 4.x release keeps.
std::string libpfm_version();

/// One line: that hardware counters are available, or why they are not.
std::string perf_event_status();

}  // namespace tenshot::descriptor
