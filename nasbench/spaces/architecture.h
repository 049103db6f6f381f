#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {

/// One network of a search space: which option was chosen at each decision (for NAS-Bench-201, which operation on each
/// of six edges). A small value, 32 bytes, without a heap; its meaning comes from its SearchSpace.
class Architecture {
 public:
  static constexpr std::size_t max_decisions = 31;

  Architecture() = default;
  /// The first option at each of `decisions` decisions. Throws InputError over max_decisions.
  explicit Architecture(std::size_t decisions) : size_(static_cast<std::uint8_t>(decisions)) {
    if (decisions > max_decisions) {
      throw InputError("an architecture of " + std::to_string(decisions) + " decisions: at most " +
                       std::to_string(max_decisions) + " are supported");
    }
  }
  Architecture(std::initializer_list<std::uint8_t> choices) : Architecture(choices.size()) {
    std::size_t i = 0;
    for (const std::uint8_t choice : choices) choices_[i++] = choice;
  }

  std::size_t size() const { return size_; }
  std::uint8_t operator[](std::size_t decision) const { return choices_[decision]; }
  std::uint8_t& operator[](std::size_t decision) { return choices_[decision]; }

  friend bool operator==(const Architecture& a, const Architecture& b) {
    return a.size_ == b.size_ && a.choices_ == b.choices_;
  }
  friend bool operator!=(const Architecture& a, const Architecture& b) { return !(a == b); }
  /// Within one space, the space's own order.
  friend bool operator<(const Architecture& a, const Architecture& b) {
    return std::tie(a.choices_, a.size_) < std::tie(b.choices_, b.size_);
  }

 private:
  std::array<std::uint8_t, max_decisions> choices_{};
  std::uint8_t size_ = 0;
};

struct ArchitectureHash {
  std::size_t operator()(const Architecture& architecture) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (std::size_t i = 0; i < architecture.size(); ++i) hash = (hash ^ architecture[i]) * 0x100000001b3ULL;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

}  // namespace tenshot::nasbench
