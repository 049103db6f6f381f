// What a user meets at the prompt: suggestions for slips, help by verb, and `info` of every file.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

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

/// The verbs and the sub-verbs that do work for a user, and an option set that is refused for nothing but what lacks.
TEST(Prompt, HelpMarksWhatIsRequiredAndItIsRequired) {
  for (const char* verb : {"train", "plan", "adapt", "evaluate", "report", "experiment", "export", "predict", "collect",
                           "info", "dataset import", "network generate", "network describe", "kernels detect",
                           "kernels find", "kernels deduce", "kernels grid", "kernels train"}) {
    const Outcome help = run(std::string("tenshot ") + verb + " --help"), bare = run(std::string("tenshot ") + verb);
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_EQ(bare.exit_code, 2) << verb << " without any option";
    const std::size_t needs = bare.err.find(" needs ");
    ASSERT_NE(needs, std::string::npos) << bare.err;
    const std::size_t begin = needs + std::string(" needs ").size();
    const std::string option = bare.err.substr(begin, bare.err.find(';') - begin);
    const std::size_t at = help.out.find(option.substr(0, 2) == "--" ? option + " " : "<" + option + ">: ");
    ASSERT_NE(at, std::string::npos) << verb << " " << option << "\n" << help.out;
    EXPECT_NE(help.out.substr(at, 80).find("required"), std::string::npos) << help.out.substr(at, 80);
  }
}

TEST(Prompt, EarlierNamesOfOptionsAreTheSameOption) {
  const Folder folder;
  const std::string table = quoted(source_folder / "datasets/data/libtorch-eager_t1_b1/latencies.csv"),
                    plan = "tenshot plan --checkpoint " + quoted(source_folder / "checkpoints/pool.tenshot") +
                           " --samples 3 --out - ";
  const std::string ten = quoted(folder.path() / "ten.csv");
  ASSERT_EQ(run("head -11 " + table + " >" + ten).exit_code, 0);
  const Outcome today = run(plan + "--measurements " + ten + " --archs " + table);
  ASSERT_EQ(today.exit_code, 0) << today.err;
  EXPECT_EQ(run(plan + "--after " + ten + " --candidates=" + table).out, today.out);
  EXPECT_EQ(run("tenshot plan --help").out.find("--after"), std::string::npos);
  ASSERT_EQ(run("cut -d, -f1,2 " + table + " >" + quoted(folder.path() / "predicted.csv")).exit_code, 0);
  const std::string both = " --predictions " + quoted(folder.path() / "predicted.csv") + " --json ";
  const Outcome same = run("tenshot evaluate --measurements " + table + both);
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(run("tenshot evaluate --measured " + table + both).out, same.out);
}

TEST(Prompt, SwappedFilesAreNoticed) {
  const Folder folder;
  const std::string table = quoted(source_folder / "datasets/data/libtorch-eager_t1_b1/latencies.csv"),
                    predicted = quoted(folder.path() / "predicted.csv");
  ASSERT_EQ(
      run("awk -F, 'NR == 1 { print $1 \",\" $2 \",lower_ms,upper_ms\" } NR > 1 { print $1 \",\" $2 \",1,99\" }' " +
          table + " >" + predicted)
          .exit_code,
      0);
  EXPECT_EQ(run("tenshot evaluate --predictions " + predicted + " --measurements " + table).exit_code, 0);
  const Outcome swapped = run("tenshot evaluate --predictions " + table + " --measurements " + predicted);
  EXPECT_EQ(swapped.exit_code, 1);
  EXPECT_NE(swapped.err.find("so it holds no predictions, but measurements; are two files swapped?"), std::string::npos)
      << swapped.err;
  const Outcome adapted = run("tenshot adapt --checkpoint " + quoted(source_folder / "checkpoints/pool.tenshot") +
                              " --measurements " + predicted + " --out " + quoted(folder.path() / "device.tenshot"));
  EXPECT_EQ(adapted.exit_code, 1);
  EXPECT_NE(adapted.err.find("has the column lower_ms, so it holds no measurements"), std::string::npos) << adapted.err;
  const Outcome piped = run("tenshot adapt --checkpoint " + quoted(source_folder / "checkpoints/pool.tenshot") +
                            " --measurements - --out " + quoted(folder.path() / "device.tenshot") + " <" + predicted);
  EXPECT_EQ(piped.exit_code, 1);
  EXPECT_NE(piped.err.find("has the column lower_ms, so it holds no measurements"), std::string::npos) << piped.err;
}

