#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

using nlohmann::json;

std::string small_model(int channels = 16) {
  nasbench::NetworkBuilder b;
  nasbench::Source x = b.input("input", {1, 3, 16, 16});
  x = b.activation("relu", b.convolution("stem", x, channels, {nasbench::same_window(3), 1, true}), "relu");
  x = b.convolution("deep", x, 32, {nasbench::same_window(3), 1, true});
  b.output(b.linear("classify", b.global_average_pool("pool", x), 5));
  return nasbench::onnx_model(b.take(), {1, "small"});
}

/// A file system in memory, with the options of mount; not there where the process may not mount one.
class MountedFolder {
 public:
  MountedFolder(const std::filesystem::path& path, const std::string& options) : path_(path) {
    std::filesystem::create_directory(path);
    mounted_ = run("mount -t tmpfs -o " + options + " tmpfs " + quoted(path)).exit_code == 0;
  }
  ~MountedFolder() {
    if (mounted_) run("umount " + quoted(path_));
  }
  MountedFolder(const MountedFolder&) = delete;
  MountedFolder& operator=(const MountedFolder&) = delete;
  bool is_mounted() const { return mounted_; }

 private:
  std::filesystem::path path_;
  bool mounted_ = false;
};

class ColdVerb : public testing::Test {
 protected:
  void SetUp() override {
    write_file_atomically(path("model.onnx"), small_model());
    const Outcome measured =
        run("tenshot cold measure " + q("model.onnx") + " --repetitions 1 --out " + q("stages.json"));
    if (measured.err.find("libdnnl-dev") != std::string::npos) GTEST_SKIP() << "the program has no oneDNN";
    ASSERT_EQ(measured.exit_code, 0) << measured.err;
    const Outcome planned = run("tenshot cold plan " + q("stages.json") + " --cache all --out " + q("plan.json"));
    ASSERT_EQ(planned.exit_code, 0) << planned.err;
    EXPECT_NE(planned.err.find("no plan is under"), std::string::npos) << planned.err;
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string q(const std::string& name) const { return quoted(path(name)); }
  json start(const std::string& options = "") const {
    const Outcome outcome = run("tenshot cold run " + q("plan.json") + " --json " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  void expect_refused(const std::string& command, const std::string& because) const {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_NE(outcome.err.find(because), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  /// A run that cannot store its weights says so in one line, and computes the same.
  void expect_the_slow_way(const std::string& folder, const json& expected) const {
    const Outcome slow = run("tenshot cold run " + q("plan.json") + " --json --weights " + q(folder));
    ASSERT_EQ(slow.exit_code, 0) << slow.err;
    EXPECT_NE(slow.err.find("starting from the model itself"), std::string::npos) << slow.err;
    EXPECT_EQ(std::count(slow.err.begin(), slow.err.end(), '\n'), 1) << slow.err;
    const json said = json::parse(slow.out);
    EXPECT_EQ(said.at("slow_layers").size(), 3U);
    EXPECT_EQ(said.at("output"), expected);
  }
  void edit(const std::string& name, const std::string& key, const json& value) const {
    json document = json::parse(read_file(path(name)));
    document[key] = value;
    write_file_atomically(path(name), document.dump());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ColdVerb, PlansByStarting) {
  const Outcome planned = run("tenshot cold plan " + q("stages.json") + " --starts 2 --corrected " +
                              q("corrected.json") + " --out " + q("started.json"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json plan = json::parse(read_file(path("started.json")));
  EXPECT_GT(plan.at("predicted_ms").get<double>(), 0);
  EXPECT_LE(plan.at("lower_bound_ms").get<double>(), plan.at("predicted_ms").get<double>() * (1 + 1e-9));
  EXPECT_FALSE(std::filesystem::exists(path("started.json.start")));
  const json corrected = json::parse(read_file(path("corrected.json")));
  EXPECT_EQ(corrected.at("model_sha256"), json::parse(read_file(path("stages.json"))).at("model_sha256"));
  EXPECT_EQ(corrected.at("stages").size(), 4U);
  EXPECT_EQ(run("tenshot cold plan " + q("stages.json") + " --corrected " + q("other.json") + " --out " + q("p.json"))
                .exit_code,
            2);
}

TEST_F(ColdVerb, PlansForFilesThatStayInThePageCache) {
  const std::string plan = "tenshot cold plan " + q("stages.json") + " --out " + q("kept.json") + " --page-cache ";
  const Outcome planned = run(plan + "kept --starts 1");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_GT(json::parse(read_file(path("kept.json"))).at("predicted_ms").get<double>(), 0);
  const Outcome without_starts = run(plan + "kept");
  EXPECT_EQ(without_starts.exit_code, 2);
  EXPECT_NE(without_starts.err.find("--starts"), std::string::npos) << without_starts.err;
  expect_refused(plan + "warm --starts 1", "dropped, kept");
}

TEST_F(ColdVerb, SaysWhatEachLayerTook) {
  const json said = start();
  ASSERT_EQ(said.at("layers").size(), 4U);
  double executed_ms = 0;
  for (const json& layer : said.at("layers")) {
    EXPECT_GT(layer.at("execute_ms").get<double>(), 0);
    EXPECT_GE(layer.at("executed_ms").get<double>(), executed_ms);
    executed_ms = layer.at("executed_ms").get<double>();
  }
  EXPECT_LE(executed_ms, said.at("cold_ms").get<double>());
}

TEST_F(ColdVerb, MeasuresPlansAndStarts) {
  const Outcome first = run("tenshot cold run " + q("plan.json") + " --drop-page-cache --touch-memory --warm-runs 2");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("start.weights"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("ms from the plan's file to the output"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("ms warm"), std::string::npos) << first.out;
  const json again = start("--warm-runs 2");
  EXPECT_EQ(again.at("output").size(), 5U);
  EXPECT_TRUE(again.at("slow_layers").empty());
  EXPECT_GT(again.at("cold_ms").get<double>(), 0);
  // Whatever the plan is, the output is the same.
  const std::string sequential = " --kernels untransformed --cache none --preparing-cores 0 --out ";
  ASSERT_EQ(run("tenshot cold plan " + q("stages.json") + sequential + q("plan.json")).exit_code, 0);
  const json other = start();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(other["output"][i].get<double>(), again["output"][i].get<double>(),
                1e-4 * std::abs(again["output"][i].get<double>()) + 1e-6);
  }
}

TEST_F(ColdVerb, LaterRunsChangeTheirKernelsAndComputeTheSame) {
  const Outcome planned =
      run("tenshot cold plan " + q("stages.json") + " --kernels untransformed --switch --out " + q("plan.json"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  json plan = json::parse(read_file(path("plan.json")));
  if (plan.contains("switches")) {
    EXPECT_NE(planned.err.find("layers change their kernels for later runs"), std::string::npos) << planned.err;
    EXPECT_LE(plan.at("switched_ms").get<double>(), plan.at("warm_ms").get<double>());
  }
  // Whatever was measured: the second convolution changes to a kernel that it has not.
  const json kernels = json::parse(read_file(path("stages.json"))).at("stages")[1].at("kernels");
  const bool is_first = plan["layers"][1]["kernel"] == kernels[0]["name"];
  edit("plan.json", "switches", {{{"layer", 1}, {"kernel", kernels[is_first ? 1 : 0]["name"]}, {"cached", 1}}});
  edit("plan.json", "switched_ms", 0.01);
  const json said = start("--runs 400 --warm-runs 3");
  ASSERT_EQ(said.at("runs").size(), 400U);
  EXPECT_EQ(said["runs"][0]["ms"], said["cold_ms"]);
  EXPECT_EQ(said["runs"][0]["switched"], 0);
  EXPECT_EQ(said["runs"][399]["switched"], 1);
  EXPECT_TRUE(said.at("slow_layers").empty());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(said["last_output"][i].get<double>(), said["output"][i].get<double>(),
                1e-4 * std::abs(said["output"][i].get<double>()) + 1e-6);
  }
  const Outcome shown = run("tenshot cold run " + q("plan.json") + " --runs 2");
  EXPECT_NE(shown.out.find("ms for run 2, "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(" of 1 layers switched"), std::string::npos) << shown.out;
}

TEST_F(ColdVerb, RunsOfAPlanWithoutSwitchesKeepItsKernels) {
  const json said = start("--runs 3");
  ASSERT_EQ(said.at("runs").size(), 3U);
  EXPECT_EQ(said["runs"][2]["switched"], 0);
  EXPECT_EQ(said["last_output"], said["output"]);
  EXPECT_EQ(run("tenshot cold run " + q("plan.json") + " --runs 0").exit_code, 2);
}

TEST_F(ColdVerb, MakesADamagedCacheAgain) {
  const json whole = start();
  {
    std::fstream file(path("plan.json.weights/start.weights"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4100);
    file << "damaged";
  }
  const Outcome damaged = run("tenshot cold run " + q("plan.json") + " --json");
  ASSERT_EQ(damaged.exit_code, 0) << damaged.err;
  EXPECT_NE(damaged.err.find("damaged"), std::string::npos) << damaged.err;
  EXPECT_NE(damaged.err.find("start.weights"), std::string::npos) << damaged.err;
  EXPECT_EQ(json::parse(damaged.out).at("slow_layers").size(), 1U);
  EXPECT_TRUE(start().at("slow_layers").empty());
}

TEST_F(ColdVerb, GoesTheSlowWayWhereNothingCanBeStored) {
  const json expected = start().at("output");
  write_file_atomically(path("occupied"), "a file where the folder should be");
  expect_the_slow_way("occupied", expected);
  // A limit of the size of files stands for a full disk.
  const Outcome full =
      run("trap '' XFSZ; ulimit -f 1; tenshot cold run " + q("plan.json") + " --weights " + q("full") + " | cat");
  EXPECT_NE(full.err.find("starting from the model itself"), std::string::npos) << full.err;
  EXPECT_NE(full.out.find("ms from the plan's file"), std::string::npos) << full.out;
  EXPECT_TRUE(std::filesystem::is_empty(path("full")));
}

TEST_F(ColdVerb, GoesTheSlowWayOnAFullDiskAndInAReadOnlyFolder) {
  const json expected = start().at("output");
  const MountedFolder full(path("full"), "size=8k"), read_only(path("read_only"), "ro");
  if (!full.is_mounted() || !read_only.is_mounted()) GTEST_SKIP() << "may not mount a file system in memory";
  expect_the_slow_way("full", expected);
  EXPECT_TRUE(std::filesystem::is_empty(path("full"))) << "nothing half-written is left";
  expect_the_slow_way("read_only", expected);
}

TEST_F(ColdVerb, TheCacheOfAnotherNetworkIsSaidAndMadeAgain) {
  const json expected = start().at("output");
  write_file_atomically(path("other.onnx"), small_model(24));
  ASSERT_EQ(run("tenshot cold measure " + q("other.onnx") + " --repetitions 1 --out " + q("other.stages")).exit_code,
            0);
  ASSERT_EQ(run("tenshot cold plan " + q("other.stages") + " --out " + q("other.json")).exit_code, 0);
  ASSERT_EQ(run("tenshot cold run " + q("other.json")).exit_code, 0);
  const std::string there = "tenshot cold run " + q("plan.json") + " --json --weights " + q("other.json.weights");
  const Outcome again = run(there);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("another network or plan; it is made again"), std::string::npos) << again.err;
  EXPECT_EQ(json::parse(again.out).at("output"), expected);
  EXPECT_EQ(run(there).err, "");
}

TEST_F(ColdVerb, ADamagedCacheIsNotMadeOfAModelThatHasChanged) {
  start();
  {
    std::fstream file(path("plan.json.weights/start.weights"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4100);
    file << "damaged";
  }
  write_file_atomically(path("model.onnx"), small_model() + std::string(1, '\0'));
  expect_refused("tenshot cold run " + q("plan.json"), "has changed since");
  EXPECT_EQ(run("tenshot cold run " + q("plan.json") + " --json").out, "") << "no output of other weights";
  std::filesystem::remove(path("model.onnx"));
  expect_refused("tenshot cold run " + q("plan.json"), "weights are made of this model");
}

TEST_F(ColdVerb, NamesTheLayerWhoseKernelIsNotThere) {
  json layers = json::parse(read_file(path("plan.json"))).at("layers");
  layers[1]["kernel"] = "jit:none nhwc";
  edit("plan.json", "layers", layers);
  expect_refused("tenshot cold run " + q("plan.json"), "layer 'deep': there is no kernel 'jit:none nhwc'");
  EXPECT_FALSE(std::filesystem::exists(path("plan.json.weights")));
  json stages = json::parse(read_file(path("stages.json"))).at("stages");
  stages[1]["kernels"] = json::array();
  edit("stages.json", "stages", stages);
  expect_refused("tenshot cold plan " + q("stages.json") + " --out " + q("none.json"), "stages[1].kernels");
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
}

TEST_F(ColdVerb, PredictsPlansAndStartsANetworkWhoseStagesWereNotMeasured) {
  std::filesystem::create_directory(path("known"));
  std::filesystem::copy(path("stages.json"), path("known/small.json"));
  write_file_atomically(path("other.onnx"), small_model(24));
  ASSERT_EQ(
      run("tenshot cold measure " + q("other.onnx") + " --repetitions 1 --out " + q("known/other.json")).exit_code, 0);
  write_file_atomically(path("new.onnx"), small_model(20));
  const std::string predict = "tenshot cold predict " + q("new.onnx") + " --stages ";
  const Outcome predicted = run(predict + q("known") + " --json --out " + q("predicted.json"));
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const json said = json::parse(predicted.out);
  EXPECT_GT(said.at("cold_ms").get<double>(), 0);
  EXPECT_LE(said["low_ms"], said["cold_ms"]);
  EXPECT_GE(said["high_ms"], said["cold_ms"]);
  EXPECT_EQ(said["held_out_networks"], 2);
  const Outcome shown = run(predict + q("known"));
  EXPECT_NE(shown.out.find("from 2 networks that were held out"), std::string::npos) << shown.out;
  ASSERT_EQ(run("tenshot cold plan " + q("predicted.json") + " --out " + q("plan.json")).exit_code, 0);
  const json started = start();
  EXPECT_TRUE(started.at("slow_layers").empty());
  EXPECT_EQ(started.at("output").size(), 5U);
  const Outcome one = run(predict + q("known/small.json"));
  EXPECT_NE(one.out.find("no interval"), std::string::npos) << one.out;
}

TEST_F(ColdVerb, PredictsOnlyFromStagesOfOneMachine) {
  std::filesystem::create_directory(path("known"));
  const std::string predict = "tenshot cold predict " + q("model.onnx") + " --out " + q("none.json") + " --stages ";
  expect_refused(predict + q("known"), "has no file of stages");
  std::filesystem::copy(path("stages.json"), path("known/a.json"));
  edit("stages.json", "machine", "a board");
  std::filesystem::copy(path("stages.json"), path("known/b.json"));
  expect_refused(predict + q("known"), "unlike machines");
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
  std::filesystem::remove(path("known/a.json"));
  EXPECT_EQ(run(predict + q("known")).exit_code, 0) << "of another machine: its own kernels, as they were measured";
  expect_refused("tenshot cold run " + q("none.json"), "tenshot.cold-plan/1");
}

TEST_F(ColdVerb, RefusesPlansAndModelsThatDoNotBelongHere) {
  edit("plan.json", "machine", "a board");
  expect_refused("tenshot cold run " + q("plan.json"), "'a board'");
  write_file_atomically(path("model.onnx"), small_model() + std::string(1, '\0'));
  ASSERT_EQ(run("tenshot cold plan " + q("stages.json") + " --out " + q("plan.json")).exit_code, 0);
  expect_refused("tenshot cold run " + q("plan.json"), "has changed since");
  EXPECT_FALSE(std::filesystem::exists(path("plan.json.weights")));
}

TEST_F(ColdVerb, NamesALayerWithoutKernelsAndFilesThatAreNone) {
  nasbench::NetworkBuilder b;
  b.output(b.layer_norm("norm", b.input("input", {1, 3, 16})));
  write_file_atomically(path("norm.onnx"), nasbench::onnx_model(b.take(), {1, "norm"}));
  expect_refused("tenshot cold measure " + q("norm.onnx") + " --out " + q("none.json"), "'norm'");
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
  expect_refused("tenshot cold plan " + q("model.onnx") + " --out " + q("none.json"), "model.onnx");
  expect_refused("tenshot cold run " + q("stages.json"), "tenshot.cold-plan/1");
  EXPECT_EQ(run("tenshot cold plan " + q("stages.json") + " --out " + q("stages.json")).exit_code, 2);
  EXPECT_EQ(run("tenshot cold freeze").exit_code, 2);
}

}  // namespace
}  // namespace tenshot::test
