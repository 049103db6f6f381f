#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/operator_sequence.h"
#include "nasbench/graph/operator_specification.h"
#include "nasbench/spaces/architecture.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {

/// How the networks of a space are instantiated.
struct NetworkShape {
  int resolution = 32;  ///< height and width of the input image, pixels; a multiple of 4 for NAS-Bench-201
  int classes = 10;
};

/// One operation of a space measured alone: what the space calls it, what it executes, and that as a network.
struct Operator {
  std::string name;
  OperatorSequence key;  ///< for one image
  Network graph;
};

/// An operation as a network runs it: `graph` has `repeats` instances in a row between two convolution blocks, and
/// `surroundings` those blocks alone. The difference of their latencies by `repeats` is what one more instance costs
/// inside a network: without entering and leaving the runtime (bytes for floats, blocked for plain layouts), which an
/// operator alone pays for every time.
struct OperationChain {
  std::string name;      ///< a counted operation of the space, or what joins them ("add", "relu", "multiply")
  OperatorSequence key;  ///< of one instance
  int repeats = 0;
  Network graph;
  Network surroundings;  ///< the same for every chain whose instances read the same shape
};

/// The seam between what tenshot does and the networks it does it for. A space defines the meaning of Architecture
/// values: their strings, their order, their encoding, what executes, and the network itself.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;

  /// "nasbench201"; what files and `--space` call it.
  virtual std::string_view name() const = 0;

  /// What a file or checkpoint has to keep of the space so that a program which does not know its name can use it: the
  /// JSON that layered_space() takes. Empty for a space that is known by name.
  virtual std::string definition() const { return {}; }
  /// The shape of the space's own networks, where nobody asks for another.
  virtual NetworkShape default_shape() const { return {}; }

  /// Whether every combination of options is an architecture. Where it is not (networks by name, whose decisions are an
  /// identity), at, ordinal, random, all, encoding_width and encode throw InputError.
  virtual bool composed() const { return true; }
  /// Number of options at each decision: {5, 5, 5, 5, 5, 5} for NAS-Bench-201.
  virtual const std::vector<int>& decisions() const = 0;

  /// The architecture of a string. Throws InputError that says what is wrong and shows a correct string.
  virtual Architecture parse(std::string_view text) const = 0;
  /// The string of an architecture; parse(format(a)) == a.
  virtual std::string format(const Architecture& architecture) const = 0;
  virtual void append_format(std::string& text, const Architecture& architecture) const = 0;
  /// A string of this space, for messages that say what one looks like.
  virtual std::string example() const { return format(Architecture(decisions().size())); }
  /// A string is parts joined by this character, and what a part says does not depend on the other parts.
  virtual char part_separator() const = 0;

  /// Names of the operations whose counts explain latency, without those that cost nothing by definition
  /// (NAS-Bench-201: skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3).
  virtual const std::vector<std::string>& counted_operations() const = 0;
  /// How often each counted operation occurs, shape [counted_operations().size()].
  virtual std::vector<double> operation_counts(const Architecture& architecture) const = 0;

  /// False when no path connects input to output, so that the network computes a constant.
  virtual bool connected(const Architecture& architecture) const = 0;
  /// The representative of all architectures that do the same to the image: parts through which the image cannot
  /// influence the output are removed, and all architectures that are not connected have one representative. What is
  /// left is not rewritten, so two representatives may still compute the same function. Idempotent.
  virtual Architecture canonical(const Architecture& architecture) const = 0;

  /// The whole network for `batch` images. Throws InputError on a shape the space cannot have, and where the batch is
  /// not positive.
  virtual Network computation(const Architecture& architecture, const NetworkShape& shape, int batch) const = 0;
  /// The operators that the network executes, in order, for the space's own input: what the predictor `operators` knows
  /// of a network. Throws InputError for a space that does not say.
  virtual std::vector<OperatorSpecification> operator_list(const Architecture& architecture) const;
  /// The same in parts, for callers that compute with each part once: keys of the parts in order, and what a key stands
  /// for; equal keys, equal operators. Both throw InputError for a space that does not say.
  virtual std::vector<std::uint32_t> operator_parts(const Architecture& architecture) const;
  virtual std::vector<OperatorSpecification> operator_part(std::uint32_t part) const;
  /// The FLOPs of a network for one image, as the space's benchmark counts them: its multiply_adds(), to which
  /// NAS-Bench-201 adds the classifier's biases.
  virtual std::int64_t flop_count(const Architecture& architecture, const NetworkShape& shape) const;
  /// Every operator at every width and resolution it occurs at (NAS-Bench-201: 5 operations × 3 stages = 15, operation
  /// by operation), for `batch` images. An operator that computes nothing (skip_connect) is a network without nodes:
  /// what a runtime measures of it is an empty call.
  virtual std::vector<Operator> operators(const NetworkShape& shape, int batch) const = 0;
  /// How often each of them occurs in the architecture's network, shape [operators().size()].
  virtual std::vector<double> operator_occurrences(const Architecture& architecture) const = 0;

  /// Every operation that has a cost, at every width and resolution it occurs at, as it runs inside a network for
  /// `batch` images; empty for a space that says nothing of it. Throws InputError on a shape the space cannot have.
  virtual std::vector<OperationChain> operation_chains(const NetworkShape&, int /*batch*/) const { return {}; }
  /// What the operation of that name executes on an image of so many channels and that height and width: files call
  /// the operators and chain instances of the space so. Nothing where the space has none of that name.
  virtual std::optional<OperatorSequence> named_operation(std::string_view /*name*/, int /*channels*/,
                                                          int /*resolution*/) const {
    return std::nullopt;
  }

  // What follows from the decisions alone. All that take an architecture throw InputError when it is none of the space.

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

/// Throws InputError unless the space is composed().
void require_composed(const SearchSpace& space);
/// Throws InputError unless `architecture` has the space's decisions, each with an option that there is.
void require_member(const SearchSpace& space, const Architecture& architecture);

/// The space called `name`. Throws InputError that lists the spaces there are.
const SearchSpace& search_space(std::string_view name);
/// Names of the spaces that search_space() knows.
std::vector<std::string> space_names();

/// NAS-Bench-201 (Dong and Yang, ICLR 2020): 15,625 cells of 6 edges with 5 operations.
const SearchSpace& nasbench201();

}  // namespace tenshot::nasbench
