#include "trainer/predictors/operators/operators_archive.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index any_size = -1;

void put(Archive& archive, const std::string& name, const Eigen::MatrixXd& matrix,
         Exactness exactness = Exactness::float64) {
  const RowMajor rows = matrix;
  const std::vector<double> values(rows.data(), rows.data() + rows.size());
  const std::vector<std::int64_t> shape = {rows.rows(), rows.cols()};
  archive.put(name, exactness == Exactness::float64
                        ? to_array(values, shape)
                        : to_array(std::vector<float>(values.begin(), values.end()), shape));
}

/// The matrix called `name`: of these sizes, every value in the range.
Eigen::MatrixXd get(const Archive& archive, const std::string& name, Index rows, Index columns,
                    Range range = any_number) {
  const std::vector<double> values = archive.numbers(name);
  const std::vector<std::int64_t>& shape = archive.shape(name);
  if (shape.size() != 2 || shape[0] * shape[1] != static_cast<std::int64_t>(values.size()) ||
      (rows != any_size && shape[0] != rows) || (columns != any_size && shape[1] != columns)) {
    throw FormatError("array '" + name + "' has not the size that the features ask for");
  }
  for (const double value : values) {
    if (value >= range.least && value <= range.most) continue;
    throw FormatError("array '" + name + "' holds " + shortest(value) + ", expected a finite number" +
                      (range.least > any_number.least ? " of at least " + shortest(range.least) : ""));
  }
  return Eigen::Map<const RowMajor>(values.data(), shape[0], shape[1]);
}

/// The same, without rows where the file lacks it: earlier versions wrote none, or it is empty.
Eigen::MatrixXd get_if_any(const Archive& archive, const std::string& name, Index rows, Index columns,
                           Range range = any_number) {
  return archive.has(name) ? get(archive, name, rows, columns, range) : Eigen::MatrixXd(0, columns);
}

/// Reads the known_share and the reach_variance of a library or a posterior, which files of earlier versions lack.
template <class Owner>
void get_variances(const JsonField& card, Owner& owner) {
  if (const auto found = card.find("known_share")) owner.known_share = found->number(share);
  if (const auto found = card.find("reach_variance")) {
    owner.reach_variance = {found->at("above").number(not_negative), found->at("below").number(not_negative)};
  }
}

void put_places(Archive& archive, const NetworkPlaces& places) {
  if (!places.compared()) return;
  archive.card["similarity"] = {{"length", places.length}, {"scale", places.scale}, {"noise", places.noise}};
  put(archive, "similarity.typical_costs", places.typical_costs);
}

NetworkPlaces get_places(const Archive& archive, Index features) {
  const auto card = JsonField(archive).find("similarity");
  if (!card) return {};
  return {get(archive, "similarity.typical_costs", features, 1), card->at("length").number(positive),
          card->at("scale").number(positive), card->at("noise").number(positive)};
}

}  // namespace

void put_features(Archive& archive, const FeatureMap& map) {
  nlohmann::json names = nlohmann::json::array();
  for (std::size_t f = 0; f < map.operator_features(); ++f) names.push_back(map.name(f));
  archive.card["features"] = {{"operators", names}, {"decisions", map.options}};
  put(archive, "features.unit", map.unit);
  nlohmann::json learned = nlohmann::json::array();
  for (const OperatorTimes& times : map.learned) {
    const std::string name = "learned" + std::to_string(learned.size());
    nlohmann::json groups = nlohmann::json::object(), most_linear = groups;
    for (std::size_t g = 0; g < times.groups.size(); ++g) {
      if (times.groups[g] == GroupTimes::unknown) continue;
      if (!times.most_linear.empty()) most_linear[timed_group_name(g)] = times.most_linear[g];
      groups[timed_group_name(g)] = times.groups[g] == GroupTimes::learned ? "learned" : "elsewhere";
    }
    learned.push_back({{"device", times.device},
                       {"trees", name},
                       {"log_ms", times.trees.base},
                       {"per_ms", times.per_ms},
                       {"per_operator", times.per_operator},
                       {"base", times.base},
                       {"most_efficiency", times.most_efficiency},
                       {"groups", std::move(groups)}});
    if (times.unit_ms > 0) learned.back()["unit_ms"] = times.unit_ms;
    if (!most_linear.empty()) learned.back()["most_linear"] = std::move(most_linear);
    put_trees(archive, name, times.trees.trees);
    put(archive, name + ".costs", times.costs);
  }
  if (!learned.empty()) archive.card["features"]["learned"] = std::move(learned);
  if (!map.unmeasured.empty()) archive.card["features"]["unmeasured"] = map.unmeasured;
  if (!map.unusual.empty()) archive.card["features"]["unusual"] = map.unusual;
}

