#ifdef TENSHOT_ONEDNN

#include "descriptor/onednn/cold_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::Source;

constexpr std::uint64_t seed = 3;

nasbench::ConvolutionOptions window(int kernel, int stride = 1, int groups = 1, bool bias = false) {
  return {nasbench::same_window(kernel, stride), groups, bias};
}

/// Every kind of layer that published classifiers have.
Network all_kinds() {
  NetworkBuilder b;
  Source x = b.input("input", {1, 3, 33, 29});
  x = b.activation("silu", b.batch_norm("norm", b.convolution("stem", x, 24, window(3, 2))), "silu");
  x = b.max_pool("pool", x, {{{3, 3}, {2, 2}, {}, {}}, true});
  const Source wide = b.activation("relu6", b.convolution("wide", x, 40, window(1, 1, 1, true)), "relu6");
  const Source deep = b.activation("swish", b.convolution("deep", wide, 40, window(5, 1, 40)), "hard_swish");
  const Source gate = b.activation("gate", b.global_average_pool("squeeze", deep, true), "hard_sigmoid");
  const Source narrow = b.convolution("narrow", b.multiply("excite", gate, deep), 24, window(1));
  x = b.activation("relu", b.add("residual", narrow, x), "relu");
  const std::vector<Source> halves = b.split("split", x, {10, 14});
  const Source grouped = b.convolution("grouped", halves[1], 14, window(3, 1, 2));
  x = b.shuffle("shuffle", b.concatenate("join", {halves[0], grouped}), 3);
  x = b.average_pool("average", b.batch_norm("alone", x), {{{2, 2}, {2, 2}, {}, {}}});
  x = b.reshape("flatten", x, {1, b.type(x).shape[1] * b.type(x).shape[2] * b.type(x).shape[3]});
  b.output(b.softmax("softmax", b.linear("classify", x, 10)));
  return b.take();
}

/// The convolutions of Winograd's algorithm, of 16 channels and more.
Network wide_convolutions() {
  NetworkBuilder b;
  Source x = b.input("input", {1, 32, 14, 14});
  x = b.activation("relu", b.convolution("one", x, 64, window(3, 1, 1, true)), "relu");
  x = b.convolution("two", x, 32, window(1));
  b.output(b.convolution("three", x, 48, window(3)));
  return b.take();
}

class ColdEngine : public testing::Test {
 protected:
  /// The network in a file, with seeded weights.
  void use(const Network& network) {
    network_ = network;
    write_file_atomically(model, nasbench::onnx_model(network, {seed, "network"}));
    Rng rng(5);
    image.resize(static_cast<std::size_t>(nasbench::element_count(network.inputs[0].type.shape)));
    for (float& value : image) value = static_cast<float>(rng.normal());
    RuntimeOptions options;
    options.weight_seed = seed;
    expected = make_runtime("libtorch-eager")->prepare(network, options)->infer(image);
    cold = cold_network(network);
  }

  /// A plan in which every layer takes its kernel number k, or its last one.
  ColdPlan plan_with(std::size_t k, bool cached, int preparing_cores) const {
    ColdPlan plan;
    plan.model = model.string();
    plan.model_sha256 = sha256_hex(read_file(model));
    plan.network_hash = content_hash(network_);
    plan.machine = cold_machine();
    plan.network = cold;
    plan.preparing_cores = preparing_cores;
    for (std::size_t i = 0; i < cold.layers.size(); ++i) {
      const std::vector<std::string> names = kernel_names(cold, cold.layers[i]);
      const int core = preparing_cores == 0 ? 0 : static_cast<int>(i) % (preparing_cores + 1);
      plan.layers.push_back({names[std::min(k, names.size() - 1)], cached && cold.layers[i].has_weights(), core});
    }
    return plan;
  }

  ColdStart start(const ColdPlan& plan, bool with_weights = true) const {
    write_file_atomically(file, to_text(plan));
    if (with_weights) make_weights(plan, model, weights);
    return run_cold_start(file, {weights, model, image, 2});
  }

