// What has to be loaded before the program does anything: LibTorch takes half a second, other engines ten milliseconds,
// and most verbs do without.

#include <gtest/gtest.h>

#include "tests/integration/program.h"
#include "tests/unit/trainer/fixtures.h"

namespace tenshot::test {
namespace {

const std::string source = TENSHOT_SOURCE_DIR;

/// Runs a command of the program, and tells which libraries that are loaded late it loaded, as the dynamic loader
/// reports.
std::vector<std::string> loaded_late(const std::string& command) {
  const Outcome outcome = run("LD_DEBUG=files " + command);
  EXPECT_EQ(outcome.exit_code, 0) << command;
  EXPECT_NE(outcome.err.find("libstdc++"), std::string::npos) << "the loader did not report";
  std::vector<std::string> loaded;
  for (const char* library : {"libtorch_cpu", "libopencv_core", "libdnnl", "libxgboost"}) {
    if (outcome.err.find(library) != std::string::npos) loaded.emplace_back(library);
  }
  return loaded;
}

bool loads_libtorch(const std::string& command) {
  const std::vector<std::string> loaded = loaded_late(command);
  return !loaded.empty() && loaded.front() == "libtorch_cpu";
}

void expect_nothing_late(const std::string& command) {
  EXPECT_EQ(loaded_late(command), std::vector<std::string>{}) << command;
}

class Start : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "with sanitizers everything is linked into the program";
#endif
    const Outcome adapted =
        run("head -11 " + source + "/datasets/data/libtorch-eager_t1_b1/latencies.csv >" + quoted(path("ten.csv")) +
            " && tenshot adapt --checkpoint " + source + "/checkpoints/pool.tenshot --measurements " +
            quoted(path("ten.csv")) + " --out " + quoted(path("device.tenshot")));
    ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  Folder folder_;
};

TEST_F(Start, HelpAndInfoLoadNoEngine) {
  for (const char* command : {"tenshot --help", "tenshot help predict", "tenshot collect --help"}) {
    expect_nothing_late(command);
  }
  expect_nothing_late("tenshot info " + quoted(path("device.tenshot")));
}

TEST_F(Start, PlanningAdaptingAndPredictingLoadNoEngine) {
  const std::string pool = source + "/checkpoints/pool.tenshot", device = quoted(path("device.tenshot"));
  expect_nothing_late("tenshot plan --checkpoint " + pool + " --out " + quoted(path("plan.csv")));
  expect_nothing_late("tenshot adapt --checkpoint " + pool + " --measurements " + quoted(path("ten.csv")) + " --out " +
                      quoted(path("again.tenshot")));
  expect_nothing_late("tenshot predict --predictor " + device + " --out " + quoted(path("all.csv")));
  const std::string models = quoted(path("models"));
  ASSERT_EQ(run("tenshot network generate --space synthetic-cnn --count 1 --out " + models).exit_code, 0);
  expect_nothing_late("tenshot predict --device pixel4_gpu_float --checkpoint " + source +
                      "/checkpoints/networks.tenshot --networks " + models + " --out -");
}

TEST_F(Start, TorchScriptAndTheVersionLoadIt) {
  EXPECT_TRUE(loads_libtorch("tenshot --version"));
  EXPECT_EQ(run("tenshot version").out, run("tenshot --version").out);
  EXPECT_EQ(run("tenshot -V").out, run("tenshot --version").out);
  EXPECT_TRUE(loads_libtorch("tenshot export --predictor " + quoted(path("device.tenshot")) + " --torchscript " +
                             quoted(path("device.pt"))));
  EXPECT_TRUE(std::filesystem::exists(path("device.pt")));
}

TEST_F(Start, FastestAndLimitChooseFromTheWholeSpace) {
  const std::string predict = "tenshot predict --predictor " + quoted(path("device.tenshot"));
  const Outcome five = run(predict + " --fastest 5");
  ASSERT_EQ(five.exit_code, 0) << five.err;
  EXPECT_EQ(std::count(five.out.begin(), five.out.end(), '\n'), 5);
  EXPECT_EQ(five.out.front(), '|');
  EXPECT_NE(five.out.find("\t"), std::string::npos);
  const Outcome limited = run(predict + " --limit 3 --out " + quoted(path("fast.csv")));
  ASSERT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_NE(limited.err.find("predictions written"), std::string::npos) << limited.err;
  EXPECT_EQ(run("awk -F, 'NR == 1 { next } $2 > 3 || $2 < last { exit 1 } { last = $2 }' " + quoted(path("fast.csv")))
                .exit_code,
            0);
  EXPECT_EQ(run(predict + " --limit 3 --quiet").out, run(predict + " --limit-ms 3 --quiet").out) << "the earlier name";
  const Outcome none = run(predict + " --limit 0.001");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("0.001 ms or less; the least is"), std::string::npos) << none.err;
  const Outcome all = run(predict);
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 15625) << "without --out a line for each";
  EXPECT_EQ(run(predict + " --fastest 0").exit_code, 2);
  EXPECT_EQ(run(predict + " --limit -1").exit_code, 2);
}

}  // namespace
}  // namespace tenshot::test
