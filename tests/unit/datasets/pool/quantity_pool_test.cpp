#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/pool/describe.h"
#include "datasets/pool/pool.h"
#include "datasets/pool/validate.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

DeviceRuntime device_of(const std::string& id, Quantity quantity) {
  Rng rng(3);
  DeviceRuntime device = random_device(id, 5, rng);
  device.quantity = quantity;
  for (Measurement& row : device.latencies) row.sentinel_ms = std::numeric_limits<double>::quiet_NaN();
  return device;
}

TEST(QuantityPool, KeepsWhatItsDevicesHold) {
  const TemporaryFolder folder;
  const DeviceRuntime device = device_of("board", Quantity::energy);
  write_device(folder.path(), device, space());
  const Pool pool = read_pool(folder.path());
  EXPECT_EQ(pool.quantity(), Quantity::energy);
  ASSERT_EQ(pool.devices.size(), 1U);
  EXPECT_EQ(pool.devices[0].latencies.size(), device.latencies.size());
  EXPECT_EQ(pool.devices[0].latencies[0].latency_ms, device.latencies[0].latency_ms);
  const auto json = nlohmann::json::parse(read_file(folder.path() / "board" / "device.json"));
  EXPECT_EQ(json["quantity"], "energy");
  EXPECT_EQ(json["unit"], "mJ");
  EXPECT_EQ(json["latencies"], "energy.csv");
  EXPECT_TRUE(validate(folder.path()).sound()) << to_text(validate(folder.path()));
}

TEST(QuantityPool, ComesWithoutTheDescriptorOfLatencies) {
  const TemporaryFolder folder;
  write_device(folder.path(), device_of("board", Quantity::memory), space());
  EXPECT_FALSE(read_pool(folder.path()).devices[0].descriptor.has_latencies());
}

TEST(QuantityPool, OfLatenciesSaysNothingOfIt) {
  const TemporaryFolder folder;
  write_device(folder.path(), device_of("board", Quantity::latency), space());
  const auto json = nlohmann::json::parse(read_file(folder.path() / "board" / "device.json"));
  EXPECT_FALSE(json.contains("quantity"));
  EXPECT_FALSE(json.contains("unit"));
  EXPECT_EQ(json["latencies"], "latencies.csv");
}

TEST(QuantityPool, RefusesAMixtureUnlessToldWhichToTake) {
  const TemporaryFolder folder;
  write_device(folder.path(), device_of("a", Quantity::latency), space());
  write_device(folder.path(), device_of("b", Quantity::energy), space());
  const std::string message = message_of([&] { read_pool(folder.path()); });
  EXPECT_NE(message.find("holds energy_mj, other devices of this pool hold latency_ms; say which by --quantity"),
            std::string::npos)
      << message;
  const Pool energies = read_pool(folder.path(), Quantity::energy);
  ASSERT_EQ(energies.devices.size(), 1U);
  EXPECT_EQ(energies.devices[0].id, "b");
  EXPECT_NE(message_of([&] { read_pool(folder.path(), Quantity::cold); }).find("none of its 2 devices holds cold_ms"),
            std::string::npos);
}

TEST(QuantityPool, TakesAQuantityFromAFurtherColumn) {
  const TemporaryFolder folder;
  write_device(folder.path(), device_of("a", Quantity::latency), space());
  write_file_atomically(folder.path() / "a" / "latencies.csv",
                        "architecture,latency_ms,energy_mj\n" + text_of(7) + ",2,30\n");
  EXPECT_EQ(read_pool(folder.path()).devices[0].latencies[0].latency_ms, 2);
  const Pool energies = read_pool(folder.path(), Quantity::energy);
  EXPECT_EQ(energies.quantity(), Quantity::energy);
  EXPECT_EQ(energies.devices[0].latencies[0].latency_ms, 30);
}

TEST(QuantityPool, RefusesAnUnknownQuantityAndAnotherUnit) {
  const TemporaryFolder folder;
  write_device(folder.path(), device_of("a", Quantity::energy), space());
  const auto file = folder.path() / "a" / "device.json";
  auto json = nlohmann::json::parse(read_file(file));
  json["unit"] = "kWh";
  write_file_atomically(file, json.dump());
  EXPECT_NE(message_of([&] { read_pool(folder.path()); }).find("unit"), std::string::npos);
  json["quantity"] = "speed";
  write_file_atomically(file, json.dump());
  EXPECT_NE(message_of([&] { read_pool(folder.path()); }).find("one of latency, cold, energy, memory"),
            std::string::npos);
}

TEST(QuantityPool, HasAHashOfItsOwn) {
  Pool latencies, energies;
  latencies.space = energies.space = &space();
  latencies.devices = {device_of("a", Quantity::latency)};
  energies.devices = {device_of("a", Quantity::energy)};
  EXPECT_NE(content_hash(latencies), content_hash(energies));
}

TEST(QuantityPool, IsDescribedInItsUnit) {
  Pool pool;
  pool.space = &space();
  pool.devices = {device_of("a", Quantity::energy)};
  const PoolSummary summary = describe(pool);
  EXPECT_NE(to_text(summary, {}).find("median mJ"), std::string::npos);
  const nlohmann::json json = to_json(summary, {});
  EXPECT_EQ(json["quantity"], "energy");
  EXPECT_TRUE(json["devices"][0].contains("median_mj"));
}

}  // namespace
}  // namespace tenshot::datasets
