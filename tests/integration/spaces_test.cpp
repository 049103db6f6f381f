// Spaces other than NAS-Bench-201 as a user brings them: a layered space from a file, and networks by name.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "datasets/tables/space_files.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const char* const space_text = R"({
  "format": "tenshot.space/1", "name": "tiny-cnn", "input": {"channels": 3, "resolution": 32}, "classes": 10,
  "option_sets": {"convolutions": [
    {"name": "k1", "operators": [{"kind": "convolution", "channels": "out", "stride": "stride", "activation": "relu"}]},
    {"name": "k3", "operators": [{"kind": "convolution", "channels": "out", "kernel": 3, "stride": "stride",
                                  "activation": "relu"}]},
    {"name": "k5", "operators": [{"kind": "convolution", "channels": "out", "kernel": 5, "stride": "stride",
                                  "activation": "relu"}]}]},
  "stem": [{"kind": "convolution", "channels": 16, "kernel": 3}],
  "layers": [{"out": 16, "repeat": 3, "options": "convolutions"},
             {"out": 32, "stride": 2, "repeat": 3, "options": "convolutions"}],
  "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]})";

/// A latency that grows with the operators: each call costs, and each multiply-add.
double made_up_ms(const nasbench::NetworkSpace& space, const nasbench::Architecture& architecture, double call_ms,
                  double mega_ms) {
  double sum = 0.5;
  for (const nasbench::OperatorSpecification& op : space.operator_list(architecture)) {
    sum += call_ms + mega_ms * 1e-6 * static_cast<double>(nasbench::multiply_adds(op));
  }
  return sum;
}

std::string table_of(const nasbench::NetworkSpace& space, const std::vector<nasbench::Architecture>& architectures,
                     const std::string& column) {
  std::string text = column + ",slow,fast,wide\n";
  for (const nasbench::Architecture& architecture : architectures) {
    text += space.format(architecture) + ',' + shortest(made_up_ms(space, architecture, 0.02, 0.4)) + ',' +
            shortest(made_up_ms(space, architecture, 0.01, 0.05)) + ',' +
            shortest(made_up_ms(space, architecture, 0.05, 0.15)) + '\n';
  }
  return text;
}

std::string measurements_of(const nasbench::NetworkSpace& space,
                            const std::vector<nasbench::Architecture>& architectures, const std::string& column) {
  std::string text = column + ",latency_ms\n";
  for (const nasbench::Architecture& architecture : architectures) {
    text += space.format(architecture) + ',' + shortest(made_up_ms(space, architecture, 0.03, 0.2)) + '\n';
  }
  return text;
}

void expect_fine(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.err; }

/// One line on standard error that has all of `parts`.
void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : parts) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " is not in: " << outcome.err;
  }
}

/// "1.30 ms (90 %: 1.24 to 1.38)"
const std::regex prediction_line(R"(\d+(\.\d+)? ms \(90 %: \d+(\.\d+)? to \d+(\.\d+)?\)\n)");

