#include "trainer/predictors/operators/cost_features.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "nasbench/support/error.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::Architecture;
using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using nasbench::SearchSpace;

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

/// Groups that stand in for one that the pool never saw, the most alike first.
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
    {elementwise, concatenation, movement, pool},
    {activation, concatenation, movement, pool},
    {movement, elementwise, activation, pool},
    {concatenation, elementwise, activation, pool},
    {elementwise, activation, concatenation, pool},
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

/// The features of `map` that a sum of raw features is: without those the pool never saw, whose groups' are counted as
/// those of their stand-ins.
Eigen::VectorXd mapped(const FeatureMap& map, Eigen::VectorXd raw) {
  const auto knows = [&](std::size_t feature) { return std::binary_search(map.raw.begin(), map.raw.end(), feature); };
  for (std::size_t group = 0; group < group_count; ++group) {
    const std::size_t first = 1 + group * measures_of_group;
    if (knows(first)) continue;  // every operator counts, so a group that was seen has its count
    for (const std::size_t other : stand_ins[group]) {
      const std::size_t replacement = 1 + other * measures_of_group;
      if (!knows(replacement)) continue;
      raw.segment(static_cast<Eigen::Index>(replacement), measures_of_group) +=
          raw.segment(static_cast<Eigen::Index>(first), measures_of_group).eval();
      break;
    }
  }
  Eigen::VectorXd features = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(map.features()));
  for (std::size_t f = 0; f < map.raw.size(); ++f) {
    const auto at = static_cast<Eigen::Index>(f);
    features[at] = raw[static_cast<Eigen::Index>(map.raw[f])] / map.unit[at];
  }
  return features;
}

/// Collects blocks; equal keys are one block.
class TableBuilder {
 public:
  TableBuilder(const FeatureMap& map, const SearchSpace& space) : map_(map), space_(space) {
    std::size_t at = map.operator_features();
    for (const int options : map.options) {
      first_of_decision_.push_back(at);
      at += static_cast<std::size_t>(options);
    }
    for (std::size_t f = map.operator_features(); f < map.features(); ++f) {  // one block for each option, in order
      Eigen::VectorXd one = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(map.features()));
      one[static_cast<Eigen::Index>(f)] = 1;
      blocks_.push_back(std::move(one));
    }
  }

  void add(const Architecture& architecture) {
    add_operators(architecture);
    for (std::size_t d = 0; d < map_.options.size(); ++d) {
      table_.block_of.push_back(
          static_cast<std::uint32_t>(first_of_decision_[d] - map_.operator_features() + architecture[d]));
    }
    table_.begin.push_back(table_.block_of.size());
  }

  FeatureTable finish() {
    table_.blocks.resize(static_cast<Eigen::Index>(blocks_.size()), static_cast<Eigen::Index>(map_.features()));
    for (std::size_t b = 0; b < blocks_.size(); ++b) table_.blocks.row(static_cast<Eigen::Index>(b)) = blocks_[b];
    return std::move(table_);
  }

 private:
  void add_operators(const Architecture& architecture) {
    table_.block_of.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.push_back(mapped(map_, raw_features(space_.operator_list(architecture))));
  }

  const FeatureMap& map_;
  const SearchSpace& space_;
  FeatureTable table_;
  std::vector<Eigen::VectorXd> blocks_;
  std::vector<std::size_t> first_of_decision_;
};

/// Whether the decisions of a space say something of their own about a network, as the positions of a layered space do.
/// Where a decision is no more than a place in a list of networks, its options are more than such positions have.
bool is_layered(const SearchSpace& space) {
  constexpr int most_options = 64;
  const std::vector<int>& decisions = space.decisions();
  return decisions.size() > 1 &&
         std::all_of(decisions.begin(), decisions.end(), [](int options) { return options <= most_options; });
}

}  // namespace

std::size_t operator_group_count() { return group_count; }
const std::string& operator_group_name(std::size_t group) { return group_names.at(group); }
std::size_t raw_feature_count() { return 1 + group_count * measures_of_group; }

std::string raw_feature_name(std::size_t feature) {
  if (feature == 0) return "base";
  return group_names.at((feature - 1) / measures_of_group) + "." + measure_names[(feature - 1) % measures_of_group];
}

