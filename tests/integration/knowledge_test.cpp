// Knowledge without rows as a user meets it: made from pools, listed, asked for devices, and taken where no checkpoint
// is named.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/measurements.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

namespace fs = std::filesystem;

const char* const sources_text = R"({"format": "tenshot.sources/1", "sources": [
  {"name": "a table", "url": "https://table.org", "licence": "MIT", "devices": ["slow", "fast"]},
  {"name": "ours", "url": "here", "licence": "BSD-3-Clause", "devices": ["w*"]}]})";

/// The name and the operators of 30 networks, and their latencies on three devices, as tables.
std::string operators_text() {
  std::string rows = "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups\n";
  for (int n = 0; n < 30; ++n) {
    const std::string name = "net" + std::to_string(n), w = std::to_string(8 + 4 * (n % 7));
    rows += name + ",0,conv_2d,32,3,32,1,3," + w + ",1\n";
    for (int i = 1; i <= 2 + n % 5; ++i) {
      rows += name + ',' + std::to_string(i) + ",conv_2d,32," + w + ",32,1," + (n % 3 == 0 ? "1," : "3,") + w + ",1\n";
    }
  }
  return rows;
}

std::string latencies_text() {
  std::string rows = "network,slow,fast,wide\n";
  for (int n = 0; n < 30; ++n) {
    const double work = (2 + n % 5) * (8 + 4 * (n % 7)) * (n % 3 == 0 ? 1.0 : 6.0);
    rows += "net" + std::to_string(n);
    for (const double speed : {0.05, 0.004, 0.01}) rows += ',' + shortest(0.5 + speed * work);
    rows += '\n';
  }
  return rows;
}

class KnowledgeProgram : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    write(path("sources.json"), sources_text);
    datasets::write_pool(path("cells"), synthetic_pool(60));
    datasets::write_measurements(path("measured.csv"), new_device().latencies, nasbench::nasbench201());
    write(path("operators.csv"), operators_text());
    write(path("wide.csv"), latencies_text());
    write(path("networks-measured.csv"), "network,latency_ms\nnet0,1\nnet1,4\nnet2,5.5\nnet5,3\n");
    expect_fine(run("tenshot dataset import --space networks --networks " + q("operators.csv") + " --table " +
                    q("wide.csv") + " --out " + q("networks")));
    // An installation of its own, whose checkpoints are these.
    fs::create_directories(path("prefix/bin"));
    fs::create_directories(path("prefix/share/tenshot/checkpoints"));
    std::error_code failed;
    fs::create_hard_link(TENSHOT_PROGRAM, path("prefix/bin/tenshot"), failed);
    if (failed) fs::copy_file(TENSHOT_PROGRAM, path("prefix/bin/tenshot"));
    for (const std::string name : {"cells", "networks"}) {
      expect_fine(run("tenshot train --pool " + q(name) + " --knowledge " + q("sources.json") + " --out " +
                      q("prefix/share/tenshot/checkpoints/" + name + ".tenshot")));
    }
  }
  static void TearDownTestSuite() { delete folder_; }

  static void expect_fine(const Outcome& outcome) { EXPECT_EQ(outcome.exit_code, 0) << outcome.err; }
  static void expect_refused(const Outcome& outcome, int exit_code, const std::string& text) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << text << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  /// The program of that installation.
  static Outcome installed(const std::string& arguments) { return run(q("prefix/bin/tenshot") + " " + arguments); }
  static fs::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }
  static std::string shipped(const std::string& name) { return q("prefix/share/tenshot/checkpoints/" + name); }

  static Folder* folder_;
};

Folder* KnowledgeProgram::folder_ = nullptr;

TEST_F(KnowledgeProgram, AShippedName_IsReadWhereAFolderHasItToo) {
  fs::create_directories(path("work/cells"));
  const auto plan = [](const std::string& more) {
    return run("cd " + q("work") + " && " + q("prefix/bin/tenshot") + " plan --checkpoint cells --out plan.csv" + more);
  };
  const Outcome found = plan("");
  expect_fine(found);
  EXPECT_NE(found.err.find("--checkpoint cells: the shipped checkpoint "), std::string::npos) << found.err;
  EXPECT_NE(found.err.find("; ./cells is none\n"), std::string::npos) << found.err;
  fs::remove(path("work/cells"));
  expect_fine(plan(" --quiet"));
  fs::copy_file(path("prefix/share/tenshot/checkpoints/networks.tenshot"), path("work/cells"));
  expect_refused(plan(""), 1, "networks");  // this file of networks is meant then
}

