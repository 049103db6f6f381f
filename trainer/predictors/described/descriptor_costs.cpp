#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "trainer/predictors/described/descriptor_prior.h"

namespace tenshot::trainer::structured {
namespace {

using datasets::HardwareDescriptor;
using nasbench::StructureModel;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Whether costs are counted apart by some structures only: what joins operations.
bool optional(const nasbench::StructureFeature& feature) { return feature.spread.has_value(); }

/// Whether `measured` has every operation of `expected` once and nothing else; resolutions follow the device's.
template <class Measured, class Expected>
bool are_those(const std::vector<Measured>& measured, const std::vector<Expected>& expected) {
  std::set<std::string> found, wanted;
  for (const Measured& entry : measured) found.insert(nasbench::format(entry.key, true));
  for (const Expected& entry : expected) wanted.insert(nasbench::format(entry.key, true));
  return found == wanted && measured.size() == expected.size();
}

}  // namespace

DescriptorKind described_kind(std::string_view name) {
  return descriptor_kind(name, {DescriptorKind::in_network, DescriptorKind::latency, DescriptorKind::inferred});
}

double cost_of_operations(const Eigen::VectorXd& costs, const StructureModel& model) {
  double sum = 0;
  for (std::size_t f = 0; f < model.features().size(); ++f) {
    if (!std::isnan(costs[f]) && !optional(model.features()[f])) sum += costs[f];
  }
  return sum;
}

Eigen::VectorXd described_costs_ms(const HardwareDescriptor& descriptor, const StructureModel& model,
                                   DescriptorKind kind) {
  const auto& features = model.features();
  Eigen::VectorXd costs = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(features.size()), nothing);
  const auto add = [&](const nasbench::OperatorSequence& key, double latency_ms) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      // What joins operations costs something else alone than between them.
      if (kind == DescriptorKind::latency && optional(features[f])) continue;
      const bool counts_it = model.space().named_operation(features[f].name, key.channels(), key.resolution()) == key;
      if (counts_it) costs[f] = (std::isnan(costs[f]) ? 0 : costs[f]) + model.instances_per_shape() * latency_ms;
    }
  };
  if (kind == DescriptorKind::in_network) {
    for (const datasets::OperatorProfile& operation : descriptor.in_network) add(operation.key, operation.latency_ms);
    // Inside a network, what computes nothing costs nothing.
    if (!descriptor.in_network.empty()) add({descriptor.in_network.front().key.input, {}}, 0);
  }
  if (kind != DescriptorKind::latency) return costs;
  for (const datasets::OperatorProfile& profile : descriptor.operators) {
    if (profile.key.is_empty_call()) continue;
    const auto call = std::find_if(descriptor.operators.begin(), descriptor.operators.end(), [&](const auto& other) {
      return other.key.is_empty_call() && other.key.input == profile.key.input;
    });
    const double empty_ms = call == descriptor.operators.end() ? 0 : call->latency_ms;
    add(profile.key, std::max(profile.latency_ms - empty_ms, 0.0));
  }
  return costs;
}

bool says_something(const HardwareDescriptor& descriptor, const StructureModel& model, DescriptorKind kind) {
  if (kind == DescriptorKind::inferred) return false;
  const nasbench::NetworkSpace& space = model.space();
  const bool whole = kind == DescriptorKind::in_network
                         ? are_those(descriptor.in_network, space.operation_chains(space.default_shape(), 1))
                         : are_those(descriptor.operators, space.operators(space.default_shape(), 1));
  return whole && cost_of_operations(described_costs_ms(descriptor, model, kind), model) > 0;
}

Eigen::VectorXd expected_costs_ms(const HardwareDescriptor& descriptor, const StructureModel& model,
                                  DescriptorKind kind) {
  const Eigen::VectorXd costs = described_costs_ms(descriptor, model, kind), typical = typical_costs(model);
  const Eigen::VectorXd typical_of_known = costs.array().isNaN().select(costs, typical);
  const double described = cost_of_operations(costs, model);
  const double scale_ms = described / cost_of_operations(typical_of_known, model);
  const Eigen::VectorXd all = costs.array().isNaN().select(scale_ms * typical, costs);
  return all.cwiseMax(smallest_share * described);
}

Eigen::MatrixXd structure_costs(const StructureModel& model, std::size_t structure,
                                const HardwareDescriptor& descriptor, DescriptorKind kind,
                                const Eigen::VectorXd& mean_counts) {
  const auto& features = model.features();
  const std::vector<bool>& uses = model.structures()[structure].uses;
  const auto width = static_cast<Eigen::Index>(features.size());
  const Eigen::VectorXd described = described_costs_ms(descriptor, model, kind);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(width, width);
  for (Eigen::Index f = 0; f < width; ++f) {
    bool is_contained = false;
    for (Eigen::Index g = 0; g < width; ++g) {
      is_contained |= features[g].contains == features[f].name;
      if (features[f].contains == features[g].name && uses[g] && kind == DescriptorKind::in_network) matrix(f, g) = -1;
    }
    const bool known = !std::isnan(described[f]);
    if (optional(features[f]) && !uses[f] && known && !is_contained) matrix(0, f) = mean_counts[f];
    if (!uses[f]) matrix.row(f).setZero();
  }
  return matrix;
}

}  // namespace tenshot::trainer::structured
