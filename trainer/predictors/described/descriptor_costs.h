#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer::structured {

/// The kinds that speak of costs: in_network, latency (less the empty call), and inferred, which says nothing. Throws
/// InputError that lists their names.
DescriptorKind described_kind(std::string_view name);

/// Floor for one cost, as a fraction of the sum of the described costs.
constexpr double smallest_share = 1e-3;

/// What a descriptor says of the cost of one unit of each feature, ms; NaN where it says nothing, all NaN where it
/// lacks that kind of entries.
Eigen::VectorXd described_costs_ms(const datasets::HardwareDescriptor& descriptor,
                                   const nasbench::StructureModel& model, DescriptorKind kind);

/// Whether the descriptor has every operation in that kind of entries, each once, and costs of those that every
/// structure counts.
bool says_something(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                    DescriptorKind kind);

/// The same without gaps, ms, positive: where the descriptor says nothing, what is typical beside the others.
Eigen::VectorXd expected_costs_ms(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                                  DescriptorKind kind);

/// log(1 + events a ms) of each operator of the space and counter (the rates of MAPLE-Edge §2.1.2), operator by
/// operator; nothing where the descriptor has other counters than these, or lacks an operator.
std::vector<double> log_rates(const datasets::HardwareDescriptor& descriptor, const nasbench::StructureModel& model,
                              const std::vector<std::string>& counters);

/// Costs under a structure are this matrix [features, features] by the costs of all features: what the structure counts
/// apart is not in the operation that contains it, and what the descriptor knows but the structure does not count is in
/// the base, as often as it occurs on average.
Eigen::MatrixXd structure_costs(const nasbench::StructureModel& model, std::size_t structure,
                                const datasets::HardwareDescriptor& descriptor, DescriptorKind kind,
                                const Eigen::VectorXd& mean_counts);

}  // namespace tenshot::trainer::structured
