#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/predictors/described/descriptor_costs.h"
#include "trainer/predictors/described/descriptor_network.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// Prior of the costs of one device: mean and covariance, in units of its median latency.
struct CostGaussian {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

/// A device as its descriptor lets it be expected before any network is measured.
struct DescribedDevice {
  std::vector<CostGaussian> priors;  ///< one a structure
  double median_ms = 0;              ///< expected median latency of connected architectures
  double scale_deviation = 0;        ///< of its logarithm
  double residual = 0;               ///< of log latency about the costs
};

/// What the pool teaches about descriptors: a network from a descriptor to costs, and how far off it is on runtimes
/// that it was not trained on.
struct DescriptorPrior {
  DescriptorKind kind = DescriptorKind::inferred;
  std::vector<std::string> counters;  ///< whose rates it takes; empty: none
  Eigen::VectorXd input_mean;         ///< of the inputs over the pool
  Eigen::VectorXd input_unit;         ///< by which they are divided
  DescriptorNetwork network;
  Eigen::VectorXd mean_counts;    ///< of each feature in a connected architecture, where a structure uses it
  Eigen::VectorXd deviation;      ///< of each cost from its expectation, in units of the median latency
  double scale_deviation = 0;     ///< of log latency, all networks of a device together
  double residual = 0;            ///< of log latency, each network by itself
  std::vector<std::string> from;  ///< device-runtimes it was trained on

  bool trained() const { return kind != DescriptorKind::inferred; }
};

/// The kind that a pool teaches about when it is asked for: "auto" (the richest that devices of two
/// runtimes of the pool have), or a kind's name. Throws InputError that lists the names.
DescriptorKind kind_for(const datasets::Pool& pool, const std::string& asked);

/// Trains on the devices of `pool` that have entries of that kind, and again without each runtime in turn, which is how
/// far off it is found out. Not trained (kind inferred) where they are of fewer than two runtimes.
DescriptorPrior descriptor_prior_of(const StructuredLibrary& library, const datasets::Pool& pool,
                                    const std::string& asked_kind = "auto", std::uint64_t seed = 1);

/// Nothing where the prior is not trained or the descriptor lacks what it was trained on.
std::optional<DescribedDevice> describe(const DescriptorPrior& prior, const nasbench::StructureModel& model,
                                        const datasets::HardwareDescriptor& descriptor);

}  // namespace tenshot::trainer::structured
