#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::nasbench {
namespace {

TEST(SyntheticBlocks, AreSoundAndOfBoundedWork) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Network network = synthetic_blocks(1, i);
    EXPECT_NO_THROW(require_sound(network)) << i;
    EXPECT_GE(multiply_adds(network), 20'000'000) << i;
    EXPECT_LE(multiply_adds(network), 2'000'000'000) << i;
    EXPECT_EQ(network.nodes.back().operation.output, (Shape{1, 1000})) << i;
  }
}

TEST(SyntheticBlocks, SameSeedSameNetworkAndEveryIndexAnother) {
  std::set<std::string> hashes;
  for (std::uint64_t i = 0; i < 100; ++i) hashes.insert(content_hash(synthetic_blocks(7, i)));
  EXPECT_EQ(hashes.size(), 100U);
  EXPECT_EQ(content_hash(synthetic_blocks(7, 3)), content_hash(synthetic_blocks(7, 3)));
  EXPECT_NE(content_hash(synthetic_blocks(8, 3)), content_hash(synthetic_blocks(7, 3)));
}

TEST(SyntheticBlocks, HaveTheKindsOfOperatorsOfPublishedNetworks) {
  std::set<std::string> kinds, activations;
  std::set<std::int64_t> group_widths;
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (const OperatorSpecification& operation : operator_list(synthetic_blocks(2, i))) {
      kinds.insert(std::string(name(operation.kind)));
      if (operation.kind == OperatorKind::activation) activations.insert(operation.name);
      const bool is_convolution = operation.kind == OperatorKind::convolution;
      if (is_convolution && operation.groups > 1 && operation.inputs[0][1] > operation.groups) {
        group_widths.insert(operation.inputs[0][1] / operation.groups);
      }
    }
  }
  for (const char* kind : {"convolution", "linear", "matrix_product", "max_pool", "average_pool", "global_pool", "add",
                           "multiply", "concatenate", "split", "shuffle", "batch_norm", "layer_norm", "softmax"}) {
    EXPECT_EQ(kinds.count(kind), 1U) << kind;
  }
  EXPECT_EQ(activations,
            (std::set<std::string>{"gelu", "hard_sigmoid", "hard_swish", "relu", "relu6", "sigmoid", "silu"}));
  EXPECT_EQ(group_widths, (std::set<std::int64_t>{4, 8, 16, 24, 32}));
}

TEST(SyntheticBlocks, AreTheSameWhenTheyAreWrittenAsOnnx) {
  const TemporaryFolder folder;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Network network = synthetic_blocks(3, i, i % 2 == 0 ? 1 : 2);
    write_file_quickly(folder.path() / "network.onnx", onnx_model(network, {1, "network"}));
    EXPECT_EQ(content_hash(read_onnx(folder.path() / "network.onnx")), content_hash(network)) << i;
  }
}

}  // namespace
}  // namespace tenshot::nasbench
