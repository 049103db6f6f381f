#include "datasets/pool/validate.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool mentions(const ValidationReport& report, const std::string& fragment) {
  for (const std::string& problem : report.problems) {
    if (problem.find(fragment) != std::string::npos) return true;
  }
  return false;
}

void edit_device(const fs::path& folder, const std::function<void(json&)>& change) {
  json device = json::parse(read_file(folder / "device.json"));
  change(device);
  write_file_atomically(folder / "device.json", device.dump());
}

TEST(Validate, FindsNothingWrongWithASoundPool) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(3, 20, 1));
  const ValidationReport report = validate(folder.path());
  EXPECT_TRUE(report.sound()) << to_text(report);
  EXPECT_EQ(report.devices, 3U);
  EXPECT_EQ(to_text(report), "3 devices read, nothing wrong\n");
}

TEST(Validate, SaysHowManyNetworksWereNeverMeasuredUndisturbed) {
  const TemporaryFolder folder;
  Pool pool = random_pool(2, 20, 1);
  pool.devices[1].environment = R"({"unsettled_architectures": 15})";
  write_pool(folder.path(), pool);
  const ValidationReport report = validate(folder.path());
  EXPECT_TRUE(report.sound()) << "no fault of the pool's";
  const std::string remark = pool.devices[1].id + ": 15 of 20 networks were never measured undisturbed";
  EXPECT_EQ(to_text(report), "2 devices read, nothing wrong\n  note: " + remark + "\n");
  EXPECT_EQ(to_json(report).at("remarks"), json::array({remark}));
  EXPECT_EQ(never_undisturbed(pool.devices[0]), 0u);
}

TEST(Validate, PoolOfAnotherSpaceInsideIsNoDevice) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(2, 20, 1));
  fs::create_directory(folder.path() / "networks");
  EXPECT_FALSE(validate(folder.path()).sound());
  std::ofstream(folder.path() / "networks" / "networks.json") << "{}";
  const ValidationReport report = validate(folder.path());
  EXPECT_TRUE(report.sound()) << to_text(report);
  EXPECT_EQ(report.devices, 2U);
}

TEST(Validate, TakesSimulatedCountersThatSaySo) {
  const TemporaryFolder folder;
  Pool pool = random_pool(2, 20, 1);
  for (DeviceRuntime& device : pool.devices) {
    device.descriptor.source = "callgrind";
    device.descriptor.conditions = {{"runs", "5"}};
  }
  write_pool(folder.path(), pool);
  const ValidationReport sound = validate(folder.path());
  EXPECT_TRUE(sound.sound()) << to_text(sound);
  const fs::path device = folder.path() / pool.devices.front().id;
  edit_device(device, [](json& d) { d["descriptor"].erase("simulated"); });
  EXPECT_TRUE(mentions(validate(folder.path()), "descriptor.simulated has to be true"));
  edit_device(device, [](json& d) {
    d["descriptor"]["source"] = "perf_event";
    d["descriptor"]["simulated"] = true;
  });
  EXPECT_TRUE(mentions(validate(folder.path()), "descriptor.simulated has to be false"));
}

TEST(Validate, CollectsTheFaultsOfEveryDevice) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(8, 20, 1));
  const auto device = [&](int i) { return folder.path() / ("board-" + std::to_string(i)); };
  write_file_atomically(device(0) / "device.json", "{oops");
  fs::remove(device(1) / "latencies.csv");
  fs::rename(device(2), folder.path() / "renamed");
  write_file_atomically(device(3) / "latencies.csv", "architecture,latency_ms\n" + text_of(1) + ",0\n");
  edit_device(device(4), [](json& d) { d["descriptor"]["operators"].erase(3); });
  edit_device(device(5), [](json& d) { d["descriptor"]["operators"][3]["latency_ms"] = -1; });
  edit_device(device(6), [](json& d) {
    d["thread"] = 4;
    d["descriptor"]["operators"][0]["counts"][2] = nullptr;
  });
  edit_device(device(7), [](json& d) { d["id"] = "board-6"; });
  fs::create_directory(folder.path() / "stray");
  fs::create_directory(folder.path() / ".git");

  const ValidationReport report = validate(folder.path());
  EXPECT_TRUE(mentions(report, "board-0/device.json:1: is not valid JSON"));
  EXPECT_TRUE(mentions(report, "board-1/latencies.csv: no such file"));
  EXPECT_TRUE(mentions(report, "id is 'board-2', expected its folder's name 'renamed'"));
  EXPECT_TRUE(mentions(report, "board-3/latencies.csv: has no usable latencies in 1 rows"));
  EXPECT_TRUE(mentions(report, "board-4/device.json: descriptor has 14 operators, 14 of the 15"));
  EXPECT_TRUE(mentions(report, "board-5/device.json: descriptor.operators[3].latency_ms is -1"));
  EXPECT_TRUE(mentions(report, "board-6/device.json: unknown keys 'thread'"));
  EXPECT_TRUE(mentions(report, "counter 'cache-references' has no value for 1 of 15 operators"));
  EXPECT_TRUE(mentions(report, "board-7/device.json: device 'board-6' stands in another folder too"));
  EXPECT_TRUE(mentions(report, "stray/device.json: no such file"));
  EXPECT_FALSE(mentions(report, ".git"));
  EXPECT_EQ(report.problems.size(), 11U) << to_text(report);  // board-7 is also not in its own folder
  EXPECT_EQ(report.findings.counts().at(Problem::zero), 1U);
  EXPECT_EQ(report.devices, 6U);
  EXPECT_EQ(to_json(report)["problems"].size(), 11U);
}

TEST(Validate, WantsAllOperationsInsideANetworkOrNone) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(7, 20, 1));
  const auto device = [&](int i) { return folder.path() / ("board-" + std::to_string(i)); };
  edit_device(device(0), [](json& d) { d["descriptor"].erase("in_network"); });
  edit_device(device(1), [](json& d) { d["descriptor"]["in_network"].erase(3); });
  edit_device(device(2), [](json& d) { d["descriptor"]["in_network"].push_back(d["descriptor"]["in_network"][0]); });
  edit_device(device(3), [](json& d) { d["descriptor"]["in_network"][5]["name"] = "max_pool"; });
  edit_device(device(4), [](json& d) { d["input_shape"] = {3, 64, 64}; });
  edit_device(device(5), [](json& d) { d["input_shape"] = json::array(); });
  edit_device(device(6), [](json& d) { d["input_shape"] = {3, 7, 7}; });
  const ValidationReport report = validate(folder.path());
  const auto has = [](int i, const std::string& what) {
    return "board-" + std::to_string(i) + "/device.json: descriptor has " + what;
  };
  EXPECT_TRUE(mentions(report, has(1, "17 operations inside a network, 17 of the 18 of space 'nasbench201'")));
  EXPECT_TRUE(mentions(report, has(2, "19 operations inside a network, 18 of the 18")));
  EXPECT_TRUE(mentions(report, has(3, "18 operations inside a network, 17 of the 18")));
  EXPECT_TRUE(mentions(report, has(4, "18 operations inside a network, 0 of the 18")));
  EXPECT_TRUE(mentions(report, "board-6/device.json: input_shape: resolution 7"));
  EXPECT_EQ(report.problems.size(), 5U) << to_text(report);
}

TEST(Validate, NeedsAFolderWithDevices) {
  const TemporaryFolder folder;
  EXPECT_TRUE(mentions(validate(folder.path()), "holds no device"));
  EXPECT_THROW(validate(folder.path() / "nowhere"), FileError);
}

}  // namespace
}  // namespace tenshot::datasets
