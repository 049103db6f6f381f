#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "nasbench/support/error.h"
#include "structured_fixtures.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer::structured {
namespace {

TEST(StructuredLibrary, FindsTheStructureOfEveryDevice) {
  const StructuredLibrary& library = test::synthetic_library();
  const std::vector<std::string> expected = {"total", "total", "live", "backward", "cse", "layout", "critical"};
  ASSERT_EQ(library.entries.size(), expected.size() + 1);
  constexpr std::size_t reorder = 8;
  for (std::size_t d = 0; d < expected.size(); ++d) {
    const LibraryEntry& entry = library.entries[d];
    std::string found = test::structures().structures()[entry.structure].name;
    // In place with conversions that cost nothing is the same as cse.
    if (found == "in-place" && entry.costs[reorder] < 0.005) found = "cse";
    EXPECT_EQ(found, expected[d]);
    EXPECT_LT(entry.log_rms, 0.02);
  }
  EXPECT_EQ(library.entries.back().device, "generic");
}

TEST(StructuredLibrary, RecoversTheCostsOfANoiseFreeDevice) {
  const auto architectures = test::connected_architectures(400, 2);
  const std::vector<double> costs = {5, 0.1, 2, 3, 0.5, 0, 0, 0, 0};
  datasets::LatencyMatrix latencies = {architectures, {test::latencies_under("total", costs, architectures)}};
  const StructuredLibrary library = fit_library(test::structures(), {"a"}, latencies);
  const LibraryEntry& entry = library.entries.front();
  for (std::size_t f = 0; f < costs.size(); ++f) EXPECT_NEAR(entry.costs[f] * entry.median_ms, costs[f], 0.15) << f;
}

TEST(StructuredLibrary, IsNotMovedByAFewWildLatencies) {
  const auto architectures = test::connected_architectures(300, 3);
  const std::vector<double> costs = {5, 0.1, 2, 3, 0.5, 0, 0, 0, 0};
  auto latency = test::latencies_under("total", costs, architectures, 0.01);
  for (std::size_t i = 0; i < latency.size(); i += 20) latency[i] *= 4;
  const StructuredLibrary library = fit_library(test::structures(), {"a"}, {architectures, {latency}});
  const LibraryEntry& entry = library.entries.front();
  EXPECT_EQ(test::structures().structures()[entry.structure].name, "total");
  EXPECT_NEAR(entry.costs[3] * entry.median_ms, 3, 0.2);
}

TEST(StructuredLibrary, FitsWhatWasMeasuredAndRefusesTooLittle) {
  const auto architectures = test::connected_architectures(100, 4);
  auto latency = test::latencies_under("live", {4, 0.3, 2.5, 6, 1, 0.3, 0, 0, 0}, architectures);
  for (std::size_t i = 60; i < latency.size(); ++i) latency[i] = std::numeric_limits<double>::quiet_NaN();
  const StructuredLibrary library = fit_library(test::structures(), {"a"}, {architectures, {latency}});
  EXPECT_EQ(test::structures().structures()[library.entries.front().structure].name, "live");
  std::fill(latency.begin() + 8, latency.end(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(fit_library(test::structures(), {"a"}, {architectures, {latency}}), InputError);
}

TEST(StructuredLibrary, WithoutADeviceHasTheOthers) {
  const StructuredLibrary rest = without(test::synthetic_library(), {"device1", "device3"});
  EXPECT_EQ(rest.entries.size(), test::synthetic_library().entries.size() - 2);
  for (const LibraryEntry& entry : rest.entries) EXPECT_TRUE(entry.device != "device1" && entry.device != "device3");
}

TEST(SlowestRow, CountsNoOperationAsShorteningAPath) {
  const Eigen::VectorXd costs = path_costs(Eigen::Vector3d(1, -0.5, 2));
  EXPECT_DOUBLE_EQ(costs[1], 0.003);
  const double rows[] = {1, 0, 1, 1, 5, 1, 1, 0, 0};  // three alternatives of three features
  EXPECT_EQ(slowest_row(rows, 3, costs), rows + 3);
}

}  // namespace
}  // namespace tenshot::trainer::structured
