// Other quantities than latency as a user measures and predicts them: energies of a board with a pool of energies or of
// latencies, cold starts and memory of this machine.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "datasets/tables/csv.h"
#include "datasets/tables/measurements.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

using datasets::Quantity;

const nasbench::SearchSpace& space = nasbench::nasbench201();

void expect_fine(const Outcome& outcome) { ASSERT_EQ(outcome.exit_code, 0) << outcome.err; }

void expect_refused(const Outcome& outcome, int exit_code, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, exit_code);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

/// Made once: pools and checkpoints of latencies and of energies, and a board's energies and latencies.
class QuantityProgram : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    datasets::Pool pool = synthetic_pool(150);
    datasets::write_pool(path("latencies"), pool);
    for (datasets::DeviceRuntime& device : pool.devices) device.quantity = Quantity::energy;
    datasets::write_pool(path("energies"), pool);
    const auto board = synthetic_device("board", 60, 1.0, 0.01, 150, 9);
    datasets::write_measurements(path("truth.csv"), board.latencies, space, Quantity::energy);
    const std::vector<datasets::Measurement> ten(board.latencies.begin(), board.latencies.begin() + 10);
    datasets::write_measurements(path("energy.csv"), ten, space, Quantity::energy);
    datasets::write_measurements(path("latency.csv"), ten, space);
    expect_fine(run("tenshot train --pool " + q("latencies") + " --out " + q("latencies.tenshot")));
    expect_fine(run("tenshot train --pool " + q("energies") + " --quantity energy --out " + q("energies.tenshot")));
    expect_fine(run("tenshot adapt --checkpoint " + q("latencies.tenshot") + " --quantity energy --measurements " +
                    q("energy.csv") + " --out " + q("board.tenshot")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  static double acc10_of(const std::string& predictor) {
    const Outcome evaluated =
        run("tenshot evaluate --predictor " + q(predictor) + " --measured " + q("truth.csv") + " --json");
    EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
    const auto metrics = nlohmann::json::parse(evaluated.out);
    EXPECT_TRUE(metrics.contains("rmse_mj")) << evaluated.out;
    return metrics.at("acc10").get<double>();
  }

  static Folder* folder_;
};

Folder* QuantityProgram::folder_ = nullptr;

TEST_F(QuantityProgram, TwoDevicesAThousandTimesApart_AreAskedForTheirUnit) {
  datasets::Pool pool = synthetic_pool(30);
  pool.devices[1].latencies = pool.devices[0].latencies;
  for (datasets::Measurement& row : pool.devices[1].latencies) row.latency_ms /= 1000;
  datasets::write_pool(path("units"), pool);
  const std::string train = "tenshot train --predictor look-up --out " + q("units.tenshot") + " --pool ";
  const Outcome units = run(train + q("units"));
  EXPECT_NE(units.err.find("are they in another unit?"), std::string::npos) << units.err;
  EXPECT_EQ(run(train + q("latencies")).err.find("are they in another unit?"), std::string::npos);
}

TEST_F(QuantityProgram, PredictsEnergiesFromAPoolOfLatencies) {
  EXPECT_GT(acc10_of("board.tenshot"), 0.85);
  expect_fine(run("tenshot predict --predictor " + q("board.tenshot") + " --archs " + q("truth.csv") + " --out " +
                  q("predictions.csv")));
  EXPECT_EQ(slurp(path("predictions.csv")).substr(0, 45), "architecture,energy_mj,lower_mj,upper_mj\n|avg");
  expect_fine(run("tenshot evaluate --quantity energy --predictions " + q("predictions.csv") + " --measured " +
                  q("truth.csv")));
}

TEST_F(QuantityProgram, PredictsEnergiesFromAPoolOfEnergies) {
  expect_fine(run("tenshot plan --checkpoint " + q("energies.tenshot") + " --measurements " + q("energy.csv") +
                  " --samples 3 --out " + q("more.csv")));
  expect_fine(run("tenshot adapt --checkpoint " + q("energies.tenshot") + " --measurements " + q("energy.csv") +
                  " --out " + q("own.tenshot")));
  EXPECT_GT(acc10_of("own.tenshot"), 0.85);
}

TEST_F(QuantityProgram, PrintsTheUnit) {
  const Outcome outcome = run("tenshot predict --predictor " + q("board.tenshot") + " " +
                              test::quoted(std::filesystem::path(space.example())));
  EXPECT_TRUE(std::regex_match(outcome.out, std::regex(R"(\d+(\.\d+)? mJ \(90 %: \d+(\.\d+)? to \d+(\.\d+)?\)\n)")))
      << outcome.out << outcome.err;
}

TEST_F(QuantityProgram, ExportsTheQuantity) {
  expect_fine(run("tenshot export --predictor " + q("board.tenshot") + " --document " + q("board.json")));
  const auto document = nlohmann::json::parse(slurp(path("board.json")));
  EXPECT_EQ(document["quantity"], "energy");
  EXPECT_EQ(document["unit"], "mJ");
  EXPECT_TRUE(document["components"][0].contains("costs_mj"));
  EXPECT_TRUE(document["card"]["adaptation_set"][0].contains("energy_mj"));
  const Outcome info = run("tenshot info " + q("board.tenshot"));
  EXPECT_NE(info.out.find("quantity: energy"), std::string::npos) << info.out;
  EXPECT_EQ(info.out.find(" ms"), std::string::npos) << info.out;
  EXPECT_EQ(info.out.find("device-runtimes: \n"), std::string::npos) << info.out;
}

TEST_F(QuantityProgram, MixesNoQuantities) {
  expect_refused(run("tenshot adapt --checkpoint " + q("energies.tenshot") + " --quantity latency --measurements " +
                     q("latency.csv") + " --out " + q("none.tenshot")),
                 1, "quantities are not mixed");
  expect_refused(run("tenshot adapt --checkpoint " + q("latencies.tenshot") + " --measurements " + q("energy.csv") +
                     " --out " + q("none.tenshot")),
                 1, "it holds energy_mj, which is --quantity energy");
  expect_refused(run("tenshot predict --predictor " + q("board.tenshot") + " --quantity latency --out -"), 1,
                 "predicts energy, asked for latency");
  expect_refused(run("tenshot train --pool " + q("latencies") + " --quantity memory --out " + q("none.tenshot")), 1,
                 "none of its");
  expect_refused(run("tenshot train --pool " + q("latencies") + " --quantity speed --out " + q("none.tenshot")), 2,
                 "there is no quantity 'speed'");
  EXPECT_FALSE(std::filesystem::exists(path("none.tenshot")));
}

TEST_F(QuantityProgram, ImportsATableOfEnergies) {
  write(path("wide.csv"), "architecture,a,b\n" + space.format(space.at(7)) + ",10,20\n");
  expect_fine(run("tenshot dataset import --table " + q("wide.csv") + " --quantity energy --out " + q("imported")));
  const Outcome described = run("tenshot dataset describe " + q("imported") + " --json");
  EXPECT_EQ(nlohmann::json::parse(described.out).at("devices")[0].at("median_mj"), 10);
}

/// The number in `column` of the first row.
double first_number(const std::filesystem::path& file, const std::string& column) {
  const std::string text = slurp(file);
  datasets::CsvReader csv(text, file.string());
  const std::size_t position = csv.require(column, column);
  return csv.next() ? parse_number(csv.fields()[position]).value_or(-1) : -1;
}

TEST(CollectStarts, SplitsAColdStartIntoItsParts) {
  const Folder folder;
  const std::string collect =
      "tenshot collect --runtime libtorch-frozen --cold --archs 2 --runs 2 --out " + quoted(folder.path());
  expect_fine(run(collect));
  const auto device = folder.path() / "libtorch-frozen_t1_b1_cold";
  const double load = first_number(device / "cold.csv", "load_ms"),
               prepare = first_number(device / "cold.csv", "prepare_ms"),
               first = first_number(device / "cold.csv", "first_ms"),
               cold = first_number(device / "cold.csv", "cold_ms");
  EXPECT_GT(load, 0);
  EXPECT_GT(prepare, 0);
  EXPECT_GT(first, 0);
  EXPECT_GE(cold, std::max({load, prepare, first}));
  EXPECT_GT(first_number(device / "cold.csv", "memory_mib"), 0);
  const auto json = nlohmann::json::parse(slurp(device / "device.json"));
  EXPECT_EQ(json["quantity"], "cold");
  EXPECT_EQ(json["environment"]["complete"], true);
  EXPECT_FALSE(std::filesystem::exists(device / "model.weights"));

  const std::string before = slurp(device / "cold.csv");
  expect_fine(run(collect));  // nothing left to do
  EXPECT_EQ(slurp(device / "cold.csv"), before);
  expect_refused(run(collect + " --seed 2"), 1, "was measured with weight_seed 1, asked for 2");
  const Outcome described = run("tenshot dataset describe " + quoted(folder.path()) + " --quantity memory --json");
  EXPECT_TRUE(nlohmann::json::parse(described.out).at("devices")[0].contains("median_mib")) << described.err;
}

TEST(CollectStarts, GoesOnInItsRoundsAfterAKill) {
  const Folder folder;
  const auto device = folder.path() / "libtorch-eager_t1_b1_cold";
  const auto journal = device / "starts.part";
  const std::string collect = quoted(std::filesystem::path(TENSHOT_PROGRAM)) +  // itself, which is to be killed
                              " collect --quiet --cold --archs 2 --runs 4 --rounds 2 --out " + quoted(folder.path());
  run("( " + collect + " & pid=$!; until [ -s " + quoted(journal) +
      " ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done; kill -9 $pid )");
  const std::string kept = slurp(journal);
  auto line = nlohmann::json::parse(kept.substr(1, kept.find('\n', 1)));
  // What the journal says is believed: as many starts as are made at most, of one network; and half a line.
  line["start"]["cold_ms"] = 1e6;
  std::string lines;
  for (int start = 0; start < 8; ++start) lines += line.dump() + "\n";
  write(journal, lines + "{\"architecture\": ");
  expect_fine(run(collect));
  const std::string text = slurp(device / "cold.csv");
  datasets::CsvReader csv(text, "cold.csv");
  const std::size_t cold_ms = csv.require("cold_ms", "cold_ms");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(parse_number(csv.fields()[cold_ms]), 1e6);
  ASSERT_TRUE(csv.next());
  EXPECT_LT(parse_number(csv.fields()[cold_ms]).value_or(1e6), 1e6);
  EXPECT_FALSE(csv.next());
  EXPECT_FALSE(std::filesystem::exists(journal));
  EXPECT_EQ(nlohmann::json::parse(slurp(device / "device.json"))["environment"]["rounds"], 2);
}

TEST(CollectStarts, MeasuresMemoryBesideTheRuntimes) {
  const Folder folder;
  expect_fine(run("tenshot collect --runtime libtorch-eager --quantity memory --archs 1 --runs 1 --out " +
                  quoted(folder.path())));
  const auto device = folder.path() / "libtorch-eager_t1_b1_memory";
  EXPECT_GT(first_number(device / "memory.csv", "memory_mib"), 0);
  const auto json = nlohmann::json::parse(slurp(device / "device.json"));
  EXPECT_GT(json["environment"]["runtime_memory_mib"].get<double>(), 0);
}

TEST(CollectStarts, TakesNetworksByTheirOnnxFiles) {
  const Folder folder;
  const std::string models = quoted(folder.path() / "models"), out = quoted(folder.path() / "pool");
  expect_fine(run("tenshot network generate --count 2 --seed 5 --out " + models));
  expect_fine(run("tenshot collect --cold --networks " + models + " --archs 1 --runs 1 --out " + out));
  expect_fine(run("tenshot collect --quantity memory --networks " + models + " --runs 1 --out " + out));
  const auto memory = folder.path() / "pool/libtorch-eager_t1_b1_memory/memory.csv";
  EXPECT_GT(first_number(memory, "memory_mib"), 0);
  const std::string rows = slurp(memory);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 3) << rows;
  EXPECT_GT(first_number(folder.path() / "pool/libtorch-eager_t1_b1_cold/cold.csv", "first_ms"), 0);
  const Outcome described = run("tenshot dataset describe " + out + " --quantity memory --json");
  EXPECT_TRUE(nlohmann::json::parse(described.out).at("devices")[0].contains("median_mib")) << described.err;
}

