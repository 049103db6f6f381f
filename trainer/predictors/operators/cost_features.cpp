#include "trainer/predictors/operators/cost_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::Architecture;
using nasbench::NetworkSpace;

bool knows(const FeatureMap& map, std::size_t feature) {
  return std::binary_search(map.raw.begin(), map.raw.end(), feature);
}

bool is_measured(const FeatureMap& map, const std::string& name) {
  return std::find(map.unmeasured.begin(), map.unmeasured.end(), name) == map.unmeasured.end();
}

/// Whether the map's names of unusual operators have those of this group; files of earlier versions have none of some.
bool lists_group_of(const FeatureMap& map, const std::string& unusual) {
  const std::string group = unusual.substr(0, unusual.find(':') + 1);
  const auto found = map.unusual.lower_bound(group);
  return found != map.unusual.end() && found->compare(0, group.size(), group) == 0;
}

/// An operator of no kind of ours, without arithmetic: what others of them cost tells nothing of one of another type.
bool is_of_its_own(const nasbench::OperatorSpecification& specification) {
  return specification.kind == nasbench::OperatorKind::opaque && nasbench::multiply_adds(specification) == 0;
}

/// Whether the map tells operators of an unusual type from others of their group; files of earlier versions do not.
bool is_told_apart(const FeatureMap& map, const nasbench::OperatorSpecification& specification,
                   const std::string& unusual) {
  if (specification.kind == nasbench::OperatorKind::resize) return true;
  if (specification.kind == nasbench::OperatorKind::activation || is_computed_norm(specification.kind))
    return map.unusual.count(told_functions) > 0;
  if (specification.kind != nasbench::OperatorKind::opaque) return map.unusual.count(of_8_bits) > 0;
  return !is_of_its_own(specification) || lists_group_of(map, unusual);
}

bool is_measured(const FeatureMap& map, const nasbench::OperatorSpecification& specification) {
  const std::string name = unusual_operator(specification);
  return name.empty() || !is_told_apart(map, specification, name) ||
         (map.unusual.count(name) != 0 && is_measured(map, name));
}

constexpr std::size_t measures_of_start = 2;  ///< count and arithmetic

std::size_t count_of(std::size_t group) { return 1 + group * measures_of_group; }

/// The group most like this one that the pool saw.
std::optional<std::size_t> stand_in_for(const FeatureMap& map, std::size_t group) {
  for (const std::size_t other : stand_in_groups(group)) {
    if (knows(map, count_of(other))) return other;
  }
  return std::nullopt;
}

/// The group as which an operator of `group` counts: the group itself where the pool saw it, else its stand-in; none
/// where there is none, or where unknown operators are left out.
std::optional<std::size_t> counts_as(const FeatureMap& map, std::size_t group, UnknownOperators unknown) {
  const bool seen = knows(map, count_of(group));  // every operator counts, so a group that was seen has its count
  if (unknown == UnknownOperators::left_out && !(seen && is_measured(map, operator_group_name(group))))
    return std::nullopt;
  return seen ? group : stand_in_for(map, group);
}

/// Raw features of operators, without the base. Unmeasured operators of their own type count as their group's stand-in.
Eigen::VectorXd raw_of(const FeatureMap& map, const std::vector<nasbench::OperatorSpecification>& operators) {
  Eigen::VectorXd raw = raw_features(operators);
  raw[0] = 0;
  for (const nasbench::OperatorSpecification& operation : operators) {
    const bool is_norm = is_computed_norm(operation.kind);
    if ((!is_of_its_own(operation) && !is_norm) || is_measured(map, operation)) continue;
    const std::size_t group = operator_group_index(operation);
    const Eigen::VectorXd own = raw_features({operation}).segment(count_of(group), measures_of_group);
    raw.segment(count_of(group), measures_of_group) -= own;
    const std::optional<std::size_t> other = stand_in_for(map, is_norm ? opaque_group_index() : group);
    if (other) raw.segment(count_of(*other), measures_of_group) += own;
  }
  return raw;
}