namespace {

OperatorTimes get_operator_times(const Archive& archive, const JsonField& card, Index features) {
  OperatorTimes times;
  times.device = card.at("device").text();
  const std::string name = card.at("trees").text();
  if (const auto unit = card.find("unit_ms")) times.unit_ms = unit->number(positive);
  times.trees = get_trees(archive, name, tree_feature_count() + (times.unit_ms > 0 ? 1 : 0));
  times.trees.base = card.at("log_ms").number({-largest_log_latency, largest_log_latency});
  times.per_ms = card.at("per_ms").number(not_negative);
  times.per_operator = card.at("per_operator").number(not_negative);
  times.base = card.at("base").number(not_negative);
  times.most_efficiency = card.find("most_efficiency") ? card.at("most_efficiency").number({1, 1e6}) : 10;
  times.groups.assign(timed_group_count(), GroupTimes::unknown);
  const auto most_linear = card.find("most_linear");
  if (most_linear) times.most_linear.assign(timed_group_count(), 0);
  const JsonField groups = card.at("groups");
  for (std::size_t g = 0; g < timed_group_count(); ++g) {
    const auto found = groups.find(timed_group_name(g));
    if (!found) continue;
    if (most_linear) times.most_linear[g] = most_linear->at(timed_group_name(g)).number(not_negative);
    times.groups[g] = found->text() == "learned" ? GroupTimes::learned : GroupTimes::elsewhere;
    if (found->text() != "learned" && found->text() != "elsewhere") found->fail("learned or elsewhere");
  }
  times.costs = get(archive, name + ".costs", features, 1, not_negative);
  return times;
}

constexpr std::size_t most_learned = 100'000, most_names = 1'000;  // these of groups and unusual operators

}  // namespace

FeatureMap get_features(const Archive& archive, const nasbench::NetworkSpace& space) {
  FeatureMap map;
  const nlohmann::json& card = archive.card.at("features");
  for (const nlohmann::json& name : card.at("operators")) {
    const auto wanted = name.get<std::string>();
    std::size_t feature = 0;
    while (feature < known_feature_count() && raw_feature_name(feature) != wanted) ++feature;
    if (feature == known_feature_count()) throw FormatError("feature '" + wanted + "' is not known to this tenshot");
    if (!map.raw.empty() && map.raw.back() >= feature) throw FormatError("feature '" + wanted + "' is out of order");
    map.raw.push_back(feature);
  }
  if (map.raw.empty() || map.raw.front() != 0) throw FormatError("key 'features' lacks 'base'");
  card.at("decisions").get_to(map.options);
  if (!map.options.empty() && map.options != nasbench::search_space(space).decisions()) {
    throw FormatError("key 'features.decisions' does not fit the space " + std::string(space.name()));
  }
  map.unit = get(archive, "features.unit", static_cast<Index>(map.raw.size()), 1, positive);
  const JsonField field = JsonField(archive).at("features");
  if (const auto unmeasured = field.find("unmeasured")) map.unmeasured = unmeasured->texts(most_names);
  if (const auto unusual = field.find("unusual")) {  // earlier files say nothing of it
    for (const std::string& name : unusual->texts(most_names)) map.unusual.insert(name);
  }
  const auto learned = field.find("learned");
  if (!learned) return map;
  if (!map.options.empty()) learned->fail("nothing in a space of decisions");
  for (const JsonField& times : learned->list(most_learned)) {
    map.learned.push_back(get_operator_times(archive, times, static_cast<Index>(map.raw.size())));
  }
  return map;
}

