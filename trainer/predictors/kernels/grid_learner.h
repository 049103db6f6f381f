#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/kernels/interpolation_grid.h"
#include "trainer/predictors/kernels/latency_learner.h"

namespace tenshot::trainer::kernels {

/// MONNET's predictor of one kind of layer (Osterwind et al., 2022, §3.1, Eq. 1): t = efficiency · complexity, where
/// the efficiency is interpolated on a grid of the layer's sizes and the complexity is the multiply-adds, of what has
/// none the elements read.
class GridLearner : public LatencyLearner {
 public:
  /// `features`: names of the row's features, one for each axis; `complexity`: the place of the complexity in a row.
  GridLearner(InterpolationGrid grid, std::vector<std::size_t> features, std::size_t complexity)
      : grid_(std::move(grid)), features_(std::move(features)), complexity_(complexity), missing_(grid_.missing()) {
    grid_.fill_missing();
  }
  double predict_ms(const std::vector<double>& features) const override;
  nlohmann::json put(Archive& archive, const std::string& name) const override;
  nlohmann::json to_document() const override;
  std::string remark() const override;

 private:
  InterpolationGrid grid_;
  std::vector<std::size_t> features_;
  std::size_t complexity_, missing_;
};

/// The grid that rows of operators of a category span: its axes are the sizes that occur. Points that are missing are
/// filled (InterpolationGrid::fill_missing). Of rows of one point the last counts. Throws InputError where less than
/// half of the points were measured.
std::unique_ptr<GridLearner> train_grid(const LatencyRows& rows, const std::string& category);

/// Throws FormatError.
std::unique_ptr<GridLearner> load_grid(const Archive& archive, const std::string& name, const JsonField& card,
                                       std::size_t width);

}  // namespace tenshot::trainer::kernels
