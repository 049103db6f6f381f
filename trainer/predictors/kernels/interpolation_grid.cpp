#include "trainer/predictors/kernels/interpolation_grid.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "nasbench/support/error.h"

namespace tenshot::trainer::kernels {
namespace {

/// Where a coordinate lies on an axis: between two points, and how far from the lower one.
struct Position {
  std::size_t lower = 0, upper = 0;
  double share = 0;  ///< of the upper point
  bool outside = false;
};

Position position_on(const Axis& axis, double coordinate) {
  const std::vector<double>& points = axis.points;
  if (!(coordinate >= points.front())) return {0, 0, 0, true};
  if (coordinate > points.back()) return {points.size() - 1, points.size() - 1, 0, true};
  const auto upper =
      static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), coordinate) - points.begin());
  if (points[upper] == coordinate) return {upper, upper, 0, false};
  return {upper - 1, upper, (coordinate - points[upper - 1]) / (points[upper] - points[upper - 1]), false};
}

}  // namespace

InterpolationGrid::InterpolationGrid(std::vector<Axis> axes, std::vector<double> values)
    : axes_(std::move(axes)), values_(std::move(values)) {
  std::size_t count = axes_.empty() ? 0 : 1;
  for (const Axis& axis : axes_) {
    const bool ascends =
        std::adjacent_find(axis.points.begin(), axis.points.end(), std::greater_equal<>()) == axis.points.end();
    if (axis.points.empty() || !ascends) {
      throw InputError("axis '" + axis.name + "' of a grid needs points in ascending order");
    }
    count *= axis.points.size();
  }
  if (count == 0 || values_.size() != count) {
    throw InputError("a grid of " + std::to_string(count) + " points has " + std::to_string(values_.size()) +
                     " values");
  }
  if (missing() == count) throw InputError("no point of the grid has a value");
  strides_.assign(axes_.size(), 1);
  for (std::size_t d = axes_.size() - 1; d > 0; --d) strides_[d - 1] = strides_[d] * axes_[d].points.size();
}

std::size_t InterpolationGrid::missing() const {
  return static_cast<std::size_t>(
      std::count_if(values_.begin(), values_.end(), [](double v) { return std::isnan(v); }));
}

double InterpolationGrid::between_neighbours(const std::vector<double>& measured, std::size_t at) const {
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

void InterpolationGrid::fill_missing() {
  const std::vector<double> measured = values_;
  double lowest = HUGE_VAL;
  for (const double value : measured) lowest = std::isnan(value) ? lowest : std::min(lowest, value);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!std::isnan(measured[i])) continue;
    const double value = between_neighbours(measured, i);
    values_[i] = std::isnan(value) ? lowest : value;
  }
}

Interpolation InterpolationGrid::interpolate(const std::vector<double>& point) const {
  if (point.size() != axes_.size()) {
    throw InputError("a point of " + std::to_string(point.size()) + " coordinates is none of a grid of " +
                     std::to_string(axes_.size()) + " dimensions");
  }
  std::vector<Position> positions;
  Interpolation result;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    positions.push_back(position_on(axes_[d], point[d]));
    result.extrapolated = result.extrapolated || positions.back().outside;
  }
  // The value at `offset`, with the axes from `d` on still to be interpolated along.
  const std::function<double(std::size_t, std::size_t)> along = [&](std::size_t d, std::size_t offset) -> double {
    if (d == axes_.size()) return values_[offset];
    const Position& position = positions[d];
    const double lower = along(d + 1, offset + position.lower * strides_[d]);
    if (position.lower == position.upper) return lower;
    return lower + position.share * (along(d + 1, offset + position.upper * strides_[d]) - lower);
  };
  result.value = along(0, 0);
  if (std::isnan(result.value)) throw InputError("the grid has missing values around the point; fill them first");
  return result;
}

}  // namespace tenshot::trainer::kernels
