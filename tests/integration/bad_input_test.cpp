// What users get wrong: one clear line, exit code 1 (2 for usage), and no half file left behind.

#include <gtest/gtest.h>

#include "datasets/tables/measurements.h"
#include "nasbench/spaces/search_space.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();
const std::string good_string = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|";

/// One line on standard error that begins "tenshot: " and holds `expected`.
void expect_one_line(const Outcome& outcome, int exit_code, const std::string& expected) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  // Remarks about single entries may come before it.
  const std::size_t before_last =
      outcome.err.empty() ? std::string::npos : outcome.err.rfind('\n', outcome.err.size() - 2);
  const std::size_t last = before_last == std::string::npos ? 0 : before_last + 1;
  ASSERT_EQ(outcome.err.compare(last, 9, "tenshot: "), 0) << outcome.err;
  EXPECT_NE(outcome.err.find(expected, last), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n', last), outcome.err.size() - 1) << outcome.err;
}

class BadInput : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    ASSERT_NO_FATAL_FAILURE(write_adapted_device(folder_->path()));
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  static Outcome adapt(const std::string& measurements_file) {
    std::filesystem::remove(path("out.tenshot"));
    return run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q(measurements_file) +
               " --out " + q("out.tenshot"));
  }
  static Outcome adapt_text(const std::string& measurements) {
    write(path("bad.csv"), measurements);
    return adapt("bad.csv");
  }
  static void expect_refused(const Outcome& outcome, const std::string& expected) {
    expect_one_line(outcome, 1, expected);
    EXPECT_FALSE(std::filesystem::exists(path("out.tenshot")));
    for (const auto& entry : std::filesystem::directory_iterator(folder_->path())) {
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
      EXPECT_EQ(entry.path().string().find(".partial"), std::string::npos) << entry.path();
    }
  }

  static Folder* folder_;
};

Folder* BadInput::folder_ = nullptr;

TEST_F(BadInput, AnOptionGivenTwice) {
  const std::string once = " --predictor " + q("device.tenshot");
  expect_one_line(run("tenshot predict" + once + once + " --archs " + q("measured.csv")), 2,
                  "--predictor is given twice, and takes one value");
}

TEST_F(BadInput, StrictRefusesUnknownArchitectures) {
  write(path("two.csv"), "architecture\n\"" + good_string + "\"\nnobody\n");
  const std::string predict = "tenshot predict --predictor " + q("device.tenshot") + " --archs " + q("two.csv");
  EXPECT_EQ(run(predict).exit_code, 0);
  expect_one_line(run(predict + " --strict"), 1, "--strict accepts none");
}

TEST_F(BadInput, PredictionsBelowZeroAreNoPredictions) {
  write(path("n.csv"), "architecture,latency_ms\n\"" + good_string + "\",-2\n");
  write(path("m.csv"), "architecture,latency_ms\n\"" + good_string + "\",1\n");
  EXPECT_EQ(run("tenshot evaluate --predictions " + q("n.csv") + " --measurements " + q("m.csv")).exit_code, 1);
}

