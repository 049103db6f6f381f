#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {

/// Networks that are made of decisions: every combination of options is an architecture.
class SearchSpace : public NetworkSpace {
 public:
  const SearchSpace* search_space() const final { return this; }
  /// Number of options at each decision: {5, 5, 5, 5, 5, 5} for NAS-Bench-201.
  virtual const std::vector<int>& decisions() const = 0;
  /// A string is parts joined by this character, and what a part says does not depend on the other parts.
  virtual char part_separator() const = 0;
  /// Channels of the images that its networks read.
  virtual int input_channels() const { return 3; }

  /// Names of the operations whose counts explain latency, without those that cost nothing by definition
  /// (NAS-Bench-201: skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3).
  virtual const std::vector<std::string>& counted_operations() const = 0;
  /// How often each counted operation occurs, shape [counted_operations().size()].
  virtual std::vector<double> operation_counts(const Architecture& architecture) const = 0;
  /// The representative of all architectures that do the same to the image: parts through which the image cannot
  /// influence the output are removed, and all architectures that are not connected have one representative. What is
  /// left is not rewritten, so two representatives may still compute the same function. Idempotent.
  virtual Architecture canonical(const Architecture& architecture) const { return architecture; }

  // What follows from the decisions.

  std::vector<int> input_shape(const NetworkShape& shape) const final {
    return {input_channels(), shape.resolution, shape.resolution};
  }
  std::size_t architecture_bytes() const final { return decisions().size(); }
  bool could_be(const Architecture& architecture) const final;
  std::string example() const final { return format(first()); }
  /// The first option at every decision.
  Architecture first() const { return Architecture(decisions().size()); }

  // All that take an architecture throw InputError when it is none of the space.

  /// Number of architectures, or nothing when it does not fit 64 bits.
  std::optional<std::uint64_t> size() const;
  /// Whether all() lists them: there are at most 10^7.
  bool listable() const;
  /// The architecture at `ordinal` of the space's own order (mixed radix, first decision slowest) and back. Both throw
  /// InputError where there is no such ordinal; `ordinal` also in a space whose size does not fit 64 bits.
  Architecture at(std::uint64_t ordinal) const;
  std::uint64_t ordinal(const Architecture& architecture) const;
  /// Uniform over the space.
  Architecture random(Rng& rng) const;
  /// All architectures in the space's order. Throws InputError when the space is not listable().
  std::vector<Architecture> all() const;

  /// One-hot width: the sum of decisions() (30 for NAS-Bench-201).
  std::size_t encoding_width() const;
  /// Writes the one-hot encoding, `encoding_width()` floats, decision by decision.
  void encode(const Architecture& architecture, float* encoding) const;
};

/// Throws InputError unless `architecture` has the space's decisions, each with an option that there is.
void require_member(const SearchSpace& space, const Architecture& architecture);

/// NAS-Bench-201 (Dong and Yang, ICLR 2020): 15,625 cells of 6 edges with 5 operations.
const SearchSpace& nasbench201();

}  // namespace tenshot::nasbench
