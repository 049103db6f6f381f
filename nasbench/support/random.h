#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tenshot {

/// A seeded generator whose draws are the same on every platform and standard library: the engine is the standard's
/// mt19937_64 (whose output is specified), the distributions are ours (the standard's are not specified).
class Rng {
 public:
  /// Generators with the same seed but different streams are independent for our purposes.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits() { return engine_(); }
  /// Uniform on {0, …, bound − 1}; bound ≥ 1.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform on [0, 1).
  double uniform();
  /// Standard normal (Box–Muller).
  double normal();

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tenshot