/// The features of `map` that a sum of raw features is: without those the pool never saw.
Eigen::VectorXd mapped(const FeatureMap& map, const Eigen::VectorXd& raw, UnknownOperators unknown) {
  Eigen::VectorXd known = raw;
  for (std::size_t group = 0; group < operator_group_count(); ++group) {
    const std::optional<std::size_t> other = counts_as(map, group, unknown);
    if (!other) known.segment(count_of(group), measures_of_group).setZero();
    if (!other || *other == group) continue;
    known.segment(count_of(*other), measures_of_group) += raw.segment(count_of(group), measures_of_group);
  }
  Eigen::VectorXd features = Eigen::VectorXd::Zero(map.shared_features());
  for (std::size_t f = 0; f < map.raw.size(); ++f) features[f] = known[map.raw[f]] / map.unit[f];
  return features;
}

}  // namespace

Eigen::VectorXd shared_features(const FeatureMap& map, const nasbench::OperatorSpecification& operation,
                                UnknownOperators unknown) {
  return mapped(map, raw_of(map, {operation}), unknown).head(map.operator_features());
}

namespace {

/// A base that costs less on a device is not divided by.
constexpr double least_base_cost = 1e-3;

/// Adds the operators to the further blocks of a row of features.
void add_learned(const FeatureMap& map, const std::vector<nasbench::OperatorSpecification>& operators,
                 UnknownOperators unknown, Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> row) {
  const std::size_t width = map.operator_features();
  for (const nasbench::OperatorSpecification& operation : operators) {
    const Eigen::VectorXd own = shared_features(map, operation, unknown);
    for (std::size_t l = 0; l < map.learned.size(); ++l) {
      row.segment(map.block_begin(l + 1), width) += map.learned[l].efficiency(operation, own) * own.transpose();
    }
  }
}

/// The networks as indices of the space's operator parts, each part numbered when it is first met.
struct Parts {
  std::vector<std::uint32_t> part_of;  ///< the networks' part numbers, one network after the other
  std::vector<std::size_t> begin = {0};
  std::vector<Eigen::VectorXd> raw;  ///< raw features of each number, without the base
  std::vector<std::vector<nasbench::OperatorSpecification>> operators;  ///< of each number

  std::set<std::size_t> groups_of(std::size_t network) const {
    std::set<std::size_t> groups;
    for (std::size_t at = begin[network]; at < begin[network + 1]; ++at) {
      for (std::size_t group = 0; group < operator_group_count(); ++group) {
        if (raw[part_of[at]][count_of(group)] > 0) groups.insert(group);
      }
    }
    return groups;
  }
};

/// True where the feature is one of those that explain the quantity.
bool explains(std::size_t feature, datasets::Quantity quantity) {
  const bool is_raw = feature < raw_feature_count();
  if (quantity != datasets::Quantity::cold) return is_raw || feature == large_bytes_feature();
  if (feature == large_bytes_feature()) return false;
  return !is_raw || feature == 0 || (feature - 1) % measures_of_group < measures_of_start;
}

Parts parts_of(const FeatureMap& map, const NetworkSpace& space, const std::vector<Architecture>& architectures) {
  Parts parts;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const Architecture& architecture : architectures) {
    for (const std::uint32_t key : space.operator_parts(architecture)) {
      const auto [found, added] = numbers.emplace(key, static_cast<std::uint32_t>(parts.raw.size()));
      if (added) {
        parts.operators.push_back(space.operator_part(key));
        parts.raw.push_back(raw_of(map, parts.operators.back()));
      }
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
      decltype(sums)::Zero(size(), weights.cols());
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t at = begin[i]; at < begin[i + 1]; ++at) sums.row(i) += of_block.row(block_of[at]);
  }
  return sums;
}

Eigen::MatrixXd FeatureTable::rows() const {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(size(), blocks.cols());
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t at = begin[i]; at < begin[i + 1]; ++at) sums.row(i) += blocks.row(block_of[at]);
  }
  return sums;
}

FeatureTable table_of(Eigen::MatrixXd rows) {
  const std::size_t networks = rows.rows();
  return {std::move(rows), numbers_below<std::uint32_t>(networks), numbers_below(networks + 1)};
}

