#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datasets/tables/quantity.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/predictors/operators/device_kinds.h"
#include "trainer/predictors/operators/operator_groups.h"
#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {

/// Networks as sums of blocks: the features of network i are the sum of blocks[b] over its block indices b. In a
/// layered space few blocks make up very many networks; elsewhere a network is a block of its own.
struct FeatureTable {
  Eigen::MatrixXd blocks;                ///< [blocks, features]
  std::vector<std::uint32_t> block_of;   ///< the networks' block indices, one network after the other
  std::vector<std::size_t> begin = {0};  ///< where each network's begin in `block_of`; [size() + 1]

  std::size_t size() const { return begin.size() - 1; }
  /// features · weights, shape [size(), weights.cols()]; `weights` has a row for each feature.
  Eigen::MatrixXd times(const Eigen::MatrixXd& weights) const;
  /// The features themselves, [size(), features].
  Eigen::MatrixXd rows() const;
};

/// The table whose networks are the rows of a matrix [networks, features].
FeatureTable table_of(Eigen::MatrixXd rows);

/// Which features describe the networks of a pool, and in which unit: the raw features that any of them has, each
/// divided by its mean, and in a layered space a one for each (decision, option) after them. Of starts, of each group
/// count and arithmetic alone, since a start prepares kernels, with the bytes of all weights and first uses.
///
/// For each device whose operators were measured the operators' features stand there once more, as a block of their own
/// behind all others: multiplied with their efficiency on that device (OperatorTimes). Its costs belong to its block.
struct FeatureMap {
  std::vector<std::size_t> raw;        ///< indices of raw features, ascending; "base" is the first
  Eigen::VectorXd unit;                ///< [raw.size()], positive
  std::vector<int> options;            ///< options of each decision of a layered space; else empty
  std::vector<OperatorTimes> learned;  ///< one for each further block; none in a layered space
  /// Operators of the pool's networks, see unusual_operator(); `of_8_bits` itself where products of bytes are told from
  /// those of floats, as earlier files do not, and devices that execute networks in bytes.
  std::set<std::string> unusual;
  /// Names of groups and of unusual operators that other devices of the pool measured and this known one did not.
  std::vector<std::string> unmeasured;

  std::size_t operator_features() const { return raw.size(); }
  std::size_t decision_features() const { return std::accumulate(options.begin(), options.end(), std::size_t{0}); }
  /// Those that all devices share, and with the further blocks.
  std::size_t shared_features() const { return operator_features() + decision_features(); }
  std::size_t features() const { return shared_features() + learned.size() * operator_features(); }
  /// Where a block begins; block 0 is the shared one.
  std::size_t block_begin(std::size_t block) const {
    return block == 0 ? 0 : shared_features() + (block - 1) * operator_features();
  }
  /// The raw feature that a feature is, in any block; nothing for those of decisions.
  std::optional<std::size_t> raw_feature(std::size_t feature) const;
  std::string name(std::size_t feature) const;
  /// True where the features are those of starts.
  bool of_starts() const { return !raw.empty() && raw.back() == all_weights_feature(); }
};

/// The units of a map's operator features, relative to what is usual for their measure.
FeatureScale feature_scale(const FeatureMap& map);

/// The features of a pool's networks that are to explain the quantity: of starts for Quantity::cold, else of
/// inferences. Throws InputError when there are no networks, and what NetworkSpace::operator_list throws.
FeatureMap make_feature_map(const nasbench::NetworkSpace& space,
                            const std::vector<nasbench::Architecture>& architectures,
                            datasets::Quantity quantity = datasets::Quantity::latency);

/// What becomes of operators of a group that the pool never saw, or a known device never measured.
enum class UnknownOperators {
  /// They count as operators of the group most like theirs that the pool saw; or as what other devices measured.
  stand_in,
  left_out
};

/// Features of `architectures` under `map`.
FeatureTable feature_table(const FeatureMap& map, const nasbench::NetworkSpace& space,
                           const std::vector<nasbench::Architecture>& architectures,
                           UnknownOperators unknown = UnknownOperators::stand_in);

/// The features of the shared block of one operator.
Eigen::VectorXd shared_features(const FeatureMap& map, const nasbench::OperatorSpecification& operation,
                                UnknownOperators unknown = UnknownOperators::stand_in);

/// Features of one operator: what it adds to a network's, first uses aside. Another group may stand in for its own.
Eigen::VectorXd features_of_operator(const FeatureMap& map, const nasbench::OperatorSpecification& specification);

/// Adds what a new device measured to `map.unusual`. Products of bytes and functions that it did not measure are
/// `map.unmeasured`, whatever other devices did: costs do not tell them from others.
void tell_measured(FeatureMap& map, std::set<std::string> measured);

/// The unusual operators of a network by name.
std::set<std::string> unusual_operators(const nasbench::NetworkSpace& space, const nasbench::Architecture& network);

/// Names of the groups in `architecture` that no network of the pool had, or none that the known device measured;
/// behind them, the types of the operators in them that are of no kind of ours: "recurrent: GRU, LSTM". Unusual
/// operators that were not measured stand there with their groups.
std::vector<std::string> unknown_groups(const FeatureMap& map, const nasbench::NetworkSpace& space,
                                        const nasbench::Architecture& architecture);

}  // namespace tenshot::trainer::operators
