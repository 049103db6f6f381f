#include "nasbench/graph/onnx_external.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "nasbench/graph/network.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::nasbench {
namespace {

/// A model whose one weight lies in `location`: its own, or that of a function.
void write_model(const std::filesystem::path& path, const std::string& location, bool of_function = false) {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  model.mutable_graph()->set_name("graph");
  onnx::TensorProto& tensor = of_function ? *model.add_functions()->add_node()->add_attribute()->mutable_t()
                                          : *model.mutable_graph()->add_initializer();
  tensor.set_name("weight");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(4096);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  write_file_quickly(path, model.SerializeAsString());
}

TEST(ExternalData, FilesBesideTheModel_AreNamed) {
  const TemporaryFolder folder;
  write_model(folder.path() / "model.onnx", "model.onnx.data");
  EXPECT_EQ(external_data_files(folder.path() / "model.onnx"), (std::vector<std::filesystem::path>{"model.onnx.data"}));
}

TEST(ExternalData, FilesOfFunctionsAreNamedAsWell) {
  const TemporaryFolder folder;
  write_model(folder.path() / "model.onnx", "model.onnx.data", true);
  EXPECT_EQ(external_data_files(folder.path() / "model.onnx"), (std::vector<std::filesystem::path>{"model.onnx.data"}));
}

TEST(ExternalData, PathsOutOfTheModelsFolder_AreRefused) {
  const TemporaryFolder folder;
  for (const char* location : {"/etc/passwd", "../secret", "a/../../secret", ""}) {
    write_model(folder.path() / "model.onnx", location);
    EXPECT_THROW(external_data_files(folder.path() / "model.onnx"), FormatError) << location;
  }
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "link.data");
  write_model(folder.path() / "model.onnx", "link.data");
  EXPECT_THROW(external_data_files(folder.path() / "model.onnx"), FormatError) << "a link out of the folder";
}

TEST(ExternalData, ShapesBesideTheModel_AreRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("graph");
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int extent : {3, 4}) {
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Reshape");
  node.add_input("x");
  node.add_input("shape");
  node.add_output("y");
  graph.add_output()->set_name("y");
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name("shape");
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", "shapes.bin"), std::pair("offset", "8")}) {
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  write_file_quickly(path, model.SerializeAsString());
  const std::string numbers = {9, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
  write_file_quickly(folder.path() / "shapes.bin", numbers);
  const Network network = read_onnx(path);
  EXPECT_EQ(tensor_type(network, network.outputs.at(0)).shape, (Shape{2, 6}));
  write_file_quickly(folder.path() / "shapes.bin", numbers.substr(0, 20));
  EXPECT_THROW(read_onnx(path), FormatError) << "cut short";
}

}  // namespace
}  // namespace tenshot::nasbench
