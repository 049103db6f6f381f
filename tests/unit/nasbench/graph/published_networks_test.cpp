#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::nasbench {
namespace {

/// A network as it is published.
struct Published {
  const char* file;
  std::int64_t parameters;       ///< torchvision's models as they count themselves
  double million_multiply_adds;  ///< of one image of 224×224, within 1 %
};

// ResNets, SqueezeNet, DenseNet, EfficientNet and MobileNetV3-Large: torchvision's table of models. MobileNetV1: Howard
// et al., 2017, Table 8. MobileNetV2: Sandler et al., CVPR 2018, Table 4. MobileNetV3-Small: Howard et al., ICCV 2019,
// Table 3. ShuffleNetV2: Ma et al., ECCV 2018, Table 8. ViT-Ti: Touvron et al., ICML 2021, Table 1 has the parameters,
// timm's table of results the multiply-adds.
constexpr Published networks[] = {
    {"resnet18", 11'689'512, 1814},    {"resnet50", 25'557'032, 4089},         {"mobilenet_v1", 4'231'976, 569},
    {"mobilenet_v2", 3'504'872, 300},  {"mobilenet_v3_large", 5'483'032, 217}, {"mobilenet_v3_small", 2'542'856, 56},
    {"squeezenet1_0", 1'248'424, 819}, {"efficientnet_b0", 5'288'548, 386},    {"shufflenet_v2_x1_0", 2'278'604, 146},
    {"densenet121", 7'978'856, 2834},  {"vit_tiny", 5'717'416, 1258}};

/// tests/networks/export_networks.py writes them; tests/run.sh says where.
class PublishedNetworks : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TENSHOT_EXPORTS");
    if (folder == nullptr) {
      GTEST_SKIP() << "TENSHOT_EXPORTS names no folder of exports; tests/networks/export_networks.py writes them";
    }
    folder_ = folder;
  }

  Network read(const std::string& name, const OnnxReadOptions& options = {}) const {
    return read_onnx(folder_ / (name + ".onnx"), options);
  }

  static std::map<std::string, int> kinds(const Network& network) {
    std::map<std::string, int> counts;
    for (const NetworkNode& node : network.nodes) {
      const std::string kind(name(node.operation.kind));
      ++counts[node.operation.name.empty() ? kind : kind + " " + node.operation.name];
    }
    return counts;
  }

  std::filesystem::path folder_;
};

TEST_F(PublishedNetworks, HaveTheirParametersAndMultiplyAdds) {
  for (const Published& published : networks) {
    const Network network = read(published.file);
    EXPECT_EQ(parameter_count(network), published.parameters) << published.file;
    EXPECT_NEAR(static_cast<double>(multiply_adds(network)) / 1e6, published.million_multiply_adds,
                0.01 * published.million_multiply_adds)
        << published.file;
    EXPECT_EQ(network.nodes.back().operation.output, (Shape{1, 1000})) << published.file;
  }
}

TEST_F(PublishedNetworks, NoneHasAnOpaqueOperator) {
  for (const Published& published : networks) {
    for (const auto& [kind, count] : kinds(read(published.file))) {
      EXPECT_NE(kind.rfind("opaque", 0), 0U) << published.file << ": " << count << " " << kind;
    }
  }
}

TEST_F(PublishedNetworks, ShapeComputationsAreNoLayers) {
  const Network fixed = read("mobilenet_v2");
  const std::map<std::string, int> expected = {{"convolution", 52}, {"batch_norm", 52}, {"activation relu6", 35},
                                               {"add", 10},         {"global_pool", 1}, {"linear", 1}};
  EXPECT_EQ(kinds(fixed), expected);
  for (const char* name : {"mobilenet_v2", "shufflenet_v2_x1_0"}) {
    const Network dynamic = read(std::string(name) + ".dynamic", {1, {{"input", {1, 3, 224, 224}}}});
    EXPECT_EQ(content_hash(dynamic), content_hash(read(name))) << name;
  }
}

TEST_F(PublishedNetworks, AreTheSameInEveryOpset) {
  for (const char* opset : {"9", "11", "16"}) {
    EXPECT_EQ(content_hash(read(std::string("mobilenet_v2.opset") + opset)), content_hash(read("mobilenet_v2")))
        << opset;
  }
  for (const char* opset : {"11", "16"}) {
    EXPECT_EQ(content_hash(read(std::string("mobilenet_v3_large.opset") + opset)),
              content_hash(read("mobilenet_v3_large")))
        << opset;
  }
}

TEST_F(PublishedNetworks, OperatorsOfSeveralNodesAreWhatTheyStandFor) {
  const std::map<std::string, int> transformer = kinds(read("vit_tiny"));
  EXPECT_EQ(transformer.at("layer_norm"), 25);
  EXPECT_EQ(transformer.at("activation gelu"), 12);
  EXPECT_EQ(transformer.at("linear"), 49);
  EXPECT_EQ(transformer.at("matrix_product"), 24);
  EXPECT_EQ(transformer.at("softmax"), 12);
  EXPECT_EQ(kinds(read("shufflenet_v2_x1_0")).at("shuffle"), 16);
  EXPECT_EQ(kinds(read("efficientnet_b0")).at("activation silu"), 49);
  EXPECT_EQ(kinds(read("mobilenet_v3_large")).at("activation hard_swish"), 21);
}

TEST_F(PublishedNetworks, AreTheSameWhenWeWriteThem) {
  const TemporaryFolder folder;
  for (const Published& published : networks) {
    const Network network = read(published.file);
    write_file_quickly(folder.path() / "network.onnx", onnx_model(network, {}));
    EXPECT_EQ(content_hash(read_onnx(folder.path() / "network.onnx")), content_hash(network)) << published.file;
  }
}

TEST_F(PublishedNetworks, LargerImagesCostMore) {
  const Network wide = read("mobilenet_v2.dynamic", {1, {{"input", {2, 3, 224, 448}}}});
  const Network plain = read("mobilenet_v2");
  EXPECT_EQ(parameter_count(wide), parameter_count(plain));
  EXPECT_NEAR(static_cast<double>(multiply_adds(wide)), 4.0 * static_cast<double>(multiply_adds(plain)), 4e7);
  EXPECT_NE(content_hash(wide), content_hash(plain));
}

}  // namespace
}  // namespace tenshot::nasbench
