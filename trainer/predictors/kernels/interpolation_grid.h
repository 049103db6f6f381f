#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenshot::trainer::kernels {

/// One dimension of a grid: its name and where its points lie, in ascending order.
struct Axis {
  std::string name;
  std::vector<double> points;
};

struct Interpolation {
  double value = 0;
  bool extrapolated = false;  ///< some coordinate lies outside of the grid; the value is that of the grid's edge
};

/// Values on a regular grid of any number of dimensions, between which is interpolated linearly (Osterwind et al.,
/// MONNET, §§3.1, 4).
class InterpolationGrid {
 public:
  /// `values` has one number for each point, the last axis fastest; NaN where none could be measured. Throws InputError
  /// where an axis is empty or not ascending, sizes disagree, or all values are missing.
  InterpolationGrid(std::vector<Axis> axes, std::vector<double> values);

  const std::vector<Axis>& axes() const { return axes_; }
  /// One for each point, the last axis fastest.
  const std::vector<double>& values() const { return values_; }
  std::size_t missing() const;

  /// Fills missing values: linearly between its neighbours along the first axis on which both were measured, else with
  /// the lowest value of the grid (§3.1). Only measured values count as neighbours.
  void fill_missing();

  /// Multilinear interpolation: along one axis after the other, each of which halves the corners (§4, Fig. 3). One
  /// number for each axis. Throws InputError on another number of them, or while values are missing.
  Interpolation interpolate(const std::vector<double>& point) const;

 private:
  double between_neighbours(const std::vector<double>& measured, std::size_t at) const;

  std::vector<Axis> axes_;
  std::vector<std::size_t> strides_;
  std::vector<double> values_;
};

}  // namespace tenshot::trainer::kernels
