#include <nlohmann/json.hpp>

#include "datasets/kit/kit_results.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

/// A kit whose first two architectures have energies.
struct KitWithEnergies : MeasuredKit {
  KitWithEnergies() {
    put("quantities.txt", "energy=INA3221: VDD_IN\nmemory_missing=the kit has no empty.onnx\n");
    measure(0, 1, "energy_mj=12.5\n");
    measure(1, 2, "energy_mj=30\n");
  }
};

TEST(KitQuantities, AreWhatWasNotedBesideTheTimes) {
  const KitWithEnergies kit;
  const KitResults results = read_kit_results(kit.path(), Quantity::energy);
  ASSERT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(results.latencies[0].latency_ms, 12.5);
  EXPECT_EQ(results.latencies[1].latency_ms, 30);
  ASSERT_EQ(results.findings.size(), 1u);
  EXPECT_NE(results.findings[0].message.find("not measured: energy_mj; left out"), std::string::npos)
      << results.findings[0].message;
  EXPECT_EQ(read_kit_results(kit.path()).latencies[0].latency_ms, 1);
}

TEST(KitQuantities, BecomeADeviceThatNamesThem) {
  const KitWithEnergies kit;
  const DeviceRuntime device = device_of(read_kit_results(kit.path(), Quantity::energy), "board");
  EXPECT_EQ(device.quantity, Quantity::energy);
  EXPECT_FALSE(device.descriptor.has_latencies());
  EXPECT_EQ(nlohmann::json::parse(device.environment)["quantities"]["energy"], "INA3221: VDD_IN");
}

TEST(KitQuantities, SayWhyThereAreNone) {
  const KitWithEnergies kit;
  const std::string message = message_of([&] { read_kit_results(kit.path(), Quantity::memory); });
  EXPECT_NE(message.find("memory_mib (the kit has no empty.onnx)"), std::string::npos) << message;
}

TEST(KitQuantities, NameANumberThatIsNone) {
  const KitWithEnergies kit;
  kit.measure(2, 3, "energy_mj=-4\n");
  const KitResults results = read_kit_results(kit.path(), Quantity::energy);
  ASSERT_EQ(results.findings.size(), 1u);
  EXPECT_EQ(results.findings[0].problem, KitProblem::unreadable);
  EXPECT_NE(results.findings[0].message.find("energy_mj is '-4'"), std::string::npos);
}

TEST(KitQuantities, ComeWithAnEmptyModelToCountMemoryFrom) {
  const MeasuredKit kit;
  EXPECT_TRUE(std::filesystem::exists(kit.path() / "empty.onnx"));
}

}  // namespace
}  // namespace tenshot::datasets
