#pragma once

#include <time.h>

#include <cstdint>

namespace tenshot::descriptor {

/// Processor time of the calling thread, ns: what task-clock must have counted at least about.
inline double own_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Computes for that much processor time of the calling thread, however long it takes.
inline void burn_cpu_ms(double milliseconds) {
  const double end = own_cpu_ns() + milliseconds * 1e6;
  volatile std::uint64_t sum = 0;
  while (own_cpu_ns() < end) {
    for (int i = 0; i < 1000; ++i) sum = sum + static_cast<std::uint64_t>(i);
  }
}

}  // namespace tenshot::descriptor
