#include "datasets/pool/describe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

using Values = std::vector<double>;

DeviceRuntime device_with(const std::string& id, const Values& latencies_ms, std::uint64_t first = 0) {
  DeviceRuntime device;
  device.id = id;
  for (const double latency : latencies_ms) device.latencies.push_back({space().at(first++), latency});
  return device;
}

TEST(Ranks, AverageTies) {
  EXPECT_EQ(ranks({30, 10, 20}), (Values{3, 1, 2}));
  EXPECT_EQ(ranks({5, 1, 5, 5, 9}), (Values{3, 1, 3, 3, 5}));
  EXPECT_EQ(ranks({2, 2}), (Values{1.5, 1.5}));
  EXPECT_EQ(ranks({}), Values{});
}

TEST(Spearman, MatchesCasesWorkedByHand) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {10, 100, 1000}), 1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {3, 2, 1}), -1);
  // Ranks of the second are 3, 1, 4, 5, 2: Σd² = 4 + 1 + 1 + 1 + 9 = 16; without ties ρ = 1 - 6 Σd² / (n (n² - 1)).
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4, 5}, {2, 1, 3, 6, 1.5}), 1 - 6.0 * 16 / (5 * 24));
  // Ranks (1, 2.5, 2.5, 4) and (1, 2, 3, 4): covariance 4.5, variances 4.5 and 5.
  EXPECT_DOUBLE_EQ(spearman({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5));
}

TEST(Spearman, IsNanWhereThereIsNoOrder) {
  EXPECT_TRUE(std::isnan(spearman({1, 1, 1}, {1, 2, 3})));
  EXPECT_TRUE(std::isnan(spearman({}, {})));
  EXPECT_TRUE(std::isnan(spearman({1, std::nan(""), 3}, {1, 2, 3})));
}

TEST(Spearman, IsUnchangedByAnIncreasingFunction) {
  Rng rng(5);
  Values a(300), b(300), exp_b(300);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = rng.normal();
    b[i] = std::round(4 * (a[i] + rng.normal()));
    exp_b[i] = std::exp(b[i]);
  }
  EXPECT_DOUBLE_EQ(spearman(a, b), spearman(a, exp_b));
  EXPECT_DOUBLE_EQ(spearman(a, b), spearman(b, a));
  EXPECT_GT(spearman(a, b), 0.5);
  EXPECT_LT(spearman(a, b), 0.9);
}

TEST(Describe, SaysWhatTheDescriptorHas) {
  Pool pool = random_pool(3, 5, 1);
  pool.devices[1].descriptor.in_network.clear();
  pool.devices[2].descriptor.source = "callgrind";
  const PoolSummary summary = describe(pool);
  EXPECT_EQ(summary.devices[0].descriptor_source, "perf_event, in network");
  EXPECT_EQ(summary.devices[1].descriptor_source, "perf_event");
  EXPECT_EQ(summary.devices[2].descriptor_source, "callgrind (simulated), in network");
}

TEST(Describe, SummarisesEveryDevice) {
  Pool pool;
  pool.space = &space();
  pool.devices = {device_with("a", {5, 1, 3, 2, 9}), device_with("b", {1.5, 2.5}, 2), device_with("c", {})};
  const PoolSummary summary = describe(pool);
  EXPECT_EQ(summary.space, "nasbench201");
  EXPECT_EQ(summary.architectures, 5U);
  EXPECT_EQ(summary.content_hash, content_hash(pool));
  const DeviceSummary& a = summary.devices[0];
  EXPECT_EQ(a.measured, 5U);
  EXPECT_EQ(a.missing, 0U);
  EXPECT_EQ(a.minimum_ms, 1);
  EXPECT_EQ(a.median_ms, 3);
  EXPECT_EQ(a.maximum_ms, 9);
  EXPECT_TRUE(a.whole_milliseconds);
  const DeviceSummary& b = summary.devices[1];
  EXPECT_EQ(b.measured, 2U);
  EXPECT_EQ(b.missing, 3U);
  EXPECT_EQ(b.median_ms, 2);
  EXPECT_FALSE(b.whole_milliseconds);
  EXPECT_EQ(summary.devices[2].missing, 5U);
  EXPECT_TRUE(std::isnan(summary.devices[2].median_ms));
}