Eigen::VectorXd raw_features(const std::vector<OperatorSpecification>& operators) {
  Eigen::VectorXd features = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(raw_feature_count()));
  features[0] = 1;
  for (const OperatorSpecification& specification : operators) {
    const std::optional<std::size_t> group = group_of(specification);
    if (!group) continue;
    auto own = features.segment(static_cast<Eigen::Index>(1 + *group * measures_of_group), measures_of_group);
    own[0] += 1;
    own[1] += arithmetic(specification, *group);
    own[2] += static_cast<double>(nasbench::input_bytes(specification));
    own[3] += static_cast<double>(nasbench::output_bytes(specification));
    own[4] += static_cast<double>(nasbench::weight_bytes(specification));
  }
  return features;
}

Eigen::MatrixXd FeatureTable::times(const Eigen::MatrixXd& weights) const {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> of_block = blocks * weights;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> sums =
      decltype(sums)::Zero(static_cast<Eigen::Index>(size()), weights.cols());
  for (std::size_t i = 0; i < size(); ++i) {
    auto sum = sums.row(static_cast<Eigen::Index>(i));
    for (std::size_t at = begin[i]; at < begin[i + 1]; ++at) sum += of_block.row(block_of[at]);
  }
  return sums;
}

Eigen::MatrixXd FeatureTable::rows() const {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size()), blocks.cols());
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t at = begin[i]; at < begin[i + 1]; ++at) {
      sums.row(static_cast<Eigen::Index>(i)) += blocks.row(block_of[at]);
    }
  }
  return sums;
}

FeatureTable table_of(Eigen::MatrixXd rows) {
  FeatureTable table;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    table.block_of.push_back(static_cast<std::uint32_t>(i));
    table.begin.push_back(table.block_of.size());
  }
  table.blocks = std::move(rows);
  return table;
}

std::size_t FeatureMap::decision_features() const {
  return static_cast<std::size_t>(std::accumulate(options.begin(), options.end(), 0));
}

std::string FeatureMap::name(std::size_t feature) const {
  if (feature < raw.size()) return raw_feature_name(raw[feature]);
  std::size_t option = feature - raw.size(), decision = 0;
  while (option >= static_cast<std::size_t>(options.at(decision))) {
    option -= static_cast<std::size_t>(options[decision++]);
  }
  return "decision " + std::to_string(decision) + " option " + std::to_string(option);
}

FeatureMap make_feature_map(const SearchSpace& space, const std::vector<Architecture>& architectures) {
  if (architectures.empty()) throw InputError("the pool has no measured networks to learn from");
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(raw_feature_count()));
  for (const Architecture& architecture : architectures) sum += raw_features(space.operator_list(architecture));
  FeatureMap map;
  std::vector<double> unit;
  for (std::size_t f = 0; f < raw_feature_count(); ++f) {
    const double mean = sum[static_cast<Eigen::Index>(f)] / static_cast<double>(architectures.size());
    if (mean <= 0) continue;
    map.raw.push_back(f);
    unit.push_back(mean);
  }
  map.unit = Eigen::Map<const Eigen::VectorXd>(unit.data(), static_cast<Eigen::Index>(unit.size()));
  if (is_layered(space)) map.options = space.decisions();
  return map;
}

FeatureTable feature_table(const FeatureMap& map, const SearchSpace& space,
                           const std::vector<Architecture>& architectures) {
  TableBuilder builder(map, space);
  for (const Architecture& architecture : architectures) builder.add(architecture);
  return builder.finish();
}

std::vector<std::string> unknown_groups(const FeatureMap& map, const SearchSpace& space,
                                        const Architecture& architecture) {
  const Eigen::VectorXd raw = raw_features(space.operator_list(architecture));
  std::vector<std::string> names;
  for (std::size_t group = 0; group < group_count; ++group) {
    const std::size_t count = 1 + group * measures_of_group;
    if (raw[static_cast<Eigen::Index>(count)] > 0 && !std::binary_search(map.raw.begin(), map.raw.end(), count)) {
      names.push_back(group_names[group]);
    }
  }
  return names;
}

}  // namespace tenshot::trainer::operators
