// What a user meets at the prompt: suggestions for slips, help by verb, and `info` of every file.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const std::filesystem::path source_folder = TENSHOT_SOURCE_DIR;

TEST(Prompt, AMisspeltVerbIsAnsweredWithTheNearestOne) {
  const Outcome outcome = run("tenshot perdict --out -");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("did you mean 'predict'?"), std::string::npos) << outcome.err;
  EXPECT_EQ(run("tenshot qqqqqqq").err.find("did you mean"), std::string::npos);
}

TEST(Prompt, AMisspeltOptionIsAnsweredWithTheNearestOne) {
  const Outcome outcome = run("tenshot plan --chekpoint x --out -");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("did you mean '--checkpoint'?"), std::string::npos) << outcome.err;
}

TEST(Prompt, HelpTakesAVerb) {
  const Outcome by_verb = run("tenshot help adapt");
  EXPECT_EQ(by_verb.exit_code, 0);
  EXPECT_EQ(by_verb.out, run("tenshot adapt --help").out);
  EXPECT_EQ(run("tenshot help nothing").exit_code, 2);
}

TEST(Prompt, TheShortOptionShowsTheVersion) { EXPECT_EQ(run("tenshot -v").out, run("tenshot --version").out); }

/// What bash offers for a command line whose last word is being typed.
std::string completed(const std::string& words) {
  return run(". " + quoted(source_folder / "trainer/cli/completion/tenshot.bash") + "; COMP_WORDS=(" + words +
             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tenshot; echo ${COMPREPLY[@]}")
      .out;
}

TEST(Completion, BashOffersVerbsAndTheirOptions) {
  EXPECT_EQ(completed("tenshot pre"), "predict\n");
  EXPECT_EQ(completed("tenshot adapt --meas"), "--measurements\n");
}

TEST(Info, ACheckpointSaysItsPredictorSpaceAndPool) {
  const Outcome outcome = run("tenshot info --json " + quoted(source_folder / "checkpoints/pool.tenshot"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto facts = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(facts.at("what"), "pool checkpoint");
  EXPECT_EQ(facts.at("predictor"), "structured");
  EXPECT_EQ(facts.at("space"), "nasbench201");
  EXPECT_NE(facts.at("pool").get<std::string>().find("libtorch-eager_t1_b1"), std::string::npos);
}

TEST(Info, PoolsDevicesAndTablesAreKnownByTheirContent) {
  const std::filesystem::path pool = source_folder / "datasets/data", device = pool / "libtorch-eager_t1_b1";
  EXPECT_NE(run("tenshot info " + quoted(pool)).out.find("what: pool of device-runtimes"), std::string::npos);
  EXPECT_NE(run("tenshot info " + quoted(device)).out.find("measured: 1000 architectures"), std::string::npos);
  const Outcome table = run("tenshot info " + quoted(device / "latencies.csv"));
  EXPECT_NE(table.out.find("rows: 1000"), std::string::npos) << table.out;
}

TEST(Info, AFileThatIsNotOursIsNamed) {
  const Folder folder;
  write(folder.path() / "foreign.json", "{\"a\": 1}");
  const Outcome outcome = run("tenshot info " + quoted(folder.path() / "foreign.json"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("foreign.json"), std::string::npos) << outcome.err;
  EXPECT_EQ(run("tenshot info " + quoted(folder.path() / "missing")).exit_code, 1);
}

}  // namespace
}  // namespace tenshot::test