std::optional<std::size_t> FeatureMap::raw_feature(std::size_t feature) const {
  if (feature < raw.size()) return raw[feature];
  if (feature < shared_features()) return std::nullopt;
  return raw[(feature - shared_features()) % raw.size()];
}

std::string FeatureMap::name(std::size_t feature) const {
  if (const std::optional<std::size_t> of_operators = raw_feature(feature)) {
    const std::string own = raw_feature_name(*of_operators);
    if (feature < raw.size()) return own;
    return own + " as on " + learned.at((feature - shared_features()) / raw.size()).device;
  }
  std::size_t option = feature - raw.size(), decision = 0;
  while (option >= static_cast<std::size_t>(options.at(decision))) option -= options[decision++];
  return "decision " + std::to_string(decision) + " option " + std::to_string(option);
}

FeatureScale feature_scale(const FeatureMap& map) {
  // What a group's operators have of a measure in a typical network: they count, multiply–add or move so much.
  constexpr std::array<double, measures_of_group + 2> usual = {20, 3e8, 1e7, 1e7, 5e6, 3e7, 3e8, 1, 1e9};
  FeatureScale scale;
  scale.log_unit.resize(map.raw.size());
  for (std::size_t f = 0; f < map.operator_features(); ++f) {
    const std::size_t raw = map.raw[f];
    const std::size_t measure = raw == 0                       ? measures_of_group
                                : raw == large_bytes_feature() ? large_bytes_measure()
                                                               : (raw - 1) % measures_of_group;
    scale.measure.push_back(measure == large_window_arithmetic ? arithmetic : measure);
    scale.log_unit[f] = std::log(map.unit[f] / usual[measure]);
  }
  return scale;
}

FeatureMap make_feature_map(const NetworkSpace& space, const std::vector<Architecture>& architectures,
                            datasets::Quantity quantity) {
  if (architectures.empty()) throw InputError("the pool has no measured networks to learn from");
  FeatureMap map;
  const Parts parts = parts_of(map, space, architectures);
  std::vector<double> occurrences(parts.raw.size(), 0);
  for (const std::uint32_t part : parts.part_of) occurrences[part] += 1;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(known_feature_count());
  for (std::size_t p = 0; p < parts.raw.size(); ++p) sum += occurrences[p] * parts.raw[p];
  for (std::size_t i = 0; quantity == datasets::Quantity::cold && i < architectures.size(); ++i) {
    for (const std::size_t group : parts.groups_of(i)) sum[first_use_feature(group)] += 1;
  }
  sum[0] = static_cast<double>(architectures.size());
  if (space.search_space() == nullptr) map.unusual = {of_8_bits, told_functions};
  for (const Architecture& architecture : architectures) map.unusual.merge(unusual_operators(space, architecture));
  for (std::size_t f = 0; f < known_feature_count(); ++f) {
    if (explains(f, quantity) && (sum[f] > 0 || f == all_weights_feature())) map.raw.push_back(f);
  }
  const Eigen::ArrayXd mean = sum(map.raw) / static_cast<double>(architectures.size());
  map.unit = (mean > 0).select(mean, 1);
  if (const nasbench::SearchSpace* decided = space.search_space()) map.options = decided->decisions();
  return map;
}

