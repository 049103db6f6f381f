// The family of detectors beside the documentation: named tensors, a width, depths and three outputs.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::nasbench {
namespace {

const LayeredSpace& yolo() {
  static const LayeredSpace& space =
      read_layered_space(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/examples/yolo.json");
  return space;
}

const char* const small = "c2f|depth1|c2f|depth2|c2f|depth2|c2f|depth1|depth1|depth1|depth1|depth1|w0.5|r640";
const char* const mixed = "c3|depth2|c2f|depth4|c3|depth6|c2f|depth3|depth2|depth1|depth2|depth1|w0.75|r320";

Network network_of(const char* text) { return yolo().computation(yolo().parse(text), yolo().default_shape(), 1); }

TEST(YoloSpace, DecidesOnBlocksDepthsWidthAndResolution) {
  EXPECT_EQ(yolo().decisions(), (std::vector<int>{2, 3, 2, 3, 2, 3, 2, 3, 2, 2, 2, 2, 4, 2}));
  EXPECT_EQ(yolo().size(), 16U * 81 * 16 * 4 * 2);
  EXPECT_EQ(yolo().encoding_width(), 34U);
}

// tests/networks/count_yolo.py counts these from the formulas of the blocks. 11,166,544 is what Ultralytics says of
// YOLOv8s' trained parameters; the multiply-adds are half of its 28.6 GFLOPs.
TEST(YoloSpace, YoloV8s_HasItsMultiplyAddsAndParameters) {
  EXPECT_EQ(multiply_adds(network_of(small)), 14'300'774'400);
  EXPECT_EQ(parameter_count(network_of(small)), 11'166'544);
  EXPECT_EQ(yolo().flop_count(yolo().parse(small), yolo().default_shape()), 14'300'774'400);
}

TEST(YoloSpace, OtherBlocksDepthsWidthAndResolution_HaveTheirs) {
  EXPECT_EQ(multiply_adds(network_of(mixed)), 9'813'504'000);
  EXPECT_EQ(parameter_count(network_of(mixed)), 33'031'776);
}

TEST(YoloSpace, ThreeHeads_AreThreeOutputs) {
  const Network network = network_of(small);
  EXPECT_NO_THROW(require_sound(network));
  ASSERT_EQ(network.outputs.size(), 3U);
  EXPECT_EQ(tensor_type(network, network.outputs[0]).shape, (Shape{1, 64 + 80, 80, 80}));
  EXPECT_EQ(tensor_type(network, network.outputs[1]).shape, (Shape{1, 64 + 80, 40, 40}));
  EXPECT_EQ(tensor_type(network, network.outputs[2]).shape, (Shape{1, 64 + 80, 20, 20}));
}

TEST(YoloSpace, Network_IsTheSameThroughOnnx) {
  for (const char* text : {small, mixed}) {
    const TemporaryFolder folder;
    const Network network = network_of(text);
    write_file_atomically(folder.path() / "yolo.onnx", onnx_model(network, {}));
    const Network read = read_onnx(folder.path() / "yolo.onnx");
    EXPECT_EQ(content_hash(read), content_hash(network));
    EXPECT_EQ(operator_list(read), yolo().operator_list(yolo().parse(text)));
  }
}

TEST(YoloSpace, Parts_JoinedAreTheOperatorList) {
  Rng rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Architecture architecture = yolo().random(rng);
    EXPECT_EQ(yolo().parse(yolo().format(architecture)), architecture);
    EXPECT_EQ(yolo().at(yolo().ordinal(architecture)), architecture);
    std::vector<OperatorSpecification> joined;
    for (const std::uint32_t part : yolo().operator_parts(architecture)) {
      for (const OperatorSpecification& operation : yolo().operator_part(part)) joined.push_back(operation);
    }
    EXPECT_EQ(joined, yolo().operator_list(architecture));
  }
}

TEST(YoloSpace, EachDecision_ChangesTheEncodingAndTheNetwork) {
  const Architecture first(yolo().decisions().size());
  std::set<std::vector<float>> encodings;
  std::set<std::string> networks;
  for (std::size_t d = 0; d < first.size(); ++d) {
    for (int option = d == 0 ? 0 : 1; option < yolo().decisions()[d]; ++option) {
      Architecture architecture = first;
      architecture[d] = static_cast<std::uint8_t>(option);
      std::vector<float> encoding(yolo().encoding_width());
      yolo().encode(architecture, encoding.data());
      EXPECT_EQ(std::accumulate(encoding.begin(), encoding.end(), 0.0F), static_cast<float>(first.size()));
      encodings.insert(encoding);
      networks.insert(content_hash(yolo().computation(architecture, yolo().default_shape(), 1)));
    }
  }
  EXPECT_EQ(encodings.size(), 34U - first.size() + 1);
  EXPECT_EQ(networks.size(), encodings.size());
}

}  // namespace
}  // namespace tenshot::nasbench