TEST_F(KnowledgeProgram, Info_NamesSourcesLicencesAndShares) {
  const Outcome outcome = run("tenshot info " + shipped("cells.tenshot"));
  expect_fine(outcome);
  EXPECT_NE(outcome.out.find("what: knowledge"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("source: a table (MIT, 2 of 3 device-runtimes), https://table.org"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("source: ours (BSD-3-Clause, 1 of 3 device-runtimes), here"), std::string::npos);
  const auto facts = nlohmann::json::parse(run("tenshot info --json " + shipped("cells.tenshot")).out);
  EXPECT_EQ(facts.at("source").size(), 2U);
}

TEST_F(KnowledgeProgram, Devices_ListsWhatIsKnownAndHowWell) {
  const Outcome all = installed("devices --json");
  expect_fine(all);
  const auto devices = nlohmann::json::parse(all.out);
  ASSERT_EQ(devices.size(), 6U);  // three of networks, three of cells
  EXPECT_EQ(devices[0].at("space"), "networks");
  EXPECT_EQ(devices[0].at("networks"), 30);
  EXPECT_GE(devices[3].at("within_10"), 0.9);
  const Outcome some = installed("devices OURS");
  expect_fine(some);
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 2) << some.out;
  EXPECT_NE(some.out.find("wide: "), std::string::npos) << some.out;
  expect_fine(installed("devices A-Table"));  // of "a table"
  expect_refused(installed("devices toaster"), 1, "none of the 6 device-runtimes has 'toaster'");
}

TEST_F(KnowledgeProgram, Grows_InASpaceOfDecisions) {
  write(path("ours.json"), R"({"format": "tenshot.sources/1", "sources": [
    {"name": "ours", "url": "here", "licence": "BSD-3-Clause", "devices": ["*"]}]})");
  const std::string train = "tenshot train --pool " + quoted(fs::path(TENSHOT_SOURCE_DIR) / "datasets/data/fbnet");
  expect_fine(run(train + " --without 'opencv*' --knowledge " + q("ours.json") + " --out " + q("known.tenshot")));
  expect_fine(run(train + " --without 'libtorch*' --from " + q("known.tenshot") + " --out " + q("grown.tenshot")));
  const Outcome devices = run("tenshot devices --checkpoint " + q("grown.tenshot"));
  expect_fine(devices);
  EXPECT_NE(devices.out.find("opencv-dnn"), std::string::npos) << devices.out;
  expect_fine(run("tenshot plan --checkpoint " + q("grown.tenshot") + " --samples 2 --out " + q("two.csv")));
}

TEST_F(KnowledgeProgram, PredictDevice_NeedsNoMeasurement) {
  const Outcome network = installed("predict --device slow net4 --networks " + q("operators.csv"));
  expect_fine(network);
  EXPECT_NE(network.out.find(" ms (90 %: "), std::string::npos) << network.out;
  EXPECT_NE(network.err.find("networks.tenshot"), std::string::npos) << network.err;
  EXPECT_NE(network.err.find("30 networks of a table"), std::string::npos) << network.err;
  const std::string cell = "'|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|'";
  const Outcome of_cell = installed("predict --device fast " + cell);
  expect_fine(of_cell);
  EXPECT_NE(of_cell.err.find("cells.tenshot"), std::string::npos) << of_cell.err;
}

TEST_F(KnowledgeProgram, PredictDevice_OfAnUnknownNameNamesTheNearest) {
  const Outcome outcome = run("tenshot predict --device slaw --checkpoint " + shipped("cells.tenshot") + " --out -");
  expect_refused(outcome, 1, "most like it: slow");
  expect_refused(run("tenshot predict --device slow --predictor x"), 2, "--predictor and --device are two ways");
}

