// A signal ends any verb, whatever it is doing, by the signal itself; nothing temporary is left.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/tables/measurements.h"
#include "nasbench/spaces/search_space.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

class Signals : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    ASSERT_NO_FATAL_FAILURE(write_adapted_device(folder_->path()));
    ASSERT_EQ(run("mkfifo " + q("pipe")).exit_code, 0);
    std::filesystem::create_directory(path("temporary"));
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  /// Starts `verb`, waits until `ready` succeeds, sends `signal`, and returns the exit status. A program that is still
  /// there a minute later is killed, which is another status. `ready` is asked of the program alone: the shell's copy
  /// that becomes it holds the pipe for a moment too, and it ignores an interrupt, as all that a script starts beside
  /// it.
  static int status_after(const std::string& verb, const std::string& ready, const std::string& signal) {
    const Outcome outcome =
        run("export TMPDIR=" + q("temporary") + "\nexec 9<>" + q("pipe") + "\n" + quoted(TENSHOT_PROGRAM) + " " + verb +
            " 9>&- &\npid=$!\nuntil [ /proc/$pid/exe -ef " + quoted(TENSHOT_PROGRAM) + " ] && " + ready +
            "; do kill -0 $pid || exit 99; sleep 0.02; done\nkill -" + signal +
            " $pid\n(sleep 60; kill -KILL $pid) 9>&- >/dev/null 2>&1 &\nguard=$!\nwait $pid\nstatus=$?\n" +
            "kill $guard\nexit $status");
    EXPECT_NE(outcome.exit_code, 99) << verb << " ended by itself: " << outcome.err;
    return outcome.exit_code;
  }

  static void expect_nothing_left() {
    EXPECT_TRUE(std::filesystem::is_empty(path("temporary")));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_->path())) {
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
    }
  }

  static Folder* folder_;
};

Folder* Signals::folder_ = nullptr;

constexpr int terminated = 128 + 15, interrupted = 128 + 2, hung_up = 128 + 1;
const std::string reads_the_pipe = "ls -l /proc/$pid/fd 2>/dev/null | grep -q 'pipe$'";

class SignalsOfVerbs : public Signals, public ::testing::WithParamInterface<const char*> {};

TEST_P(SignalsOfVerbs, EndAVerbThatWaitsForItsInput) {
  std::string verb = GetParam();
  for (const std::string name : {"pipe", "pool.tenshot", "measured.csv", "device.tenshot", "never"}) {
    for (std::size_t at; (at = verb.find("<" + name + ">")) != std::string::npos;) {
      verb.replace(at, name.size() + 2, q(name));
    }
  }
  EXPECT_EQ(status_after(verb, reads_the_pipe, "TERM"), terminated);
  EXPECT_FALSE(std::filesystem::exists(path("never")));
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Cli, SignalsOfVerbs,
                         ::testing::Values("adapt --checkpoint <pool.tenshot> --measurements <pipe> --out <never>",
                                           "predict --predictor <device.tenshot> --archs <pipe> --out <never>",
                                           "plan --checkpoint <pool.tenshot> --candidates <pipe> --out <never>",
                                           "evaluate --predictions <pipe> --measured <measured.csv>",
                                           "export --predictor <pipe> --document <never>",
                                           "report <pipe> --out <never>", "dataset import --table <pipe> --out <never>",
                                           "experiment <pipe> --out <never>", "collect --archs <pipe> --out <never>"));

TEST_F(Signals, EveryOneEndsAVerbByItself) {
  const std::string predict = "predict --predictor " + q("device.tenshot") + " --archs " + q("pipe") + " --out -";
  EXPECT_EQ(status_after(predict, reads_the_pipe, "INT"), interrupted);
  EXPECT_EQ(status_after(predict, reads_the_pipe, "HUP"), hung_up);
}

TEST_F(Signals, EndAVerbThatComputesWithoutAsking) {
  datasets::Pool pool = synthetic_pool(200);
  for (int d = 0; d < 25; ++d)
    pool.devices.push_back(synthetic_device("d" + std::to_string(d), d + 2, 1, 0.01, 200, d));
  datasets::write_pool(path("large"), pool);
  const std::string busy = "[ \"$(awk '{ print $14 > \"/dev/stdout\" }' /proc/$pid/stat)\" -gt 60 ]";
  EXPECT_EQ(status_after("train --pool " + q("large") + " --out " + q("never"), busy, "TERM"), terminated);
  EXPECT_FALSE(std::filesystem::exists(path("never")));
  expect_nothing_left();
}

TEST_F(Signals, EndAnExperimentWithItsProcesses) {
  const nlohmann::json spec = {{"format", "tenshot.experiment/1"},
                               {"name", "made-up"},
                               {"data", {{"pool", path("pool").string()}}},
                               {"split", {{"train", "0:25"}, {"test", "25:40"}}},
                               {"targets", {"*"}},
                               {"pools", {"others"}},
                               {"samplers", {"targeted-uniform"}},
                               {"samples", {5}},
                               {"methods", {"maple-edge-plain"}},
                               {"trials", 3}};
  write(path("spec.json"), spec.dump());
  const std::string state = "ls " + q("results") + "/models 2>/dev/null | grep -q partial";
  EXPECT_EQ(status_after("experiment " + q("spec.json") + " --jobs 2 --out " + q("results"), state, "TERM"),
            terminated);
  expect_nothing_left();
}

TEST_F(Signals, EndCollectingAfterItHasSavedWhatItMeasured) {
  const std::string verb = "collect --attempts 1 --resolution 8 --archs 40 --out " + q("dev");
  const std::string some = "[ \"$(cat " + q("dev") + "/*/latencies.csv 2>/dev/null | wc -l)\" -gt 20 ]";
  EXPECT_EQ(status_after(verb, some, "TERM"), terminated);
  EXPECT_GE(datasets::read_device(path("dev") / "libtorch-eager_t1_b1_r8").device.latencies.size(), 20U);
  expect_nothing_left();
}

}  // namespace
}  // namespace tenshot::test