class FileSpace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    write(path("my.json"), space_text);
    space_ = &nasbench::search_space(datasets::named_space(path("my.json").string()));
    write(path("wide.csv"), table_of(*space_, space_->all(), "architecture"));
    write(path("truth.csv"), measurements_of(*space_, space_->all(), "architecture"));
    expect_fine(run("tenshot dataset import --space " + q("my.json") + " --table " + q("wide.csv") +
                    " --rows 0:300 --out " + q("pool")));
    expect_fine(run("tenshot train --predictor operators --pool " + q("pool") + " --out " + q("pool.tenshot")));
    std::filesystem::rename(path("my.json"), path("moved.json"));  // from here on nothing but the checkpoint is needed
    expect_fine(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 10 --out " + q("plan.csv")));
    const auto plan = datasets::read_architectures(path("plan.csv"), *space_).architectures;
    ASSERT_EQ(plan.size(), 10U);
    write(path("measured.csv"), measurements_of(*space_, plan, "architecture"));
    expect_fine(run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q("measured.csv") +
                    " --out " + q("device.tenshot")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  static Folder* folder_;
  static const nasbench::SearchSpace* space_;
};

Folder* FileSpace::folder_ = nullptr;
const nasbench::SearchSpace* FileSpace::space_ = nullptr;

TEST_F(FileSpace, Pool_KeepsTheSpaceBesideItsDevices) {
  EXPECT_EQ(&datasets::named_space(path("pool/space.json").string()), space_);
  expect_fine(run("tenshot dataset validate " + q("pool")));
}

TEST_F(FileSpace, Arguments_ArePredictedInALineEach) {
  const Outcome outcome = run("tenshot predict --predictor " + q("device.tenshot") + " '" + space_->example() + "'");
  expect_fine(outcome);
  EXPECT_TRUE(std::regex_match(outcome.out, prediction_line)) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(FileSpace, Evaluate_LeavesOutWhatThePredictorWasAdaptedOn) {
  const Outcome outcome =
      run("tenshot evaluate --predictor " + q("device.tenshot") + " --measured " + q("truth.csv") + " --json");
  expect_fine(outcome);
  const nlohmann::json metrics = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(metrics.at("architectures"), 729 - 10);
  EXPECT_GT(metrics.at("acc10").get<double>(), 0.9) << outcome.out;
  EXPECT_NE(outcome.err.find("10 measured architectures were adapted on and are left out"), std::string::npos);
  expect_refused(
      run("tenshot evaluate --quiet --predictor " + q("device.tenshot") + " --measured " + q("measured.csv")),
      {"nothing to compare"});
}

TEST_F(FileSpace, WholeSpace_IsPredictedWithoutAList) {
  expect_fine(run("tenshot predict --predictor " + q("device.tenshot") + " --out " + q("all.csv")));
  EXPECT_EQ(datasets::read_architectures(path("all.csv"), *space_).architectures.size(), 729U);
}

TEST_F(FileSpace, TorchScript_ParsesItsStrings) {
  expect_fine(run("tenshot export --predictor " + q("device.tenshot") + " --torchscript " + q("device.pt") +
                  " --document " + q("device.json")));
  EXPECT_GT(std::filesystem::file_size(path("device.pt")), 1000U);
}

TEST_F(FileSpace, Kit_HoldsTheNetworksAndTheSpace) {
  expect_fine(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 2 --out " + q("two.csv") + " --kit " +
                  q("kit")));
  EXPECT_EQ(&datasets::named_space(path("kit/space.json").string()), space_);
  const auto plan = datasets::read_architectures(path("two.csv"), *space_).architectures;
  const nasbench::Network network = nasbench::read_onnx(path("kit/models/arch_01.onnx"));
  EXPECT_EQ(nasbench::multiply_adds(network), space_->flop_count(plan[0], space_->default_shape()));
}

TEST_F(FileSpace, TableOfAnotherSpace_IsRefusedWithACorrectExampleAndNothingIsWritten) {
  write(path("foreign.csv"), "architecture,board\nk3_e1|skip,3\nresnet18,4\n");
  expect_refused(run("tenshot dataset import --space " + q("moved.json") + " --table " + q("foreign.csv") + " --out " +
                     q("foreign")),
                 {"foreign.csv", "2 unknown architecture", "foreign.csv:2", "written like k1|k1|k1|k1|k1|k1"});
  EXPECT_FALSE(std::filesystem::exists(path("foreign")));
}

TEST_F(FileSpace, BrokenSpaceFile_IsNamedWithItsPlace) {
  std::string text = space_text;
  text.replace(text.find("\"out\": 32"), 9, "\"out\": 0 ");
  write(path("broken.json"), text);
  expect_refused(
      run("tenshot dataset import --space " + q("broken.json") + " --table " + q("wide.csv") + " --out " + q("none")),
      {"broken.json", "layers[1].out"});
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(FileSpace, OnnxFile_IsRefusedWithWhatToDo) {
  expect_refused(run("tenshot predict --predictor " + q("device.tenshot") + " model.onnx"),
                 {"model.onnx", "space networks"});
}

TEST(DetectorSpace, IsImportedTrainedPlannedAdaptedAndPredicted) {
  const Folder folder;
  const auto path = [&folder](const std::string& name) { return folder.path() / name; };
  const auto q = [&path](const std::string& name) { return quoted(path(name)); };
  write(path("yolo.json"), slurp(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/examples/yolo.json"));
  const nasbench::SearchSpace& space = nasbench::search_space(datasets::named_space(path("yolo.json").string()));
  std::vector<nasbench::Architecture> drawn;
  Rng rng(1);
  for (int i = 0; i < 160; ++i) drawn.push_back(space.random(rng));
  write(path("wide.csv"), table_of(space, {drawn.begin(), drawn.end() - 60}, "architecture"));
  write(path("truth.csv"), measurements_of(space, {drawn.end() - 60, drawn.end()}, "architecture"));
  write(path("names.csv"), "architecture\n" + space.format(drawn[100]) + "\n" + space.format(drawn[101]) + "\n");
  expect_fine(
      run("tenshot dataset import --space " + q("yolo.json") + " --table " + q("wide.csv") + " --out " + q("pool")));
  expect_fine(run("tenshot train --predictor operators --pool " + q("pool") + " --out " + q("pool.tenshot")));
  expect_fine(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 10 --out " + q("plan.csv")));
  const auto plan = datasets::read_architectures(path("plan.csv"), space).architectures;
  ASSERT_EQ(plan.size(), 10U);
  write(path("measured.csv"), measurements_of(space, plan, "architecture"));
  expect_fine(run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q("measured.csv") +
                  " --out " + q("device.tenshot")));
  expect_fine(run("tenshot predict --predictor " + q("device.tenshot") + " --archs " + q("names.csv") + " --out " +
                  q("predictions.csv")));
  EXPECT_EQ(datasets::read_architectures(path("predictions.csv"), space).architectures.size(), 2U);
  const Outcome outcome =
      run("tenshot evaluate --predictor " + q("device.tenshot") + " --measured " + q("truth.csv") + " --json");
  expect_fine(outcome);
  EXPECT_GT(nlohmann::json::parse(outcome.out).at("acc10").get<double>(), 0.9) << outcome.out;
  expect_fine(run("tenshot train --predictor flops-memory --pool " + q("pool") + " --out " + q("lines.tenshot")));
  expect_fine(run("tenshot adapt --checkpoint " + q("lines.tenshot") + " --measurements " + q("measured.csv") +
                  " --out " + q("line.tenshot")));
}

TEST(DetectorSpace, TensorThatNobodyMade_IsNamedWithItsPlaceAndNothingIsWritten) {
  const Folder folder;
  std::string text = slurp(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/examples/yolo.json");
  text.replace(text.find("[\"up4\", \"p4\"]"), 13, "[\"up4\", \"p6\"]");
  write(folder.path() / "broken.json", text);
  write(folder.path() / "wide.csv", "architecture,board\na,1\n");
  expect_refused(run("tenshot dataset import --space " + quoted(folder.path() / "broken.json") + " --table " +
                     quoted(folder.path() / "wide.csv") + " --out " + quoted(folder.path() / "pool")),
                 {"broken.json: layers[6].from: there is no tensor 'p6' before this", "named are: p3, p4, p5, up4"});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "pool"));
}

/// Thirty networks of some convolutions, as a table of operators, and two more as ONNX files.
class NamedNetworks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    std::string rows =
        "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups,note\n";
    for (int n = 0; n < 30; ++n) {
      const int width = 8 + 4 * (n % 7), depth = 2 + n % 5, kernel = n % 3 == 0 ? 1 : 3;
      const std::string name = "net" + std::to_string(n), w = std::to_string(width), k = std::to_string(kernel);
      rows += name + ",0,conv_2d,32,3,32,1,3," + w + ",1,x\n";
      for (int i = 1; i <= depth; ++i) {
        rows += name + ',' + std::to_string(i) + ",conv_2d,32," + w + ",32,1," + k + ',' + w + ",1,x\n";
      }
      rows += name + ",90,mean,32," + w + "," + w + ",,0,,,x\n" + name + ",91,fully_connected,," + w + ",,,,10,,x\n";
    }
    write(path("operators.csv"), rows);
    const auto known = datasets::read_networks(path("operators.csv"));
    write(path("wide.csv"), table_of(nasbench::networks(), {known.begin(), known.end() - 5}, "network"));
    write(path("names.csv"), measurements_of(nasbench::networks(), {known.end() - 5, known.end()}, "network"));
    write(path("truth.csv"), measurements_of(nasbench::networks(), known, "network"));
    std::filesystem::create_directory(path("models"));
    for (const int channels : {16, 24}) {
      nasbench::NetworkBuilder builder;
      const nasbench::Source image = builder.input("input", {1, 3, 32, 32});
      const nasbench::Source conv = builder.convolution("conv", image, channels, {nasbench::same_window(3)});
      const nasbench::Source relu = builder.activation("relu", conv, "relu");
      builder.output(builder.linear("linear", builder.global_average_pool("pool", relu), 10));
      write(path("models/own" + std::to_string(channels) + ".onnx"), nasbench::onnx_model(builder.network(), {}));
    }
    expect_fine(run("tenshot dataset import --space networks --networks " + q("operators.csv") + " --table " +
                    q("wide.csv") + " --out " + q("pool")));
    expect_fine(run("tenshot train --predictor operators --pool " + q("pool") + " --out " + q("pool.tenshot")));
    expect_fine(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 6 --out " + q("plan.csv")));
    const auto plan = datasets::read_architectures(path("plan.csv"), nasbench::networks()).architectures;
    ASSERT_EQ(plan.size(), 6U);
    write(path("measured.csv"), measurements_of(nasbench::networks(), plan, "network"));
    expect_fine(run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q("measured.csv") +
                    " --out " + q("device.tenshot")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  static Folder* folder_;
};

Folder* NamedNetworks::folder_ = nullptr;

TEST_F(NamedNetworks, Pool_KeepsThemBesideItsDevices) {
  EXPECT_TRUE(std::filesystem::exists(path("pool/networks.json")));
  expect_fine(run("tenshot dataset validate " + q("pool")));
}

TEST_F(NamedNetworks, OnnxFile_IsPredictedInALineWhichSeveralName) {
  const std::string predict = "tenshot predict --predictor " + q("device.tenshot") + " " + q("models/own16.onnx");
  const Outcome one = run(predict), two = run(predict + " net3");
  expect_fine(one);
  expect_fine(two);
  EXPECT_TRUE(std::regex_match(one.out, prediction_line)) << one.out;
  const std::string first = "own16\t" + one.out + "net3\t";
  ASSERT_EQ(two.out.substr(0, first.size()), first);
  EXPECT_TRUE(std::regex_match(two.out.substr(first.size()), prediction_line)) << two.out;
}

TEST_F(NamedNetworks, StandardOutput_HasTheCsvAlone) {
  const Outcome outcome =
      run("tenshot predict --predictor " + q("device.tenshot") + " " + q("models/own16.onnx") + " net3 --out -");
  expect_fine(outcome);
  EXPECT_EQ(outcome.out.rfind("architecture,latency_ms,lower_ms,upper_ms\nown16,", 0), 0U) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.out;
}

TEST_F(NamedNetworks, NewOnes_AreNamedByTheirOperators) {
  const std::string predict = "tenshot predict --predictor " + q("device.tenshot") + " --archs " + q("names.csv") +
                              " --out " + q("predictions.csv");
  expect_refused(run(predict), {"names.csv", "5 unknown architecture", "--networks"});
  EXPECT_FALSE(std::filesystem::exists(path("predictions.csv")));
  expect_fine(run(predict + " --networks " + q("operators.csv")));
  EXPECT_EQ(datasets::read_architectures(path("predictions.csv"), nasbench::networks()).architectures.size(), 5U);
}

TEST_F(NamedNetworks, Evaluate_ReadsThemToo) {
  const Outcome outcome = run("tenshot evaluate --predictor " + q("device.tenshot") + " --measured " + q("truth.csv") +
                              " --networks " + q("operators.csv") + " --json");
  expect_fine(outcome);
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("architectures"), 30 - 6);
}

TEST_F(NamedNetworks, FolderOfOnnxFiles_MayBePlannedAndPredicted) {
  expect_fine(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --networks " + q("models") +
                  " --samples 2 --out " + q("two.csv")));
  EXPECT_NE(slurp(path("two.csv")).find("own24"), std::string::npos);
  expect_fine(run("tenshot predict --predictor " + q("device.tenshot") + " --networks " + q("models") + " --out " +
                  q("own.csv")));
  EXPECT_NE(slurp(path("own.csv")).find("own16,"), std::string::npos);
}

TEST_F(NamedNetworks, Kit_CopiesTheirOnnxFiles) {
  const std::string plan = "tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 2 --out " + q("two.csv");
  expect_fine(run(plan + " --networks " + q("models") + " --kit " + q("kit")));
  const std::string first = slurp(path("kit/models/arch_01.onnx"));
  EXPECT_TRUE(first == slurp(path("models/own16.onnx")) || first == slurp(path("models/own24.onnx")));
  expect_refused(run(plan + " --kit " + q("other-kit")), {"known by its operators alone", "--networks"});
}

TEST_F(NamedNetworks, ANetworkOfOnesOwnWithANameOfThePools_IsTheOneThatTheNameMeans) {
  std::string text = slurp(path("operators.csv"));
  text.replace(text.find("net0,0,conv_2d,32,3,32,1,3"), 26, "net0,0,conv_2d,32,3,32,1,7");
  write(path("changed.csv"), text);
  const std::string predict = "tenshot predict --predictor " + q("device.tenshot") + " net0";
  const Outcome of_pool = run(predict), own = run(predict + " --networks " + q("changed.csv"));
  expect_fine(of_pool);
  expect_fine(own);
  EXPECT_NE(of_pool.out, own.out);
}

TEST_F(NamedNetworks, PredictorsOfDecisions_AreRefused) {
  expect_refused(run("tenshot train --predictor additive --pool " + q("pool") + " --out " + q("additive.tenshot")),
                 {"networks", "not made of decisions"});
}

}  // namespace
}  // namespace tenshot::test