TEST_F(KnowledgeProgram, Plan_TakesTheShippedCheckpointThatFits) {
  const Outcome cells = installed("plan --samples 3 --out " + q("cells.csv"));
  expect_fine(cells);
  EXPECT_NE(cells.err.find("checkpoint: "), std::string::npos) << cells.err;
  EXPECT_NE(cells.err.find("cells.tenshot"), std::string::npos) << cells.err;
  const Outcome networks =
      installed("plan --samples 3 --networks " + q("operators.csv") + " --out " + q("networks.csv"));
  expect_fine(networks);
  EXPECT_NE(networks.err.find("networks.tenshot"), std::string::npos) << networks.err;
  expect_refused(run("tenshot plan --checkpoint " + shipped("networks.tenshot") + " --out " + q("none.csv")), 1,
                 "--networks");
  EXPECT_FALSE(fs::exists(path("none.csv")));
}

TEST_F(KnowledgeProgram, Adapt_TakesTheShippedCheckpointThatFitsTheMeasurements) {
  const Outcome cells = installed("adapt --measurements " + q("measured.csv") + " --out " + q("cells-device.tenshot"));
  expect_fine(cells);
  EXPECT_NE(cells.err.find("cells.tenshot"), std::string::npos) << cells.err;
  const Outcome networks = installed("adapt --measurements " + q("networks-measured.csv") + " --networks " +
                                     q("operators.csv") + " --out " + q("networks-device.tenshot"));
  expect_fine(networks);
  EXPECT_NE(networks.err.find("networks.tenshot"), std::string::npos) << networks.err;
  for (const std::string name : {"cells-device", "networks-device"}) {
    expect_fine(run("tenshot report " + q(name + ".tenshot") + " --out " + q(name + ".html")));
    expect_fine(run("tenshot export --predictor " + q(name + ".tenshot") + " --document " + q(name + ".json")));
  }
  expect_fine(run("tenshot evaluate --predictor " + q("cells-device.tenshot") + " --measurements " +
                  q("cells/slow/latencies.csv")));
}

TEST_F(KnowledgeProgram, AKit_NeedsNoOtherFileAndNoCheckpoint) {
  fs::create_directory(path("models"));
  expect_fine(run("tenshot network generate --space synthetic-cnn --count 3 --out " + q("models")));
  expect_fine(installed("plan --networks " + q("models") + " --samples 2 --kit " + q("kit") + " --profile"));
  EXPECT_TRUE(fs::exists(path("kit/models/arch_02.onnx")));
  fs::create_directory(path("kit/results"));
  const Outcome adapted = installed("adapt --measurements " + q("kit") + " --out " + q("none.tenshot"));
  EXPECT_NE(adapted.err.find("networks.tenshot"), std::string::npos) << adapted.err;  // the kit says its space
  expect_refused(installed("plan --samples 2"), 2, "--out");
}

TEST_F(KnowledgeProgram, AdaptRuntime_IsOneThatTheCheckpointKnows) {
  const std::string adapt = "tenshot adapt --networks " + q("operators.csv") + " --measurements " +
                            q("networks-measured.csv") + " --out " + q("runtime.tenshot") + " --checkpoint ";
  const std::string networks = quoted(fs::path(TENSHOT_SOURCE_DIR) / "checkpoints/networks.tenshot");
  expect_refused(run(adapt + networks + " --runtime TensorRT"), 1, "\"ncnn, Vulkan\"");
  EXPECT_FALSE(fs::exists(path("runtime.tenshot")));
  expect_fine(run(adapt + networks));
  const std::string unsaid = read_file(path("runtime.tenshot"));
  expect_fine(run(adapt + networks + " --runtime 'tensorflow lite, gpu'"));
  EXPECT_NE(read_file(path("runtime.tenshot")), unsaid);
  const Outcome of_cells = run("tenshot adapt --runtime ncnn --measurements " + q("measured.csv") + " --checkpoint " +
                               shipped("cells.tenshot") + " --out " + q("none.tenshot"));
  expect_refused(of_cells, 2, "--runtime");
}

