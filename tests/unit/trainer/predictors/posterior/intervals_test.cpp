#include "trainer/predictors/posterior/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

TEST(ErrorQuantile, WithoutCalibrationIsTheNormalOne) {
  EXPECT_NEAR(error_quantile({}, 0.95), 1.6448536, 1e-6);
  EXPECT_NEAR(error_quantile({}, 0.001), -3.0902323, 1e-6);
  EXPECT_NEAR(error_quantile({}, 0.5), 0, 1e-9);
}

TEST(ErrorQuantile, InterpolatesItsTable) {
  const IntervalCalibration calibration = {{0.1, 0.5, 0.9}, {-2, 0.5, 1}};
  EXPECT_DOUBLE_EQ(error_quantile(calibration, 0.3), -0.75);
  EXPECT_DOUBLE_EQ(error_quantile(calibration, 0.1), -2);
  EXPECT_LT(error_quantile(calibration, 0.01), -2);
  EXPECT_GT(error_quantile(calibration, 0.99), 1);
}

TEST(Predictions, HaveTheBoundsOfTheQuantiles) {
  const LogLatency log_latency = {Eigen::Vector2d(std::log(10), 0), Eigen::Vector2d(0.1, 0.2), {}, {}};
  const Predictions found = predictions_of(log_latency, {{0.1, 0.5, 0.9}, {-2, 0.5, 1}}, 0.8);
  EXPECT_NEAR(found.latency_ms[0], 10, 1e-12);
  EXPECT_NEAR(found.lower_ms[0], 10 * std::exp(-0.2), 1e-12);
  EXPECT_NEAR(found.upper_ms[1], std::exp(0.2), 1e-12);
  EXPECT_THROW(predictions_of(log_latency, {}, 1), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