TEST(Prompt, AVerbSaysWhichVerbsAreBelowIt) {
  const Outcome none = run("tenshot kernels");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("tenshot kernels needs detect, find, deduce, sample, grid or train"), std::string::npos)
      << none.err;
  const Outcome unknown = run("tenshot cold start model.onnx");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("tenshot cold needs measure, plan, run or predict, not 'start'"), std::string::npos)
      << unknown.err;
  const Outcome help = run("tenshot network --help");
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_EQ(help.out.rfind("Usage: tenshot network describe|features|generate|list [options]; each has --help\n", 0),
            0U);
  EXPECT_NE(help.out.find("tenshot network list --space fbnet"), std::string::npos) << help.out;
}

TEST(Prompt, ARefusedRunLeavesNoFolderBehind) {
  const Folder folder;
  const std::string checkpoint = quoted(source_folder / "checkpoints/pool.tenshot"),
                    out = quoted(folder.path() / "new" / "inner" / "file");
  write(folder.path() / "empty.csv", "");
  const std::string empty = quoted(folder.path() / "empty.csv");
  for (const std::string& command :
       {"adapt --checkpoint " + checkpoint + " --measurements " + empty + " --out " + out,
        "plan --checkpoint " + checkpoint + " --archs " + empty + " --out " + out,
        "predict --predictor " + checkpoint + " --out " + out,
        "train --pool " + quoted(folder.path()) + " --out " + out, "report " + empty + " --out " + out,
        "export --predictor " + checkpoint + " --document " + out, "dataset import --table " + empty + " --out " + out,
        "collect --runtime none --out " + out, "collect --runtime libtorch-eager --archs " + empty + " --out " + out}) {
    EXPECT_NE(run("tenshot " + command).exit_code, 0) << command;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "new")) << command;
  }
}

/// What bash offers for a command line whose last word is being typed.
std::string completed(const std::string& words) {
  return run(". " + quoted(source_folder / "trainer/cli/completion/tenshot.bash") + "; COMP_WORDS=(" + words +
             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tenshot; echo ${COMPREPLY[@]}")
      .out;
}

TEST(Completion, BashOffersVerbsAndTheirOptions) {
  EXPECT_EQ(completed("tenshot pre"), "predict\n");
  EXPECT_EQ(completed("tenshot adapt --meas"), "--measurements\n");
  EXPECT_EQ(completed("tenshot dataset imp"), "import\n");
  EXPECT_EQ(completed("tenshot dataset import --dev"), "--devices\n");
  EXPECT_EQ(completed("tenshot help repo"), "report\n");
}

TEST(Completion, ZshCompletesTheSame) {
  if (run("command -v zsh && command -v script").exit_code != 0) GTEST_SKIP() << "apt install zsh";
  const Folder folder;  // whose settings complete a line before anybody types
  write(folder.path() / ".zshrc",
        "autoload -U compinit\ncompinit -u -D\nzle -N zle-line-init\n"
        "zle-line-init() { LBUFFER=$LINE; zle complete-word; print -r -- \"$BUFFER\" >$ZDOTDIR/line; exit; }\n");
  const std::filesystem::path completion = source_folder / "trainer/cli/completion";
  const std::string zsh =
      "PATH=" + quoted(std::filesystem::path(TENSHOT_PROGRAM).parent_path()) + ":$PATH FPATH=" + quoted(completion) +
      ":$(zsh -fc 'print $FPATH') ZDOTDIR=" + quoted(folder.path()) + " script -qec 'zsh -i' /dev/null </dev/null";
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"tenshot pre", "dict "},
      {"tenshot help repo", "rt "},
      {"tenshot adapt --meas", "urements "},
      {"tenshot dataset imp", "ort "},
      {"tenshot dataset import --dev", "ices "},
      {"tenshot adapt --mode set", "-encoder "},
      {"tenshot train --predictor look", "-up "},
      {"tenshot predict --device pixel4_gpu_f", "loat "},
      {"tenshot info " + folder.path().string() + "/.zsh", "rc "}};
  for (const auto& [line, rest] : lines) {
    EXPECT_EQ(run("LINE='" + line + "' " + zsh).exit_code, 0);
    EXPECT_EQ(slurp(folder.path() / "line"), line + rest + "\n");
  }
  const auto values = [](std::string text) {  // of options, by the two shells' own words for printing
    for (std::size_t at; (at = text.find("print -l ")) != std::string::npos;) text.replace(at, 9, "echo ");
    const std::size_t begin = text.find("_tenshot_values() {");
    return text.substr(begin, text.find("\n}", begin) - begin);
  };
  EXPECT_EQ(values(slurp(completion / "_tenshot")), values(slurp(completion / "tenshot.bash")));
}

