#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenshot::descriptor {

/// One event of perf_event_open(2), named as libpfm4 names it ("cycles", "perf::TASK-CLOCK"), counted for the calling
/// thread in user mode. Owns the kernel's descriptor.
class EventCounter {
 public:
  /// Opens the event, stopped. Throws Error that says why it cannot be counted here: no such event, no such counter in
  /// this (virtual) machine, or not permitted, with the value of perf_event_paranoid.
  static EventCounter open(std::string_view event);

  EventCounter(EventCounter&& other) noexcept;
  EventCounter& operator=(EventCounter&& other) noexcept;
  EventCounter(const EventCounter&) = delete;
  EventCounter& operator=(const EventCounter&) = delete;
  ~EventCounter();

  /// Counts from zero.
  void start();
  /// Stops and returns the count since start(). Throws Error when the kernel had no hardware counter free all that
  /// time, since a scaled count would be a guess.
  std::uint64_t stop();

 private:
  explicit EventCounter(std::string event, int descriptor);
  std::string event_;
  int descriptor_ = -1;
};

/// "libpfm 4.0": the version of its interface, which every 4.x release keeps.
std::string libpfm_version();

/// One line: that hardware counters are available, or why they are not.
std::string perf_event_status();

}  // namespace tenshot::descriptor
