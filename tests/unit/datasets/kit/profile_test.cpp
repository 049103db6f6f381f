#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/kit/profile_matching.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

// The fixtures were written by hand after the tools' documentation and sources (tests/kit/fixtures/README.md).
std::vector<LayerTime> layers_of(const std::string& fixture) {
  return layer_times(read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/kit/fixtures" / fixture), fixture);
}

TEST(LayerTimes, OfTrtexecAreMediansOrAverages) {
  const std::vector<LayerTime> layers = layers_of("profile.trtexec.json");
  ASSERT_EQ(layers.size(), 5u);
  EXPECT_EQ(layers[1].name, "conv1 + relu1");
  EXPECT_EQ(layers[1].ms, 0.0225);
  EXPECT_EQ(layers_of("profile.trtexec_8_2.json").at(0).ms, 0.0228);
}

TEST(LayerTimes, OfOnnxRuntimeAreMediansOfKernelsWithoutTheFirstRun) {
  const std::vector<LayerTime> layers = layers_of("profile.onnxruntime.json");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "fused conv1");
  EXPECT_EQ(layers[0].kind, "FusedConv");
  EXPECT_NEAR(layers[0].ms, 0.6, 1e-12) << "of 500 and 700 µs";
  EXPECT_NEAR(layers[1].ms, 0.02, 1e-12);
}

TEST(LayerTimes, OfBenchmarkModelAreThoseOfTheRuns) {
  const std::vector<LayerTime> layers = layers_of("profile.benchmark_model.txt");
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].kind, "CONV_2D");
  EXPECT_EQ(layers[0].ms, 4.163);
  EXPECT_EQ(layers[1].name, "[model/conv2/depthwise]:1");
}

TEST(LayerTimes, OfBenchmarkAppAreWhatWasExecuted) {
  const std::vector<LayerTime> layers = layers_of("profile.benchmark_app.csv");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "conv1");
  EXPECT_NEAR(layers[0].ms, 0.39, 1e-12) << "the median of two requests";
  EXPECT_EQ(layers[1].kind, "FullyConnected");
}

TEST(LayerTimes, OfBenchmarkModelTakeWhatADelegateExecutedForTheDelegate) {
  const std::vector<LayerTime> layers = layers_of("profile.benchmark_model_delegate.txt");
  ASSERT_EQ(layers.size(), 3u) << "the subgraph's operators are a part of WHILE";
  EXPECT_EQ(layers[0].kind, "WHILE");
  EXPECT_EQ(layers[1].kind, "Convolution (NHWC, F32) IGEMM");
  EXPECT_EQ(layers[1].ms, 0.44);
  EXPECT_EQ(layers[2].ms, 0.26);
  const std::vector<LayerTime> later = layers_of("profile.benchmark_model_xnnpack.txt");
  ASSERT_EQ(later.size(), 4u);
  EXPECT_EQ(later[1].kind, "Convolution (NHWC, F32) DWConv");
  EXPECT_EQ(later[2].ms, 0.022) << "it was called twice in each run";
}

TEST(LayerTimes, OfBenchmarkModelPassOverWhatStandsBetweenRowsAndMissNone) {
  std::string text =
      read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/kit/fixtures/profile.benchmark_model.txt");
  const std::size_t second = text.find("\t       DEPTHWISE_CONV_2D");
  text.insert(second, "WARNING: a line of another stream\n\n");
  EXPECT_EQ(layer_times(text, "profile").size(), 3u);
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(layer_times(windows, "profile").size(), 3u);
  text.erase(second, text.find("\t         FULLY_CONNECTED", second) - second);
  const std::string message = message_of([&] { layer_times(text, "profile"); });
  EXPECT_EQ(message, "profile: has 2 rows, and says 'Number of nodes executed: 3'; it is cut");
}

TEST(LayerTimes, OfBenchmarkModelDoNotCallADelegateByItsLastOperator) {
  const std::vector<LayerTime> layers = layer_times(
      "=== Run Order ===\n[node type]\t[first]\t[avg ms]\t[times called]\t[Name]\n"
      "CONV_2D\t1.0\t2.0\t1\t[conv1]:0\nTfLiteGpuDelegateV2\t1.0\t3.0\t1\t[fc]:31\n=== Top ===\n",
      "profile");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "[conv1]:0");
  EXPECT_EQ(layers[1].name, "TfLiteGpuDelegateV2");
  EXPECT_EQ(layers[1].ms, 3) << "a part of the time, and of no known operator";
}

