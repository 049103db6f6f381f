#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::trainer::operators {

/// Operators whose costs are learned together, as 1×1 convolutions or pools. A reshape, which moves nothing, has none.
constexpr std::size_t operator_group_count() { return 16; }
/// The type of operators that multiply bytes: the measures of a group do not tell them from those that multiply floats.
extern const std::string of_8_bits;
/// The group that an operator belongs to; operator_group_count() for one that moves no number.
std::size_t operator_group_index(const nasbench::OperatorSpecification& specification);
/// The group of operators of no kind of ours without arithmetic, whose stand-ins move numbers.
std::size_t opaque_group_index();
/// The name of a group; empty for operator_group_count().
const std::string& operator_group_name(std::size_t group);
/// Stands among a map's names where it tells functions and computed norms apart, as earlier versions' do not.
extern const std::string told_functions;
/// What tells an operator from others of its group: the name of one that is of no kind of ours, with its dimensions
/// where it is a convolution ("3-D Conv"), that a file multiplies bytes (of_8_bits), "cubic resize", a function that
/// takes more than to compare ("silu"), or a norm that no layer before it takes in ("softmax"); else empty.
std::string operator_type_of(const nasbench::OperatorSpecification& specification);
/// A norm whose statistics are computed while the network runs: of layers, of groups, softmax.
bool is_computed_norm(nasbench::OperatorKind kind);
/// "convolution: 3-D Conv": group and type of an operator that is counted with those of a group and may cost otherwise
/// than they do: of no kind of ours other convolutions, packed weights, attention, and all that multiply nothing; of
/// our kinds products of bytes, cubic resizing, functions and norms. Empty for all others.
std::string unusual_operator(const nasbench::OperatorSpecification& specification);

/// Groups that stand in for one that a pool never saw, the most alike first; for operators of no kind of ours without
/// arithmetic also where it saw others of them. Where the pool saw none of these, they cost nothing of their own.
const std::vector<std::size_t>& stand_in_groups(std::size_t group);

/// What of an operator costs time. The first five are much those of Li et al. (2023, Table 2); what the others add
/// inside the pools of two tables is in experiments/search/README.md.
enum Measure : std::size_t {
  count,         ///< being there at all
  arithmetic,    ///< multiply–adds; of pools, output elements times the window's area
  input_bytes,   ///< that it reads
  output_bytes,  ///< that it writes
  weight_bytes,  ///< that it reads as weights
  /// What the windows of a convolution hold, all positions together. A runtime that makes a matrix product of a
  /// convolution copies these (Chellapilla, Puri and Simard, 2006), and others read them. Zero for 1×1 windows, which
  /// hold what is read, and for depthwise convolutions, whose arithmetic it would repeat.
  window_bytes,
  /// The arithmetic of depthwise convolutions of over 3×3, for which few runtimes have a kernel. Zero for all else.
  large_window_arithmetic,
};
constexpr std::size_t measures_of_group = large_window_arithmetic + 1;

/// What the bytes of an operator of narrow numbers are multiplied with, so that they count as those of floats: runtimes
/// compute in a precision of their own, and costs are learned from networks described in floats. Else 1.
double bytes_as_floats(const nasbench::OperatorSpecification& specification);

/// The raw features of a network, [known_feature_count()]: a one for what every inference costs, `measures_of_group`
/// sums for each group, those of starts, of which first uses are no sums and stay zero, and those of large tensors.
Eigen::VectorXd raw_features(const std::vector<nasbench::OperatorSpecification>& operators);
constexpr std::size_t raw_feature_count() { return 1 + operator_group_count() * measures_of_group; }

/// The group whose operators a raw feature counts; nothing for other features.
std::optional<std::size_t> group_counted_by(std::size_t feature);

/// Features of starts, numbered after the raw ones: for each group a one where the network has an operator of it, which
/// the first of them makes ready for all, and the bytes of all weights, which are read from the file.
constexpr std::size_t first_use_feature(std::size_t group) { return raw_feature_count() + group; }
constexpr std::size_t all_weights_feature() { return first_use_feature(operator_group_count()); }
constexpr bool is_first_use(std::size_t feature) {
  return feature >= first_use_feature(0) && feature < all_weights_feature();
}
/// The feature of inferences behind those: what operators write in tensors beyond 32 MiB, bytes. glibc's allocator
/// takes such a block from the system each time and hands it back (mallopt(3), M_MMAP_THRESHOLD), so that each of its
/// pages faults (experiments/networks/sizes).
constexpr std::size_t large_bytes_feature() { return all_weights_feature() + 1; }
/// Its measure in a FeatureScale (device_kinds.h).
constexpr std::size_t large_bytes_measure() { return measures_of_group + 1; }
/// How many features there are with all of these.
constexpr std::size_t known_feature_count() { return large_bytes_feature() + 1; }
/// "base", "depthwise_convolution.input_bytes", "depthwise_convolution.first_use", "network.weight_bytes" and so on.
std::string raw_feature_name(std::size_t feature);

}  // namespace tenshot::trainer::operators