TEST_F(KnowledgeProgram, PlanRuntime_PlansForDevicesWithIt) {
  const std::string networks = quoted(fs::path(TENSHOT_SOURCE_DIR) / "checkpoints/networks.tenshot");
  const std::string plan = "tenshot plan --samples 3 --out " + q("runtime.csv") + " --checkpoint ";
  expect_refused(run(plan + networks + " --runtime TensorRT --networks " + q("operators.csv")), 1, "\"ncnn, Vulkan\"");
  EXPECT_FALSE(fs::exists(path("runtime.csv")));
  expect_fine(run(plan + networks + " --networks " + q("operators.csv")));
  const std::string unsaid = read_file(path("runtime.csv"));
  const Outcome said = run(plan + networks + " --runtime 'ncnn, Vulkan' --networks " + q("operators.csv"));
  expect_fine(said);
  EXPECT_NE(read_file(path("runtime.csv")), unsaid);
  EXPECT_NE(said.err.find("--runtime 'ncnn, Vulkan' --out"), std::string::npos) << said.err;
  const Outcome energy = run(plan + networks + " --quantity energy --networks " + q("operators.csv"));
  EXPECT_NE(energy.err.find("(a column energy_mj)"), std::string::npos) << energy.err;
  EXPECT_NE(energy.err.find("--quantity energy --out"), std::string::npos) << energy.err;
  expect_refused(run(plan + shipped("cells.tenshot") + " --runtime ncnn"), 2, "--runtime");
}

TEST_F(KnowledgeProgram, AdaptLike_IsTheDeviceWithoutMeasurementsAndItsFamilyWithThem) {
  const std::string like = "adapt --like wide --checkpoint " + shipped("cells.tenshot") + " --out " + q("like.tenshot");
  expect_fine(installed(like));
  expect_fine(installed(like + " --measurements " + q("measured.csv")));
  expect_fine(installed("adapt --like fast --checkpoint " + shipped("networks.tenshot") + " --out " +
                        q("like-network.tenshot")));
  expect_fine(run("tenshot report " + q("like-network.tenshot") + " --out " + q("like-network.html")));
  expect_fine(
      run("tenshot predict --predictor " + q("like-network.tenshot") + " net1 --networks " + q("operators.csv")));
  expect_refused(
      installed("adapt --like moon --checkpoint " + shipped("cells.tenshot") + " --out " + q("none.tenshot")), 1,
      "'moon'");
  expect_refused(installed("adapt --like fast --quantity energy --checkpoint " + shipped("networks.tenshot") +
                           " --out " + q("none.tenshot")),
                 1, "predicts latency, asked for energy");
  EXPECT_FALSE(fs::exists(path("none.tenshot")));
}

TEST_F(KnowledgeProgram, Train_JoinsPoolsAndTakesPatterns) {
  datasets::Pool more = synthetic_pool(60);
  more.devices.resize(2);
  more.devices[0].id = "pixel4_cpu";
  more.devices[1].id = "pixel4_gpu";
  datasets::write_pool(path("more"), more);
  const std::string train = "tenshot train --predictor flops --pool " + q("cells") + " --pool ";
  const Outcome joined = run(train + q("more") + " --out " + q("joined.tenshot"));
  expect_fine(joined);
  EXPECT_NE(joined.err.find("5 device-runtimes"), std::string::npos) << joined.err;
  const Outcome without = run(train + q("more") + " --without 'pixel4_*' --out " + q("joined.tenshot"));
  EXPECT_NE(without.err.find("3 device-runtimes"), std::string::npos) << without.err;
  const Outcome twice = run(train + q("cells") + " --out " + q("none.tenshot"));
  expect_refused(twice, 1, "device 'fast' stands in ");
  expect_refused(run(train + q("more") + " --without 'nokia_*' --out " + q("none.tenshot")), 2, "'nokia_*'");
  EXPECT_FALSE(fs::exists(path("none.tenshot")));
}

TEST_F(KnowledgeProgram, TrainFrom_AddsAPoolToTheKnowledge) {
  write(path("own.csv"), "network,mine\nnet0,2\nnet1,7\nnet2,9\nnet3,2\nnet4,11\nnet6,2\n");
  expect_fine(run("tenshot dataset import --space networks --networks " + q("operators.csv") + " --table " +
                  q("own.csv") + " --out " + q("own")));
  const std::string from = "tenshot train --from " + shipped("networks.tenshot") + " --pool ";
  const Outcome grown = run(from + q("own") + " --out " + q("grown.tenshot"));
  expect_fine(grown);
  EXPECT_NE(grown.err.find("4 device-runtimes"), std::string::npos) << grown.err;
  expect_fine(run("tenshot predict --device mine --checkpoint " + q("grown.tenshot") + " net0 --networks " +
                  q("operators.csv")));
  expect_refused(run(from + q("networks") + " --out " + q("none.tenshot")), 1, "is in the checkpoint already");
  EXPECT_FALSE(fs::exists(path("none.tenshot")));
}

