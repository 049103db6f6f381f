#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

const double missing = std::nan("");

/// A grid over the height and the channels of element-wise operators, whose complexity is their size, here 1: `values`
/// has a row for each height.
std::unique_ptr<LatencyLearner> grid_of(const std::vector<double>& heights, const std::vector<double>& channels,
                                        const std::vector<double>& values) {
  LatencyRows rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    rows.features.push_back({heights[i / channels.size()], channels[i % channels.size()], 1});
    rows.latency_ms.push_back(values[i]);
  }
  return train_learner(LearnerKind::grid, rows, "elementwise", 1);
}

TEST(InterpolationGrid, InterpolatesLinearlyBetweenTwoPoints) {
  const auto grid = grid_of({7}, {1, 3}, {10, 20});
  EXPECT_DOUBLE_EQ(grid->predict_ms({7, 1, 1}), 10);
  EXPECT_DOUBLE_EQ(grid->predict_ms({7, 1.5, 1}), 12.5);
  EXPECT_DOUBLE_EQ(grid->predict_ms({7, 3, 1}), 20);
  EXPECT_DOUBLE_EQ(grid->predict_ms({7, 1.5, 4}), 4 * 12.5) << "a number for each element";
}

TEST(InterpolationGrid, InterpolatesInTheMiddleOfFourCorners) {
  const auto grid = grid_of({0, 1}, {0, 2}, {1, 3, 5, 9});  // (0,0) (0,2) (1,0) (1,2)
  EXPECT_DOUBLE_EQ(grid->predict_ms({0.5, 1, 1}), (1 + 3 + 5 + 9) / 4.0);
  EXPECT_DOUBLE_EQ(grid->predict_ms({0.25, 0.5, 1}), .75 * .75 * 1 + .75 * .25 * 3 + .25 * .75 * 5 + .25 * .25 * 9);
}

TEST(InterpolationGrid, IsExactForMultilinearFunctionsOfSixDimensions) {
  const std::vector<std::string> names = feature_names("grouped_convolution");
  std::vector<std::size_t> axes;
  for (const char* axis : {"input_height", "input_channels", "filters", "kernel_height", "stride", "groups"}) {
    axes.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), axis) - names.begin()));
  }
  const auto row_of = [&](const std::vector<double>& point) {
    std::vector<double> row(names.size(), 1);  // one multiply-add
    for (std::size_t d = 0; d < point.size(); ++d) row[axes[d]] = point[d];
    return row;
  };
  const auto function = [](const std::vector<double>& x) {
    return 3000 + x[0] * x[1] - 2 * x[2] * x[3] * x[4] + x[0] * x[5] + x[0] * x[1] * x[2] * x[3] * x[4] * x[5] / 100;
  };
  LatencyRows rows;
  for (int i = 0; i < 729; ++i) {
    std::vector<double> point;
    for (int d = 0, rest = i; d < 6; ++d, rest /= 3) {
      point.push_back(std::vector<double>{1, 2.5 + d, 7.0 + d}[static_cast<std::size_t>(rest % 3)]);
    }
    rows.features.push_back(row_of(point));
    rows.latency_ms.push_back(function(point));
  }
  const auto grid = train_learner(LearnerKind::grid, rows, "grouped_convolution", 1);
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> point;
    for (int d = 0; d < 6; ++d) point.push_back(1 + (6.0 + d) * rng.uniform());
    // Multilinear functions are linear along every axis, hence exact between any two points.
    EXPECT_NEAR(grid->predict_ms(row_of(point)), function(point), 1e-9 * function(point));
  }
}

TEST(InterpolationGrid, OutsideIsTheEdge) {
  const auto grid = grid_of({1, 3}, {1, 2}, {1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(grid->predict_ms({0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(grid->predict_ms({9, 1.5, 1}), 3.5);
}

TEST(InterpolationGrid, MissingPointsAreFilledFromTheirNeighboursOrTheLowest) {
  // 1 ? 4 on an axis 1, 2, 4: a third of the way. The last row has no neighbours on both sides: the lowest value.
  const auto grid = grid_of({1, 2}, {1, 2, 4}, {1, missing, 4, 0.5, 6, missing});
  EXPECT_EQ(grid->remark().rfind("2 of 6 points", 0), 0U) << grid->remark();
  EXPECT_DOUBLE_EQ(grid->predict_ms({1, 2, 1}), 2);
  EXPECT_DOUBLE_EQ(grid->predict_ms({2, 4, 1}), 0.5);
}

TEST(InterpolationGrid, FilledPointsAreNoNeighbours) {
  const auto grid = grid_of({1, 2}, {1, 2, 3, 4}, {1, missing, missing, 4, 9, 9, 9, 9});
  EXPECT_DOUBLE_EQ(grid->predict_ms({1, 2, 1}), 1);  // its right neighbour was not measured
  EXPECT_DOUBLE_EQ(grid->predict_ms({1, 3, 1}), 1);
}

TEST(InterpolationGrid, RefusesWhatIsNoGrid) {
  const auto load = [](const nlohmann::json& axes, const std::vector<double>& values) {
    Archive archive;
    archive.card = {{"form", "grid"}, {"axes", axes}, {"complexity", 1}};
    archive.put("g.values", to_array(values));
    return load_learner(archive, "g", JsonField(archive), 2);
  };
  const auto axis = [](const std::vector<double>& points) {
    return nlohmann::json::array({{{"name", "x"}, {"feature", 0}, {"points", points}}});
  };
  EXPECT_EQ(load(axis({1, 2}), {1, 2})->predict_ms({2, 3}), 6);
  EXPECT_THROW(load(nlohmann::json::array(), {}), FormatError);
  EXPECT_THROW(load(axis({}), {}), FormatError);
  EXPECT_THROW(load(axis({1, 1}), {1, 2}), FormatError);
  EXPECT_THROW(load(axis({1, 2}), {1}), FormatError);
  EXPECT_THROW(load(axis({1, 2}), {1, missing}), FormatError);
}

}  // namespace
}  // namespace tenshot::trainer::kernels
