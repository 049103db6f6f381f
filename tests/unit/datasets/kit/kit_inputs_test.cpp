#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "datasets/kit/kit.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

/// −1 is a dimension that the file leaves open.
struct Input {
  std::string name;
  std::vector<std::int64_t> shape;
  int type = onnx::TensorProto::FLOAT;
};

void declare(onnx::ValueInfoProto& value, const Input& input) {
  value.set_name(input.name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(input.type);
  onnx::TensorShapeProto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (input.shape[i] < 0) {
      shape.add_dim()->set_dim_param(input.name + std::to_string(i));
    } else {
      shape.add_dim()->set_dim_value(input.shape[i]);
    }
  }
}

/// The sum of the inputs, as floats.
void write_sum(const fs::path& file, const std::vector<Input>& inputs) {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  std::string sum;
  for (const Input& input : inputs) {
    declare(*graph.add_input(), input);
    onnx::NodeProto& cast = *graph.add_node();
    cast.set_op_type("Cast");
    cast.add_input(input.name);
    cast.add_output(input.name + "_float");
    onnx::AttributeProto& to = *cast.add_attribute();
    to.set_name("to");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(onnx::TensorProto::FLOAT);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(sum.empty() ? "Sigmoid" : "Add");
    node.add_input(input.name + "_float");
    if (!sum.empty()) node.add_input(sum);
    sum = input.name + "_sum";
    node.add_output(sum);
  }
  declare(*graph.add_output(), {sum, {}});
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  write_file_quickly(file, model.SerializeAsString());
}

KitRequest kit_of(const fs::path& networks, const nasbench::OnnxReadOptions& onnx = {}) {
  KitRequest request;
  request.space = &nasbench::networks();
  request.architectures = read_networks(networks.string(), onnx);
  request.read = onnx;
  return request;
}

/// The shape of the first input, as the kit's model declares it; 0 for an open dimension.
std::vector<std::int64_t> declared_shape(const fs::path& file) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(read_file(file)));
  std::vector<std::int64_t> shape;
  for (const auto& dim : model.graph().input(0).type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
  return shape;
}

bool lists(const fs::path& kit, const std::string& end_of_row) {
  return read_file(kit / "models.tsv").find("\t" + end_of_row + "\n") != std::string::npos;
}

TEST(KitInputs, OpenDimensionsAreFixedInTheKitsModel) {
  const TemporaryFolder folder;
  write_sum(folder.path() / "kit-open.onnx", {{"x", {-1, 3, -1, -1}}});
  nasbench::OnnxReadOptions onnx;
  onnx.shapes = {{"x", {1, 3, 8, 6}}};
  KitRequest request = kit_of(folder.path() / "kit-open.onnx", onnx);
  write_kit(folder.path() / "kit", request);
  EXPECT_EQ(declared_shape(folder.path() / "kit/models/arch_01.onnx"), (std::vector<std::int64_t>{1, 3, 8, 6}));
  EXPECT_TRUE(lists(folder.path() / "kit", "1x3x8x6"));
  const KitModel model = read_kit_manifest(folder.path() / "kit").models.front();
  EXPECT_EQ(model.sha256, sha256_hex(read_file(folder.path() / "kit/models/arch_01.onnx")));

  request.batch = 4;
  write_kit(folder.path() / "four", request);
  EXPECT_EQ(declared_shape(folder.path() / "four/models/arch_01.onnx"), (std::vector<std::int64_t>{4, 3, 8, 6}));
}

TEST(KitInputs, ABatchThatTheFileFixesIsRefused) {
  const TemporaryFolder folder;
  write_sum(folder.path() / "kit-fixed.onnx", {{"x", {1, 3, 8, 8}}});
  KitRequest request = kit_of(folder.path() / "kit-fixed.onnx");
  request.batch = 4;
  const std::string message = message_of([&] { write_kit(folder.path() / "kit", request); });
  EXPECT_NE(message.find("its input 'x' begins with 1, and --batch says 4"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder.path() / "kit"));
}

