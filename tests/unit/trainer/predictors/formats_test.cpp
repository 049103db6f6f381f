// Files of every earlier format still load and say what they said: tests/fixtures holds a folder for each version.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/kit/kit_results.h"
#include "datasets/pool/pool.h"
#include "nasbench/support/files.h"
#include "trainer/core/archive.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> versions() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(TENSHOT_SOURCE_DIR) / "tests" / "fixtures")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  return folders;
}

/// The files of a folder whose names end so, without that end.
std::vector<std::string> names_ending(const fs::path& folder, const std::string& end) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool ends = name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
    if (ends) names.push_back(name.substr(0, name.size() - end.size()));
  }
  return names;
}

TEST(EarlierFormats, PredictorsPredictWhatTheyPredicted) {
  for (const fs::path& folder : versions()) {
    const std::vector<std::string> names = names_ending(folder, "-device.tenshot");
    EXPECT_GE(names.size(), 5U);
    for (const std::string& name : names) {
      const auto predictor = load_predictor(folder / (name + "-device.tenshot"));
      const PredictionTable expected = read_predictions(folder / (name + ".csv"), predictor->space());
      ASSERT_EQ(expected.architectures.size(), 5U) << name;
      const Predictions found = predictor->predict(expected.architectures, 0.9);
      const double tolerance = name == "maple-edge" ? 1e-4 : 1e-9;  // networks compute in 32 bits
      for (std::size_t i = 0; i < 5; ++i) {
        const double latency_ms = expected.predictions.latency_ms[i];
        EXPECT_NEAR(found.latency_ms[i], latency_ms, tolerance * latency_ms) << folder << name;
        if (expected.predictions.lower_ms.empty()) continue;
        EXPECT_NEAR(found.lower_ms[i], expected.predictions.lower_ms[i], tolerance * latency_ms) << folder << name;
        EXPECT_NEAR(found.upper_ms[i], expected.predictions.upper_ms[i], tolerance * latency_ms) << folder << name;
      }
    }
  }
}

TEST(EarlierFormats, CheckpointsHoldTheirPoolAndAdapt) {
  for (const fs::path& folder : versions()) {
    for (const std::string& name : names_ending(folder, "-device.tenshot")) {
      const fs::path path = folder / (name + ".tenshot");
      const auto model = load_pool_model(path);
      ASSERT_EQ(model->pool().devices.size(), 3U) << path;
      EXPECT_EQ(datasets::content_hash(model->pool()),
                load_archive(path).card.at("pool").at("content_sha256").get<std::string>())
          << path;
      if (name == "maple-edge") continue;  // trains
      if (name == "forest" && !has_xgboost()) continue;
      AdaptationSet set;
      for (const datasets::Measurement& row : model->pool().devices[1].latencies) {
        if (set.architectures.size() == 6) break;
        set.architectures.push_back(row.architecture);
        set.latency_ms.push_back(2 * row.latency_ms);
      }
      const Predictions found = model->adapt(set, {})->predict(set.architectures, 0.9);
      for (const double latency_ms : found.latency_ms) EXPECT_TRUE(std::isfinite(latency_ms) && latency_ms > 0) << path;
    }
  }
}

TEST(EarlierFormats, DeviceFilesAndKitsAreRead) {
  for (const fs::path& folder : versions()) {
    const datasets::Pool pool = datasets::read_pool(folder / "pool");
    ASSERT_NE(pool.find("slow_cpu"), nullptr);
    EXPECT_EQ(pool.find("slow_cpu")->latencies.size(), 40U);
    ASSERT_NE(pool.find("described"), nullptr);
    EXPECT_FALSE(pool.find("described")->descriptor.operators.empty());
    EXPECT_TRUE(pool.find("described")->descriptor.has_in_network());
    const datasets::KitResults kit = datasets::read_kit_results(folder / "kit");
    const datasets::DeviceRuntime device = datasets::device_of(kit, "board");
    ASSERT_EQ(device.latencies.size(), 3U);
    EXPECT_DOUBLE_EQ(device.latencies[0].latency_ms, pool.find("described")->latencies[0].latency_ms);
  }
}

TEST(EarlierFormats, OperatorsKnownByTheirNamesAreThoseOfTheSpace) {
  for (const fs::path& folder : versions()) {
    const datasets::Pool pool = datasets::read_pool(folder / "described" / "pool");
    ASSERT_EQ(pool.devices.size(), 3U);
    for (const datasets::DeviceRuntime& device : pool.devices) {
      EXPECT_EQ(device.descriptor.operators.size(), 15U);
      for (const datasets::OperatorProfile& profile : device.descriptor.operators) {
        EXPECT_EQ(profile.key,
                  *pool.space->named_operation(profile.name, profile.key.channels(), profile.key.resolution()))
            << profile.name;
      }
      EXPECT_FALSE(device.descriptor.in_network.empty());
      for (const datasets::OperatorProfile& entry : device.descriptor.in_network) {
        EXPECT_NE(entry.key, nasbench::opaque_operator(entry.name, entry.key.channels(), entry.key.resolution()));
      }
      const fs::path file = folder / "described" / "pool" / device.id / "device.json";
      EXPECT_EQ(datasets::to_json(device, *pool.space), nlohmann::json::parse(read_file(file))) << file;
    }
  }
}

TEST(EarlierFormats, DescribedDevicesArePredictedAsTheyWere) {
  for (const fs::path& version : versions()) {
    const fs::path folder = version / "described";
    const datasets::Pool pool = datasets::read_pool(folder / "pool");
    const datasets::DeviceRuntime& device = *pool.find("libtorch-eager_t1_b1");
    AdaptationSet set;
    for (std::size_t i = 0; i < 6; ++i) {
      set.architectures.push_back(device.latencies[i].architecture);
      set.latency_ms.push_back(device.latencies[i].latency_ms);
    }
    set.descriptor = device.descriptor;
    for (const std::string name : {"look-up", "structured"}) {
      const PredictionTable expected = read_predictions(folder / (name + ".csv"), *pool.space);
      ASSERT_EQ(expected.architectures.size(), 5U) << name;
      const auto loaded = load_predictor(folder / (name + "-device.tenshot"));
      const auto adapted = load_pool_model(folder / (name + ".tenshot"))->adapt(set, {});
      for (const Predictor* predictor : {loaded.get(), adapted.get()}) {
        const Predictions found = predictor->predict(expected.architectures, 0.9);
        for (std::size_t i = 0; i < 5; ++i) {
          const double latency_ms = expected.predictions.latency_ms[i];
          EXPECT_NEAR(found.latency_ms[i], latency_ms, 1e-9 * latency_ms) << folder << name;
        }
      }
    }
    EXPECT_EQ(load_pool_model(folder / "maple-edge-plain.tenshot")->descriptor_kind(), "counters");
  }
}

}  // namespace
}  // namespace tenshot::trainer