TEST_F(KnowledgeProgram, SourcesThatDoNotFitThePool_AreRefusedAndNothingIsWritten) {
  write(path("few.json"), R"({"format": "tenshot.sources/1", "sources": [
      {"name": "a", "licence": "MIT", "devices": ["slow"]}]})");
  expect_refused(run("tenshot train --quiet --pool " + q("cells") + " --knowledge " + q("few.json") + " --out " +
                     q("none.tenshot")),
                 1, "is of no source");
  EXPECT_FALSE(fs::exists(path("none.tenshot")));
}

TEST_F(KnowledgeProgram, NetworkList_MakesNetworksOfASpacesArchitectures) {
  const std::string skips =
      "skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|skip|"
      "skip|skip|skip|";
  write(path("named.csv"), "architecture,network\nk3_e1|" + skips.substr(0, skips.size() - 1) + ",a\n");
  const Outcome outcome =
      run("tenshot network list --space fbnet --archs " + q("named.csv") + " --out " + q("listed.json"));
  expect_fine(outcome);
  EXPECT_EQ(nlohmann::json::parse(slurp(path("listed.json"))).at("networks").at(0).at("name"), "a");
}

/// The rows of a table in datasets/data whose networks are these, behind its header.
std::string rows_of(const std::string& table, const std::vector<std::string>& networks) {
  std::istringstream rows(slurp(fs::path(TENSHOT_SOURCE_DIR) / "datasets/data" / table / "latencies.csv"));
  std::string line, text;
  for (std::getline(rows, text), text += '\n'; std::getline(rows, line);) {
    const std::string network = line.substr(0, line.find(','));
    if (std::count(networks.begin(), networks.end(), network) > 0) text += line + '\n';
  }
  return text;
}

/// Two convolutional networks are all that the pool has, and one of those measured is of recurrent layers.
TEST_F(KnowledgeProgram, Adapt_NamesAMeasuredNetworkThatItCannotPredict_AndGoesOnWithTheOthers) {
  const fs::path data = fs::path(TENSHOT_SOURCE_DIR) / "datasets/data";
  fs::create_directory(path("two"));
  fs::copy_file(data / "networks/networks.json", path("two/networks.json"));
  for (const std::string runtime : {"libtorch-eager_t1_b1", "opencv-dnn_t1_b1"}) {
    fs::create_directory(path("two/" + runtime));
    fs::copy_file(data / "networks" / runtime / "device.json", path("two/" + runtime + "/device.json"));
    write(path("two/" + runtime + "/latencies.csv"),
          rows_of("networks/" + runtime, {"synthetic_blocks_1_104", "resnet18_r224"}));
  }
  expect_fine(run("tenshot train --predictor operators --pool " + q("two") + " --out " + q("two.tenshot")));
  const std::string adapt = "tenshot adapt --checkpoint " + q("two.tenshot") + " --networks " + quoted(data / "kinds") +
                            " --measurements " + q("unlike.csv") + " --out " + q("unlike.tenshot");
  const std::string table = "kinds/onnxruntime_fp32_t1_b1_all_kinds";
  write(path("unlike.csv"), rows_of(table, {"gru_16"}));
  expect_refused(run(adapt), 1, "none of the measured networks can be predicted: gru_16 is too unlike");
  EXPECT_FALSE(fs::exists(path("unlike.tenshot")));
  write(path("unlike.csv"), rows_of(table, {"gru_16", "unet_bilinear_4", "unet_bicubic_6", "einsum_128"}));
  const Outcome outcome = run(adapt);
  expect_fine(outcome);
  EXPECT_NE(outcome.err.find("gru_16 is too unlike all that was measured"), std::string::npos) << outcome.err;
  EXPECT_TRUE(fs::exists(path("unlike.tenshot")));
}

}  // namespace
}  // namespace tenshot::test
