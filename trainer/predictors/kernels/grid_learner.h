#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {

/// One dimension of a grid: its name and where its points lie, in ascending order.
struct Axis {
  std::string name;
  std::vector<double> points;
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
  /// number for each axis; outside of the grid it is that of its edge. Throws InputError on another number of them, or
  /// while values are missing.
  double interpolate(const std::vector<double>& point) const;

 private:
  double between_neighbours(const std::vector<double>& measured, std::size_t at) const;

  std::vector<Axis> axes_;
  std::vector<std::size_t> strides_;
  std::vector<double> values_;
};

/// MONNET's predictor of one kind of layer (Osterwind et al., 2022, §3.1, Eq. 1): t = efficiency · complexity, where
/// the efficiency is interpolated on a grid of the layer's sizes and the complexity is the multiply-adds, of what has
/// none the elements read. The grid is the one that rows of operators of a category span: its axes are the sizes that
/// occur. Points that are missing are filled (InterpolationGrid::fill_missing). Of rows of one point the last counts.
/// Throws InputError where less than half of the points were measured.
std::unique_ptr<LatencyLearner> train_grid(const LatencyRows& rows, const std::string& category);

/// Throws FormatError.
std::unique_ptr<LatencyLearner> load_grid(const Archive& archive, const std::string& name, const JsonField& card,
                                          std::size_t width);

}  // namespace tenshot::trainer::kernels
