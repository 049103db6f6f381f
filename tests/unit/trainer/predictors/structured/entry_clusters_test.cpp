#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "structured_fixtures.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

const std::vector<std::string> names = {"total", "live", "backward", "cse", "layout", "critical"};

struct LargePool {
  std::vector<std::string> devices, structures;
  std::vector<std::vector<double>> costs;
  datasets::LatencyMatrix latencies;
  StructuredLibrary library;
};

/// 150 device-runtimes: the pairs d and d + 75 have the same structure and nearly the same costs.
const LargePool& large_pool() {
  static const LargePool pool = [] {
    LargePool large;
    large.latencies.architectures = test::connected_architectures(100, 1);
    for (std::size_t d = 0; d < 150; ++d) {
      Rng rng(7, d % 75), own(8, d);
      std::vector<double> costs;
      for (const double typical : {5.0, 0.3, 2.5, 6.0, 1.0, 0.2, 0.1, 0.1, 0.2}) {
        costs.push_back(typical * std::exp(0.7 * rng.normal()) * std::exp(0.01 * own.normal()));
      }
      large.devices.push_back("device" + std::to_string(d));
      large.structures.push_back(names[d % 75 % names.size()]);
      large.latencies.latency_ms.push_back(
          test::latencies_under(large.structures[d], costs, large.latencies.architectures, 0.01, d));
      large.costs.push_back(std::move(costs));
    }
    large.library = fit_library(test::structures(), large.devices, large.latencies);
    return large;
  }();
  return pool;
}

std::vector<std::size_t> planned(const LargePool& pool) {
  std::vector<std::size_t> candidates(pool.latencies.architectures.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  Rng rng(3);
  return sampling::choose_informative(
      prior_covariance(pool.library, test::structures().table(pool.latencies.architectures)), candidates, 10, rng);
}

AdaptationSet measured_set(const std::string& structure, const std::vector<double>& costs, double noise) {
  AdaptationSet set;
  for (const std::size_t c : planned(large_pool())) {
    set.architectures.push_back(large_pool().latencies.architectures[c]);
  }
  set.latency_ms = test::latencies_under(structure, costs, set.architectures, noise);
  return set;
}

TEST(EntryClusters, ALibraryThatIsLookedAtEntryByEntryHasNone) {
  EXPECT_TRUE(test::synthetic_library().cluster_of.empty());
  EXPECT_TRUE(cluster_entries(test::synthetic_library()).empty());
}

TEST(EntryClusters, HoldEveryEntryButTheGenericOne) {
  const StructuredLibrary& library = large_pool().library;
  ASSERT_EQ(library.cluster_of.size(), library.entries.size() - 1);
  const std::set<std::uint32_t> numbers(library.cluster_of.begin(), library.cluster_of.end());
  EXPECT_EQ(*numbers.rbegin(), numbers.size() - 1);  // without gaps
  EXPECT_GE(numbers.size(), 5U);
  EXPECT_LE(numbers.size(), 13U);
  std::size_t together = 0;
  for (std::size_t d = 0; d < 75; ++d) together += library.cluster_of[d] == library.cluster_of[d + 75] ? 1 : 0;
  EXPECT_GE(together, 65U);  // pairs have nearly the same costs
}

TEST(EntryClusters, StayWithTheirEntriesWhenOthersLeave) {
  const StructuredLibrary& library = large_pool().library;
  const StructuredLibrary rest = without(library, {"device0", "device77"});
  ASSERT_EQ(rest.cluster_of.size(), rest.entries.size() - 1);
  EXPECT_EQ(rest.cluster_of[0], library.cluster_of[1]);
  EXPECT_EQ(rest.cluster_of[76], library.cluster_of[78]);
}

TEST(NearestEntries, HoldTheOneThatTheDeviceIsLikeAndTheGenericOne) {
  const LargePool& pool = large_pool();
  const Eigen::MatrixXd spread = library_covariance(pool.library);
  for (std::size_t d = 0; d < 150; d += 10) {
    const std::vector<std::size_t> nearest =
        nearest_entries(pool.library, measured_set(pool.structures[d], pool.costs[d], 0.01), {}, spread);
    EXPECT_LE(nearest.size(), exhaustive_entries + 20);
    EXPECT_TRUE(std::count(nearest.begin(), nearest.end(), d)) << d;
    EXPECT_EQ(nearest.back(), 150U);
    EXPECT_EQ(pool.library.entries[nearest.back()].device, "generic");
  }
}

TEST(StructuredPosterior, OfALargeLibraryIsThatOfEveryEntry) {
  StructuredLibrary every = large_pool().library;
  every.cluster_of.clear();
  const auto table = test::structures().table(test::connected_architectures(300, 99));
  for (std::size_t s = 0; s < names.size(); ++s) {
    const AdaptationSet set = measured_set(names[s], {7, 0.4, 3, 9, 1.2, 0.2, 0.1, 0.1, 0.1}, 0.02);
    const StructuredPosterior near = adapt(large_pool().library, set), all = adapt(every, set);
    const LogLatency a = predict(near, table), b = predict(all, table);
    double difference = 0;
    for (std::size_t i = 0; i < table.size; ++i) difference += std::fabs(a.mean[i] - b.mean[i]);
    EXPECT_LT(difference / static_cast<double>(table.size), 0.01) << names[s];
    for (const Component& component : near.components) EXPECT_LE(component.entry, 150U);
  }
}

TEST(Calibration, OfALargeLibraryHoldsOutDevicesWithTheirFamilies) {
  const LargePool& pool = large_pool();
  StructuredCalibrationOptions options;
  options.repeats = 1;
  options.most_devices = 12;
  const auto quantiles = [&] { return calibrate(pool.library, pool.latencies, {}, options).quantiles; };
  const std::vector<double> alone = quantiles();
  for (std::size_t d = 0; d < 150; ++d) options.families.push_back(d);
  EXPECT_EQ(quantiles(), alone);  // a family of one is a device alone
  // A device whose twin stays in the library is predicted from it; a family's devices are not.
  for (std::size_t d = 0; d < 150; ++d) options.families[d] = d % 75;
  const std::vector<double> families = quantiles();
  ASSERT_EQ(families.size(), alone.size());
  EXPECT_NE(families, alone);
  EXPECT_EQ(quantiles(), families);
}

}  // namespace
}  // namespace tenshot::trainer::structured
