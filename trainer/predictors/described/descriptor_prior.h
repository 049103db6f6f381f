#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// The network between a hardware descriptor and costs: outputs = W₂ tanh(W₁ inputs + b₁) + b₂.
struct DescriptorNetwork {
  Eigen::MatrixXd hidden;       ///< [hidden, inputs]
  Eigen::VectorXd hidden_bias;  ///< [hidden]
  Eigen::MatrixXd output;       ///< [features, hidden]
  Eigen::VectorXd output_bias;  ///< [features]

  Eigen::VectorXd operator()(const Eigen::VectorXd& inputs) const {
    return output * (hidden * inputs + hidden_bias).array().tanh().matrix() + output_bias;
  }
};

/// Measured networks of several devices, to learn from. The latency of row i on device d is rows(i) · costs(d), and
/// log costs(d) = log_costs.row(d) + network(inputs.row(d)).
struct DescribedNetworks {
  Eigen::MatrixXd inputs;            ///< [devices, inputs]
  Eigen::MatrixXd log_costs;         ///< [devices, features]: what the descriptor says by itself
  Eigen::MatrixXd rows;              ///< [n, features]
  std::vector<std::int64_t> device;  ///< [n]
  Eigen::VectorXd log_latency;       ///< [n]
};

/// Trains by Adam (Kingma and Ba, ICLR 2015) on the squared error of log latency, every device counting alike, from
/// outputs that are zero: without a reason in the data, costs stay what the descriptor says.
DescriptorNetwork fit_descriptor_network(const DescribedNetworks& networks, std::uint64_t seed);

/// The kinds that speak of costs: in_network, latency (less the empty call), inferred (nothing). Throws InputError.
DescriptorKind described_kind(std::string_view name);

/// Floor for one cost, as a fraction of the sum of the described costs.
constexpr double smallest_share = 1e-3;

/// The cost of one unit of each feature, ms, as that kind of the descriptor's entries says it; NaN where they do not.
Eigen::VectorXd described_costs_ms(const datasets::HardwareDescriptor& descriptor,
                                   const nasbench::StructureModel& model, DescriptorKind kind);
/// Sum of what is known of the costs that every structure counts.
double cost_of_operations(const Eigen::VectorXd& costs, const nasbench::StructureModel& model);

/// Whether that kind of entries has every operation once, and costs of those that every structure counts.
bool says_something(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                    DescriptorKind kind);

/// described_costs_ms() without gaps, positive: where the descriptor says nothing, what is typical beside the others.
Eigen::VectorXd expected_costs_ms(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                                  DescriptorKind kind);

/// Costs under a structure are this matrix [features, features] by the costs of all features: what it counts apart is
/// not in the operation that contains it, and what it does not count is in the base, as often as it occurs on average.
Eigen::MatrixXd structure_costs(const nasbench::StructureModel& model, std::size_t structure,
                                const datasets::HardwareDescriptor& descriptor, DescriptorKind kind,
                                const Eigen::VectorXd& mean_counts);

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

/// What the pool teaches about descriptors: a network from them to costs, and how far off it is on other runtimes.
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
