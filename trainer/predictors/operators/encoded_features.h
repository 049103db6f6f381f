#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// Features as a function of the one-hot encoding: `first`, the row of `added` of each option that is taken, the row of
/// each part for the combination of options that it depends on; and for each of `first_uses` its value, where any part
/// uses it. Where the encoding holds probabilities, the same formula gives expected features (options that are chosen
/// independently of each other), but for first uses.
struct EncodedFeatures {
  /// Operators that depend on several decisions, such as a layer in a space that decides on the resolution.
  struct Part {
    std::vector<std::size_t> decisions;
    /// [combinations, features + first uses]: the features, then a one for each first use that the part makes. The
    /// combination's last decision is the fastest.
    Eigen::MatrixXd rows;
  };
  /// A feature of starts that a network has once, however many of its operators use it.
  struct FirstUse {
    Eigen::Index feature;
    double value;
  };
  Eigen::RowVectorXd first;  ///< [features]
  Eigen::MatrixXd added;     ///< [encoding width, features]
  std::vector<Part> parts;
  std::vector<FirstUse> first_uses;
};
/// The features of a space whose every combination of options is an architecture.
EncodedFeatures encoded_features(const nasbench::SearchSpace& space, const FeatureMap& map);

/// The standard deviation of log latency that unknown operators add to a network, whose log latency is expected to be
/// `share` longer by them: they may well cost so many times as much (experiments/search/unseen_groups.md).
double unknown_deviation(double share, double times = 3);

/// The standard deviation of log latency that operators unknown to the pool add, one for each network: all that they
/// may well take, and at least 10 %; 0 where all operators are known. Of a known device, whose own networks say how
/// wide intervals are, also what any feature has of a network beyond what it has of all that the pool knows: that may
/// well cost four times more.
Eigen::VectorXd unknown_deviations(const nasbench::NetworkSpace& space, const FeatureMap& map,
                                   const CostPosterior& posterior,
                                   const std::vector<nasbench::Architecture>& architectures, bool known_device);

/// Networks as exported predictors take them, [networks, features + 1]: the sums over operators, undivided, then
/// unknown_deviations().
Eigen::MatrixXd network_encoding(const nasbench::NetworkSpace& space, const FeatureMap& map,
                                 const CostPosterior& posterior,
                                 const std::vector<nasbench::Architecture>& architectures, bool known_device);

}  // namespace tenshot::trainer::operators