TEST(CollectStarts, LeavesOutANetworkThatCannotBeStarted) {
  const Folder folder;
  const std::string models = quoted(folder.path() / "models"), out = quoted(folder.path() / "pool");
  expect_fine(run("tenshot network generate --count 1 --seed 5 --out " + models));
  nasbench::NetworkBuilder b;
  b.output(b.activation("relu", b.input("image", {1, 64, 32000, 32000}), "relu"));  // 262 GB
  write_file_atomically(folder.path() / "models/vast.onnx", nasbench::onnx_model(b.take(), {}));
  const Outcome collected = run("tenshot collect --cold --networks " + models + " --runs 1 --out " + out);
  expect_fine(collected);
  EXPECT_NE(collected.err.find("vast: left out: out of memory"), std::string::npos) << collected.err;
  const auto device = folder.path() / "pool/libtorch-eager_t1_b1_cold";
  const auto left_out = nlohmann::json::parse(slurp(device / "device.json"))["environment"]["left_out"];
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0]["architecture"], "vast");
  EXPECT_EQ(left_out[0]["reason"], "out of memory");
  const std::string rows = slurp(device / "cold.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2) << rows;
  expect_refused(run("tenshot collect --cold --networks " + quoted(folder.path() / "models/vast.onnx") +
                     " --runs 1 --out " + quoted(folder.path() / "none")),
                 1, "the end of its output: tenshot: out of memory");
}

TEST(CollectStarts, RefusesWhatIsOfLatenciesAlone) {
  expect_refused(run("tenshot collect --cold --descriptor --out /tmp/none"), 2, "--descriptor is no option of");
  expect_refused(run("tenshot collect --cold --quantity memory --out /tmp/none"), 2, "--cold is --quantity cold");
  expect_refused(run("tenshot collect --cold --rounds 0 --out /tmp/none"), 2, "--rounds");
  expect_refused(run("tenshot collect --quantity energy --rounds 2 --out /tmp/none"), 2, "--rounds");
  const Folder folder;
  expect_refused(run("tenshot collect --cold --archs 1 --runs 2 --rounds 3 --out " + quoted(folder.path())), 1,
                 "rounds are 3; expected 1 to 2");
}

}  // namespace
}  // namespace tenshot::test