TEST(Prompt, AVerdictHasAColourOnATerminalAlone) {
  const Folder folder;
  const std::string options = " adapt --checkpoint " + (source_folder / "checkpoints/pool.tenshot").string() +
                              " --like libtorch-eager_t1_b1 --out " + (folder.path() / "d.tenshot").string();
  const auto on_terminal = [&](const std::string& setting) {
    return run("env " + setting + " script -qec '\"" + TENSHOT_PROGRAM + "\"" + options + "' /dev/null").out;
  };
  EXPECT_NE(on_terminal("-u NO_COLOR").find("\033[1;32mGood\033[0m: expect"), std::string::npos);
  EXPECT_NE(on_terminal("NO_COLOR=1").find("Good: expect"), std::string::npos);
  EXPECT_NE(run("tenshot" + options).err.find("Good: expect"), std::string::npos);
}

TEST(Completion, BashOffersTheValuesOfOptions) {
  EXPECT_EQ(completed("tenshot adapt --mode set"), "set-encoder\n");
  EXPECT_EQ(completed("tenshot predict --device pixel4_gpu_f"), "pixel4_gpu_float\n");
  EXPECT_EQ(completed("tenshot train --predictor look"), "look-up\n");
  EXPECT_EQ(completed("tenshot collect --runtime libtorch-ch"), "libtorch-channels-last\n");
  // What is offered is what the program's help names, and of predictors all that it has.
  for (const std::string option : {"train --predictor", "train --descriptor-kind", "plan --sampler", "plan --quantity",
                                   "adapt --mode", "collect --counters", "dataset --unit"}) {
    const std::size_t space = option.find(' ');
    const std::string verb = option.substr(0, space), inner = verb == "dataset" ? " import" : "";
    const std::string help = run("tenshot " + verb + inner + " --help").out;
    std::istringstream offered(completed("tenshot " + verb + inner + option.substr(space) + " ''"));
    std::size_t values = 0;
    for (std::string value; offered >> value; ++values) EXPECT_NE(help.find(value), std::string::npos) << value;
    EXPECT_GE(values, 3U) << option;
  }
  const std::string refused = run("tenshot train --pool " + quoted(source_folder / "datasets/data") +
                                  " --predictor none --out /tmp/never.tenshot")
                                  .err;
  std::istringstream offered(completed("tenshot train --predictor ''"));
  std::size_t values = 0;
  for (std::string value; offered >> value; ++values) EXPECT_NE(refused.find(value), std::string::npos) << refused;
  EXPECT_EQ(values, static_cast<std::size_t>(std::count(refused.begin(), refused.end(), ',')) + 1) << refused;
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
