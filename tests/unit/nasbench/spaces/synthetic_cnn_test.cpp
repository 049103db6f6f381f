#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::nasbench {
namespace {

TEST(SyntheticCnn, EndsAtSevenBySevenAndAThousandClasses) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Network network = synthetic_cnn(1, i);
    EXPECT_NO_THROW(require_sound(network));
    const NetworkNode& mean = network.nodes[network.nodes.size() - 2];
    EXPECT_EQ(mean.operation.kind, OperatorKind::global_pool);
    EXPECT_EQ(mean.operation.inputs[0][2], 7);
    EXPECT_GE(mean.operation.output[1], 1200);
    EXPECT_LE(mean.operation.output[1], 1800);
    EXPECT_EQ(network.nodes.back().operation.output, (Shape{1, 1000}));
  }
}

TEST(SyntheticCnn, SameSeedSameNetworkAndEveryIndexAnother) {
  std::set<std::string> hashes;
  for (std::uint64_t i = 0; i < 100; ++i) hashes.insert(content_hash(synthetic_cnn(7, i)));
  EXPECT_EQ(hashes.size(), 100U);
  EXPECT_EQ(content_hash(synthetic_cnn(7, 3)), content_hash(synthetic_cnn(7, 3)));
  EXPECT_NE(content_hash(synthetic_cnn(8, 3)), content_hash(synthetic_cnn(7, 3)));
}

TEST(SyntheticCnn, HasEveryKindOfBlockAboutEquallyOften) {
  std::map<std::string, int> blocks;
  for (std::uint64_t i = 0; i < 300; ++i) {
    for (const NetworkNode& node : synthetic_cnn(2, i).nodes) {
      const std::string part = node.name.substr(node.name.find('_') + 1);
      if (node.name.rfind("block", 0) == 0) ++blocks[part];
    }
  }
  constexpr int expected = 300 * 9 / 5;
  EXPECT_NEAR(blocks["convolution"], expected, 80);
  EXPECT_NEAR(blocks["pointwise"], expected, 80);
  EXPECT_NEAR(blocks["projection"], expected, 80);
  EXPECT_NEAR(blocks["split"], expected, 80);
  EXPECT_NEAR(blocks["excite"], expected / 2, 60);
}

TEST(SyntheticCnn, IsTheSameWhenItIsWrittenAsOnnx) {
  const TemporaryFolder folder;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Network network = synthetic_cnn(3, i, 2);
    write_file_quickly(folder.path() / "network.onnx", onnx_model(network, {}));
    EXPECT_EQ(content_hash(read_onnx(folder.path() / "network.onnx")), content_hash(network)) << i;
  }
}

}  // namespace
}  // namespace tenshot::nasbench
