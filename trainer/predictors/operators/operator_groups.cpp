#include "trainer/predictors/operators/operator_groups.h"

#include <algorithm>
#include <array>
#include <set>

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
  recurrent,
  group_count
};
static_assert(group_count == operator_group_count());

const std::array<std::string, measures_of_group> measure_names = {
    "count", "arithmetic", "input_bytes", "output_bytes", "weight_bytes", "window_bytes", "large_window_arithmetic"};

struct AboutGroup {
  std::string name;
  std::vector<std::size_t> stand_ins;
};

/// The groups in the order of their numbers, then what operators of no group have. Activations, element-wise operators
/// and norms stand in for each other alone: tables that list none of the three have their costs in those of the
/// operators before them, with which most runtimes fuse them (experiments/search/unseen_groups.md).
const std::array<AboutGroup, group_count + 1> groups = {{
    {"convolution_1x1", {spatial, grouped, linear}},
    {"convolution", {pointwise, grouped, depthwise}},
    {"depthwise_convolution", {grouped, spatial, pointwise}},
    {"grouped_convolution", {spatial, depthwise, pointwise}},
    {"transposed_convolution", {spatial, pointwise}},
    {"linear", {pointwise, matrix_product, spatial}},
    {"matrix_product", {linear, pointwise}},
    {"pool", {global, depthwise, elementwise, concatenation}},
    {"global_pool", {pool, elementwise, concatenation}},
    {"activation", {elementwise, norm}},
    {"elementwise", {activation, norm}},
    {"concatenation", {movement, elementwise, activation, pool}},
    {"data_movement", {concatenation, elementwise, activation, pool}},
    {"normalisation", {activation, elementwise}},
    {"opaque", {movement, concatenation, pool, elementwise}},
    {"recurrent", {linear, matrix_product}},
    {"", {}},
}};

std::size_t convolution_group(const OperatorSpecification& specification) {
  if (specification.groups > 1) {
    const auto& input = specification.inputs.empty() ? specification.output : specification.inputs.front();
    return input.size() > 1 && input[1] == specification.groups ? depthwise : grouped;
  }
  return specification.kernel.height == 1 && specification.kernel.width == 1 ? pointwise : spatial;
}

/// One that multiplies all the same counts as what it does most of, such as attention as products of matrices.
/// Recurrent layers do one step after the other, which takes longer than linear layers do.
std::size_t opaque_group(const OperatorSpecification& specification) {
  if (nasbench::multiply_adds(specification) == 0) return opaque;
  const std::string& name = specification.name;
  if (name == "ConvTranspose") return transposed;
  if (name.find("Conv") != std::string::npos) return spatial;
  for (const char* layer : {"LSTM", "GRU", "RNN"}) {
    if (name.find(layer) != std::string::npos) return recurrent;
  }
  return name.find("Attention") != std::string::npos ? matrix_product : linear;
}

/// Functions that take more than a comparison or one operation.
const std::set<std::string> costly_functions = {"elu",        "erf",      "exp",  "gelu", "hard_sigmoid",
                                                "hard_swish", "log",      "mish", "selu", "sigmoid",
                                                "silu",       "softplus", "tanh", "sin",  "softsign"};

constexpr double most_kept_bytes = 32 << 20;  ///< of a block that the allocator keeps for the next tensor

double arithmetic_of(const OperatorSpecification& specification, std::size_t group) {
  if (group != pool) return static_cast<double>(nasbench::multiply_adds(specification));
  return static_cast<double>(nasbench::element_count(specification.output)) * specification.kernel.height *
         specification.kernel.width;
}

double window_bytes_of(const OperatorSpecification& specification, std::size_t group) {
  const int area = specification.kernel.height * specification.kernel.width;
  if ((group != spatial && group != grouped) || area == 1 || specification.inputs.empty()) return 0;
  const nasbench::Shape& input = specification.inputs.front();
  const auto positions = static_cast<double>(nasbench::element_count(specification.output)) /
                         static_cast<double>(nasbench::channel_count(specification, specification.output));
  return positions * static_cast<double>(nasbench::channel_count(specification, input)) * area *
         nasbench::byte_size(specification.type);
}

}  // namespace

