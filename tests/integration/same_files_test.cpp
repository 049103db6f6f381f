// No output destroys an input, whatever either is called.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/tables/measurements.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

class SameFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    ASSERT_NO_FATAL_FAILURE(write_adapted_device(folder_->path()));
    datasets::write_device(path("device"), new_device(), space);
    ASSERT_EQ(run("tenshot predict --predictor " + q("device.tenshot") + " --out " + q("predictions.csv")).exit_code,
              0);
    ASSERT_EQ(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 2 --resolution 8 --out " +
                  q("plan.csv") + " --kit " + q("kit"))
                  .exit_code,
              0);
    const nlohmann::json spec = {{"format", "tenshot.experiment/1"},
                                 {"name", "made-up"},
                                 {"data", {{"pool", path("pool").string()}}},
                                 {"split", {{"train", "0:25"}, {"test", "25:40"}}},
                                 {"targets", {"slow"}},
                                 {"pools", {"others"}},
                                 {"samplers", {"random"}},
                                 {"samples", {5}},
                                 {"methods", {"flops"}},
                                 {"trials", 1}};
    std::filesystem::create_directory(path("results"));
    write(path("results/experiment.json"), spec.dump());
    write(path("results/results.json"), "{}");
    std::filesystem::create_directory(path("networks"));
    write_file_quickly(path("networks/small.onnx"), nasbench::onnx_model(nasbench::synthetic_cnn(1, 0), {}));
    write(path("rules.json"), R"({"format": "tenshot.fusion/1", "pairs": []})");
    write(path("kernels.csv"), "any");
    std::filesystem::create_symlink(path("measured.csv"), path("link.csv"));
    std::filesystem::create_hard_link(path("measured.csv"), path("hard.csv"));
    std::filesystem::create_symlink(path("pool"), path("pool-link"));
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  /// What stands in the folder: every path with the hash of what is in it.
  static std::map<std::string, std::string> content() {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_->path())) {
      result[entry.path().string()] = entry.is_regular_file() ? sha256_hex(slurp(entry.path())) : "";
    }
    return result;
  }

  static Folder* folder_;
};

Folder* SameFiles::folder_ = nullptr;

struct Clash {
  const char* command;   ///< run in the folder
  const char* expected;  ///< in the message
};

class SameFilesOfVerbs : public SameFiles, public ::testing::WithParamInterface<Clash> {};

