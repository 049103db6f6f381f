#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

/// One dimension of a grid: its name and where its points lie, in ascending order.
struct Axis {
  std::string name;
  std::vector<double> points;
  std::size_t feature = 0;  ///< which of a row's features lies on this axis
};

/// Where a coordinate lies on an axis: the point at it or below, and its share of the way to the next one.
using Position = std::pair<std::size_t, double>;

Position position_on(const Axis& axis, double coordinate) {
  const std::vector<double>& points = axis.points;
  if (!(coordinate >= points.front())) return {};
  const auto found = std::lower_bound(points.begin(), points.end() - 1, coordinate);
  const auto upper = static_cast<std::size_t>(found - points.begin());
  if (coordinate >= *found) return {upper, 0};
  return {upper - 1, (coordinate - points[upper - 1]) / (points[upper] - points[upper - 1])};
}

constexpr std::size_t most_points = 1'000'000;
constexpr double least_ms = 1e-6;  ///< a prediction is over 0

/// The features that say where a layer lies on a grid, without points, in the order in which missing points look for
/// neighbours (MONNET's: image, channels, filters, window, stride).
std::vector<Axis> axes_of(const std::string& category) {
  const std::vector<std::string> names = feature_names(category);
  std::vector<Axis> axes;
  for (const std::string axis : {"input_height", "input_channels", "filters", "output_channels", "kernel_height",
                                 "stride", "groups", "tensors"}) {
    if (category == "depthwise_convolution" && axis == "filters") continue;  // as many as channels
    if (category == "mean" && axis == "kernel_height") continue;             // the image's
    const auto found = std::find(names.begin(), names.end(), axis);
    if (found != names.end()) axes.push_back({axis, {}, static_cast<std::size_t>(found - names.begin())});
  }
  return axes;
}

std::size_t complexity_of(const std::string& category) {
  const std::vector<std::string> names = feature_names(category);
  const auto found = std::find(names.begin(), names.end(), "flops");
  return static_cast<std::size_t>((found != names.end() ? found : names.end() - 1) - names.begin());
}

/// The complexity times what is interpolated linearly between values on a regular grid of any dimensions (MONNET, §4).
class GridLearner : public LatencyLearner {
 public:
  /// `complexity`: place of the row's feature. `values` has one number for each point, the last axis fastest; NaN where
  /// none was measured, but not everywhere. What is missing is filled: linearly between its neighbours along the first
  /// axis on which both were measured, else with the lowest value of the grid (§3.1). Throws InputError.
  GridLearner(std::vector<Axis> axes, std::vector<double> values, std::size_t complexity)
      : axes_(std::move(axes)), values_(std::move(values)), complexity_(complexity) {
    std::size_t count = axes_.empty() ? 0 : 1;
    for (const auto& [name, points, feature] : axes_) {
      if (points.empty() || std::adjacent_find(points.begin(), points.end(), std::greater_equal<>()) != points.end()) {
        throw InputError("axis '" + name + "' of a grid needs points in ascending order");
      }
      count *= points.size();
    }
    if (count == 0 || values_.size() != count) {
      throw InputError("a grid of " + std::to_string(count) + " points has " + std::to_string(values_.size()) +
                       " values");
    }
    for (const Axis& axis : axes_) strides_.push_back(count /= axis.points.size());
    const std::vector<double> measured = values_;
    double lowest = HUGE_VAL;
    for (const double value : measured) lowest = std::isnan(value) ? lowest : std::min(lowest, value);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!std::isnan(measured[i])) continue;
      const double value = between_neighbours(measured, i);
      values_[i] = std::isnan(value) ? lowest : value;
      ++missing_;
    }
  }

  double predict_ms(const std::vector<double>& features) const override {
    std::vector<Position> positions;
    for (const Axis& axis : axes_) positions.push_back(position_on(axis, features.at(axis.feature)));
    return std::max(interpolated(positions, 0, 0) * features.at(complexity_), least_ms);
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    archive.put(name + ".values", to_array(values_));
    nlohmann::json card = to_document();
    card.erase("values");
    card["form"] = "grid";
    return card;
  }
  nlohmann::json to_document() const override {
    nlohmann::json axes = nlohmann::json::array();
    for (const Axis& axis : axes_) {
      axes.push_back({{"feature", axis.feature}, {"name", axis.name}, {"points", axis.points}});
    }
    return {{"axes", axes}, {"complexity", complexity_}, {"values", values_}};
  }
  std::string remark() const override {
    if (missing_ == 0) return "";
    return std::to_string(missing_) + " of " + std::to_string(values_.size()) +
           " points of the grid were not measured, and are filled from their neighbours, or with the least of the grid";
  }

 private:
  double between_neighbours(const std::vector<double>& measured, std::size_t at) const {
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const std::vector<double>& points = axes_[d].points;
      const std::size_t index = at / strides_[d] % points.size();
      if (index == 0 || index + 1 == points.size()) continue;
      const double before = measured[at - strides_[d]], after = measured[at + strides_[d]];
      if (std::isnan(before) || std::isnan(after)) continue;
      const double share = (points[index] - points[index - 1]) / (points[index + 1] - points[index - 1]);
      return before + share * (after - before);
    }
    return std::nan("");
  }

  /// The value at `offset`, interpolated along the axes from `d` on (§4, Fig. 3); outside of the grid that of its edge.
  double interpolated(const std::vector<Position>& positions, std::size_t d, std::size_t offset) const {
    if (d == axes_.size()) return values_[offset];
    const auto [point, share] = positions[d];
    const double lower = interpolated(positions, d + 1, offset + point * strides_[d]);
    if (share == 0) return lower;
    return lower + share * (interpolated(positions, d + 1, offset + (point + 1) * strides_[d]) - lower);
  }

  std::vector<Axis> axes_;
  std::vector<std::size_t> strides_;
  std::vector<double> values_;
  std::size_t complexity_, missing_ = 0;
};

}  // namespace

