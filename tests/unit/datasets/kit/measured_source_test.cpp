#include "datasets/kit/measured_source.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

TEST(MeasuredSource, IsATableADeviceFolderOrAKit) {
  const MeasuredKit kit;
  const KitResults results = read_kit_results(kit.path());
  const MeasuredSource from_kit = read_measured(kit.path(), space(), Quantity::latency);
  ASSERT_TRUE(from_kit.kit);
  EXPECT_EQ(from_kit.left_out(), results.findings.size());
  ASSERT_EQ(from_kit.latency_ms.size(), results.latencies.size());

  const TemporaryFolder folder;
  const DeviceRuntime device = device_of(results, "board");
  write_device(folder.path(), device, space());
  std::string table = "architecture,latency_ms\n";
  for (const Measurement& row : results.latencies) {
    table += space().format(row.architecture) + "," + std::to_string(row.latency_ms) + "\n";
  }
  write_file_quickly(folder.path() / "table.csv", table);
  for (const char* name : {"board", "board/device.json", "table.csv"}) {
    const MeasuredSource source = read_measured(folder.path() / name, space(), Quantity::latency);
    EXPECT_EQ(source.architectures, from_kit.architectures) << name;
    EXPECT_EQ(source.latency_ms, from_kit.latency_ms) << name;
    EXPECT_FALSE(source.whole_milliseconds) << name << ": three are too few to tell";
    EXPECT_EQ(source.left_out(), 0u) << name;
  }
  EXPECT_EQ(read_measured(folder.path() / "board", space(), Quantity::latency).descriptor.has_latencies(),
            device.descriptor.has_latencies());
}

TEST(MeasuredSource, KeepsWhatATableLeavesOut) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "table.csv",
                     "architecture,latency_ms\n" + space().format(space().at(7)) + ",1.5\nnonsense,2\n");
  const MeasuredSource source = read_measured(folder.path() / "table.csv", space(), Quantity::latency);
  EXPECT_EQ(source.latency_ms, std::vector<double>{1.5});
  EXPECT_EQ(source.left_out(), 1u);
  EXPECT_FALSE(source.whole_milliseconds);
}

TEST(MeasuredSource, RefusesPredictionsAndTablesOfNothing) {
  const TemporaryFolder folder;
  const auto reading = [&](const std::string& text) {
    write_file_quickly(folder.path() / "table.csv", text);
    return message_of([&] { read_measured(folder.path() / "table.csv", space(), Quantity::latency); });
  };
  EXPECT_NE(reading("architecture,latency_ms,lower_ms,upper_ms\n").find("so it holds no measurements, but predictions"),
            std::string::npos);
  EXPECT_THROW(read_measured(folder.path() / "table.csv", space(), Quantity::latency), InputError);
  EXPECT_NE(reading("architecture,latency_ms\nnonsense,2\n"), "");
  EXPECT_NE(reading(""), "");
  EXPECT_EQ(message_of([&] { read_measured(folder.path(), space(), Quantity::latency); }),
            folder.path().string() +
                ": is a folder, and that of neither a kit (manifest.json) nor a device-runtime (device.json); give "
                "one of these");
}

}  // namespace
}  // namespace tenshot::datasets
