#pragma once

#include <optional>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "trainer/predictors/kernels/interpolation_grid.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::trainer::kernels {

/// MONNET's grids of one runtime, of convolutions and of depthwise ones, from some of the points that were measured.
class MeasuredGrids {
 public:
  /// `level`: 1, 2 or 3, which says how many points an axis has; missing points are filled.
  MeasuredGrids(const std::vector<datasets::KernelRow>& rows, int level);

  /// Milliseconds of a layer; nothing where it is no convolution of images.
  std::optional<double> layer_ms(const nasbench::OperatorSpecification& layer) const;

  double seconds() const { return seconds_; }  ///< that measuring the points took
  std::size_t points() const { return points_; }

 private:
  InterpolationGrid grid_of(const std::vector<datasets::KernelRow>& rows, bool depthwise, int level);

  double seconds_ = 0;
  std::size_t points_ = 0;
  InterpolationGrid convolutions_, depthwise_;
};

}  // namespace tenshot::trainer::kernels
