#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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
/// so such a zero comes from a core (or a virtual one) that accepts the event and does not implement it. Misses can be
/// zero, and so can software events.
CountedValue interpret(std::string_view event, const RawCount& raw);

/// The values of a group's events at one moment, in the order of the events.
struct CounterSnapshot {
  std::vector<std::string> events;
  std::vector<CountedValue> values;

  /// Throws InputError that lists the events.
  const CountedValue& of(std::string_view event) const;
};

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
/// starts its threads, or ask for `running_threads`. Each event has a descriptor of its own (one a thread) and they are
/// read one by one. Reading them all at once (PERF_FORMAT_GROUP) is what kernels before 4.13 refuse together with
/// `inherit`; later ones refuse only PERF_SAMPLE_READ with it (since 6.12 only without PERF_SAMPLE_TID), which counting
/// has no use for. A group of the kernel's would also be lost as a whole where the core has a counter too few, while
/// single events are multiplexed and marked. The price: events start a system call after one another. They stop in the
/// same order, so all cover equally long stretches.
///
/// `context-switches` happen in the kernel and count there, which takes perf_event_paranoid 1 or less.
class CounterGroup {
 public:
  /// Opens the events, stopped. Names are perf(1)'s: cycles, instructions, cache-references, cache-misses,
  /// L1-dcache-loads, L1-dcache-load-misses, task-clock (ns), page-faults, context-switches; or any that libpfm4 knows
  /// ("skl::UOPS_ISSUED"). An event that this core has not is no error but missing in every snapshot, see
  /// `unavailable`. Throws InputError on no events and on a name that libpfm4 does not know on this processor; Error
  /// with a diagnosis when nothing can be counted: no PMU, not permitted, too many open files.
  static CounterGroup open(const std::vector<std::string>& events, const CounterOptions& options = {});

  CounterGroup(CounterGroup&&) noexcept = default;
  CounterGroup& operator=(CounterGroup&&) noexcept = default;
  CounterGroup(const CounterGroup&) = delete;
  CounterGroup& operator=(const CounterGroup&) = delete;

  /// Counts from zero.
  void start();
  /// What was counted since start(), without stopping.
  CounterSnapshot read() const;
  /// Stops and returns what was counted since start().
  CounterSnapshot stop();

  /// Why this core cannot count an event, one text an event; empty for those that it counts.
  std::vector<std::string> unavailable() const;

 private:
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    int number() const { return number_; }

   private:
    int number_ = -1;
  };
  struct Event {
    std::string name;
    std::vector<Descriptor> descriptors;  // one a thread
    std::string unavailable;
    RawCount at_start;  // counts only grow: resetting them would leave those of threads that have ended
  };

  CounterGroup() = default;
  static Event open_event(const std::string& name, const std::vector<int>& threads, int cpu);
  static RawCount total(const Event& event);
  void command(unsigned long request, const char* what);

  std::vector<Event> events_;
};

/// "libpfm 4.0": the version of its interface, which every 4.x release keeps.
std::string libpfm_version();

/// One line: that hardware counters are available, or why they are not.
std::string perf_event_status();

}  // namespace tenshot::descriptor
