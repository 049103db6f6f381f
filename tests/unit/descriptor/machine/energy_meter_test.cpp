// The trees below are laid out as the kernel's documentation says (powercap; hwmon/ina3221) and as NVIDIA's kernels of
// JetPack 4 lay them out (IIO). They are written by hand: no board was at hand to record one.

#include "descriptor/machine/energy_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "nasbench/support/error.h"
#include "tests/unit/descriptor/fake_tree.h"

namespace tenshot::descriptor {
namespace {

void write_rapl(const FakeTree& tree) {
  const std::string zone = "class/powercap/intel-rapl:0";
  tree.write(zone + "/name", "package-0\n");
  tree.write(zone + "/energy_uj", "1000000\n");
  tree.write(zone + "/max_energy_range_uj", "262143328850\n");
  tree.write(zone + ":0/name", "core\n");
  tree.write(zone + ":0/energy_uj", "700000\n");
  tree.write(zone + ":1/name", "dram\n");
  tree.write(zone + ":1/energy_uj", "5000\n");
  tree.write(zone + ":1/max_energy_range_uj", "65712999613\n");
  tree.write("class/powercap/intel-rapl:1/name", "psys\n");
  tree.write("class/powercap/intel-rapl:1/energy_uj", "9000000\n");
}

const std::string hwmon = "bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/";

void write_rail(const FakeTree& tree, int channel, const std::string& label, int millivolts, int milliamperes) {
  const std::string n = std::to_string(channel);
  tree.write(hwmon + "in" + n + "_label", label + "\n");
  tree.write(hwmon + "in" + n + "_input", std::to_string(millivolts) + "\n");
  tree.write(hwmon + "curr" + n + "_input", std::to_string(milliamperes) + "\n");
}

TEST(EnergySensors, TakesThePackageAndItsMemoryOfRapl) {
  const FakeTree tree;
  write_rapl(tree);
  const EnergySensors found = find_energy_sensors(tree.root());
  EXPECT_EQ(found.source, "RAPL: package-0, dram");
  ASSERT_EQ(found.sensors.size(), 2U);
  EXPECT_EQ(found.sensors[0].wraps_at, 262143328850U);
}

TEST(EnergySensors, TakesTheRailThatFeedsTheModule) {
  const FakeTree tree;
  write_rail(tree, 1, "VDD_IN", 5000, 1200);
  write_rail(tree, 2, "VDD_CPU_GPU_CV", 5000, 300);
  const EnergySensors found = find_energy_sensors(tree.root());
  EXPECT_EQ(found.source, "INA3221: VDD_IN");
  ASSERT_EQ(found.sensors.size(), 1U);
}

TEST(EnergySensors, TakesAllRailsWhereNoneFeedsTheModule) {
  const FakeTree tree;
  write_rail(tree, 1, "VDD_GPU_SOC", 19000, 200);
  write_rail(tree, 2, "VDD_CPU_CV", 19000, 100);
  write_rail(tree, 3, "NC", 0, 0);
  EXPECT_EQ(find_energy_sensors(tree.root()).source, "INA3221: VDD_GPU_SOC, VDD_CPU_CV");
}

TEST(EnergySensors, ReadsTheRailsOfEarlierKernels) {
  const FakeTree tree;
  const std::string iio = "bus/i2c/drivers/ina3221x/6-0040/iio:device0/";
  tree.write(iio + "rail_name_0", "POM_5V_IN\n");
  tree.write(iio + "in_power0_input", "2456\n");
  tree.write(iio + "rail_name_1", "POM_5V_GPU\n");
  tree.write(iio + "in_power1_input", "82\n");
  const EnergySensors found = find_energy_sensors(tree.root());
  EXPECT_EQ(found.source, "INA3221: POM_5V_IN");
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(found.sensors[0].kind, EnergySensor::Kind::power);
}

TEST(EnergySensors, SaysWhatItLookedForWhereThereIsNone) {
  const FakeTree tree;
  const EnergySensors found = find_energy_sensors(tree.root());
  EXPECT_TRUE(found.sensors.empty());
  EXPECT_NE(found.reason.find("powercap has no intel-rapl package"), std::string::npos) << found.reason;
  EXPECT_NE(found.reason.find("ina3221 has no rail"), std::string::npos) << found.reason;
}

TEST(EnergyMeter, CountsWhatTheCountersAdvance) {
  const FakeTree tree;
  write_rapl(tree);
  const auto advance = [&] {
    tree.write("class/powercap/intel-rapl:0/energy_uj", "1250000\n");
    tree.write("class/powercap/intel-rapl:0:1/energy_uj", "6000\n");
  };
  EXPECT_DOUBLE_EQ(energy_mj(find_energy_sensors(tree.root()).sensors, advance), 251);
}

TEST(EnergyMeter, FollowsACounterThatBeginsAgain) {
  EXPECT_EQ(counted_uj(90, 120, 100), 30U);
  EXPECT_EQ(counted_uj(90, 15, 100), 25U);
  EXPECT_EQ(counted_uj(90, 15, 0), 0U);
}

TEST(EnergyMeter, AddsUpPowerOverTime) {
  const FakeTree tree;
  write_rail(tree, 1, "VDD_IN", 5000, 2000);  // 10 W
  using Clock = std::chrono::steady_clock;
  const Clock::time_point before = Clock::now();
  Clock::time_point started, stopping;
  const double found_mj = energy_mj(find_energy_sensors(tree.root()).sensors, [&] {
    started = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    stopping = Clock::now();
  });
  const auto energy_of = [](Clock::duration time) { return 1e4 * std::chrono::duration<double>(time).count(); };
  EXPECT_GT(found_mj,
            energy_of(stopping - started) / 2);  // the last sample is up to its period and the load's delay old
  EXPECT_LE(found_mj, energy_of(Clock::now() - before));
}

TEST(EnergyMeter, SaysThatASensorVanished) {
  const FakeTree tree;
  write_rapl(tree);
  const std::vector<EnergySensor> sensors = find_energy_sensors(tree.root()).sensors;
  const auto remove = [&] { std::filesystem::remove(tree.root() / "class/powercap/intel-rapl:0/energy_uj"); };
  EXPECT_THROW(energy_mj(sensors, remove), FileError);
}

}  // namespace
}  // namespace tenshot::descriptor
