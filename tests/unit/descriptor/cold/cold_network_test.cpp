#include "descriptor/cold/cold_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

using nasbench::NetworkBuilder;
using nasbench::Source;

/// Convolution, batch norm and ReLU; a sum with what came in; a batch norm alone; a linear layer.
nasbench::Network small_network() {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 4, 6, 6});
  const Source conv = builder.convolution("conv", image, 4, {nasbench::same_window(3), 1, true});
  const Source active = builder.activation("relu", builder.batch_norm("norm", conv), "relu");
  const Source sum = builder.add("sum", active, image);
  const Source alone = builder.batch_norm("alone", builder.activation("tanh", sum, "tanh"));
  builder.output(builder.linear("linear", builder.global_average_pool("pool", alone), 3));
  return builder.take();
}

TEST(ColdNetwork, TakesNormsAndActivationsIntoTheLayerBeforeThem) {
  const ColdNetwork network = cold_network(small_network());
  ASSERT_EQ(network.layers.size(), 5U);
  EXPECT_EQ(network.layers[0].norms_of, std::vector<std::string>{"norm"});
  EXPECT_EQ(network.layers[0].activation.name, "relu");
  EXPECT_EQ(network.layers[1].kind, ColdKind::add);
  EXPECT_EQ(network.layers[1].activation.name, "tanh");
  EXPECT_EQ(network.layers[2].kind, ColdKind::convolution);
  EXPECT_EQ(network.layers[2].groups, 4);
  EXPECT_TRUE(network.layers[2].weights_of.empty());
  EXPECT_EQ(network.layers[3].kind, ColdKind::average_pool);
  EXPECT_EQ(network.layers[4].kind, ColdKind::linear);
}

TEST(ColdNetwork, KeepsAnActivationApartWhereItsInputIsReadTwice) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 4, 6, 6});
  const Source conv = builder.convolution("conv", image, 4, {nasbench::same_window(3)});
  builder.output(builder.add("sum", builder.activation("relu", conv, "relu"), conv));
  const ColdNetwork network = cold_network(builder.take());
  ASSERT_EQ(network.layers.size(), 3U);
  EXPECT_TRUE(network.layers[0].activation.name.empty());
  EXPECT_EQ(network.layers[1].kind, ColdKind::activation);
}

TEST(ColdNetwork, IsTheSameAfterWritingAndReading) {
  const ColdNetwork network = cold_network(small_network());
  const nlohmann::json json = to_json(network);
  EXPECT_EQ(to_json(cold_network_from(json, "file")), json);
}

TEST(ColdNetwork, RefusesTensorsThatAreNotThere) {
  nlohmann::json json = to_json(cold_network(small_network()));
  json["layers"][1]["inputs"][0] = 99;
  try {
    cold_network_from(json, "plan.json");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("network.layers[1].inputs"), std::string::npos) << error.what();
  }
}

TEST(ColdNetwork, NamesANodeThatItHasNoKernelFor) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 4, 6});
  builder.output(builder.layer_norm("norm", image));
  try {
    cold_network(builder.take());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("node 'norm' (layer_norm)"), std::string::npos) << error.what();
  }
}

TEST(FoldedWeights, ScaleAndShiftEveryOutputChannel) {
  const TemporaryFolder folder;
  const nasbench::Network network = small_network();
  write_file_atomically(folder.path() / "model.onnx", nasbench::onnx_model(network, {7, "small"}));
  const ColdNetwork cold = cold_network(network);
  const FoldedWeights folded =
      folded_weights(cold, cold.layers[0], nasbench::OnnxWeights(folder.path() / "model.onnx"));
  const nasbench::LayerWeights conv = nasbench::random_weights(network, 0, 7), norm = random_weights(network, 1, 7);
  for (std::size_t c = 0; c < 4; ++c) {
    const double scale = norm.weight[c] / std::sqrt(norm.variance[c] + nasbench::batch_norm_epsilon);
    EXPECT_NEAR(folded.weight[c * 36 + 5], conv.weight[c * 36 + 5] * scale, 1e-6);
    EXPECT_NEAR(folded.bias[c], (conv.bias[c] - norm.mean[c]) * scale + norm.bias[c], 1e-6);
  }
}

TEST(OnnxWeights, AreThoseThatTheModelWasWrittenWith) {
  const TemporaryFolder folder;
  const nasbench::Network network = small_network();
  write_file_atomically(folder.path() / "model.onnx", nasbench::onnx_model(network, {7, "small"}));
  const nasbench::OnnxWeights weights(folder.path() / "model.onnx");
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const std::string& name = network.nodes[i].name;
    if (name != "conv" && name != "norm" && name != "linear") continue;
    const nasbench::LayerWeights expected = nasbench::random_weights(network, i, 7), read = weights.read(name);
    EXPECT_EQ(read.weight, expected.weight) << name;
    EXPECT_EQ(read.bias, expected.bias) << name;
    EXPECT_EQ(read.variance, expected.variance) << name;
  }
  EXPECT_THROW(weights.read("relu"), InputError);
  EXPECT_THROW(weights.read("nothing"), InputError);
}

TEST(OnnxWeights, NoticesAFileThatGotShorter) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  NetworkBuilder builder;  // of more weights than are kept when the file is opened
  builder.output(builder.linear("linear", builder.input("input", {1, 64}), 64));
  write_file_atomically(path, nasbench::onnx_model(builder.take(), {7, "wide"}));
  const nasbench::OnnxWeights weights(path);
  std::filesystem::resize_file(path, 40);
  EXPECT_THROW(weights.read("linear"), FormatError);
}

}  // namespace
}  // namespace tenshot::descriptor
