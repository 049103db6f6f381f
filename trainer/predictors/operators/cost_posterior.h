#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_prior.h"
#include "trainer/predictors/posterior/intervals.h"

namespace tenshot::trainer::operators {

/// The runtime that a new device is said to have: as a kind of a library is called, and which entries have it.
struct SaidRuntime {
  std::string name;            ///< empty: nothing was said
  std::vector<bool> of_entry;  ///< [devices]
};

/// An adaptation set as costs see it: networks are rows of features.
struct AdaptationFeatures {
  Eigen::MatrixXd features;        ///< [n, features]
  std::vector<double> latency_ms;  ///< [n], finite and positive
  bool whole_milliseconds = false;
  SaidRuntime said = {};
  std::vector<std::size_t> entries = {};  ///< of the library that are considered, in ascending order; empty: all
};

/// One explanation of the measurements: which entry of the library the device is like, how noisy it is; its costs.
struct CostComponent {
  std::size_t entry = 0;
  double noise = 0;   ///< σ of log latency
  double weight = 0;  ///< posterior probability
  Eigen::VectorXd costs_ms;
};

/// What is known of a device-runtime after its measurements: everything that prediction needs.
/// log latency(x) = Σ_c weight_c log max(features(x) · costs_c, features(x) · least_costs, floor)
///                  + Σ_a anchor_weights_a similarity(x, anchor_a).
struct CostPosterior {
  std::vector<CostComponent> components;  ///< most probable first; weights sum to 1
  double floor_ms = 0;
  /// A share of what devices like this one cost, none below zero: where measurements of other networks have made costs
  /// negative, a network still costs something that grows with it. Empty in files of earlier versions, which have the
  /// floor alone, and whose costs' variance is that of the latency itself.
  Eigen::VectorXd least_costs_ms;  ///< [features]
  /// The costs' covariance, mean over components: spread · spreadᵀ, and `rest` on the diagonal of decisions' costs.
  Eigen::MatrixXd spread_ms;  ///< [features, r]
  Eigen::VectorXd rest_ms2;   ///< [features]; 0 for operators' costs
  NetworkPlaces places;
  Eigen::MatrixXd anchors;         ///< places of the pool's and the measured networks, [a, features + 1]
  Eigen::VectorXd anchor_weights;  ///< [a]
  double residual_variance = 0;    ///< of log latency, of a network unlike all anchors
  double known_share = 1;          ///< CostLibrary::known_share
  ReachVariance reach_variance;
  IntervalCalibration calibration;

  double noise_variance() const;
  /// The mean over components, [features].
  Eigen::VectorXd mean_costs_ms() const;
  /// The components' costs and the least ones, [features, components + 1]; and the components' log latencies of
  /// networks by features · those, [networks, components].
  Eigen::MatrixXd all_costs_ms() const;
  Eigen::ArrayXXd log_latency(const Eigen::MatrixXd& by_costs_ms) const;
};

/// The posterior given the measurements: a mixture over library entry × closeness × noise, each component a Gaussian,
/// weighted by its evidence to the power of evidence_power. Of more than forty measurements forty, from fast to slow,
/// say which entries are considered. Throws InputError without measurements that can be used.
CostPosterior adapt(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options = {});

/// Adds the covariance of the costs of the block of features that begins there to spread and rest, which have as many
/// rows as there are features. Of operators' costs the smallest directions are left out.
void add_spread(Eigen::Index begin, const Eigen::MatrixXd& covariance, Eigen::Index operator_features,
                CostPosterior& posterior);

/// Keeps what operators cost that no measured network has, which a device of the pool may have learned from one
/// outlier: no component's cost of them is over ten times the median component's. `measured` is [n, features].
void confine_unmeasured(const Eigen::MatrixXd& measured, CostPosterior& posterior);

/// What a posterior says of networks; `novelty` and `reach` are shares of its residual_variance and reach_variance.
/// With `unlike` their variance is what it would be were they unlike all that are known.
LogLatency predict(const CostPosterior& posterior, const FeatureTable& table, bool unlike = false);

/// A library's calibration, scaled by how large errors are on devices like this one.
IntervalCalibration calibration_of(const CostLibrary& library, const CostPosterior& posterior,
                                   IntervalCalibration calibration);

/// What the posterior given the others is wrong by of fifteen of the measured networks, from fast to slow, each left
/// out in turn: log latency, and the deviation that it had. At least two are measured.
LogLatency errors_left_out(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options);

/// A calibration for fifteen measurements and more: as much wider as errors_left_out(), of the entries that all of them
/// leave, exceed what the calibration, which is of ten, lets expect. Costs seem surer then than they are.
IntervalCalibration calibration_of_many(const CostLibrary& library, const AdaptationFeatures& set,
                                        const PosteriorOptions& options, const IntervalCalibration& calibration);

/// How far networks' sizes are beyond the anchors': the logarithm of how many times as costly as the costliest of them,
/// above zero, or as the cheapest, below; zero in between. `places` are theirs.
Eigen::ArrayXd reach_of(const CostPosterior& posterior, const Eigen::MatrixXd& places);

/// Takes out of both what a device's operators take where no component of the posterior is on costs of that device.
void drop_unused_blocks(FeatureMap& map, CostPosterior& posterior);

}  // namespace tenshot::trainer::operators
