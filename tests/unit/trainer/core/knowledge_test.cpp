#include "trainer/core/knowledge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"

namespace tenshot::trainer {
namespace {

template <class Throws>
std::string message_of(const Throws& throws) {
  try {
    throws();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

nlohmann::json sources_json() {
  return {{"format", "tenshot.sources/1"},
          {"sources",
           {{{"name", "table"}, {"url", "https://table.org"}, {"licence", "MIT"}, {"devices", {"slow", "f*"}}},
            {{"name", "own"}, {"licence", "BSD-3-Clause"}, {"devices", {"wide"}}}}}};
}

TEST(KnowledgeSources, AreReadWithTheirPatterns) {
  const auto sources = sources_from_json(sources_json(), "sources.json");
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0].name, "table");
  EXPECT_EQ(sources[0].url, "https://table.org");
  EXPECT_EQ(sources[0].licence, "MIT");
  EXPECT_EQ(sources[0].devices, (std::vector<std::string>{"slow", "f*"}));
  EXPECT_EQ(sources[1].url, "");
}

TEST(KnowledgeSources, WithoutALicenceAreRefusedByPlace) {
  nlohmann::json json = sources_json();
  json["sources"][1].erase("licence");
  const std::string message = message_of([&] { sources_from_json(json, "sources.json"); });
  EXPECT_NE(message.find("sources.json"), std::string::npos) << message;
  EXPECT_NE(message.find("sources[1].licence"), std::string::npos) << message;
}

TEST(Knowledge, ClaimsEveryDeviceForOneSource) {
  const datasets::Pool pool = test::synthetic_pool(20);
  const Knowledge knowledge = make_knowledge(pool, sources_from_json(sources_json(), "s"), {});
  EXPECT_EQ(knowledge.source_of, (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_EQ(knowledge.pool_sha256, datasets::content_hash(pool));
}

TEST(Knowledge, OfADeviceThatNoSourceOrTwoClaim_IsRefusedByName) {
  const datasets::Pool pool = test::synthetic_pool(20);
  nlohmann::json json = sources_json();
  json["sources"][0]["devices"] = {"slow"};
  std::string message = message_of([&] { make_knowledge(pool, sources_from_json(json, "s"), {}); });
  EXPECT_NE(message.find("'fast' is of no source"), std::string::npos) << message;
  json["sources"][0]["devices"] = {"*"};
  message = message_of([&] { make_knowledge(pool, sources_from_json(json, "s"), {}); });
  EXPECT_NE(message.find("'wide' is of two sources, 'table' and 'own'"), std::string::npos) << message;
  json["sources"][1]["devices"] = {"none"};
  message = message_of([&] { make_knowledge(pool, sources_from_json(json, "s"), {}); });
  EXPECT_NE(message.find("source 'own' has no device-runtime"), std::string::npos) << message;
}

TEST(Identities, HoldNothingThatWasMeasured) {
  datasets::Pool pool = test::synthetic_pool(20);
  test::describe(pool.devices[0]);
  pool.devices[0].threads = 4;
  const datasets::Pool identities = identities_of(pool);
  ASSERT_EQ(identities.devices.size(), 3U);
  EXPECT_EQ(identities.devices[0].id, "slow");
  EXPECT_EQ(identities.devices[0].threads, 4);
  EXPECT_TRUE(identities.devices[0].latencies.empty());
  EXPECT_FALSE(identities.devices[0].descriptor.has_latencies());
  EXPECT_EQ(identities.devices[0].environment, "{}");
}

TEST(KnownArchitectures, AreThePoolsOrADrawOfItsSpace) {
  datasets::Pool pool = test::synthetic_pool(20);
  EXPECT_EQ(known_architectures(pool), datasets::latency_matrix(pool).architectures);
  const auto drawn = known_architectures(identities_of(pool));
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_EQ(drawn, known_architectures(identities_of(pool)));
  for (const auto& architecture : drawn) EXPECT_TRUE(pool.space->connected(architecture));
  pool.space = &nasbench::networks();
  for (auto& device : pool.devices) device.latencies.clear();
  EXPECT_TRUE(known_architectures(pool).empty());
}

TEST(SteppedScale, IsNearAMedianAndNeverOneThatATableHolds) {
  for (const double median_ms : {0.03, 0.5, 1.0, 2.0, 7.25, 16.0, 123.0}) {
    const double scale_ms = stepped_scale_ms(median_ms);
    EXPECT_NEAR(scale_ms / median_ms, 1, 0.011) << median_ms;
    EXPECT_NE(scale_ms, std::round(scale_ms * 1e6) / 1e6) << median_ms;
  }
  EXPECT_EQ(stepped_scale_ms(10.0), stepped_scale_ms(10.01));
}

TEST(DeviceNamed, OfAnUnknownId_NamesTheNearest) {
  datasets::Pool pool = test::synthetic_pool(5);
  pool.devices[1].id = "raspberry-pi-4_cpu_t4";
  EXPECT_EQ(device_named(pool, "wide"), 2U);
  const std::string message = message_of([&] { device_named(pool, "Raspberry Pi 4"); });
  EXPECT_NE(message.find("'Raspberry Pi 4'"), std::string::npos) << message;
  EXPECT_NE(message.find("most like it: raspberry-pi-4_cpu_t4"), std::string::npos) << message;
}

}  // namespace
}  // namespace tenshot::trainer
