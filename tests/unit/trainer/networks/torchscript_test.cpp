#include <gtest/gtest.h>
#include <torch/script.h>

#include <nlohmann/json.hpp>

#include "nasbench/support/files.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/networks/exporting.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/networks/regression_network.h"

namespace tenshot::trainer {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

FeedForward some_network() { return {RegressionNetwork(30, {32, 16}, 5).layers(), 12.5, 0.75}; }

std::string script_of(const FeedForward& network) {
  const nlohmann::json card = {{"predictor", "maple-edge"}, {"space", "nasbench201"}};
  return torchscript(feed_forward_predictor(network, card)->formula(), space, card);
}

c10::List<std::string> strings_of(const std::vector<nasbench::Architecture>& architectures) {
  c10::List<std::string> strings;
  for (const auto& architecture : architectures) strings.push_back(space.format(architecture));
  return strings;
}

class TorchScript : public ::testing::Test {
 protected:
  TorchScript() { write_file_atomically(folder_.path() / "device.pt", script_of(some_network())); }
  std::string path() const { return (folder_.path() / "device.pt").string(); }

  test::Folder folder_;
};

TEST_F(TorchScript, PredictsTheWholeSpaceFromStringsAsTheLibraryDoes) {
  torch::jit::Module module = torch::jit::load(path());
  const auto architectures = space.all();
  const at::Tensor predicted = module.get_method("predict")({strings_of(architectures)}).toTensor();
  const std::vector<double> expected = evaluate(some_network(), space, architectures);
  ASSERT_EQ(predicted.dim(), 1);
  ASSERT_EQ(predicted.numel(), 15625);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(predicted[static_cast<std::int64_t>(i)].item<double>() / expected[i], 1, 1e-5) << i;
  }
}

TEST_F(TorchScript, ForwardTakesEncodings) {
  torch::jit::Module module = torch::jit::load(path());
  const auto architecture = space.at(4321);
  at::Tensor encoding = torch::zeros({1, 30});
  space.encode(architecture, encoding.data_ptr<float>());
  EXPECT_NEAR(module.forward({encoding}).toTensor().item<double>(), evaluate(some_network(), space, {architecture})[0],
              1e-4);
}

TEST_F(TorchScript, RaisesOnABadStringAndNamesIt) {
  torch::jit::Module module = torch::jit::load(path());
  const std::string good = space.format(space.at(77));
  for (const std::string& bad : {std::string(), std::string("resnet18"), good + "+", good.substr(1),
                                 "|nor_conv_5x5" + good.substr(good.find('~')),
                                 std::string("|none~0|+|none~0|none~0|+|none~0|none~1|none~2|")}) {
    c10::List<std::string> strings;
    strings.push_back(good);
    strings.push_back(bad);
    try {
      module.get_method("predict")({strings});
      ADD_FAILURE() << "'" << bad << "' was predicted";
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find("not an architecture of nasbench201: " + bad), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(TorchScript, PredictsNothingForNoStrings) {
  torch::jit::Module module = torch::jit::load(path());
  EXPECT_EQ(module.get_method("predict")({c10::List<std::string>()}).toTensor().numel(), 0);
}

TEST_F(TorchScript, AnswersLatenciesOfALogarithmicNetwork) {
  FeedForward network = some_network();
  network.logarithmic = true;
  write_file_atomically(folder_.path() / "logarithmic.pt", script_of(network));
  torch::jit::Module module = torch::jit::load((folder_.path() / "logarithmic.pt").string());
  const std::vector<nasbench::Architecture> some = {space.at(1), space.at(777), space.at(15624)};
  const at::Tensor predicted = module.get_method("predict")({strings_of(some)}).toTensor();
  const std::vector<double> expected = evaluate(network, space, some);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_NEAR(predicted[static_cast<std::int64_t>(i)].item<double>() / expected[i], 1, 1e-5);
  }
}

TEST_F(TorchScript, CarriesTheCard) {
  torch::jit::ExtraFilesMap files{{"card.json", ""}};
  torch::jit::load(path(), {}, files);
  EXPECT_EQ(nlohmann::json::parse(files["card.json"]).at("predictor"), "maple-edge");
}

}  // namespace
}  // namespace tenshot::trainer
