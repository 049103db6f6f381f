#pragma once

#include <chrono>

namespace tenshot {

/// What elapsed time is read from: it never goes back.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Time of one call, milliseconds.
template <class Work>
double time_ms(const Work& work) {
  const Clock::time_point start = Clock::now();
  work();
  return milliseconds_since(start);
}

}  // namespace tenshot
