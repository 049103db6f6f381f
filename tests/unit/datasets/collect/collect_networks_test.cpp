#include <gtest/gtest.h>

#include <algorithm>

#include "datasets/operators/kernel_table.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/collect/collect_fixture.h"

namespace tenshot::datasets {
namespace {

/// A convolution of `channels` and an activation.
nasbench::Network small_network(int channels, const std::string& activation) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 3, 16, 16});
  const nasbench::Source x = builder.convolution("conv", image, channels, {nasbench::same_window(3), 1, true});
  builder.output(builder.activation("act", x, activation));
  return builder.take();
}

/// Refuses sigmoids at once, and fails to prepare hard-swish.
class PickyRuntime final : public descriptor::Runtime {
 public:
  std::string_view name() const override { return "picky"; }
  std::string_view precision() const override { return "fp32"; }
  double tolerance() const override { return 0; }
  bool follows_instruction_set() const override { return false; }
  std::string version() const override { return "picky 1"; }
  void require_supported(const nasbench::Network& network, const descriptor::RuntimeOptions&) const override {
    if (has(network, "sigmoid")) throw InputError("node 'act' (activation sigmoid): picky cannot run it");
  }
  int prepared() const { return prepared_; }

 protected:
  std::unique_ptr<descriptor::PreparedNetwork> prepare(const nasbench::Network& network,
                                                       const descriptor::RuntimeOptions& options) const override {
    if (has(network, "hard_swish")) throw Error("picky cannot compile hard_swish\nfor reasons of its own");
    ++prepared_;
    return eager_->prepare(network, options);
  }

 private:
  static bool has(const nasbench::Network& network, const std::string& function) {
    return std::any_of(network.nodes.begin(), network.nodes.end(),
                       [&](const auto& node) { return node.operation.name == function; });
  }

  std::unique_ptr<descriptor::Runtime> eager_ = descriptor::make_runtime("libtorch-eager");
  mutable int prepared_ = 0;
};

class CollectNetworks : public testing::Test {
 protected:
  CollectNetworks() {
    const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / (std::string("tenshot_collect_networks_") + info.name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "models");
    options_.folder = folder_ / "pool";
    options_.timing.warmup_runs = 1;
    options_.timing.warmup_ms = 0;
    options_.timing.minimum_runs = options_.timing.maximum_runs = 6;
    options_.timing.rounds = 2;
    options_.batch_size = 3;
    options_.attempts = 1;
    options_.sentinel_tolerance = 10;
    options_.id = "device";
    options_.watch_contention = nullptr;  // other tests run beside this one
  }
  ~CollectNetworks() override { std::filesystem::remove_all(folder_); }

  /// Names are the test's own: networks are known to the whole process.
  std::string name(const std::string& network) const {
    return std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "-" + network;
  }
  void add(const std::string& network, int channels, const std::string& activation = "relu") {
    const std::filesystem::path file = folder_ / "models" / (name(network) + ".onnx");
    write_file_atomically(file, nasbench::onnx_model(small_network(channels, activation), {}));
  }
  void read() { options_.architectures = read_networks(folder_ / "models"); }
  DeviceRuntime measure(const descriptor::Runtime& runtime) const {
    return collect(options_, nasbench::networks(), runtime);
  }
  nlohmann::json environment() const {
    return nlohmann::json::parse(read_device(options_.folder / options_.id).device.environment);
  }

  std::filesystem::path folder_;
  CollectOptions options_;
};

TEST_F(CollectNetworks, MeasuresOnnxFilesOnARealRuntime) {
  add("a", 4);
  add("b", 8);
  read();
  options_.runtime = "libtorch-frozen";
  const DeviceRuntime device = collect(options_, nasbench::networks());
  ASSERT_EQ(device.latencies.size(), 2U);
  for (const Measurement& row : device.latencies) EXPECT_GT(row.latency_ms, 0);
  EXPECT_TRUE(device.input_shape.empty()) << "networks by name have a shape each";
  EXPECT_TRUE(std::filesystem::exists(options_.folder / "networks.json"));
  const Pool pool = read_pool(options_.folder);
  EXPECT_EQ(pool.space, &nasbench::networks());
  EXPECT_EQ(pool.devices.front().latencies.size(), 2U);
}