TEST(LayerTimes, OfBenchmarkAppInPythonAndAsJson) {
  const std::vector<LayerTime> layers = layers_of("profile.benchmark_app_python.csv");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "model/relu1;model/conv1");
  EXPECT_EQ(layers[0].ms, 0.385);
  const std::vector<LayerTime> json = layers_of("profile.benchmark_app.json");
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].kind, "Convolution");
  EXPECT_NEAR(json[0].ms, 0.39, 1e-12) << "a number and a text";
}

TEST(LayerTimes, OfBenchmarkAppAddUpToTheTotalThatItSays) {
  for (const char* name : {"profile.benchmark_app.csv", "profile.benchmark_app_python.csv"}) {
    std::string text = read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/kit/fixtures" / name);
    const std::size_t row = text.find("fc/");
    text.erase(row, text.find('\n', row) + 1 - row);
    const std::string message = message_of([&] { layer_times(text, name); });
    EXPECT_NE(message.find(": line 5 says a total of 0.426 ms, and its layers add up to 0.385"), std::string::npos)
        << message;
  }
  const std::string json =
      R"({"avg_performance": {"nodes": [{"name": "conv", "status": "EXECUTED", "real_time": 2}], "total_real_time": )";
  EXPECT_EQ(layer_times(json + "\"2.001\"}}", "profile").size(), 1u);
  EXPECT_THROW(layer_times(json + "3}}", "profile"), FormatError);
  const std::vector<LayerTime> layers = layer_times(
      "layerName;execStatus;layerType;execType;realTime (ms)\nTotal;EXECUTED;Add;jit;3\nTotal;;;;3\n", "profile");
  ASSERT_EQ(layers.size(), 1u) << "a layer may be called as the sum is";
  EXPECT_EQ(layers[0].kind, "Add");
}

TEST(LayerTimes, DamagedOnesAreNamedAndNeverCrash) {
  for (const char* text :
       {"", "[]", "{}", "[1, 2]", "[{\"name\": \"conv\"}]", "[{\"name\": \"conv\", \"averageMs\": -1}]",
        "[{\"cat\": \"Node\", \"name\": \"c_kernel_time\"}]", "[{\"cat\": \"Session\", \"name\": \"model_run\"}]",
        "layerName;execStatus;layerType;execType;realTime (ms)\nconv;EXECUTED;Convolution;jit;fast\n",
        "layerName;execStatus;layerType;execType;realTime (ms)\n", "=== Run Order ===\n", "hello",
        "{\"detailed_performance\": 3}", "{\"avg_performance\": {\"nodes\": [3]}}",
        "{\"avg_performance\": {\"nodes\": [{\"name\": \"conv\", \"status\": \"EXECUTED\"}]}}"}) {
    EXPECT_THROW(layer_times(text, "profile"), FormatError) << text;
  }
  for (const char* name :
       {"profile.benchmark_model.txt", "profile.benchmark_model_delegate.txt", "profile.benchmark_app_python.csv",
        "profile.benchmark_app.json", "profile.trtexec_10.json"}) {
    const std::string whole = read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/kit/fixtures" / name);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      try {
        layer_times(whole.substr(0, size), "cut");
      } catch (const FormatError&) {
      }
    }
  }
}

/// conv1, relu1, conv2a and conv2b of it, sigmoid and mul of the sum, pool, fc.
nasbench::Network small_network() {
  nasbench::NetworkBuilder b;
  const nasbench::Source x = b.input("input", {1, 3, 16, 16});
  const nasbench::ConvolutionOptions same = {nasbench::same_window(3), 1, false};
  const nasbench::Source relu = b.activation("relu1", b.convolution("conv1", x, 8, same), "relu");
  const nasbench::Source first = b.convolution("conv2a", relu, 8, same);
  const nasbench::Source sum = b.add("sum", first, b.convolution("conv2b", relu, 8, same));
  const nasbench::Source gated = b.multiply("mul", b.activation("sigmoid", sum, "sigmoid"), relu);
  b.output(b.linear("fc", b.global_average_pool("pool", gated), 10));
  return b.take();
}

