#include "trainer/predictors/operators/operator_groups.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

enum Group : std::size_t {
  pointwise,
  spatial,
  depthwise,
  grouped,
  transposed,
  linear,
  matrix_product,
  pool,
  global,
  activation,
  elementwise,
  concatenation,
  movement,
  norm,
  opaque,
  group_count
};

const std::array<std::string, group_count> group_names = {"convolution_1x1",
                                                          "convolution",
                                                          "depthwise_convolution",
                                                          "grouped_convolution",
                                                          "transposed_convolution",
                                                          "linear",
                                                          "matrix_product",
                                                          "pool",
                                                          "global_pool",
                                                          "activation",
                                                          "elementwise",
                                                          "concatenation",
                                                          "data_movement",
                                                          "normalisation",
                                                          "opaque"};

const std::array<std::string, measures_of_group> measure_names = {"count", "arithmetic", "input_bytes", "output_bytes",
                                                                  "weight_bytes"};
const std::array<std::string, shape_measures_of_group> shape_measure_names = {
    "arithmetic_of_few_inputs", "arithmetic_of_few_outputs", "arithmetic_of_few_positions", "arithmetic_of_unlike_3x3"};

/// Activations, element-wise operators and norms stand in for each other alone: tables that list none of the three have
/// their costs in those of the operators before them, with which most runtimes fuse them.
const std::array<std::vector<std::size_t>, group_count> stand_ins = {{
    {spatial, grouped, linear},
    {pointwise, grouped, depthwise},
    {grouped, spatial, pointwise},
    {spatial, depthwise, pointwise},
    {spatial, pointwise},
    {pointwise, matrix_product, spatial},
    {linear, pointwise},
    {global, depthwise, elementwise, concatenation},
    {pool, elementwise, concatenation},
    {elementwise, norm},
    {activation, norm},
    {movement, elementwise, activation, pool},
    {concatenation, elementwise, activation, pool},
    {activation, elementwise},
    {elementwise, activation, concatenation, pool},
}};

std::size_t convolution_group(const OperatorSpecification& specification) {
  if (specification.groups > 1) {
    const auto& input = specification.inputs.empty() ? specification.output : specification.inputs.front();
    return input.size() > 1 && input[1] == specification.groups ? depthwise : grouped;
  }
  return specification.kernel.height == 1 && specification.kernel.width == 1 ? pointwise : spatial;
}

std::optional<std::size_t> group_of(const OperatorSpecification& specification) {
  switch (specification.kind) {
    case OperatorKind::convolution:
      return convolution_group(specification);
    case OperatorKind::transposed_convolution:
      return transposed;
    case OperatorKind::linear:
      return linear;
    case OperatorKind::matrix_product:
      return matrix_product;
    case OperatorKind::max_pool:
    case OperatorKind::average_pool:
      return pool;
    case OperatorKind::global_pool:
    case OperatorKind::reduce:
      return global;
    case OperatorKind::activation:
      return activation;
    case OperatorKind::add:
    case OperatorKind::multiply:
    case OperatorKind::elementwise:
      return elementwise;
    case OperatorKind::concatenate:
      return concatenation;
    case OperatorKind::split:
    case OperatorKind::shuffle:
    case OperatorKind::pad:
    case OperatorKind::resize:
    case OperatorKind::transpose:
      return movement;
    case OperatorKind::batch_norm:
    case OperatorKind::layer_norm:
    case OperatorKind::group_norm:
    case OperatorKind::softmax:
      return norm;
    case OperatorKind::opaque:
      return opaque;
    case OperatorKind::reshape:
      break;
  }
  return std::nullopt;
}

double arithmetic(const OperatorSpecification& specification, std::size_t group) {
  if (group != pool) return static_cast<double>(nasbench::multiply_adds(specification));
  return static_cast<double>(nasbench::element_count(specification.output)) * specification.kernel.height *
         specification.kernel.width;
}

/// The share of work that is left when at most `enough` of `have` count: 1 up to `enough`.
double share_of_few(double enough, double have) { return std::min(1.0, enough / std::max(have, 1.0)); }

Eigen::Vector4d shape_measures(const OperatorSpecification& specification, std::size_t group) {
  constexpr double enough_inputs = 2, enough_outputs = 4, enough_positions = 16;
  static_assert(shape_measures_of_group == 4);
  const auto work = static_cast<double>(nasbench::multiply_adds(specification));
  if (group == pool || work <= 0 || specification.inputs.empty()) return Eigen::Vector4d::Zero();
  const auto channels = [](const nasbench::Shape& shape) {
    if (shape.empty()) return 1.0;
    return static_cast<double>(shape.size() == 4 ? shape[1] : shape.back());  // images, or rows of numbers
  };
  const double inputs = channels(specification.inputs.front()) / specification.groups;
  const double outputs = channels(specification.output);
  const double positions = static_cast<double>(nasbench::element_count(specification.output)) / std::max(outputs, 1.0);
  const nasbench::Extent kernel = specification.kernel, stride = specification.stride;
  const bool is_3x3 = kernel.height == 3 && kernel.width == 3 && stride.height == 1 && stride.width == 1;
  return work * Eigen::Vector4d(share_of_few(enough_inputs, inputs), share_of_few(enough_outputs, outputs),
                                share_of_few(enough_positions, positions), is_3x3 ? 1.0 / 9 : 1.0);
}

}  // namespace

const std::vector<std::size_t>& stand_in_groups(std::size_t group) { return stand_ins.at(group); }
std::size_t operator_group_count() { return group_count; }
const std::string& operator_group_name(std::size_t group) { return group_names.at(group); }
std::string operator_group_of(const OperatorSpecification& specification) {
  const std::optional<std::size_t> group = group_of(specification);
  return group ? group_names.at(*group) : std::string();
}
std::size_t first_feature_of(std::size_t group) { return 1 + group * measures_of_group; }
std::size_t first_shape_feature_of(std::size_t group) {
  return shapeless_feature_count() + group * shape_measures_of_group;
}
std::size_t shapeless_feature_count() { return 1 + group_count * measures_of_group; }
std::size_t raw_feature_count() { return shapeless_feature_count() + group_count * shape_measures_of_group; }

std::string raw_feature_name(std::size_t feature) {
  if (feature == 0) return "base";
  if (feature < shapeless_feature_count()) {
    return group_names.at((feature - 1) / measures_of_group) + "." + measure_names[(feature - 1) % measures_of_group];
  }
  const std::size_t shape = feature - shapeless_feature_count();
  return group_names.at(shape / shape_measures_of_group) + "." + shape_measure_names[shape % shape_measures_of_group];
}

Eigen::VectorXd raw_features(const std::vector<OperatorSpecification>& operators) {
  Eigen::VectorXd features = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(raw_feature_count()));
  features[0] = 1;
  for (const OperatorSpecification& specification : operators) {
    const std::optional<std::size_t> group = group_of(specification);
    if (!group) continue;
    auto own = features.segment(static_cast<Eigen::Index>(first_feature_of(*group)), measures_of_group);
    own[0] += 1;
    own[1] += arithmetic(specification, *group);
    own[2] += static_cast<double>(nasbench::input_bytes(specification));
    own[3] += static_cast<double>(nasbench::output_bytes(specification));
    own[4] += static_cast<double>(nasbench::weight_bytes(specification));
    features.segment(static_cast<Eigen::Index>(first_shape_feature_of(*group)), shape_measures_of_group) +=
        shape_measures(specification, *group);
  }
  return features;
}

}  // namespace tenshot::trainer::operators
