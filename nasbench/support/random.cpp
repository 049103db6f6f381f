#include "nasbench/support/random.h"

#include <cmath>

namespace tenshot {
namespace {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): spreads nearby seeds over the whole state space.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed, std::uint64_t stream) : engine_(mixed(mixed(seed) ^ (stream + 1))) {}

std::uint64_t Rng::below(std::uint64_t bound) {
  // Values under 2^64 mod bound are redrawn, so that every remainder is equally likely.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = engine_();
    if (value >= threshold) return value % bound;
  }
}

double Rng::uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  constexpr double two_pi = 6.283185307179586476925286766559;
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(two_pi * uniform());
}

}  // namespace tenshot