FeatureTable feature_table(const FeatureMap& map, const NetworkSpace& space,
                           const std::vector<Architecture>& architectures, UnknownOperators unknown) {
  Parts parts = parts_of(map, space, architectures);
  for (std::size_t p = 0; unknown == UnknownOperators::left_out && p < parts.raw.size(); ++p) {
    auto& own = parts.operators[p];
    own.erase(std::remove_if(own.begin(), own.end(), [&](const auto& s) { return !is_measured(map, s); }), own.end());
    parts.raw[p] = raw_of(map, own);
  }
  FeatureTable table;  // blocks: the base, one for each option, one for each part; of starts one for each group
  const std::size_t first_part = 1 + map.decision_features(), first_uses = first_part + parts.raw.size();
  const std::size_t blocks = first_uses + (map.of_starts() ? operator_group_count() : 0);
  table.blocks = Eigen::MatrixXd::Zero(blocks, map.features());
  table.blocks(0, 0) = 1 / map.unit[0];
  for (std::size_t l = 0; l < map.learned.size(); ++l) {
    const OperatorTimes& times = map.learned[l];
    table.blocks(0, map.block_begin(l + 1)) = times.base / std::max(times.costs[0], least_base_cost);
  }
  for (std::size_t option = 1; option < first_part; ++option) {
    table.blocks(option, map.operator_features() + option - 1) = 1;
  }
  for (std::size_t p = 0; p < parts.raw.size(); ++p) {
    auto block = table.blocks.row(first_part + p);
    block.head(map.shared_features()) = mapped(map, parts.raw[p], unknown);
    if (!map.learned.empty()) add_learned(map, parts.operators[p], unknown, block);
  }
  for (std::size_t f = 0; map.of_starts() && f < map.raw.size(); ++f) {
    if (is_first_use(map.raw[f])) table.blocks(first_uses + map.raw[f] - first_use_feature(0), f) = 1 / map.unit[f];
  }
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    table.block_of.push_back(0);
    std::size_t first = 1;
    for (std::size_t d = 0; d < map.options.size(); first += map.options[d++]) {
      table.block_of.push_back(static_cast<std::uint32_t>(first + architectures[i][d]));
    }
    for (std::size_t at = parts.begin[i]; at < parts.begin[i + 1]; ++at) {
      table.block_of.push_back(static_cast<std::uint32_t>(first_part + parts.part_of[at]));
    }
    if (map.of_starts()) {
      std::set<std::size_t> used;  // each group once, stand-ins in the place of those that the pool never saw
      for (const std::size_t group : parts.groups_of(i)) {
        if (const std::optional<std::size_t> as = counts_as(map, group, unknown)) used.insert(first_uses + *as);
      }
      table.block_of.insert(table.block_of.end(), used.begin(), used.end());
    }
    table.begin.push_back(table.block_of.size());
  }
  return table;
}

Eigen::VectorXd features_of_operator(const FeatureMap& map, const nasbench::OperatorSpecification& specification) {
  Eigen::RowVectorXd features = Eigen::RowVectorXd::Zero(map.features());
  features.head(map.shared_features()) = mapped(map, raw_of(map, {specification}), UnknownOperators::stand_in);
  add_learned(map, {specification}, UnknownOperators::stand_in, features);
  return features.transpose();
}

std::set<std::string> unusual_operators(const NetworkSpace& space, const Architecture& network) {
  std::set<std::string> names;
  if (space.search_space() != nullptr) return names;  // whose networks are made of the same operators
  for (const nasbench::OperatorSpecification& s : space.operator_list(network)) names.insert(unusual_operator(s));
  names.erase("");
  return names;
}

void tell_measured(FeatureMap& map, std::set<std::string> measured) {
  for (const std::string& name : map.unusual) {
    const bool tells = fits_pattern(name, "*: " + of_8_bits) || fits_pattern(name, "activation: *");
    if (tells && measured.count(name) == 0 && name != told_functions) map.unmeasured.push_back(name);
  }
  map.unusual.merge(measured);
}

std::vector<std::string> unknown_groups(const FeatureMap& map, const NetworkSpace& space,
                                        const Architecture& architecture) {
  const std::vector<nasbench::OperatorSpecification> list = space.operator_list(architecture);
  const Eigen::VectorXd raw = raw_features(list);
  std::vector<std::string> names;
  for (std::size_t group = 0; group < operator_group_count(); ++group) {
    if (raw[count_of(group)] <= 0) continue;
    const bool measured = knows(map, count_of(group)) && is_measured(map, operator_group_name(group));
    std::set<std::string> types;
    for (const nasbench::OperatorSpecification& s : list) {
      const std::string type = operator_type_of(s);
      if (type.empty() || operator_group_index(s) != group) continue;
      if (!measured || !is_measured(map, s)) types.insert(type);
    }
    if (measured && types.empty()) continue;
    names.push_back(operator_group_name(group) + (types.empty() ? "" : ": " + joined(types)));
  }
  return names;
}

}  // namespace tenshot::trainer::operators