int node(const nasbench::Network& network, const std::string& name) {
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    if (network.nodes[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << name;
  return 0;
}

std::unordered_map<std::string, int> own_names(const nasbench::Network& network) {
  std::unordered_map<std::string, int> names;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) names.emplace(network.nodes[i].name, static_cast<int>(i));
  return names;
}

TEST(ProfileMatching, TakesAFusedLayersTimeToItsLargestOperator) {
  const nasbench::Network network = small_network();
  const MatchedProfile matched = match_profile(layers_of("profile.trtexec.json"), network, own_names(network));
  EXPECT_EQ(matched.layers, 5u);
  EXPECT_EQ(matched.matched, 4u) << "the copy is no operator";
  EXPECT_NEAR(matched.ms - matched.matched_ms, 0.0075, 1e-12);
  const auto ms = [&](const char* name) { return matched.node_ms[static_cast<std::size_t>(node(network, name))]; };
  EXPECT_EQ(ms("conv1"), 0.0225);
  EXPECT_EQ(ms("relu1"), 0.0) << "conv1 executes it";
  EXPECT_EQ(ms("conv2a").value() + ms("conv2b").value(), 0.02);
  EXPECT_EQ(ms("sigmoid").value() + ms("mul").value(), 0.0069);
  EXPECT_EQ(ms("fc"), 0.041) << "of all from pool to fc";
  EXPECT_EQ(ms("pool"), 0.0);
  EXPECT_FALSE(ms("sum")) << "no layer names it";
}

TEST(ProfileMatching, KnowsTheLayersThatTensorRtsCompilerMakes) {
  const nasbench::Network network = small_network();
  const MatchedProfile matched = match_profile(layers_of("profile.trtexec_10.json"), network, own_names(network));
  EXPECT_EQ(matched.matched, 3u) << "a copy and two that have no node's name are left";
  const auto ms = [&](const char* name) { return matched.node_ms[static_cast<std::size_t>(node(network, name))]; };
  EXPECT_EQ(ms("conv1"), 0.0248);
  EXPECT_EQ(ms("conv2a"), 0.0208);
  EXPECT_EQ(ms("conv2b"), 0.0219);
}

TEST(ProfileMatching, GoesByOrderThroughWhatXnnpackCallsOperators) {
  const nasbench::Network network = small_network();
  const MatchedProfile matched =
      match_profile({{"Delegate/Convolution (NHWC, F32) IGEMM:0", "Convolution (NHWC, F32) IGEMM", 1},
                     {"Delegate/Convolution (NHWC, F32) IGEMM:1", "Convolution (NHWC, F32) IGEMM", 2},
                     {"Delegate/Convolution (NHWC, F32) GEMM:2", "Convolution (NHWC, F32) GEMM", 3},
                     {"Delegate/Fully Connected (NC, F32) GEMM:3", "Fully Connected (NC, F32) GEMM", 4}},
                    network, own_names(network));
  EXPECT_EQ(matched.matched, 4u);
  EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "conv2b"))], 3.0);
  EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "fc"))], 4.0);
}

TEST(ProfileMatching, GoesByOrderWhereThereAreNoNames) {
  const nasbench::Network network = small_network();
  std::vector<LayerTime> layers;
  for (const double ms : {1.0, 2.0, 3.0}) layers.push_back({"[StatefulPartitionedCall]:0", "CONV_2D", ms});
  layers.push_back({"[StatefulPartitionedCall:0]:9", "FULLY_CONNECTED", 4});
  layers.push_back({"[x]:3", "SOFTMAX", 5});
  layers.push_back({"[y]:4", "MEAN", 6});
  const MatchedProfile matched = match_profile(layers, network, own_names(network));
  EXPECT_EQ(matched.matched, 5u) << "there is no softmax";
  EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "pool"))], 6.0);
  EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "conv2b"))], 3.0);
  EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "fc"))], 4.0);
  layers.erase(layers.begin());
  EXPECT_EQ(match_profile(layers, network, own_names(network)).matched, 2u) << "two for three could be any";
}

