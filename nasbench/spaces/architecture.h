#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {

/// What stands for one network of a NetworkSpace. In a SearchSpace, which option was chosen at each decision (for
/// NAS-Bench-201, which operation on each of six edges); of networks by name, the bytes of an identity. A value of 32
/// bytes; only more than 23 decisions take a heap.
class Architecture {
 public:
  static constexpr std::size_t max_decisions = 128;

  Architecture() = default;
  /// The first option at each of `decisions` decisions. Throws InputError over max_decisions.
  explicit Architecture(std::size_t decisions) : size_(static_cast<std::uint8_t>(decisions)) {
    if (decisions > max_decisions) {
      throw InputError("an architecture of " + std::to_string(decisions) + " decisions: at most " +
                       std::to_string(max_decisions) + " are supported");
    }
    if (decisions > few_decisions) many_ = std::make_unique<Many>(Many{});
  }
  Architecture(std::initializer_list<std::uint8_t> choices) : Architecture(choices.size()) {
    std::copy(choices.begin(), choices.end(), begin());
  }

  Architecture(const Architecture& other)
      : many_(other.many_ ? std::make_unique<Many>(*other.many_) : nullptr), few_(other.few_), size_(other.size_) {}
  Architecture(Architecture&& other) noexcept
      : many_(std::move(other.many_)), few_(other.few_), size_(std::exchange(other.size_, std::uint8_t{0})) {}
  Architecture& operator=(Architecture other) noexcept {
    many_ = std::move(other.many_);
    few_ = other.few_;
    size_ = other.size_;
    return *this;
  }
  ~Architecture() = default;

  std::size_t size() const { return size_; }
  std::uint8_t operator[](std::size_t decision) const { return begin()[decision]; }
  std::uint8_t& operator[](std::size_t decision) { return begin()[decision]; }
  const std::uint8_t* begin() const { return many_ ? many_->data() : few_.data(); }
  const std::uint8_t* end() const { return begin() + size_; }
  std::uint8_t* begin() { return many_ ? many_->data() : few_.data(); }
  std::uint8_t* end() { return begin() + size_; }

  friend bool operator==(const Architecture& a, const Architecture& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(const Architecture& a, const Architecture& b) { return !(a == b); }
  /// Within one space, the space's own order.
  friend bool operator<(const Architecture& a, const Architecture& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::size_t few_decisions = 23;
  using Many = std::array<std::uint8_t, max_decisions>;

  std::unique_ptr<Many> many_;  ///< the choices where there are over few_decisions, otherwise null
  std::array<std::uint8_t, few_decisions> few_{};
  std::uint8_t size_ = 0;
};

static_assert(sizeof(Architecture) == 32);

struct ArchitectureHash {
  std::size_t operator()(const Architecture& architecture) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const std::uint8_t choice : architecture) hash = (hash ^ choice) * 0x100000001b3ULL;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

/// Collections by architecture, in no order.
using ArchitectureSet = std::unordered_set<Architecture, ArchitectureHash>;
template <class Value>
using ArchitectureMap = std::unordered_map<Architecture, Value, ArchitectureHash>;

}  // namespace tenshot::nasbench