TEST_P(SameFilesOfVerbs, AreRefusedAndNothingChanges) {
  const auto before = content();
  const Outcome outcome = run("cd " + quoted(folder_->path()) + "; tenshot " + GetParam().command);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().expected), std::string::npos) << outcome.err;
  EXPECT_EQ(content(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Cli, SameFilesOfVerbs,
    ::testing::Values(
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --out measured.csv", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --out ./device/../measured.csv", "--measur"},
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --out link.csv", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements link.csv --out measured.csv", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --out hard.csv", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements - --out measured.csv < measured.csv", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --out pool.tenshot", "--checkpoint"},
        Clash{"adapt --checkpoint pool.tenshot --descriptor device/new --out device/new/device.json", "--descriptor"},
        Clash{"adapt --checkpoint pool.tenshot --measurements kit --out kit/manifest.json", "--measurements"},
        Clash{"adapt --checkpoint pool.tenshot --measurements kit --out kit/models/new.tenshot", "--measurements"},
        Clash{"predict --predictor device.tenshot --out device.tenshot", "--predictor"},
        Clash{"predict --predictor device.tenshot --archs measured.csv --out link.csv", "--archs"},
        Clash{"export --predictor device.tenshot --document device.tenshot", "--predictor"},
        Clash{"export --predictor device.tenshot --document new.x --torchscript ./new.x", "--torchscript"},
        Clash{"export --predictor device.tenshot --document - --torchscript -", "--torchscript"},
        Clash{"report device.tenshot --out device.tenshot", "the predictor"},
        Clash{"report device.tenshot --measured measured.csv --out measured.csv", "--measurements"},
        Clash{"report results --out results/results.json", "the experiment"},
        Clash{"plan --checkpoint pool.tenshot --measurements measured.csv --out measured.csv", "--measurements"},
        Clash{"plan --checkpoint pool.tenshot --candidates plan.csv --out plan.csv", "--archs"},
        Clash{"plan --checkpoint pool.tenshot --out pool.tenshot", "--checkpoint"},
        Clash{"plan --checkpoint pool.tenshot --out new/plan.csv --kit new", "--kit"},
        Clash{"train --pool pool --predictor flops --out pool/new.tenshot", "--pool"},
        Clash{"train --pool pool --predictor flops --out pool-link/slow/device.json", "--pool"},
        Clash{"train --pool pool-link --predictor flops --out pool/slow/latencies.csv", "--pool"},
        Clash{"evaluate --predictions predictions.csv --measured measured.csv >> measured.csv", "--measurements"},
        Clash{"dataset import --table pool/slow/latencies.csv --out pool", "--table"},
        Clash{"collect --archs pool/slow/latencies.csv --out pool", "--archs"},
        Clash{"collect --archs pool-link/slow/latencies.csv --out pool", "--archs"},
        Clash{"adapt --checkpoint pool.tenshot --measurements measured.csv --networks networks --out "
              "networks/small.onnx",
              "--networks"},
        Clash{"adapt --checkpoint pool.tenshot --measurements device/new --out device/new/latencies.csv", "--measur"},
        Clash{"train --pool pool --knowledge rules.json --out rules.json", "--knowledge"},
        Clash{"train --pool pool --from pool.tenshot --out pool.tenshot", "--from"},
        Clash{"predict --device slow --checkpoint pool.tenshot --out pool.tenshot", "--checkpoint"},
        Clash{"predict --predictor device.tenshot networks/small.onnx --out networks/small.onnx", "the network"},
        Clash{"predict --predictor device.tenshot --networks networks --out networks/small.onnx", "--networks"},
        Clash{"plan --checkpoint pool.tenshot --measurements kit --out kit/manifest.json", "--measurements"},
        Clash{"evaluate --predictor device.tenshot --measurements measured.csv >> measured.csv", "--measurements"},
        Clash{"kernels sample --runtime libtorch-eager --rules rules.json --out rules.json", "--rules"},
        Clash{"kernels sample --runtime libtorch-eager --networks networks --out networks/small.onnx", "--networks"},
        Clash{"kernels train --kernels kernels.csv --out kernels.csv", "--kernels"},
        Clash{"kernels train --kernels kernels.csv --rules rules.json --out rules.json", "--rules"},
        Clash{"kernels grid --kernels kernels.csv --out kernels.csv", "--kernels"},
        Clash{"kernels grid --kernels kernels.csv --measurements measured.csv --out hard.csv", "--measurements"},
        Clash{"kernels deduce --runtime pytorch-vulkan --out networks/small.onnx networks/small.onnx", "MODEL"},
        Clash{"kernels train --kernels kernels.csv --measurements measured.csv --out hard.csv", "--measurements"},
        Clash{"cold measure networks/small.onnx --out networks/small.onnx", "model.onnx"},
        Clash{"cold plan rules.json --out rules.json", "stages.json"},
        Clash{"experiment results/experiment.json --out results", "the spec"},
        Clash{"experiment results/experiment.json --out pool", "its pool"}));

TEST_F(SameFiles, OthersBesideInputsAreWritten) {
  const Outcome outcome =
      run("cd " + quoted(folder_->path()) +
          "; tenshot predict --predictor device.tenshot --archs /dev/null --out /dev/null; " +
          "tenshot plan --checkpoint pool.tenshot --samples 2 --out results/plan.csv && " +
          "tenshot export --predictor device.tenshot --document device/new/exported.json --torchscript t.pt && " +
          "tenshot adapt --checkpoint pool.tenshot --measurements measured.csv --out kit/device.tenshot");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace tenshot::test
