#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporary_folder.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

using nlohmann::json;

std::string small_model() {
  nasbench::NetworkBuilder b;
  nasbench::Source x = b.input("input", {1, 3, 16, 16});
  x = b.activation("relu", b.convolution("stem", x, 16, {nasbench::same_window(3), 1, true}), "relu");
  x = b.convolution("deep", x, 32, {nasbench::same_window(3), 1, true});
  b.output(b.linear("classify", b.global_average_pool("pool", x), 5));
  return nasbench::onnx_model(b.take(), {1, 1, "small"});
}

class ColdVerb : public testing::Test {
 protected:
  void SetUp() override {
    write_file_atomically(path("model.onnx"), small_model());
    const Outcome measured =
        run("tenshot cold measure " + q("model.onnx") + " --repetitions 1 --out " + q("stages.json"));
    if (measured.err.find("without oneDNN") != std::string::npos) GTEST_SKIP() << "the program has no oneDNN";
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
  void edit(const std::string& name, const std::string& key, const json& value) const {
    json document = json::parse(read_file(path(name)));
    document[key] = value;
    write_file_atomically(path(name), document.dump());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ColdVerb, PlansByStarting) {
  const Outcome planned = run("tenshot cold plan " + q("stages.json") + " --starts 2 --out " + q("started.json"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json plan = json::parse(read_file(path("started.json")));
  EXPECT_GT(plan.at("predicted_ms").get<double>(), 0);
  EXPECT_LE(plan.at("lower_bound_ms").get<double>(), plan.at("predicted_ms").get<double>() * (1 + 1e-9));
  EXPECT_FALSE(std::filesystem::exists(path("started.json.start")));
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
  const Outcome first = run("tenshot cold run " + q("plan.json") + " --drop-page-cache --warm-runs 2");
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
  write_file_atomically(path("occupied"), "a file where the folder should be");
  const Outcome occupied = run("tenshot cold run " + q("plan.json") + " --json --weights " + q("occupied"));
  ASSERT_EQ(occupied.exit_code, 0) << occupied.err;
  EXPECT_NE(occupied.err.find("starting from the model itself"), std::string::npos) << occupied.err;
  EXPECT_FALSE(json::parse(occupied.out).at("slow_layers").empty());
  // A limit of the size of files stands for a full disk.
  const Outcome full =
      run("trap '' XFSZ; ulimit -f 1; tenshot cold run " + q("plan.json") + " --weights " + q("full") + " | cat");
  EXPECT_NE(full.err.find("starting from the model itself"), std::string::npos) << full.err;
  EXPECT_NE(full.out.find("ms from the plan's file"), std::string::npos) << full.out;
  EXPECT_TRUE(std::filesystem::is_empty(path("full")));
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
  write_file_atomically(path("norm.onnx"), nasbench::onnx_model(b.take(), {1, 1, "norm"}));
  expect_refused("tenshot cold measure " + q("norm.onnx") + " --out " + q("none.json"), "'norm'");
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
  expect_refused("tenshot cold plan " + q("model.onnx") + " --out " + q("none.json"), "model.onnx");
  expect_refused("tenshot cold run " + q("stages.json"), "tenshot.cold-plan/1");
  EXPECT_EQ(run("tenshot cold plan " + q("stages.json") + " --out " + q("stages.json")).exit_code, 2);
  EXPECT_EQ(run("tenshot cold freeze").exit_code, 2);
}

}  // namespace
}  // namespace tenshot::test