TEST_F(BadInput, MissingFile) { expect_refused(adapt("nowhere.csv"), "nowhere.csv: no such file"); }
TEST_F(BadInput, FolderForAFile) { expect_refused(adapt("pool"), "is a folder"); }
TEST_F(BadInput, EmptyFile) { expect_refused(adapt_text(""), "bad.csv"); }
TEST_F(BadInput, NoHeader) { expect_refused(adapt_text(good_string + ",3.5\n"), "architecture"); }
TEST_F(BadInput, WrongColumns) { expect_refused(adapt_text("network,ms\n" + good_string + ",3\n"), "latency_ms"); }
TEST_F(BadInput, FewerMeasurementsThanOne) {
  expect_refused(adapt_text("architecture,latency_ms\n"), "no usable measurement");
}
TEST_F(BadInput, AllMeasurementsUnusable) {
  const Outcome outcome = adapt_text("architecture,latency_ms\n" + good_string + ",0\n" + good_string + ",-3\n");
  expect_refused(outcome, "no usable measurement");
  EXPECT_NE(outcome.err.find("bad.csv:2"), std::string::npos) << outcome.err;
}
TEST_F(BadInput, AStringThatIsNoArchitecture) {
  const Outcome outcome = adapt_text("architecture,latency_ms\nresnet18,3\n" + good_string + ",4\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;  // named, counted, left out; the other row is enough
  EXPECT_NE(outcome.err.find("resnet18"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("bad.csv:2"), std::string::npos) << outcome.err;
}
TEST_F(BadInput, AStringThatIsNoArchitectureWithStrict) {
  write(path("bad.csv"), "architecture,latency_ms\nresnet18,3\n" + good_string + ",4\n");
  std::filesystem::remove(path("out.tenshot"));
  expect_refused(run("tenshot adapt --strict --checkpoint " + q("pool.tenshot") + " --measurements " + q("bad.csv") +
                     " --out " + q("out.tenshot")),
                 "--strict");
}
TEST_F(BadInput, ASpaceThatIsNotTheCheckpoints) {
  expect_refused(adapt_text("architecture,latency_ms\nk3_e1|k3_e6|skip,3\n"), "nasbench201");
}
TEST_F(BadInput, ASpaceThatThereIsNot) {
  write(path("wide.csv"), "architecture,dev\n" + good_string + ",3\n");
  expect_one_line(run("tenshot dataset import --space darts --table " + q("wide.csv") + " --out " + q("imported")), 1,
                  "nasbench201");
}
TEST_F(BadInput, ADeviceThatIsNoColumn) {
  write(path("wide.csv"), "architecture,dev\n" + good_string + ",3\n");
  expect_one_line(run("tenshot dataset import --devices tpu --table " + q("wide.csv") + " --out " + q("imported")), 1,
                  "tpu");
}

TEST_F(BadInput, ATableThatIsImportedAgainDropsNoNetwork) {
  std::string other = good_string;
  other.replace(other.find("nor_conv_3x3"), 12, "nor_conv_1x1");
  const std::string import = "tenshot dataset import --table " + q("wide.csv") + " --out " + q("growing");
  write(path("wide.csv"), "architecture,dev\n" + good_string + ",3\n");
  EXPECT_EQ(run(import).exit_code, 0);
  EXPECT_EQ(run(import).exit_code, 0) << "the same again";
  write(path("wide.csv"), "architecture,dev\n" + other + ",4\n");
  const Outcome added = run(import);
  EXPECT_NE(added.err.find("dev: was in the pool; networks kept from there: 1"), std::string::npos) << added.err;
  write(path("measured.csv.more"), "architecture,latency_ms\n" + good_string + ",3.3\n");
  const Outcome measured =
      run("tenshot dataset import --id dev --measurements " + q("measured.csv.more") + " --out " + q("growing"));
  EXPECT_NE(measured.err.find("kept from there: 1, measured again: 1"), std::string::npos) << measured.err;
  const std::string latencies = slurp(path("growing") / "dev" / "latencies.csv");
  EXPECT_NE(latencies.find(good_string + ",3.3"), std::string::npos) << latencies;
  EXPECT_NE(latencies.find(other + ",4"), std::string::npos) << latencies;
}

TEST_F(BadInput, ATableOfWhichRowsWouldBeLeftOutIsRefusedByStrict) {
  write(path("wide.csv"), "architecture,dev\n" + good_string + ",3\n" + space.format(space.at(5)) + ",1e308\n");
  const std::string import = "tenshot dataset import --unit s --table " + q("wide.csv") + " --out " + q("strict");
  expect_one_line(run(import + " --strict"), 1, "1 would be left out");  // 1e311 ms is no number
  EXPECT_FALSE(std::filesystem::exists(path("strict")));
  EXPECT_EQ(run(import).exit_code, 0);
}

TEST_F(BadInput, AnOptionThatTheCheckpointsPredictorDoesNotHave) {
  const std::string adapt = "tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q("measured.csv") +
                            " --out " + q("out.tenshot");
  std::filesystem::remove(path("out.tenshot"));
  expect_one_line(run(adapt + " --clones 3"), 2, "--clones is no option of the checkpoint's predictor flops");
  expect_one_line(run(adapt + " --mode joint"), 2, "--mode is no option");
  EXPECT_FALSE(std::filesystem::exists(path("out.tenshot")));
}

TEST_F(BadInput, OptionsThatWouldHaveNoEffectAreRefused) {
  for (const std::string line : {"evaluate --predictor x --measurements y --space nasbench201",
                                 "evaluate --predictions x --measurements y --confidence 0.5",
                                 "export --predictor x --document y --confidence 0.5",
                                 "dataset import --measurements x --id y --rows 0:2 --out z"}) {
    EXPECT_EQ(run("tenshot " + line).exit_code, 2) << line;
  }
}

TEST_F(BadInput, AMegabyteInAFieldGivesALineOfMessage) {
  const std::string megabyte(1 << 20, 'x');
  for (const std::string& text :
       {"architecture,latency_ms\n" + megabyte + ",3\n",
        "architecture,latency_ms\n" + good_string + "," + megabyte + "\n", megabyte + ",latency_ms\n",
        "architecture,latency_ms," + megabyte + "," + megabyte + "\n" + good_string + ",\n",
        "architecture,latency_ms\n\"" + megabyte}) {
    const Outcome outcome = adapt_text(text);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_LT(outcome.err.size(), 3000U);
  }
  write(path("wide.csv"), "architecture," + megabyte + "\n" + good_string + ",3\n");
  EXPECT_LT(run("tenshot dataset import --table " + q("wide.csv") + " --out " + q("imported")).err.size(), 3000U);
  write(path("spec.json"),
        "{\"format\": \"tenshot.experiment/1\", \"" + megabyte + "\": 1, \"name\": \"" + megabyte + "\"}");
  EXPECT_LT(run("tenshot experiment " + q("spec.json") + " --out " + q("never")).err.size(), 3000U);
}

TEST_F(BadInput, AnAddressSpaceThatIsTooSmallForTheLibraries) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer itself needs terabytes of address space";
#endif
  const Outcome outcome =
      run("ulimit -v 750000; timeout 60 " + quoted(TENSHOT_PROGRAM) + " export --torchscript " + q("out.pt") +
          " --predictor " +
          quoted(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/fixtures/1/structured-device.tenshot"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("(ulimit -v)"), std::string::npos) << outcome.err;
  EXPECT_EQ(run("ulimit -v 750000; " + quoted(TENSHOT_PROGRAM) + " --help").exit_code, 0);
}

TEST_F(BadInput, ACheckpointCutShortAnywhere) {
  const std::string good = slurp(path("pool.tenshot"));
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{19}, good.size() / 2, good.size() - 1}) {
    write(path("cut.tenshot"), good.substr(0, length));
    expect_one_line(run("tenshot plan --checkpoint " + q("cut.tenshot") + " --out " + q("plan.csv")), 1, "cut.tenshot");
    EXPECT_FALSE(std::filesystem::exists(path("plan.csv")));
  }
}

TEST_F(BadInput, ACheckpointAlteredInAByte) {
  const std::string good = slurp(path("pool.tenshot"));
  for (std::size_t position = 0; position < good.size(); position += good.size() / 12) {
    std::string bad = good;
    bad[position] = static_cast<char>(bad[position] ^ 0x10);
    write(path("altered.tenshot"), bad);
    expect_one_line(run("tenshot plan --checkpoint " + q("altered.tenshot") + " --out " + q("plan.csv")), 1,
                    "altered.tenshot");
  }
}

TEST_F(BadInput, ACheckpointOfANewerVersion) {
  std::string newer = slurp(path("pool.tenshot"));
  newer[8] = 2;
  write(path("newer.tenshot"), newer);
  expect_one_line(run("tenshot plan --checkpoint " + q("newer.tenshot") + " --out " + q("plan.csv")), 1,
                  "newer tenshot");
}

TEST_F(BadInput, AFileThatIsNotOurs) {
  write(path("foreign.tenshot"), "PK\x03\x04");
  expect_one_line(run("tenshot predict --predictor " + q("foreign.tenshot") + " --out -"), 1, "not a tenshot file");
}

TEST_F(BadInput, AFileOfTheOtherKind) {
  expect_one_line(run("tenshot predict --predictor " + q("pool.tenshot") + " --out -"), 1, "tenshot adapt");
  expect_one_line(run("tenshot plan --checkpoint " + q("device.tenshot") + " --out -"), 1, "tenshot train");
}

TEST_F(BadInput, AnOutputPathBelowAFile) {
  expect_one_line(run("tenshot predict --predictor " + q("device.tenshot") + " --out " + q("measured.csv/x.csv")), 1,
                  "measured.csv");
  expect_one_line(run("tenshot train --pool " + q("pool") + " --out " + q("measured.csv/x.tenshot")), 1,
                  "measured.csv");
  expect_one_line(run("tenshot predict --predictor " + q("device.tenshot") + " --out " + q("pool")), 1, "is a folder");
}

TEST_F(BadInput, NoSpaceLeft) {
  const Folder mount;
  const Outcome mounted = run("mount -t tmpfs -o size=64k none " + quoted(mount.path()));
  if (mounted.exit_code != 0) GTEST_SKIP() << "a small file system cannot be mounted here: " << mounted.err;
  const auto out = mount.path() / "predictions.csv";
  const Outcome outcome = run("tenshot predict --predictor " + q("device.tenshot") + " --out " + quoted(out));
  const Outcome exported =
      run("head -c 70000 /dev/zero > " + quoted(mount.path() / "fill") + "; tenshot export --predictor " +
          q("device.tenshot") + " --torchscript " + quoted(mount.path() / "device.pt"));
  const Outcome adapted = run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " +
                              q("measured.csv") + " --out " + quoted(mount.path() / "device.tenshot"));
  std::filesystem::remove(mount.path() / "fill");
  const bool nothing_left = std::filesystem::is_empty(mount.path());
  run("umount " + quoted(mount.path()));
  expect_one_line(outcome, 1, "predictions.csv");
  expect_one_line(exported, 1, "device.pt");
  expect_one_line(adapted, 1, "device.tenshot");
  EXPECT_TRUE(nothing_left);
}