TEST(Describe, CorrelatesOverWhatBothMeasured) {
  Pool pool;
  pool.space = &space();
  pool.devices = {device_with("a", {1, 2, 3, 4, 5}), device_with("b", {50, 40, 30, 20, 10}),
                  device_with("c", {7, 8, 9, 1}, 2), device_with("d", {1, 2}, 3)};
  const auto& rho = describe(pool).rank_correlation;
  EXPECT_DOUBLE_EQ(rho[0][0], 1);
  EXPECT_DOUBLE_EQ(rho[0][1], -1);
  EXPECT_DOUBLE_EQ(rho[0][2], 1);
  EXPECT_DOUBLE_EQ(rho[2][1], -1);
  EXPECT_TRUE(std::isnan(rho[0][3]));
  EXPECT_TRUE(std::isnan(rho[3][3]));
}

TEST(Describe, AgreesWithSpearmanOnRandomPools) {
  const Pool pool = random_pool(4, 9000, 3);
  const LatencyMatrix matrix = latency_matrix(pool);
  const auto& rho = describe(pool).rank_correlation;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      Values a, b;
      for (std::size_t k = 0; k < matrix.architectures.size(); ++k) {
        if (std::isnan(matrix.latency_ms[i][k] + matrix.latency_ms[j][k])) continue;
        a.push_back(matrix.latency_ms[i][k]);
        b.push_back(matrix.latency_ms[j][k]);
      }
      EXPECT_NEAR(rho[i][j], spearman(a, b), 1e-12);
    }
  }
}

TEST(DescribeText, ShowsTheWholeMatrixOfASmallPool) {
  Pool pool;
  pool.space = &space();
  pool.devices = {device_with("fast", {1, 2, 3}), device_with("slower", {6, 5, 4})};
  Findings findings;
  findings.add({Problem::zero, "w.csv", 4, "fast", "0"});
  const std::string text = to_text(describe(pool), findings);
  EXPECT_NE(text.find("device-runtime  descriptor  measured  missing  min ms  median ms  max ms  whole ms\n"
                      "fast                  none         3        0       1          2       3\n"
                      "slower                none         3        0       4          5       6\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("               [1]     [2]\n"
                      "[1] fast     1.000  -1.000\n"
                      "[2] slower  -1.000   1.000\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 entry left out: 1 zero\n  w.csv:4: column fast: '0' is zero; left out\n"), std::string::npos)
      << text;
}

TEST(DescribeText, AbbreviatesTheMatrixOfALargePool) {
  const PoolSummary summary = describe(random_pool(13, 40, 6));
  const std::string text = to_text(summary, {});
  EXPECT_NE(text.find("nearest"), std::string::npos);
  EXPECT_EQ(text.find("[13]"), std::string::npos);
  EXPECT_EQ(to_text(describe(random_pool(12, 40, 6)), {}).find("nearest"), std::string::npos);
}

TEST(DescribeJson, HasEveryNumberAndNullForNone) {
  Pool pool;
  pool.space = &space();
  pool.devices = {device_with("a", {1, 2, 3}), device_with("b", {})};
  Findings findings;
  findings.add({Problem::negative, "\xFF.csv", 4, "a", "-1"});
  const nlohmann::json json = nlohmann::json::parse(to_json(describe(pool), findings).dump());
  EXPECT_EQ(json["architectures"], 3);
  EXPECT_EQ(json["devices"][0]["median_ms"], 2);
  EXPECT_TRUE(json["devices"][1]["median_ms"].is_null());
  EXPECT_EQ(json["rank_correlation"][0][0], 1);
  EXPECT_TRUE(json["rank_correlation"][0][1].is_null());
  EXPECT_EQ(json["findings"]["counts"]["negative"], 1);
  EXPECT_EQ(json["findings"]["first"][0]["file"], "?.csv");
}

}  // namespace
}  // namespace tenshot::datasets