  /// Root mean square of the difference from LibTorch's outputs over that of the outputs.
  double error(const std::vector<float>& output) const {
    EXPECT_EQ(output.size(), expected.size());
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference += std::pow(output[i] - expected[i], 2);
      size += std::pow(expected[i], 2);
    }
    return std::sqrt(difference / size);
  }

  std::size_t most_kernels() const {
    std::size_t most = 0;
    for (const ColdLayer& layer : cold.layers) most = std::max(most, kernel_names(cold, layer).size());
    return most;
  }

  static constexpr double tolerance = 1e-4;
  TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "model.onnx", file = folder.path() / "plan.json",
                              weights = folder.path() / "weights";
  std::vector<float> image, expected;
  ColdNetwork cold;
  Network network_;
};

TEST_F(ColdEngine, PreparesLayersOfAnotherCoreRatherThanWaitForThem) {
  use(wide_convolutions());
  ColdPlan plan = plan_with(0, true, 1);
  for (PlannedLayer& layer : plan.layers) layer.core = 1;
  EXPECT_EQ(start(plan).stolen, 0) << "not asked to";
  ColdStartOptions options{weights, model, image};
  options.steal = true;
  ColdStart stealing = run_cold_start(file, options);
  // Where the machine is busy, the second thread may have prepared all before the first one comes to look.
  for (int start = 1; start < 50 && stealing.stolen == 0; ++start) stealing = run_cold_start(file, options);
  EXPECT_GE(stealing.stolen, 1) << "the second thread has just begun with the first layer";
  EXPECT_LE(stealing.stolen, static_cast<int>(plan.layers.size()));
  EXPECT_LT(error(stealing.output), tolerance);
  for (PlannedLayer& layer : plan.layers) layer.core = 0;
  start(plan);
  EXPECT_EQ(run_cold_start(file, options).stolen, 0) << "there is no other core's layer";
}

TEST_F(ColdEngine, ComputesWhatLibTorchDoesWithEveryKernel) {
  for (const Network& network : {all_kinds(), wide_convolutions()}) {
    use(network);
    for (std::size_t k = 0; k < most_kernels(); ++k) {
      const ColdStart result = start(plan_with(k, false, 0));
      EXPECT_LT(error(result.output), tolerance) << "kernel " << k;
      EXPECT_TRUE(result.slow_layers.empty());
    }
  }
}

TEST_F(ColdEngine, ComputesTheSameFromStoredWeightsOnSeveralCores) {
  for (const Network& network : {all_kinds(), wide_convolutions()}) {
    use(network);
    for (std::size_t k = 0; k < most_kernels(); ++k) {
      const ColdStart result = start(plan_with(k, true, 2));
      EXPECT_LT(error(result.output), tolerance) << "kernel " << k;
      EXPECT_TRUE(result.slow_layers.empty());
    }
  }
}

TEST_F(ColdEngine, OffersMatrixProductsOfTheFilesLayout) {
  use(wide_convolutions());
  const std::vector<std::string> names = kernel_names(cold, cold.layers[0]);
  const auto has = [&](const char* part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(part) != std::string::npos; });
  };
  EXPECT_GE(names.size(), 3U);
  EXPECT_TRUE(has("gemm"));
  EXPECT_TRUE(has(":avx2"));  // all implementations are looked at, not the first alone
  EXPECT_TRUE(has("nchw"));
}

TEST_F(ColdEngine, GoesTheSlowWayWithoutStoredWeights) {
  use(all_kinds());
  const ColdStart result = start(plan_with(0, true, 1), false);
  EXPECT_LT(error(result.output), tolerance);
  EXPECT_FALSE(result.slow_layers.empty());
}