TEST(ProfileMatching, KnowsWhatRuntimesPutAroundNames) {
  const nasbench::Network network = small_network();
  for (const char* name :
       {"conv1", "fused conv1", "node_of_conv1", "conv1_nchwc", "conv1:0", "conv1;relu1", "conv1/MatMulAddFusion",
        "conv1/LayerNormFusion/", "[conv1;relu1]:0", "[relu1;conv1]:17", "[conv1]:4", "PWN(relu1) + conv1"}) {
    const MatchedProfile matched = match_profile({{name, "", 7}}, network, own_names(network));
    EXPECT_EQ(matched.node_ms[static_cast<std::size_t>(node(network, "conv1"))], 7.0) << name;
  }
  EXPECT_EQ(match_profile({{"conv9", "", 7}}, network, own_names(network)).matched, 0u);
  EXPECT_EQ(match_profile({{"Reformatting CopyNode for Output Tensor 0 to conv1", "", 7}}, network, own_names(network))
                .matched,
            0u);
}

TEST(ProfileMatching, FindsTheConvolutionThatIsCalledByItsActivation) {
  const nasbench::Network network = small_network();
  const MatchedProfile matched =
      match_profile({{"relu1_nchwc", "Conv", 7}, {"sum_nchwc", "FusedConv", 5}}, network, own_names(network));
  const auto ms = [&](const char* name) { return matched.node_ms[static_cast<std::size_t>(node(network, name))]; };
  EXPECT_EQ(ms("conv1"), 7.0);
  EXPECT_EQ(ms("relu1"), 0.0);
  EXPECT_EQ(ms("conv2b"), 5.0) << "of the two summands, the later";
  EXPECT_FALSE(ms("conv2a"));
  EXPECT_EQ(match_profile({{"sigmoid", "Sigmoid", 3}}, network, own_names(network))
                .node_ms[static_cast<std::size_t>(node(network, "sigmoid"))],
            3.0);
}

TEST(ProfileMatching, LeavesALayerThatIsOfAnotherKindThanTheOperatorOfItsName) {
  const nasbench::Network network = small_network();
  EXPECT_EQ(match_profile({{"fc", "Gemm", 7}, {"conv1", "Conv", 7}, {"pool", "Gemm", 7}}, network, own_names(network))
                .matched,
            2u)
      << "a pool is no product";
}

TEST(ProfileMatching, GivesOneRowForEqualOperators) {
  const nasbench::Network network = small_network();
  const MatchedProfile matched = match_profile(
      {{"conv1", "", 9}, {"conv2a", "", 1}, {"conv2b", "", 3}, {"relu1", "", 0}}, network, own_names(network));
  const std::vector<KernelRow> rows = operator_rows(matched, network, "net");
  ASSERT_EQ(rows.size(), 3u);
  std::size_t refused = 0;
  for (const KernelRow& row : rows) {
    EXPECT_EQ(row.isolation, profiled_isolation);
    EXPECT_EQ(row.purpose, "net");
    if (!row.refused.empty()) {
      ++refused;
    } else if (row.leading.inputs.front()[1] == 3) {
      EXPECT_EQ(row.latency_ms, 9);
    } else {
      EXPECT_EQ(row.latency_ms, 2) << "the median of conv2a and conv2b";
    }
  }
  EXPECT_EQ(refused, 1u) << "relu1 took no time of its own";
  EXPECT_EQ(parse_kernel_table(kernel_table(rows), "operators.csv").size(), 3u);
}

TEST(OperatorsByName, KnowTheFilesNodesAndTheirOutputs) {
  const TemporaryFolder folder;
  const nasbench::Network network = small_network();
  write_file_quickly(folder.path() / "net.onnx", nasbench::onnx_model(network, {1, "net"}));
  const nasbench::Network read = nasbench::read_onnx(folder.path() / "net.onnx");
  const auto names = nasbench::operators_by_name(folder.path() / "net.onnx", read);
  for (const nasbench::NetworkNode& one : read.nodes) EXPECT_EQ(names.count(one.name), 1u) << one.name;
  EXPECT_EQ(names.at("conv2b"), node(read, "conv2b"));
}

}  // namespace
}  // namespace tenshot::datasets
