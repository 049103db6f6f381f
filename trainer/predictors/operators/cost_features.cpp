#include "trainer/predictors/operators/cost_features.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::Architecture;
using nasbench::SearchSpace;

/// The features of `map` that a sum of raw features is: without those the pool never saw.
Eigen::VectorXd mapped(const FeatureMap& map, Eigen::VectorXd raw, UnknownOperators unknown) {
  const auto knows = [&](std::size_t feature) { return std::binary_search(map.raw.begin(), map.raw.end(), feature); };
  for (std::size_t group = 0; group < operator_group_count(); ++group) {
    const std::size_t first = 1 + group * measures_of_group;
    if (unknown == UnknownOperators::left_out || knows(first))
      continue;  // every operator counts, so a group that was seen has its count
    for (const std::size_t other : stand_in_groups(group)) {
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

/// The networks as indices of the space's operator parts, each part numbered when it is first met.
struct Parts {
  std::vector<std::uint32_t> keys;     ///< of the space, one for each number
  std::vector<std::uint32_t> part_of;  ///< the networks' part numbers, one network after the other
  std::vector<std::size_t> begin = {0};
};

Parts parts_of(const SearchSpace& space, const std::vector<Architecture>& architectures) {
  Parts parts;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const Architecture& architecture : architectures) {
    for (const std::uint32_t key : space.operator_parts(architecture)) {
      const auto [found, added] = numbers.emplace(key, static_cast<std::uint32_t>(parts.keys.size()));
      if (added) parts.keys.push_back(key);
      parts.part_of.push_back(found->second);
    }
    parts.begin.push_back(parts.part_of.size());
  }
  return parts;
}

}  // namespace

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
  const Parts parts = parts_of(space, architectures);
  std::vector<double> occurrences(parts.keys.size(), 0);
  for (const std::uint32_t part : parts.part_of) occurrences[part] += 1;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(raw_feature_count()));
  for (std::size_t p = 0; p < parts.keys.size(); ++p) {
    sum += occurrences[p] * raw_features(space.operator_part(parts.keys[p]));
  }
  sum[0] = static_cast<double>(architectures.size());
  FeatureMap map;
  std::vector<double> unit;
  for (std::size_t f = 0; f < raw_feature_count(); ++f) {
    const double mean = sum[static_cast<Eigen::Index>(f)] / static_cast<double>(architectures.size());
    if (mean <= 0) continue;
    map.raw.push_back(f);
    unit.push_back(mean);
  }
  map.unit = Eigen::Map<const Eigen::VectorXd>(unit.data(), static_cast<Eigen::Index>(unit.size()));
  if (space.composed()) map.options = space.decisions();
  return map;
}

FeatureTable feature_table(const FeatureMap& map, const SearchSpace& space,
                           const std::vector<Architecture>& architectures, UnknownOperators unknown) {
  const Parts parts = parts_of(space, architectures);
  const std::size_t decisions = map.decision_features();
  FeatureTable table;  // blocks: the base, one for each option, one for each part
  table.blocks = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(1 + decisions + parts.keys.size()),
                                       static_cast<Eigen::Index>(map.features()));
  table.blocks(0, 0) = 1 / map.unit[0];
  for (std::size_t d = 0; d < decisions; ++d) {
    table.blocks(static_cast<Eigen::Index>(1 + d), static_cast<Eigen::Index>(map.operator_features() + d)) = 1;
  }
  for (std::size_t p = 0; p < parts.keys.size(); ++p) {
    Eigen::VectorXd raw = raw_features(space.operator_part(parts.keys[p]));
    raw[0] = 0;
    table.blocks.row(static_cast<Eigen::Index>(1 + decisions + p)) = mapped(map, std::move(raw), unknown);
  }
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    table.block_of.push_back(0);
    std::size_t first = 1;
    for (std::size_t d = 0; d < map.options.size(); first += static_cast<std::size_t>(map.options[d++])) {
      table.block_of.push_back(static_cast<std::uint32_t>(first + architectures[i][d]));
    }
    for (std::size_t at = parts.begin[i]; at < parts.begin[i + 1]; ++at) {
      table.block_of.push_back(static_cast<std::uint32_t>(1 + decisions + parts.part_of[at]));
    }
    table.begin.push_back(table.block_of.size());
  }
  return table;
}

Eigen::VectorXd features_of_operator(const FeatureMap& map, const nasbench::OperatorSpecification& specification) {
  Eigen::VectorXd raw = raw_features({specification});
  raw[0] = 0;
  return mapped(map, std::move(raw), UnknownOperators::stand_in);
}

std::vector<std::string> unknown_groups(const FeatureMap& map, const SearchSpace& space,
                                        const Architecture& architecture) {
  const Eigen::VectorXd raw = raw_features(space.operator_list(architecture));
  std::vector<std::string> names;
  for (std::size_t group = 0; group < operator_group_count(); ++group) {
    const std::size_t count = 1 + group * measures_of_group;
    if (raw[static_cast<Eigen::Index>(count)] > 0 && !std::binary_search(map.raw.begin(), map.raw.end(), count)) {
      names.push_back(operator_group_name(group));
    }
  }
  return names;
}

}  // namespace tenshot::trainer::operators