namespace {

constexpr std::size_t most_kinds = 1000, most_groups = 1000;
constexpr Range error_factor{1e-6, 1e6}, log_cost{-700, 700}, log_deviation{-100, 100}, log_covariance{-1e4, 1e4};

/// A covariance called `name`, of which the file need only hold the lower half.
Eigen::MatrixXd get_covariance(const Archive& archive, const std::string& name, Index size) {
  Eigen::MatrixXd covariance = get(archive, name, size, size, log_covariance).selfadjointView<Eigen::Lower>();
  if (covariance.llt().info() != Eigen::Success) {
    throw FormatError("array '" + name + "' is no covariance: it is not positive definite");
  }
  return covariance;
}

void put_kinds(Archive& archive, const CostLibrary& library, Exactness exactness) {
  if (library.kinds.empty()) return;
  nlohmann::json names = nlohmann::json::array();
  for (const DeviceKind& kind : library.kinds) {
    const std::string name = "kind" + std::to_string(names.size());
    names.push_back(kind.name);
    put(archive, name + ".log_costs", kind.log_costs, exactness);
    put(archive, name + ".covariance", kind.covariance, exactness);
    put(archive, name + ".residual", kind.residual, exactness);
    put(archive, name + ".residual_factor", kind.residual_factor, exactness);
    put(archive, name + ".errors", Eigen::Vector2d(kind.log_rms, kind.error_scale));
  }
  archive.card["kinds"] = std::move(names);
}

std::vector<DeviceKind> get_kinds(const Archive& archive, Index features, Index networks) {
  std::vector<DeviceKind> kinds;
  const auto names = JsonField(archive).find("kinds");
  if (!names) return kinds;
  for (const JsonField& of_kind : names->list(most_kinds)) {
    const std::string name = "kind" + std::to_string(kinds.size());
    DeviceKind kind;
    kind.name = of_kind.text();
    kind.log_costs = get(archive, name + ".log_costs", features, 1, log_cost);
    kind.covariance = get_covariance(archive, name + ".covariance", features);
    kind.residual = get(archive, name + ".residual", networks, 1, log_deviation);
    kind.residual_factor = get(archive, name + ".residual_factor", networks, any_size, log_deviation);
    if (archive.has(name + ".errors")) {  // files of earlier versions lack it
      const Eigen::VectorXd errors = get(archive, name + ".errors", 2, 1, error_factor);
      kind.log_rms = errors[0];
      kind.error_scale = errors[1];
    }
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

void put_groups(Archive& archive, const CostLibrary& library, Exactness exactness) {
  if (library.groups.empty()) return;
  nlohmann::json groups = nlohmann::json::array();
  for (const NetworkGroup& group : library.groups) {
    nlohmann::json names = nlohmann::json::array();
    for (const DeviceKind& kind : group.kinds) {
      const std::string name = "group" + std::to_string(groups.size()) + ".kind" + std::to_string(names.size());
      names.push_back(kind.name);
      put(archive, name + ".log_latency", kind.log_costs, exactness);
      put(archive, name + ".covariance", kind.covariance, exactness);
    }
    groups.push_back({{"networks", group.networks}, {"kinds", std::move(names)}});
  }
  archive.card["network_groups"] = std::move(groups);
}

std::vector<NetworkGroup> get_groups(const Archive& archive, Index networks) {
  std::vector<NetworkGroup> groups;
  const auto field = JsonField(archive).find("network_groups");
  if (!field) return groups;
  for (const JsonField& of_group : field->list(most_groups)) {
    NetworkGroup group;
    for (const JsonField& network : of_group.at("networks").list(static_cast<std::size_t>(networks))) {
      group.networks.push_back(network.whole_number(0, networks - 1));
    }
    const auto size = static_cast<Index>(group.networks.size());
    for (const JsonField& of_kind : of_group.at("kinds").list(most_kinds)) {
      const std::string name = "group" + std::to_string(groups.size()) + ".kind" + std::to_string(group.kinds.size());
      DeviceKind kind;
      kind.name = of_kind.text();
      kind.log_costs = get(archive, name + ".log_latency", size, 1, log_cost);
      kind.covariance = get_covariance(archive, name + ".covariance", size);
      group.kinds.push_back(std::move(kind));
    }
    if (size == 0 || group.kinds.empty()) of_group.fail("networks and kinds");
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

void put_library(Archive& archive, const CostLibrary& library, Exactness exactness) {
  archive.card["alike"] = library.alike;
  archive.card["residual_variance"] = library.residual_variance();
  archive.card["reach_variance"] = {{"above", library.reach_variance.above}, {"below", library.reach_variance.below}};
  if (!library.block.empty()) archive.card["library_blocks"] = library.block;
  if (!library.unmeasured.empty()) archive.card["unmeasured_groups"] = library.unmeasured;
  put(archive, "library.costs", library.costs, exactness);
  if (library.known_costs.rows() > 0) put(archive, "library.known_costs", library.known_costs, exactness);
  put(archive, "library.median_ms", library.median_ms);
  put(archive, "library.log_rms", library.log_rms, exactness);
  put(archive, "library.differences", library.differences, exactness);
  if (library.error_scale.size() > 0) put(archive, "library.error_scale", library.error_scale);
  put_places(archive, library.places);
  if (!library.places.compared()) return;
  archive.card["known_share"] = library.known_share;
  put(archive, "library.known", library.known, exactness);
  put(archive, "library.known_weights", library.known_weights, exactness);
  if (library.sizes.rows() > 0) put(archive, "library.sizes", library.sizes);
  if (library.network_growth.size() > 0) put(archive, "library.network_growth", library.network_growth);
  if (library.device_growth.size() > 0) put(archive, "library.device_growth", library.device_growth);
  put_kinds(archive, library, exactness);
  put_groups(archive, library, exactness);
}

CostLibrary get_library(const Archive& archive, const FeatureMap& map) {
  const auto features = static_cast<Index>(map.shared_features());
  const JsonField card(archive);
  CostLibrary library;
  library.operator_features = map.operator_features();
  library.alike = card.at("alike").number(positive);
  library.costs = get(archive, "library.costs", any_size, features);
  const Index devices = library.costs.rows();
  if (devices == 0) throw FormatError("array 'library.costs' has no device");
  if (const auto blocks = card.find("library_blocks")) {
    const auto most = static_cast<std::int64_t>(map.learned.size());
    for (const JsonField& block : blocks->list(library.devices())) {
      library.block.push_back(static_cast<std::size_t>(block.whole_number(0, most)));
    }
    if (library.block.size() != library.devices()) blocks->fail("one number for each device");
  }
  if (const auto unmeasured = card.find("unmeasured_groups")) {
    for (const JsonField& groups : unmeasured->list(library.devices())) {
      library.unmeasured.push_back(groups.texts(most_names));
    }
    if (library.unmeasured.size() != library.devices()) unmeasured->fail("one list for each device");
  }
  library.known_costs = get_if_any(archive, "library.known_costs", devices, features, not_negative);
  library.median_ms = get(archive, "library.median_ms", devices, 1, positive);
  library.log_rms = get(archive, "library.log_rms", devices, 1, not_negative);
  library.differences = get(archive, "library.differences", devices, devices, not_negative);
  library.places = get_places(archive, features);
  if (!library.places.compared()) return library;
  library.known = get(archive, "library.known", any_size, features + 1);
  const Index known = library.known.rows();
  if (known == 0) throw FormatError("array 'library.known' has no network");
  library.known_weights = get(archive, "library.known_weights", known, devices);
  library.sizes = get_if_any(archive, "library.sizes", devices, 2);
  library.network_growth = get_if_any(archive, "library.network_growth", known, 1, not_negative);
  library.device_growth = get_if_any(archive, "library.device_growth", devices, 1, not_negative);
  if (const double fitted = library.residual_variance(); fitted > 0) {
    library.residual_factor = card.at("residual_variance").number(not_negative) / fitted;
  }
  get_variances(card, library);
  library.error_scale = get_if_any(archive, "library.error_scale", any_size, 1, error_factor);
  library.kinds = get_kinds(archive, features, known);
  if (library.kinds.empty()) return library;
  library.scale = feature_scale(map);
  library.groups = get_groups(archive, known);
  return library;
}

void put_posterior(Archive& archive, const CostPosterior& posterior) {
  const auto count = static_cast<Index>(posterior.components.size());
  Eigen::MatrixXd described(count, 3);
  for (Index c = 0; c < count; ++c) {
    const CostComponent& component = posterior.components[static_cast<std::size_t>(c)];
    described.row(c) << static_cast<double>(component.entry), component.noise, component.weight;
  }
  archive.card["floor_ms"] = posterior.floor_ms;
  archive.card["residual_variance"] = posterior.residual_variance;
  archive.card["known_share"] = posterior.known_share;
  archive.card["reach_variance"] = {{"above", posterior.reach_variance.above},
                                    {"below", posterior.reach_variance.below}};
  put(archive, "components", described);
  put(archive, "components.costs_ms", posterior.all_costs_ms().leftCols(count).transpose());
  put(archive, "spread_ms", posterior.spread_ms);
  put(archive, "rest_ms2", posterior.rest_ms2);
  if (posterior.least_costs_ms.size() > 0) put(archive, "least_costs_ms", posterior.least_costs_ms);
  put_places(archive, posterior.places);
  put_calibration(archive, posterior.calibration);
  if (!posterior.places.compared()) return;
  put(archive, "anchors", posterior.anchors);
  put(archive, "anchors.weights", posterior.anchor_weights);
}

CostPosterior get_posterior(const Archive& archive, const FeatureMap& map) {
  const auto features = static_cast<Index>(map.features()), shared = static_cast<Index>(map.shared_features());
  const JsonField card(archive);
  CostPosterior posterior;
  posterior.floor_ms = card.at("floor_ms").number(positive);
  const Eigen::MatrixXd described = get(archive, "components", any_size, 3, not_negative);
  const Eigen::MatrixXd costs = get(archive, "components.costs_ms", described.rows(), features);
  if (described.rows() == 0) throw FormatError("array 'components' is empty");
  if (std::abs(described.col(2).sum() - 1) > 1e-6) throw FormatError("the weights of 'components' do not sum to 1");
  if (described.col(0).maxCoeff() > 1e9) throw FormatError("array 'components' names an entry that cannot be");
  for (Index c = 0; c < described.rows(); ++c) {
    posterior.components.push_back(
        {static_cast<std::size_t>(described(c, 0)), described(c, 1), described(c, 2), costs.row(c)});
  }
  posterior.spread_ms = get(archive, "spread_ms", features, any_size);
  posterior.rest_ms2 = get(archive, "rest_ms2", features, 1, not_negative);
  posterior.least_costs_ms = get_if_any(archive, "least_costs_ms", features, 1, not_negative);
  posterior.places = get_places(archive, shared);
  posterior.calibration = get_calibration(archive);
  if (!posterior.places.compared()) return posterior;
  posterior.anchors = get(archive, "anchors", any_size, shared + 1);
  if (posterior.anchors.rows() == 0) throw FormatError("array 'anchors' has no network");
  posterior.anchor_weights = get(archive, "anchors.weights", posterior.anchors.rows(), 1);
  posterior.residual_variance = card.at("residual_variance").number(not_negative);
  get_variances(card, posterior);
  return posterior;
}

}  // namespace tenshot::trainer::operators