TEST_F(ColdEngine, NoticesADamagedCacheAndMakesItAgain) {
  use(wide_convolutions());
  const ColdPlan plan = plan_with(0, true, 1);
  start(plan);
  {
    std::fstream damaged(weight_file(weights), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(5000);
    damaged << "damaged";
  }
  const ColdStart result = start(plan, false);
  EXPECT_EQ(result.slow_layers, std::vector<std::string>{"one"});
  EXPECT_LT(error(result.output), tolerance);
  EXPECT_TRUE(make_weights(plan, model, weights));
  EXPECT_FALSE(make_weights(plan, model, weights));
  EXPECT_TRUE(start(plan, false).slow_layers.empty());
}

TEST_F(ColdEngine, RemakesTheCacheOfAnotherPlan) {
  use(wide_convolutions());
  start(plan_with(0, true, 1));
  const ColdPlan other = plan_with(1, true, 1);
  EXPECT_NE(missing_weights(other, weights).find("another network or plan"), std::string::npos);
  EXPECT_TRUE(make_weights(other, model, weights));
  EXPECT_EQ(missing_weights(other, weights), "");
}

/// Every layer changes from its kernel number 1 to its number 0, or keeps the one that it has.
ColdPlan with_switches(ColdPlan plan, bool cached) {
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const std::string kernel = kernel_names(plan.network, plan.network.layers[i])[0];
    if (kernel != plan.layers[i].kernel) plan.switches.push_back({static_cast<int>(i), kernel, cached});
  }
  return plan;
}

TEST_F(ColdEngine, RunsComputeTheSameBeforeDuringAndAfterTheSwitch) {
  for (const Network& network : {all_kinds(), wide_convolutions()}) {
    use(network);
    for (const int preparing_cores : {0, 1, 2}) {
      for (const bool cached : {false, true}) {
        const ColdPlan plan = with_switches(plan_with(1, cached, preparing_cores), !cached);
        ASSERT_GE(plan.switches.size(), 3U);
        write_file_atomically(file, to_text(plan));
        make_weights(plan, model, weights);
        const ColdStart few = run_cold_start(file, {weights, model, image, 1, 4});
        EXPECT_EQ(few.unswitched, "");
        EXPECT_TRUE(few.slow_layers.empty());
        EXPECT_LT(error(few.output), tolerance);
        EXPECT_LT(error(few.last_output), tolerance);
        ASSERT_EQ(few.runs.size(), 4U);
        EXPECT_EQ(few.runs[0].switched, 0);
        for (std::size_t run = 1; run < few.runs.size(); ++run) {
          EXPECT_GE(few.runs[run].switched, few.runs[run - 1].switched);
          EXPECT_GT(few.runs[run].ms, 0);
        }
      }
    }
  }
}

TEST_F(ColdEngine, EveryLayerIsSwitchedAfterAWhile) {
  use(wide_convolutions());
  const ColdPlan plan = with_switches(plan_with(1, true, 1), true);
  write_file_atomically(file, to_text(plan));
  make_weights(plan, model, weights);
  constexpr int many = 2000;  // some hundred milliseconds: a switch takes one
  const ColdStart result = run_cold_start(file, {weights, model, image, 0, many});
  EXPECT_EQ(result.runs.back().switched, static_cast<int>(plan.switches.size()));
  EXPECT_LT(error(result.last_output), tolerance);
}

TEST_F(ColdEngine, KeepsItsKernelsWhereALaterOneCannotBePrepared) {
  use(wide_convolutions());
  ColdPlan plan = plan_with(1, true, 1);
  plan.switches = {{0, "jit:none nhwc", false}};
  write_file_atomically(file, to_text(plan));
  make_weights(plan, model, weights);
  const ColdStart result = run_cold_start(file, {weights, model, image, 1, 3});
  EXPECT_NE(result.unswitched.find("layer 'one'"), std::string::npos) << result.unswitched;
  EXPECT_EQ(result.runs.back().switched, 0);
  EXPECT_LT(error(result.last_output), tolerance);
}