const std::string of_8_bits = "of 8 bits";
const std::string told_functions = "activation: relu";
double bytes_as_floats(const OperatorSpecification& specification) {
  constexpr int of_float = 4;
  const int bytes = nasbench::byte_size(specification.type);
  return bytes < of_float && specification.type != nasbench::ElementType::boolean ? of_float / bytes : 1;
}
const std::vector<std::size_t>& stand_in_groups(std::size_t group) { return groups.at(group).stand_ins; }
std::size_t opaque_group_index() { return opaque; }
const std::string& operator_group_name(std::size_t group) { return groups.at(group).name; }
std::size_t operator_group_index(const OperatorSpecification& specification) {
  switch (specification.kind) {
    case OperatorKind::convolution: return convolution_group(specification);
    case OperatorKind::transposed_convolution: return transposed;
    case OperatorKind::linear: return linear;
    case OperatorKind::matrix_product: return matrix_product;
    case OperatorKind::max_pool:
    case OperatorKind::average_pool: return pool;
    case OperatorKind::global_pool:
    case OperatorKind::reduce: return global;
    case OperatorKind::activation: return activation;
    case OperatorKind::add:
    case OperatorKind::multiply:
    case OperatorKind::elementwise: return elementwise;
    case OperatorKind::concatenate:
    case OperatorKind::pad:  // what is joined are zeros
      return concatenation;
    case OperatorKind::split:
    case OperatorKind::shuffle:
    case OperatorKind::resize:
    case OperatorKind::transpose: return movement;
    case OperatorKind::batch_norm:
    case OperatorKind::layer_norm:
    case OperatorKind::group_norm:
    case OperatorKind::softmax: return norm;
    case OperatorKind::opaque: return opaque_group(specification);
    case OperatorKind::reshape: break;
  }
  return group_count;
}

bool is_computed_norm(OperatorKind kind) {
  return kind == OperatorKind::layer_norm || kind == OperatorKind::group_norm || kind == OperatorKind::softmax;
}

std::string operator_type_of(const OperatorSpecification& s) {
  if (s.kind == OperatorKind::resize && !s.name.empty()) return "cubic resize";
  if (s.kind == OperatorKind::activation) return costly_functions.count(s.name) > 0 ? s.name : "";
  if (is_computed_norm(s.kind)) return std::string(name(s.kind));
  if (s.kind != OperatorKind::opaque) {
    const bool of_bytes = s.type == nasbench::ElementType::int8 || s.type == nasbench::ElementType::uint8;
    return of_bytes && nasbench::multiply_adds(s) > 0 ? of_8_bits : "";
  }
  const bool is_image = s.inputs.empty() || s.inputs[0].size() == 4 || s.name.find("Conv") == std::string::npos;
  return is_image ? s.name : std::to_string(s.inputs[0].size() - 2) + "-D " + s.name;
}
std::string unusual_operator(const OperatorSpecification& s) {
  const std::size_t group = operator_group_index(s);
  const bool is_usual = group == recurrent || (group == linear && s.weight_bits == 0);
  const std::string type = s.kind == OperatorKind::opaque && is_usual ? "" : operator_type_of(s);
  return type.empty() ? "" : groups.at(group).name + ": " + type;
}

std::optional<std::size_t> group_counted_by(std::size_t feature) {
  if (feature == 0 || feature >= raw_feature_count() || (feature - 1) % measures_of_group != count) return std::nullopt;
  return (feature - 1) / measures_of_group;
}

std::string raw_feature_name(std::size_t feature) {
  if (feature == 0) return "base";
  if (feature == all_weights_feature()) return "network.weight_bytes";
  if (feature == large_bytes_feature()) return "network.large_bytes";
  if (feature >= raw_feature_count()) return groups.at(feature - raw_feature_count()).name + ".first_use";
  return groups.at((feature - 1) / measures_of_group).name + "." + measure_names[(feature - 1) % measures_of_group];
}

Eigen::VectorXd raw_features(const std::vector<OperatorSpecification>& operators) {
  Eigen::VectorXd features = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(known_feature_count()));
  features[0] = 1;
  for (const OperatorSpecification& specification : operators) {
    const std::size_t group = operator_group_index(specification);
    if (group == group_count) continue;
    auto own = features.segment(static_cast<Eigen::Index>(1 + group * measures_of_group), measures_of_group);
    own[count] += 1;
    own[arithmetic] += arithmetic_of(specification, group);
    const double floats = bytes_as_floats(specification);
    own[input_bytes] += floats * static_cast<double>(read_bytes(specification, nasbench::input_bytes(specification)));
    const double written = floats * static_cast<double>(nasbench::output_bytes(specification));
    own[output_bytes] += written;
    if (written > most_kept_bytes) features[static_cast<Eigen::Index>(large_bytes_feature())] += written;
    const std::int64_t stored = nasbench::weight_bytes(specification);
    const double as_read = specification.weight_bits > 0 ? 1 : floats;
    own[weight_bytes] += as_read * static_cast<double>(read_bytes(specification, stored));
    features[static_cast<Eigen::Index>(all_weights_feature())] += static_cast<double>(stored);
    own[window_bytes] += floats * window_bytes_of(specification, group);
    const bool is_large = std::max(specification.kernel.height, specification.kernel.width) > 3;
    if (group == depthwise && is_large) own[large_window_arithmetic] += arithmetic_of(specification, group);
  }
  return features;
}

}  // namespace tenshot::trainer::operators