std::unique_ptr<LatencyLearner> train_grid(const LatencyRows& rows, const std::string& category) {
  std::vector<Axis> axes = axes_of(category);
  const std::size_t complexity = complexity_of(category);
  std::map<std::vector<double>, double> measured;
  std::vector<std::set<double>> sizes(axes.size());
  for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
    std::vector<double> point;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      point.push_back(rows.features[i].at(axes[d].feature));
      sizes[d].insert(point.back());
    }
    measured[point] = rows.latency_ms[i] / std::max(rows.features[i].at(complexity), 1.0);
  }
  std::size_t points = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    axes[d].points.assign(sizes[d].begin(), sizes[d].end());
    points = std::min(points * sizes[d].size(), most_points + 1);
  }
  if (points > most_points || 2 * measured.size() < points) {
    throw InputError("kernels of the category " + category + " are no grid: " + std::to_string(measured.size()) +
                     " of " + (points > most_points ? "over " : "") + std::to_string(std::min(points, most_points)) +
                     " points were measured, expected at least half; tenshot kernels grid measures one");
  }
  std::vector<double> values(points, std::nan(""));
  for (const auto& [point, value] : measured) {
    std::size_t at = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      at = at * axes[d].points.size() + position_on(axes[d], point[d]).first;
    }
    values[at] = value;
  }
  return std::make_unique<GridLearner>(std::move(axes), std::move(values), complexity);
}

std::unique_ptr<LatencyLearner> load_grid(const Archive& archive, const std::string& name, const JsonField& card,
                                          std::size_t width) {
  std::vector<Axis> axes;
  const auto last = static_cast<std::int64_t>(width) - 1;
  std::size_t points = 1;
  for (const JsonField& axis : card.at("axes").list(width)) {
    const auto feature = static_cast<std::size_t>(axis.at("feature").whole_number(0, last));
    axes.push_back({axis.at("name").text(), {}, feature});
    for (const JsonField& point : axis.at("points").list(most_points)) {
      axes.back().points.push_back(point.number(not_negative));
    }
    points *= axes.back().points.size();
    if (points > most_points) axis.fail("axes of at most " + std::to_string(most_points) + " points in all");
  }
  const auto complexity = static_cast<std::size_t>(card.at("complexity").whole_number(0, last));
  std::vector<double> values = checked_doubles(archive, name + ".values", not_negative);
  try {
    return std::make_unique<GridLearner>(std::move(axes), std::move(values), complexity);
  } catch (const InputError& error) {
    throw FormatError(name + ": " + error.what());
  }
}

}  // namespace tenshot::trainer::kernels
