#include "trainer/predictors/posterior/error_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenshot::trainer {
namespace {

TEST(ErrorCalibration, CountsEveryDeviceAlike) {
  std::vector<double> many(30, 1.0);
  const IntervalCalibration found = calibration_of({{-1}, many, {}});
  EXPECT_EQ(error_quantile(found, 0.4), -1);
  EXPECT_EQ(error_quantile(found, 0.6), 1);
  EXPECT_TRUE(calibration_of({{}, {}}).probabilities.empty());
  EXPECT_EQ(standardised(-50, 1), -20);
  EXPECT_EQ(evenly_spaced(10, 3), (std::vector<std::size_t>{0, 3, 6}));
}

/// A file whose quantiles were in another order by the last digit could be written, and not be read.
TEST(ErrorCalibration, TheOutermostQuantilesAreThoseThatWereFound) {
  for (int i = 1; i <= 1000; ++i) {
    const double z = 0.03177 * i;
    const IntervalCalibration found{{0.005, 0.01, 0.99, 0.995}, {-z, -z, z, z}};
    EXPECT_EQ(error_quantile(found, 0.005), -z);
    EXPECT_EQ(error_quantile(found, 0.995), z);
  }
}

TEST(ErrorCalibration, IsWidenedByAsMuchAsLeftOutErrorsAreLarger) {
  const IntervalCalibration usual{{0.05, 0.5, 0.95}, {-1, 0, 3}};  // half of nine tenths: 2
  std::vector<double> errors(30, 0.5);
  EXPECT_EQ(widened(usual, errors, 0.9).quantiles, usual.quantiles);
  errors[3] = -5;
  errors[11] = 5;
  EXPECT_EQ(widened(usual, errors, 0.9).quantiles, usual.quantiles) << "two of thirty are outside: few enough";
  errors[20] = errors[21] = 4;
  const IntervalCalibration wider = widened(usual, errors, 0.9);  // the 28th of 30
  EXPECT_DOUBLE_EQ(error_quantile(wider, 0.05), -2);
  EXPECT_DOUBLE_EQ(error_quantile(wider, 0.95), 6);
  const IntervalCalibration of_normal = widened({}, errors, 0.9);
  EXPECT_NEAR(error_quantile(of_normal, 0.95), 4, 1e-9);
}

/// Device-runtimes that measured so many networks.
datasets::Pool pool_of(const std::vector<std::size_t>& networks) {
  datasets::Pool pool;
  for (const std::size_t count : networks) pool.devices.emplace_back().latencies.resize(count);
  return pool;
}

TEST(LeftOutFits, LeaveOutAFifthOfTheNetworksAtATime) {
  std::vector<std::vector<std::size_t>> parts;
  const auto look = [&](const auto& rest, const auto& left_out, LeftOutErrors& errors) {
    EXPECT_EQ(rest.size(), 8U);
    EXPECT_EQ(left_out.size(), 2U);
    for (const std::size_t n : left_out) EXPECT_EQ(std::count(rest.begin(), rest.end(), n), 0);
    parts.push_back(left_out);
    errors[0].push_back({0.01, 0.1});
  };
  const OwnFits fits = left_out_fits(pool_of({10}), 10, look);
  EXPECT_EQ(fits.devices[0].networks, 10U);
  EXPECT_EQ(fits.devices[0].within_10, 1);
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  left_out_fits(pool_of({10}), 10, look);
  EXPECT_TRUE(std::equal(parts.begin(), parts.begin() + 5, parts.begin() + 5)) << "the same parts again";
}

TEST(OwnFits, CountPredictionsWithinTenAndTwentyPercent) {
  // Predicted over measured: .952, .870, .769 and 1.02.
  std::vector<LeftOutError> errors;
  for (const double measured : {1.05, 1.15, 1.3, 0.98}) errors.push_back({std::log(measured), 0.1});
  const OwnFits fits = own_fits_of({errors, {}}, pool_of({4, 1}));
  ASSERT_EQ(fits.devices.size(), 2U);
  EXPECT_EQ(fits.devices[0].networks, 4U);
  EXPECT_EQ(fits.devices[0].within_10, 0.5);
  EXPECT_EQ(fits.devices[0].within_20, 0.75);
  EXPECT_EQ(fits.devices[1].networks, 1U);
  EXPECT_TRUE(std::isnan(fits.devices[1].within_10));
  EXPECT_EQ(fits.devices[1].quantiles.size(), fits.probabilities.size());  // of the other device
}

TEST(OwnFits, ADeviceWithManyErrorsHasQuantilesOfItsOwn) {
  const std::vector<LeftOutError> steady(50, {0.01, 0.01}), off(50, {0.03, 0.01});
  const OwnFits fits = own_fits_of({steady, off}, pool_of({50, 50}));
  EXPECT_NEAR(error_quantile(own_calibration(fits, 0), 0.9), 1, 1e-9);
  EXPECT_NEAR(error_quantile(own_calibration(fits, 1), 0.9), 3, 1e-9);
  const OwnFits none = own_fits_of({{}, {}}, pool_of({0, 0}));
  EXPECT_TRUE(none.probabilities.empty());
  EXPECT_TRUE(own_calibration(none, 0).probabilities.empty());  // the normal distribution
}

}  // namespace
}  // namespace tenshot::trainer