TEST_F(BadInput, AFullStandardOutput) {
  for (const std::string& verb : {"predict --out - --predictor " + q("device.tenshot"), "info " + q("device.tenshot"),
                                  "dataset describe " + q("pool"), std::string("devices")}) {
    expect_one_line(run("tenshot " + verb + " > /dev/full"), 1, "standard output");
  }
}

TEST_F(BadInput, TooManySamples) {
  expect_one_line(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 4000 --out " + q("plan.csv")), 1,
                  "candidates");
}

TEST_F(BadInput, NothingThatIsBothPredictedAndMeasured) {
  write(path("predictions.csv"), "architecture,latency_ms\n" + good_string + ",3\n");
  write(path("truth.csv"), "architecture,latency_ms\n" + space.format(space.at(5)) + ",3\n");
  expect_one_line(run("tenshot evaluate --predictions " + q("predictions.csv") + " --measured " + q("truth.csv")), 1,
                  "nothing to compare");
}

TEST_F(BadInput, APoolWithProblemsDoesNotValidate) {
  datasets::write_pool(path("bad-pool"), synthetic_pool(10));
  write(path("bad-pool/slow/latencies.csv"), "architecture,latency_ms\n" + good_string + ",nan\n");
  const Outcome outcome = run("tenshot dataset validate " + q("bad-pool"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("slow"), std::string::npos) << outcome.out;
}

/// Every option that names a file to read, against what is no such file.
struct FileOption {
  const char* command;   ///< with FILE where the file goes, and OUT for what is to be written
  const char* expected;  ///< in the message for an empty file
};

class BadFiles : public BadInput, public ::testing::WithParamInterface<FileOption> {
 protected:
  Outcome run_with(const std::string& file) {
    std::string command = std::string("tenshot ") + GetParam().command;
    const auto replace = [&](const std::string& word, const std::string& by) {
      for (std::size_t at; (at = command.find(word)) != std::string::npos;) command.replace(at, word.size(), by);
    };
    replace("FILE", q(file));
    replace("CHECKPOINT", q("pool.tenshot"));
    replace("PREDICTOR", q("device.tenshot"));
    replace("MEASURED", q("measured.csv"));
    replace("PREDICTIONS", q("predicted.csv"));
    replace("OUT", q("never"));
    EXPECT_EQ(run("cut -d, -f1,2 " + q("measured.csv") + " >" + q("predicted.csv")).exit_code, 0);
    return run(command);
  }
};

TEST_P(BadFiles, AreNamedAndLeaveNothingBehind) {
  expect_one_line(run_with("nowhere"), 1, "nowhere");
  expect_one_line(run_with("pool"), 1, "pool");
  write(path("empty"), "");
  expect_one_line(run_with("empty"), 1, GetParam().expected);
  EXPECT_FALSE(std::filesystem::exists(path("never")));
}

INSTANTIATE_TEST_SUITE_P(
    Cli, BadFiles,
    ::testing::Values(FileOption{"plan --checkpoint FILE --out OUT", "empty"},
                      FileOption{"plan --checkpoint CHECKPOINT --candidates FILE --out OUT", "empty"},
                      FileOption{"plan --checkpoint CHECKPOINT --measurements FILE --out OUT", "empty"},
                      FileOption{"adapt --checkpoint FILE --measurements MEASURED --out OUT", "empty"},
                      FileOption{"adapt --checkpoint CHECKPOINT --measurements FILE --out OUT", "empty"},
                      FileOption{"predict --predictor FILE --out OUT", "empty"},
                      FileOption{"predict --predictor PREDICTOR --archs FILE --out OUT", "empty"},
                      FileOption{"evaluate --predictions FILE --measured MEASURED", "empty"},
                      FileOption{"evaluate --predictions PREDICTIONS --measured FILE", "empty"},
                      FileOption{"export --predictor FILE --torchscript OUT", "empty"},
                      FileOption{"dataset import --table FILE --out OUT", "empty"},
                      FileOption{"adapt --checkpoint CHECKPOINT --measurements MEASURED --descriptor FILE --out OUT",
                                 "empty"}));

TEST_F(BadInput, APoolThatIsNone) {
  expect_one_line(run("tenshot train --pool " + q("nowhere") + " --out " + q("never")), 1, "nowhere");
  expect_one_line(run("tenshot train --pool " + q("measured.csv") + " --out " + q("never")), 1, "measured.csv");
  EXPECT_FALSE(std::filesystem::exists(path("never")));
}

TEST_F(BadInput, PlanningAfterMeasurementsThatAreAllUnusable) {
  write(path("bad.csv"), "architecture,latency_ms\n" + good_string + ",0\n");
  expect_one_line(
      run("tenshot plan --checkpoint " + q("pool.tenshot") + " --measurements " + q("bad.csv") + " --out -"), 1,
      "no usable measurement");
}

struct Usage {
  const char* arguments;
  const char* expected;
};

class UsageErrors : public ::testing::TestWithParam<Usage> {};

TEST_P(UsageErrors, ExitWithTwo) {
  expect_one_line(run(std::string("tenshot ") + GetParam().arguments), 2, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cli, UsageErrors,
    ::testing::Values(
        Usage{"fly", "fly"}, Usage{"train", "--pool"}, Usage{"train --pool x --out y --predictor oracle", "oracle"},
        Usage{"train --predictor maple-edge --pool x --out y --epochs none", "none"},
        Usage{"train --predictor maple --pool x --out y --hidden 0", "--hidden"},
        Usage{"train --pool x --out y --epochs 5", "--epochs is no option of --predictor structured"},
        Usage{"train --predictor flops --pool x --out y --descriptor-kind auto", "--descriptor-kind is no option"},
        Usage{"train --pool x --out y --pretraining-epochs 5", "--pretraining-epochs is no option"},
        Usage{"train --predictor maple-edge --pool x --out y --pretraining-epochs -1", "--pretraining-epochs"},
        Usage{"train --predictor maple --pool x --out y --pretraining-epochs 5", "--pretraining-epochs is no option"},
        Usage{"train --predictor maple-edge --pool x --out y --descriptor-kind thermal", "counters"},
        Usage{"train --predictor structured --pool x --out y --descriptor-kind counters", "in-network"},
        Usage{"train --predictor forest --pool x --out y --no-scaling", "which has none of its own"},
        Usage{"plan --checkpoint x --out y --samples 0", "--samples"},
        Usage{"plan --checkpoint x --out y --samples 1e3", "1e3"},
        Usage{"plan --checkpoint x --out y --sampler best", "best"},
        Usage{"adapt --checkpoint x --measurements y --out z --mode slow", "slow"},
        Usage{"train --predictor maple --pool x --out y --epochs 5000000000", "5000000000"},
        Usage{"collect --out x --runtime tpu", "tpu"}, Usage{"run-operators --runs 0", "--runs"},
        Usage{"predict --predictor x --out y --confidence 2", "--confidence"}, Usage{"predict --colour red", "colour"},
        Usage{"predict surplus", "--predictor"}, Usage{"dataset", "import"}, Usage{"dataset paint", "paint"},
        Usage{"export --predictor x", "--torchscript"}, Usage{"collect --out x --threads zero", "zero"}));

}  // namespace
}  // namespace tenshot::test
