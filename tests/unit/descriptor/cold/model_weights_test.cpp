#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <vector>

#include "descriptor/cold/cold_weights.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

class ModelWeightsTest : public testing::Test {
 protected:
  void SetUp() override {
    nasbench::NetworkBuilder b;
    b.output(b.convolution("only", b.input("input", {1, 3, 8, 8}), 4, {nasbench::same_window(3), 1, true}));
    const nasbench::Network network = b.take();
    write_file_atomically(path, nasbench::onnx_model(network, {1, "one"}));
    cold = cold_network(network);
  }
  void expect_refused(const std::function<void()>& read, const std::string& because) const {
    try {
      read();
      FAIL();
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
  }

  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  ColdNetwork cold;
};

TEST_F(ModelWeightsTest, ARecordIsTheWeightsAndThenTheBias) {
  const ModelWeights weights(path);
  EXPECT_EQ(weights.sha256(), sha256_hex(read_file(path)));
  EXPECT_EQ(weights.record(cold, cold.layers[0]).size(), (4 * 3 * 3 * 3 + 4) * sizeof(float));
}

TEST_F(ModelWeightsTest, RefusesAModelOfAnotherHash) {
  expect_refused([&] { const ModelWeights weights(path, std::string(64, '0')); }, "has changed since");
}

TEST_F(ModelWeightsTest, NoticesAFileThatIsLengthenedReplacedOrGoneWhileItIsRead) {
  const std::string content = read_file(path);
  const std::vector<std::function<void()>> changes = {
      [&] { std::ofstream(path, std::ios::app) << "x"; },
      [&] { write_file_atomically(path, content); },  // the same bytes, but they came while it was read
      [&] { std::filesystem::resize_file(path, content.size() - 1); }};
  for (const std::function<void()>& change : changes) {
    write_file_atomically(path, content);
    const ModelWeights weights(path);
    weights.require_unchanged();
    change();
    expect_refused([&] { weights.record(cold, cold.layers[0]); }, "changed while it was read");
  }
  const ModelWeights weights = [&] {
    write_file_atomically(path, content);
    return ModelWeights(path);
  }();
  std::filesystem::remove(path);
  expect_refused([&] { weights.require_unchanged(); }, "changed while it was read");
}

}  // namespace
}  // namespace tenshot::descriptor
