#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"

namespace tenshot::trainer::structured {

/// Which part of a hardware descriptor speaks of costs.
enum class DescriptorSource {
  none,        ///< "inferred": devices are described by their measured networks
  in_network,  ///< "in-network": what one more of an operation costs inside a network
  alone        ///< "latency": operators measured alone, less the empty call
};
std::string_view name(DescriptorSource source);
/// Throws InputError that lists the names.
DescriptorSource descriptor_source(std::string_view name);

/// Floor for one cost, as a fraction of the sum of the described costs.
constexpr double smallest_share = 1e-3;

/// What a descriptor says of the cost of one unit of each feature, ms; NaN where it says nothing, all NaN where it
/// lacks the source.
Eigen::VectorXd described_costs_ms(const datasets::HardwareDescriptor& descriptor,
                                   const nasbench::StructureModel& model, DescriptorSource source);

/// Whether the descriptor has every operation of the source, each once, and costs of those that every structure counts.
bool says_something(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                    DescriptorSource source);

/// The same without gaps, ms, positive: where the descriptor says nothing, what is typical beside the others.
Eigen::VectorXd expected_costs_ms(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                                  DescriptorSource source);

/// log(1 + events a ms) of each operator of the space and counter (the rates of MAPLE-Edge §2.1.2), operator by
/// operator; nothing where the descriptor has other counters than these, or lacks an operator.
std::vector<double> log_rates(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                              const std::vector<std::string>& counters);

/// Costs under a structure are this matrix [features, features] by the costs of all features: what the structure counts
/// apart is not in the operation that contains it, and what the descriptor knows but the structure does not count is in
/// the base, as often as it occurs on average.
Eigen::MatrixXd structure_costs(const nasbench::StructureModel& model, std::size_t structure,
                                const datasets::HardwareDescriptor& descriptor, DescriptorSource source,
                                const Eigen::VectorXd& mean_counts);

}  // namespace tenshot::trainer::structured