TEST_F(ColdEngine, ASwitchSharesTheRawWeightsOfItsLayer) {
  use(wide_convolutions());
  const ColdPlan plan = with_switches(plan_with(1, false, 1), false);
  make_weights(plan_with(1, false, 1), model, weights);
  const auto alone = std::filesystem::file_size(weight_file(weights));
  make_weights(plan, model, weights);
  EXPECT_LE(std::filesystem::file_size(weight_file(weights)), alone + 4096);
}

TEST_F(ColdEngine, RefusesAPlanOfAnotherMachineAndAnotherModel) {
  use(wide_convolutions());
  ColdPlan plan = plan_with(0, false, 0);
  plan.machine = "a board";
  EXPECT_THROW(start(plan), InputError);
  plan = plan_with(0, false, 0);
  plan.model_sha256 = std::string(64, '0');
  EXPECT_THROW(make_weights(plan, model, folder.path() / "other"), FormatError);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "other"));
}

TEST_F(ColdEngine, TheSlowWayRefusesAModelThatHasChanged) {
  use(wide_convolutions());
  const ColdPlan plan = plan_with(0, true, 1);
  std::string other = read_file(model);
  other.back() = static_cast<char>(other.back() ^ 1);
  write_file_atomically(model, other);
  try {
    start(plan, false);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("has changed since"), std::string::npos) << error.what();
  }
}

TEST_F(ColdEngine, MeasuringRefusesAModelThatChangesMeanwhile) {
  use(wide_convolutions());
  ColdMeasureOptions options;
  options.repetitions = 1;
  options.scratch = folder.path();
  options.progress = [this](std::size_t done, std::size_t) {
    if (done == 1) std::ofstream(model, std::ios::app) << "x";
  };
  try {
    measure_cold_stages(model, options);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("changed while it was read"), std::string::npos) << error.what();
  }
}

TEST_F(ColdEngine, RefusesAKernelThatIsNotThere) {
  use(wide_convolutions());
  ColdPlan plan = plan_with(0, false, 1);
  plan.layers[0].kernel = "jit:none nhwc";
  try {
    start(plan);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("layer 'one'"), std::string::npos) << error.what();
  }
}

TEST_F(ColdEngine, MeasuresEveryStageOfEveryKernel) {
  use(wide_convolutions());
  ColdMeasureOptions options;
  options.repetitions = 1;
  options.scratch = folder.path();
  const ColdStages stages = measure_cold_stages(model, options);
  ASSERT_EQ(stages.layers.size(), 3U);
  EXPECT_EQ(stages.network_hash, content_hash(network_));
  for (const LayerStages& layer : stages.layers) {
    EXPECT_GT(layer.read_raw_ms, 0);
    EXPECT_GE(layer.kernels.size(), 2U);
    for (const KernelStages& kernel : layer.kernels) {
      EXPECT_GT(kernel.create_ms, 0) << kernel.name;
      EXPECT_GT(kernel.execute_ms, 0) << kernel.name;
      EXPECT_EQ(kernel.transforms, kernel.read_cached_ms > 0) << kernel.name;
      EXPECT_EQ(kernel.transforms, kernel.transform_ms > 0) << kernel.name;
    }
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1U) << "only the model is left";
}

TEST_F(ColdEngine, ComputesPublishedClassifiers) {
  const char* exports = std::getenv("TENSHOT_EXPORTS");
  if (exports == nullptr) GTEST_SKIP() << "TENSHOT_EXPORTS names the folder that tests/run.sh exports networks to";
  for (const char* name : {"squeezenet1_0", "mobilenet_v2", "shufflenet_v2_x1_0", "efficientnet_b0", "resnet18"}) {
    use(nasbench::read_onnx(std::filesystem::path(exports) / (std::string(name) + ".onnx")));
    EXPECT_LT(error(start(plan_with(0, true, 1)).output), tolerance) << name;
  }
}

}  // namespace
}  // namespace tenshot::descriptor

#endif