TEST_F(CollectNetworks, TheSentinelIsTheSameWhicheverNetworksAreMeasured) {
  add("a", 4);
  read();
  measure(PickyRuntime());
  const std::string sentinel = environment()["sentinel"]["architecture"];
  EXPECT_EQ(sentinel.rfind("nasbench201 |nor_conv_1x1~0|", 0), 0U) << sentinel;
  add("b", 8);
  read();
  EXPECT_EQ(measure(PickyRuntime()).latencies.size(), 2U);
  EXPECT_EQ(environment()["sentinel"]["architecture"], sentinel);
}

TEST_F(CollectNetworks, GoingOnLeavesWhatWasMeasuredOfOperatorsAsItIs) {
  add("a", 4);
  read();
  measure(PickyRuntime());
  KernelRow timed, joined;
  timed.kernel = joined.kernel = "relu";
  timed.leading = joined.leading = small_network(4, "relu").nodes.back().operation;
  timed.isolation = joined.isolation = profiled_isolation;
  timed.purpose = name("a");
  timed.latency_ms = 0.5;
  timed.deviation_ms = 0.01;
  joined.refused = "another operator executes it";
  const std::filesystem::path file = options_.folder / options_.id / "operators.csv";
  write_file_atomically(file, kernel_table({timed, joined}));
  const std::string before = read_file(file);
  EXPECT_EQ(read_device(file.parent_path()).device.operator_latencies.size(), 1U);
  add("b", 8);
  read();
  measure(PickyRuntime());
  EXPECT_EQ(read_file(file), before);
}

TEST_F(CollectNetworks, WhatTheRuntimeCannotRunIsNamedAndLeftOut) {
  add("a", 4);
  add("b", 4, "sigmoid");
  add("c", 4, "hard_swish");
  add("d", 8);
  read();
  const DeviceRuntime device = measure(PickyRuntime());
  ASSERT_EQ(device.latencies.size(), 2U);
  EXPECT_EQ(nasbench::networks().format(device.latencies.back().architecture), name("d"));
  const nlohmann::json left_out = environment()["left_out"];
  ASSERT_EQ(left_out.size(), 2U);
  EXPECT_EQ(left_out[0]["architecture"], name("b"));
  EXPECT_EQ(left_out[0]["reason"], "node 'act' (activation sigmoid): picky cannot run it");
  EXPECT_EQ(left_out[1]["architecture"], name("c"));
  EXPECT_EQ(left_out[1]["reason"], "picky cannot compile hard_swish") << "one line";
  EXPECT_EQ(environment()["complete"], true);
  const PickyRuntime again;
  EXPECT_EQ(measure(again).latencies.size(), 2U);
  EXPECT_EQ(again.prepared(), 0) << "a call that has nothing left to do tries nothing again";
}

TEST_F(CollectNetworks, NothingIsWrittenWhereTheRuntimeCanRunNone) {
  add("a", 4, "sigmoid");
  add("b", 8, "sigmoid");
  read();
  try {
    measure(PickyRuntime());
    ADD_FAILURE() << "did not throw";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("none of the 2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(name("a")), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(options_.folder / "device"));
}

TEST_F(CollectNetworks, RefusesAnotherBatchAndAFileThatChanged) {
  add("a", 4);
  read();
  const Architecture& identity = options_.architectures.front();
  EXPECT_EQ(nasbench::networks().computation(identity, {}, 1).nodes.size(), 2U);
  EXPECT_THROW(nasbench::networks().computation(identity, {}, 8), InputError);
  add("a", 8);
  EXPECT_THROW(nasbench::networks().computation(identity, {}, 1), InputError);
}

}  // namespace
}  // namespace tenshot::datasets
