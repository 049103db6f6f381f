#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

const double missing = std::nan("");

TEST(InterpolationGrid, InterpolatesLinearlyBetweenTwoPoints) {
  const InterpolationGrid grid({{"x", {1, 3}}}, {10, 20});
  EXPECT_DOUBLE_EQ(grid.interpolate({1}), 10);
  EXPECT_DOUBLE_EQ(grid.interpolate({1.5}), 12.5);
  EXPECT_DOUBLE_EQ(grid.interpolate({3}), 20);
}

TEST(InterpolationGrid, InterpolatesInTheMiddleOfFourCorners) {
  const InterpolationGrid grid({{"x", {0, 1}}, {"y", {0, 2}}}, {1, 3, 5, 9});  // (0,0) (0,2) (1,0) (1,2)
  EXPECT_DOUBLE_EQ(grid.interpolate({0.5, 1}), (1 + 3 + 5 + 9) / 4.0);
  EXPECT_DOUBLE_EQ(grid.interpolate({0.25, 0.5}), .75 * .75 * 1 + .75 * .25 * 3 + .25 * .75 * 5 + .25 * .25 * 9);
}

TEST(InterpolationGrid, IsExactForMultilinearFunctionsOfSixDimensions) {
  std::vector<Axis> axes;
  for (int d = 0; d < 6; ++d) axes.push_back({"d" + std::to_string(d), {1, 2.5 + d, 7.0 + d}});
  const auto function = [](const std::vector<double>& x) {
    return 3 + x[0] * x[1] - 2 * x[2] * x[3] * x[4] + x[0] * x[5] + x[0] * x[1] * x[2] * x[3] * x[4] * x[5] / 100;
  };
  std::vector<double> values;
  for (int i = 0; i < 729; ++i) {
    std::vector<double> point(6);
    for (int d = 5, rest = i; d >= 0; --d, rest /= 3) {
      point[static_cast<std::size_t>(d)] = axes[static_cast<std::size_t>(d)].points[static_cast<std::size_t>(rest % 3)];
    }
    values.push_back(function(point));
  }
  const InterpolationGrid grid(axes, values);
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> point;
    for (int d = 0; d < 6; ++d) point.push_back(1 + (6.0 + d) * rng.uniform());
    // Multilinear functions are linear along every axis, hence exact between any two points.
    EXPECT_NEAR(grid.interpolate(point), function(point), 1e-9 * std::abs(function(point)) + 1e-9);
  }
}

TEST(InterpolationGrid, OutsideIsTheEdge) {
  const InterpolationGrid grid({{"x", {1, 3}}, {"y", {1, 2}}}, {1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(grid.interpolate({0, 1}), 1);
  EXPECT_DOUBLE_EQ(grid.interpolate({9, 1.5}), 3.5);
}

TEST(InterpolationGrid, MissingPointsAreFilledFromTheirNeighboursOrTheLowest) {
  // 1 ? 4 on an axis 1, 2, 4: a third of the way. The last row has no neighbours on both sides: the lowest value.
  InterpolationGrid grid({{"y", {1, 2}}, {"x", {1, 2, 4}}}, {1, missing, 4, 0.5, 6, missing});
  EXPECT_EQ(grid.missing(), 2U);
  EXPECT_THROW(grid.interpolate({1, 1.5}), InputError);
  grid.fill_missing();
  EXPECT_EQ(grid.missing(), 0U);
  EXPECT_DOUBLE_EQ(grid.values()[1], 2);
  EXPECT_DOUBLE_EQ(grid.values()[5], 0.5);
}

TEST(InterpolationGrid, FilledPointsAreNoNeighbours) {
  InterpolationGrid grid({{"x", {1, 2, 3, 4}}}, {1, missing, missing, 4});
  grid.fill_missing();
  EXPECT_DOUBLE_EQ(grid.values()[1], 1);  // its right neighbour was not measured
  EXPECT_DOUBLE_EQ(grid.values()[2], 1);
}

TEST(InterpolationGrid, RefusesWhatIsNoGrid) {
  EXPECT_THROW(InterpolationGrid({}, {}), InputError);
  EXPECT_THROW(InterpolationGrid({{"x", {1, 1}}}, {1, 2}), InputError);
  EXPECT_THROW(InterpolationGrid({{"x", {1, 2}}}, {1}), InputError);
  EXPECT_THROW(InterpolationGrid({{"x", {1, 2}}}, {missing, missing}), InputError);
  EXPECT_THROW(InterpolationGrid({{"x", {1, 2}}}, {1, 2}).interpolate({1, 2}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer::kernels
