#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "datasets/kit/kit.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

/// Writes a network of one convolution whose weights lie in `location` beside the model.
void write_model_with_external_weights(const std::filesystem::path& model, const std::string& location) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 3, 8, 8});
  builder.output(builder.convolution("convolution", image, 4, {nasbench::same_window(3), 1, false}));
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(nasbench::onnx_model(builder.take(), {1, "external"})));
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.dims_size() != 4) continue;
    const std::string weights(reinterpret_cast<const char*>(tensor.float_data().data()),
                              static_cast<std::size_t>(tensor.float_data_size()) * sizeof(float));
    if (location == "weights.data") write_file_quickly(model.parent_path() / location, weights);
    tensor.clear_float_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
  }
  write_file_quickly(model, proto.SerializeAsString());
}

KitRequest kit_of(const std::filesystem::path& model) {
  KitRequest request;
  request.space = &nasbench::networks();
  request.architectures = read_networks(model.string());
  return request;
}

TEST(Kit, ExternalDataOfANetworkAreCopiedBesideItsModel) {
  const TemporaryFolder folder;
  write_model_with_external_weights(folder.path() / "kit-external.onnx", "weights.data");
  write_kit(folder.path() / "kit", kit_of(folder.path() / "kit-external.onnx"));
  EXPECT_EQ(read_file(folder.path() / "kit/models/weights.data"), read_file(folder.path() / "weights.data"));
  EXPECT_EQ(read_file(folder.path() / "weights.data").size(), 4 * 3 * 3 * 3 * sizeof(float));
}

TEST(Kit, ExternalDataThatAreTooShortOrMissingAreRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  write_model_with_external_weights(folder.path() / "kit-short.onnx", "weights.data");
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(read_file(folder.path() / "kit-short.onnx")));
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    for (const auto& [key, value] : {std::pair("offset", "4096"), std::pair("length", "432")}) {
      tensor.add_external_data()->set_key(key);
      tensor.mutable_external_data(tensor.external_data_size() - 1)->set_value(value);
    }
  }
  write_file_quickly(folder.path() / "kit-short.onnx", proto.SerializeAsString());
  const std::string message =
      message_of([&] { write_kit(folder.path() / "kit", kit_of(folder.path() / "kit-short.onnx")); });
  EXPECT_NE(message.find("'weights.data', which has 432 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("ends at byte 4528: the file is cut short"), std::string::npos) << message;
  std::filesystem::remove(folder.path() / "weights.data");
  EXPECT_THROW(write_kit(folder.path() / "kit", kit_of(folder.path() / "kit-short.onnx")), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kit"));
}

TEST(Kit, ExternalDataOutOfTheModelsFolderAreRefused) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "models");
  write_file_quickly(folder.path() / "secret.data", "secret");
  write_model_with_external_weights(folder.path() / "models/kit-secret.onnx", "../secret.data");
  EXPECT_THROW(write_kit(folder.path() / "kit", kit_of(folder.path() / "models/kit-secret.onnx")), Error);
  EXPECT_FALSE(is_kit(folder.path() / "kit"));
}

TEST(Kit, ShortWeightsAreSaidBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  write_model_with_external_weights(folder.path() / "kit-short.onnx", "short.data");
  const KitRequest request = kit_of(folder.path() / "kit-short.onnx");
  write_file_quickly(folder.path() / "short.data", "too short");
  const std::string message = message_of([&] { write_kit(folder.path() / "kit", request); });
  EXPECT_NE(message.find("'short.data', which has 9 bytes"), std::string::npos) << message;
  write_file_quickly(folder.path() / "short.data", "version https://git-lfs");
  EXPECT_NE(message_of([&] { write_kit(folder.path() / "kit", request); }).find("is a Git LFS pointer; fetch the file"),
            std::string::npos);
  std::filesystem::remove(folder.path() / "short.data");
  EXPECT_NE(message_of([&] { write_kit(folder.path() / "kit", request); }).find("short.data"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kit"));
}

const std::string small_param =
    "7767517\n2 2\nInput data 0 1 data 0=8 1=8 2=3\nConvolution c 1 1 data y 0=4 1=3 4=1 6=108\n";
const std::string small_weights(4 * 108, 'w');

TEST(Kit, NetworksOfOtherFormats_AreWhatTheBoardRuns) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "kit-ncnn.param", small_param);
  write_file_quickly(folder.path() / "kit-ncnn.bin", small_weights);
  const KitRequest request = kit_of(folder.path() / "kit-ncnn.param");
  write_kit(folder.path() / "kit", request);
  for (const char* copy : {"kit/models/arch_01", "kit/converted/arch_01"}) {
    EXPECT_EQ(read_file(folder.path() / (std::string(copy) + ".param")), small_param);
    EXPECT_EQ(read_file(folder.path() / (std::string(copy) + ".bin")), small_weights);
  }
  EXPECT_NE(read_file(folder.path() / "kit/models.tsv").find("models/arch_01.param"), std::string::npos);
  EXPECT_NE(read_file(folder.path() / "kit/converted.tsv").find("converted/arch_01.param"), std::string::npos);
  const KitManifest manifest = read_kit_manifest(folder.path() / "kit");
  ASSERT_EQ(manifest.models.size(), 1U);
  EXPECT_EQ(manifest.models[0].architecture, request.architectures[0]);
  EXPECT_FALSE(manifest.models[0].converted_sha256.empty());
}

TEST(Kit, NetworksWithoutWeightsAndOfTwoFormats_AreRefused) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "kit-alone.param", small_param);
  KitRequest request = kit_of(folder.path() / "kit-alone.param");
  EXPECT_NE(message_of([&] { write_kit(folder.path() / "kit", request); }).find("kit-alone.bin"), std::string::npos);
  write_file_quickly(folder.path() / "kit-alone.bin", small_weights);
  write_model_with_external_weights(folder.path() / "kit-beside.onnx", "weights.data");
  request.architectures.push_back(read_networks(folder.path() / "kit-beside.onnx").front());
  EXPECT_NE(message_of([&] { write_kit(folder.path() / "kit", request); }).find("two formats"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kit"));
}

}  // namespace
}  // namespace tenshot::datasets
