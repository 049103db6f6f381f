// `tenshot experiment` and `tenshot report` as a user runs them, on a made-up pool.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

/// A folder with a made-up pool and a spec over it.
class ExperimentProgram : public ::testing::Test {
 protected:
  ExperimentProgram() {
    datasets::write_pool(path("pool"), synthetic_pool(140));
    const nlohmann::json spec = {{"format", "tenshot.experiment/1"},
                                 {"name", "made-up"},
                                 {"data", {{"pool", path("pool").string()}}},
                                 {"split", {{"train", "0:80"}, {"test", "80:140"}}},
                                 {"targets", {"*"}},
                                 {"pools", {"others"}},
                                 {"samplers", {"targeted-uniform"}},
                                 {"samples", {5, 10}},
                                 {"methods", {"structured", "flops", "transfer"}},
                                 {"trials", 2},
                                 {"quick", {{"trials", 1}, {"methods", {"flops"}}}}};
    write(path("spec.json"), spec.dump());
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string q(const std::string& name) const { return quoted(path(name)); }
  std::string experiment(const std::string& out) const {
    return "tenshot experiment " + q("spec.json") + " --jobs 2 --out " + q(out);
  }

  Folder folder_;
};

TEST_F(ExperimentProgram, GivesTheSameBytesWhenKilledAndResumedAndWhenSharded) {
  ASSERT_EQ(run(experiment("whole")).exit_code, 0);
  const std::string whole = slurp(path("whole/results.csv"));
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 1 + 3 * 2 * 3 * 2);

  // Killed once some cells are there: no signal handler runs, its workers die with it.
  run(quoted(TENSHOT_PROGRAM) + " experiment " + q("spec.json") + " --jobs 2 --out " + q("killed") +
      " & until [ \"$(ls " + q("killed/cells") + " 2>/dev/null | grep -c json$)\" -gt 4 ]; do sleep 0.01; done; " +
      "kill -9 $!");
  ASSERT_FALSE(std::filesystem::exists(path("killed/results.csv")));
  EXPECT_EQ(run(experiment("killed")).exit_code, 1);
  const Outcome resumed = run(experiment("killed") + " --resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(slurp(path("killed/results.csv")), whole);

  for (const char* shard : {"1/2", "2/2"}) ASSERT_EQ(run(experiment("parts") + " --shard " + shard).exit_code, 0);
  ASSERT_EQ(run(experiment("parts") + " --merge").exit_code, 0);
  EXPECT_EQ(slurp(path("parts/results.csv")), whole);
}

TEST_F(ExperimentProgram, PrintsJsonAndRefusesWhatItCannotDo) {
  const Outcome quick = run(experiment("quick") + " --quick --json");
  ASSERT_EQ(quick.exit_code, 0) << quick.err;
  EXPECT_EQ(nlohmann::json::parse(quick.out).at("variants").size(), 2u);
  for (const char* file : {"README.md", "results.csv", "results.json"}) {
    EXPECT_NE(slurp(path(std::string("quick/") + file)).find("(quick)"), std::string::npos) << file;
  }
  for (const char* folder : {"quick/cells", "quick/models"}) {
    for (const auto& file : std::filesystem::directory_iterator(path(folder))) {
      EXPECT_NE(slurp(file.path()).find("(quick)"), std::string::npos) << file.path();
    }
  }
  EXPECT_EQ(run("tenshot experiment").exit_code, 2);
  EXPECT_EQ(run("tenshot experiment " + q("spec.json")).exit_code, 2);
  EXPECT_EQ(run(experiment("x") + " --shard 3/2").exit_code, 2);
  EXPECT_EQ(run(experiment("x") + " --shard 1/2 --merge").exit_code, 2);
  EXPECT_EQ(run(experiment("x") + " surplus").exit_code, 2);
  EXPECT_EQ(run(experiment("x") + " --merge").exit_code, 1);
  const Outcome missing = run("tenshot experiment " + q("no.json") + " --out " + q("x"));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("no such file"), std::string::npos) << missing.err;
}

TEST_F(ExperimentProgram, IsReportedAsOnePage) {
  ASSERT_EQ(run(experiment("quick") + " --quick").exit_code, 0);
  const Outcome outcome = run("tenshot report " + q("quick") + " --out " + q("report.html"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string page = slurp(path("report.html"));
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0u);
  EXPECT_NE(page.find("<svg role=\"img\""), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(run("tenshot report --out " + q("x.html")).exit_code, 2);
  EXPECT_EQ(run("tenshot report " + q("nothing") + " --out " + q("x.html")).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("x.html")));
}

TEST(ExperimentSpecs, ThatShipAreSpecs) {
  int specs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TENSHOT_SOURCE_DIR "/experiments")) {
    if (entry.path().extension() != ".json") continue;
    if (slurp(entry.path()).find("\"tenshot.experiment/1\"") == std::string::npos) continue;
    ++specs;
    const Outcome outcome = run("TENSHOT_TABLES=/nowhere; export TENSHOT_TABLES; cd " + quoted(TENSHOT_SOURCE_DIR) +
                                "; tenshot experiment " + quoted(entry.path()) + " --merge --out /nowhere");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err.find("expected"), std::string::npos) << outcome.err;
  }
  EXPECT_GT(specs, 30);
}

}  // namespace
}  // namespace tenshot::test
