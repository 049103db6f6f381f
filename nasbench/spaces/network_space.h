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

namespace tenshot::nasbench {

class SearchSpace;

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

/// The seam between what tenshot does and the networks it does it for: networks that each have a string and can be
/// computed, and whose Architecture values this class gives their meaning. There are two kinds. A SearchSpace is made
/// of decisions: it can count its architectures, draw and encode them. Networks by name (networks()) come from files.
class NetworkSpace {
 public:
  virtual ~NetworkSpace() = default;

  /// "nasbench201"; what files and `--space` call it.
  virtual std::string_view name() const = 0;
  /// This space where it is made of decisions, and null for networks by name.
  virtual const SearchSpace* search_space() const { return nullptr; }
  /// What a file or checkpoint has to keep of the space so that a program which does not know its name can use it: the
  /// JSON that layered_space() takes. Empty for a space that is known by name.
  virtual std::string definition() const { return {}; }

  /// The shape of the space's own networks, where nobody asks for another.
  virtual NetworkShape default_shape() const { return {}; }
  /// Channels, height and width of what its networks of this shape read; empty for networks by name.
  virtual std::vector<int> input_shape(const NetworkShape&) const { return {}; }

  /// How many bytes an architecture of the space has: archives keep them.
  virtual std::size_t architecture_bytes() const = 0;
  /// Whether these bytes could be an architecture of the space.
  virtual bool could_be(const Architecture& architecture) const = 0;
  /// The architecture of a string. Throws InputError that says what is wrong and shows a correct string.
  virtual Architecture parse(std::string_view text) const = 0;
  /// The string of an architecture; parse(format(a)) == a, but for a network of whose name another one is meant.
  std::string format(const Architecture& architecture) const;
  virtual void append_format(std::string& text, const Architecture& architecture) const = 0;
  /// A string of this space, for messages that say what one looks like.
  virtual std::string example() const = 0;

  /// False when no path connects input to output, so that the network computes a constant.
  virtual bool connected(const Architecture&) const { return true; }
  /// The whole network for `batch` images. Throws InputError on a shape the space cannot have or a batch below 1.
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
  /// by operation), for `batch` images; empty for a space that says nothing of it. An operator that computes nothing
  /// (skip_connect) is a network without nodes: what a runtime measures of it is an empty call.
  virtual std::vector<Operator> operators(const NetworkShape&, int /*batch*/) const { return {}; }
  /// How often each of them occurs in the architecture's network, shape [operators().size()].
  virtual std::vector<double> operator_occurrences(const Architecture&) const { return {}; }
  /// Every operation that has a cost, at every width and resolution it occurs at, as it runs inside a network for
  /// `batch` images; empty for a space that says nothing of it. Throws InputError on a shape the space cannot have.
  virtual std::vector<OperationChain> operation_chains(const NetworkShape&, int /*batch*/) const { return {}; }
  /// What the operation of that name executes on an image of so many channels and that height and width: files call
  /// the operators and chain instances of the space so. Nothing where the space has none of that name.
  virtual std::optional<OperatorSequence> named_operation(std::string_view /*name*/, int /*channels*/,
                                                          int /*resolution*/) const {
    return std::nullopt;
  }
};

/// The space itself. Throws InputError where it is not made of decisions.
const SearchSpace& search_space(const NetworkSpace& space);

/// The space called `name`. Throws InputError that lists the spaces there are.
const NetworkSpace& known_space(std::string_view name);
/// Names of the spaces that known_space() knows.
std::vector<std::string> space_names();

}  // namespace tenshot::nasbench
