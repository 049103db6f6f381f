// Networks of one's own, from ONNX files to predictions: measured end to end on runtimes here, ten of them by a kit.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "datasets/pool/pool.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const std::filesystem::path source = TENSHOT_SOURCE_DIR;

/// Network number `n`: two to five convolutions, plain or separable, of various widths.
nasbench::Network network_of(int n) {
  nasbench::NetworkBuilder builder;
  nasbench::Source x = builder.input("input", {1, 3, 24, 24});
  const std::int64_t width = 8 + 8 * (n % 4);
  x = builder.convolution("stem", x, width, {nasbench::same_window(3), 1, true});
  for (int i = 0; i < 2 + n % 4; ++i) {
    const std::string part = "block" + std::to_string(i);
    const bool separable = n % 3 == 1;
    if (separable)
      x = builder.convolution(part + "_depthwise", x, width, {nasbench::same_window(3), static_cast<int>(width), true});
    x = builder.convolution(part, x, width, {nasbench::same_window(separable ? 1 : 3), 1, true});
    x = builder.activation(part + "_act", x, n % 2 == 0 ? "relu" : "hard_swish");
  }
  builder.output(builder.linear("head", builder.global_average_pool("mean", x), 10));
  return builder.take();
}

void expect_fine(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err; }

class OwnNetworks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    std::filesystem::create_directory(path("models"));
    for (int n = 0; n < 24; ++n) {
      const std::string name = "models/own" + std::to_string(100 + n) + ".onnx";
      write(path(name), nasbench::onnx_model(network_of(n), {}));
    }
    write(path("new_model.onnx"), nasbench::onnx_model(network_of(26), {}));
    for (const char* runtime : {"libtorch-eager", "libtorch-frozen"}) expect_fine(run(collect(runtime)));
    expect_fine(run("tenshot train --pool " + q("pool") + " --out " + q("networks.tenshot")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string collect(const std::string& runtime) {
    return "tenshot collect --runtime " + runtime + " --networks " + q("models") +
           " --runs 6 --rounds 2 --attempts 1 --tolerance 5 --out " + q("pool");
  }
  /// The network that ten.csv, a plan, names first.
  static std::string measured_first() {
    std::istringstream plan(slurp(path("ten.csv")));
    std::string line;
    std::getline(plan, line);
    std::getline(plan, line);
    return line.substr(line.find(',') + 1);
  }
  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  static Folder* folder_;
};

Folder* OwnNetworks::folder_ = nullptr;

TEST_F(OwnNetworks, Collect_MakesAPoolOfThem) {
  const datasets::Pool pool = datasets::read_pool(path("pool"));
  EXPECT_EQ(pool.space, &nasbench::networks());
  ASSERT_EQ(pool.devices.size(), 2U);
  for (const datasets::DeviceRuntime& device : pool.devices) EXPECT_EQ(device.latencies.size(), 24U) << device.id;
  expect_fine(run("tenshot dataset validate " + q("pool")));
}

TEST_F(OwnNetworks, CollectOperators_WritesATableThatTrainsAPredictorOfKernels) {
  const std::string operators = "pool/libtorch-eager_t1_b1/operators.csv";
  const Outcome measured = run(collect("libtorch-eager") + " --operators");
  expect_fine(measured);
  EXPECT_NE(measured.err.find("operators, 0 of them without a time"), std::string::npos) << measured.err;
  const std::string before = slurp(path(operators));
  EXPECT_NE(before.find(",profile,own100,"), std::string::npos);
  expect_fine(run(collect("libtorch-eager") + " --operators"));
  EXPECT_EQ(slurp(path(operators)), before);
  expect_fine(run("tenshot kernels train --kernels " + q(operators) + " --out " + q("kernels.tenshot")));
  expect_fine(run("tenshot predict --predictor " + q("kernels.tenshot") + " " + q("new_model.onnx")));
}

TEST_F(OwnNetworks, Collect_RefusesAnotherNetworkOfANameThatThePoolHas_BeforeItMeasures) {
  std::filesystem::create_directory(path("others"));
  write(path("others/own100.onnx"), nasbench::onnx_model(network_of(101), {}));
  const Outcome refused =
      run("tenshot collect --runtime libtorch-optimized --networks " + q("others") + " --out " + q("pool"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("network 'own100'"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(path("pool/libtorch-optimized_t1_b1")));
  expect_fine(run("tenshot dataset validate " + q("pool")));
}

TEST_F(OwnNetworks, CollectOperatorsOfASearchSpace_IsRefusedWithTheOptionThatDoes) {
  const Outcome refused = run("tenshot collect --runtime libtorch-eager --operators --archs 1 --out " + q("cells"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--descriptor"), std::string::npos) << refused.err;
}

TEST_F(OwnNetworks, Collect_GoesOnWithWhatIsMissing) {
  const std::string before = slurp(path("pool/libtorch-eager_t1_b1/latencies.csv"));
  const Outcome again = run(collect("libtorch-eager"));
  expect_fine(again);
  EXPECT_EQ(slurp(path("pool/libtorch-eager_t1_b1/latencies.csv")), before);
}

TEST_F(OwnNetworks, Collect_TakesTheFirstOrThoseOfAFile) {
  const std::string some = "tenshot collect --quiet --runs 2 --rounds 1 --attempts 1 --networks " + q("models");
  expect_fine(run(some + " --archs 2 --out " + q("first")));
  const auto of = [](const datasets::Pool& pool) {
    std::set<std::string> names;
    for (const auto& row : pool.devices.front().latencies) names.insert(pool.space->format(row.architecture));
    return names;
  };
  EXPECT_EQ(of(datasets::read_pool(path("first"))), (std::set<std::string>{"own100", "own101"}));
  write(path("names.csv"), "network\nown120\nown103\n");
  expect_fine(run(some + " --archs " + q("names.csv") + " --id my_desk --out " + q("named")));
  EXPECT_EQ(datasets::read_pool(path("named")).devices.front().id, "my_desk");
  EXPECT_EQ(of(datasets::read_pool(path("named"))), (std::set<std::string>{"own103", "own120"}));
}

TEST_F(OwnNetworks, Collect_RefusesWhatDoesNotGoTogether) {
  const auto refused = [&](const std::string& options, int exit_code, const std::string& part) {
    const Outcome outcome = run("tenshot collect " + options + " --out " + q("none"));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_TRUE(!std::filesystem::exists(path("none")) || std::filesystem::is_empty(path("none")));
  };
  refused("--networks " + q("models") + " --space fbnet", 2, "--space does not go with --networks");
  refused("--networks " + q("models") + " --resolution 64", 2, "--resolution does not go with --networks");
  refused("--networks " + q("models") + " --descriptor", 2, "--descriptor does not go with --networks");
  refused("--networks " + q("pool/networks.json"), 1, "known by its operators alone");
  refused("--networks " + q("models") + " --batch 4", 1, "is 1, asked for a batch of 4");
}

/// A folder of two networks and a file that is none.
std::string mixed_folder(const std::filesystem::path& folder) {
  write(folder / "first.onnx", nasbench::onnx_model(network_of(30), {}));
  write(folder / "second.onnx", nasbench::onnx_model(network_of(31), {}));
  write(folder / "pointer.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  return quoted(folder);
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST_F(OwnNetworks, AFileThatIsNoNetwork_DoesNotStopTheOthers) {
  const Folder folder;
  const std::string models = mixed_folder(folder.path());
  expect_fine(run("tenshot adapt --checkpoint " + q("networks.tenshot") + " --measurements " +
                  q("pool/libtorch-eager_t1_b1") + " --out " + q("eager.tenshot")));
  const std::string predict = "tenshot predict --predictor " + q("eager.tenshot") + " --networks " + models;
  const Outcome predicted = run(predict + " --out -");
  expect_fine(predicted);
  expect_parts(predicted.out, {"first,", "second,"});
  EXPECT_EQ(predicted.out.find("pointer"), std::string::npos) << predicted.out;
  expect_parts(predicted.err, {"left out", "pointer.onnx", "Git LFS pointer"});
  const Outcome strict = run(predict + " --out - --strict");
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_EQ(strict.out, "");
  expect_parts(strict.err, {"pointer.onnx", "--strict"});
  const Outcome arguments = run("cd " + models + "; tenshot predict --predictor " + q("eager.tenshot") +
                                " pointer.onnx second.onnx nowhere.onnx");
  expect_fine(arguments);
  expect_parts(arguments.out, {"second\t"});
  expect_parts(arguments.err, {"pointer.onnx", "nowhere.onnx"});
  const Outcome planned =
      run("tenshot plan --checkpoint " + q("networks.tenshot") + " --networks " + models + " --samples 2 --out -");
  expect_fine(planned);
  expect_parts(planned.out, {"first", "second"});
  expect_parts(planned.err, {"pointer.onnx"});
}

TEST_F(OwnNetworks, Collect_LeavesOutANetworkWhoseFirstDimensionIsNoBatch) {
  const Folder folder;
  write(folder.path() / "image.onnx", nasbench::onnx_model(network_of(32), {}));
  nasbench::NetworkBuilder steps;
  steps.output(steps.linear("out", steps.input("x", {50, 1, 16}), 8));
  write(folder.path() / "steps.onnx", nasbench::onnx_model(steps.take(), {}));
  const std::string collect = "tenshot collect --runs 2 --rounds 1 --attempts 1 --networks " + quoted(folder.path());
  const Outcome measured = run(collect + " --out " + q("steps"));
  expect_fine(measured);
  expect_parts(measured.err, {"left out", "steps.onnx", "'x' is 50, asked for a batch of 1"});
  const datasets::Pool pool = datasets::read_pool(path("steps"));
  ASSERT_EQ(pool.devices.front().latencies.size(), 1U);
  EXPECT_EQ(pool.space->format(pool.devices.front().latencies.front().architecture), "image");
  EXPECT_EQ(run(collect + " --strict --out " + q("strict")).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("strict")));
}

TEST_F(OwnNetworks, KitOfTen_OnOnnxRuntime_PredictsAModelThatNobodyMeasured) {
  const std::filesystem::path home = std::filesystem::path(TENSHOT_PROGRAM).parent_path() / "onnxruntime";
  const Outcome installed = run(quoted(source / "experiments/shared/install_onnxruntime.sh") + " " + quoted(home));
  if (installed.exit_code == 77) GTEST_SKIP() << installed.err;
  expect_fine(installed);
  expect_fine(run("tenshot plan --checkpoint " + q("networks.tenshot") + " --samples 10 --networks " + q("models") +
                  " --runs 20 --out " + q("ten.csv") + " --kit " + q("kit")));
  expect_fine(run(q("kit/measure.sh") +
                  " --backend onnxruntime --optimization basic --no-perf --profile --node-modules " +
                  quoted(home / "node_modules")));
  const Outcome adapted = run("tenshot adapt --checkpoint " + q("networks.tenshot") + " --measurements " + q("kit") +
                              " --out " + q("board.tenshot"));
  expect_fine(adapted);
  EXPECT_NE(adapted.err.find("10 of 10 architectures measured"), std::string::npos) << adapted.err;
  const Outcome predicted = run("tenshot predict --predictor " + q("board.tenshot") + " " + q("new_model.onnx"));
  expect_fine(predicted);
  const std::regex line(R"([0-9.]+ ms \(90 %: [0-9.]+ to [0-9.]+\)\n)");
  EXPECT_TRUE(std::regex_search(predicted.out, line)) << predicted.out;
  // What the kit measured counts, also where a file of that name holds another network by now.
  const Folder changed;
  write(changed.path() / (measured_first() + ".onnx"), nasbench::onnx_model(network_of(27), {}));
  const Outcome other = run("tenshot adapt --checkpoint " + q("networks.tenshot") + " --measurements " + q("kit") +
                            " --networks " + quoted(changed.path()) + " --out " + q("other.tenshot"));
  expect_fine(other);
  expect_parts(other.err, {measured_first() + ": that of ", "is another network, or of another shape, than "});
  EXPECT_EQ(run("tenshot predict --predictor " + q("other.tenshot") + " " + q("new_model.onnx")).out, predicted.out);
  const Outcome reported =
      run("tenshot report " + q("board.tenshot") + " --measurements " + q("kit") + " --out " + q("page.html"));
  expect_fine(reported);
  const std::string page = slurp(path("page.html"));
  std::size_t profiled = 0;
  const std::string sentence = "Its profile times ";
  for (std::size_t at = page.find(sentence); at != std::string::npos; at = page.find(sentence, at + 1), ++profiled) {
    std::istringstream words(page.substr(at + sentence.size(), 30));
    std::string of;
    int timed = 0, all = 0;
    words >> timed >> of >> all;
    EXPECT_GE(2 * timed, all) << page.substr(at, 100);
  }
  EXPECT_EQ(profiled, 10U);
  expect_parts(page, {"What each operator of own", "Where measured and explained differ most"});
  EXPECT_EQ(page.find("holds nothing that was not adapted on"), std::string::npos);
  expect_fine(run("tenshot dataset import --kit " + q("kit") + " --out " + q("kit-pool")));
  const datasets::Pool pool = datasets::read_pool(path("kit-pool"));
  EXPECT_EQ(pool.devices.front().id, "onnxruntime_fp32_t1_b1_basic");
  EXPECT_EQ(pool.devices.front().latencies.size(), 10U);
}

}  // namespace
}  // namespace tenshot::test