TEST(KitInputs, MayBeSequencesTokensAndSeveral) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "nets");
  write_sum(folder.path() / "nets/kit-line.onnx", {{"x", {40}}});
  write_sum(folder.path() / "nets/kit-sensor.onnx", {{"x", {1, 8, 200}}});
  write_sum(folder.path() / "nets/kit-tokens.onnx",
            {{"ids", {-1, 16}, onnx::TensorProto::INT64}, {"mask", {-1, 16}, onnx::TensorProto::BOOL}});
  write_sum(folder.path() / "nets/kit-video.onnx", {{"x", {1, 3, 4, 8, 8}}});
  write_kit(folder.path() / "kit", kit_of(folder.path() / "nets"));
  for (const char* row : {"40", "1x8x200", "int64:1x16,bool:1x16", "1x3x4x8x8"}) {
    EXPECT_TRUE(lists(folder.path() / "kit", row)) << row << "\n" << read_file(folder.path() / "kit/models.tsv");
  }
  EXPECT_TRUE(fs::exists(folder.path() / "kit/empty.onnx"));
}

TEST(KitInputs, WhatCannotBeFedIsSaidBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "nets");
  write_sum(folder.path() / "nets/kit-a-good.onnx", {{"x", {1, 8}}});
  write_sum(folder.path() / "nets/kit-b-brain.onnx", {{"x", {1, 9}, onnx::TensorProto::BFLOAT16}});
  const std::string message = message_of([&] { write_kit(folder.path() / "kit", kit_of(folder.path() / "nets")); });
  EXPECT_NE(message.find("'kit-b-brain', input 'x': takes bfloat16"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder.path() / "kit"));
}

TEST(KitInputs, MayHaveAnyNumbersAndNoText) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "nets");
  using Type = onnx::TensorProto;
  write_sum(folder.path() / "nets/kit-numbers.onnx", {{"a", {1, 8}, Type::UINT8},
                                                      {"b", {1, 8}, Type::INT32},
                                                      {"c", {1, 8}, Type::UINT16},
                                                      {"d", {1, 8}, Type::INT16},
                                                      {"e", {1, 8}, Type::UINT64}});
  write_kit(folder.path() / "kit", kit_of(folder.path() / "nets"));
  EXPECT_TRUE(lists(folder.path() / "kit", "uint8:1x8,int32:1x8,uint16:1x8,int16:1x8,uint64:1x8"))
      << read_file(folder.path() / "kit/models.tsv");
  for (const auto& [type, name] : {std::pair(Type::STRING, "string"), std::pair(Type::COMPLEX64, "complex64"),
                                   std::pair(Type::BFLOAT16, "bfloat16")}) {
    const fs::path file = folder.path() / ("kit-of-" + std::string(name) + ".onnx");
    write_sum(file, {{"words", {1, 8}, type}});
    EXPECT_EQ(kit_problem(read_networks(file.string()).front(), ".onnx"),
              "network 'kit-of-" + std::string(name) + "', input 'words': takes " + name +
                  ", which a kit's runners cannot feed; save it with float32 or int64 inputs");
  }
}

TEST(KitInputs, WhatCannotBeFedOrIsNotFixedIsKeptOutOfAKitByItsReason) {
  const TemporaryFolder folder;
  write_sum(folder.path() / "kit-c-scalar.onnx", {{"s", {}}, {"x", {1, 8}}});
  write_sum(folder.path() / "kit-c-open.onnx", {{"x", {-1, 8}}});
  const auto problem_of = [&](const std::string& name, const std::string& suffix,
                              const nasbench::NetworkReadOptions& options = {}) {
    return kit_problem(read_networks(folder.path() / name, options).front(), suffix).value_or("");
  };
  EXPECT_EQ(problem_of("kit-c-open.onnx", ".onnx"), "");
  EXPECT_NE(problem_of("kit-c-scalar.onnx", ".onnx").find("'kit-c-scalar', input 's': has no dimensions"),
            std::string::npos);
  write_file_quickly(folder.path() / "kit-c-sized.param", "7767517\n2 2\nInput x 0 1 x 0=6 1=8 2=4\nReLU r 1 1 x y\n");
  write_file_quickly(folder.path() / "kit-c-unsized.param", "7767517\n2 2\nInput x 0 1 x\nReLU r 1 1 x y\n");
  for (const char* name : {"kit-c-sized.bin", "kit-c-unsized.bin"}) write_file_quickly(folder.path() / name, "");
  EXPECT_EQ(problem_of("kit-c-sized.param", ".param"), "");
  nasbench::NetworkReadOptions options;
  options.shapes = {{"x", {1, 4, 8, 6}}};
  EXPECT_EQ(problem_of("kit-c-unsized.param", ".param", options)
                .find("in a kit, *.param files need a fixed size, by their converter: "),
            0u)
      << problem_of("kit-c-unsized.param", ".param", options);
}

}  // namespace
}  // namespace tenshot::datasets
