// Measurements in several files, verdicts for programs, and the chapter "Until it is good enough" of
// datasets/README.md.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/kit/kit.h"
#include "datasets/tables/measurements.h"
#include "nasbench/spaces/architecture.h"
#include "nasbench/spaces/search_space.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

/// A folder with a trained checkpoint and the truth about a new device, made once.
class Until : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    datasets::write_pool(path("pool"), synthetic_pool(150));
    const auto device = synthetic_device("new", 5, 1.0, 0.01, 150, 9);
    datasets::write_measurements(path("truth.csv"), device.latencies, space);
    const Outcome trained =
        run("tenshot train --predictor structured --pool " + q("pool") + " --out " + q("pool.tenshot"));
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  /// Writes the rows of truth.csv that a plan names, times `factor`: what the board says.
  static void measure(const std::string& plan, const std::string& out, double factor = 1) {
    const auto planned = datasets::read_architectures(path(plan), space).architectures;
    const nasbench::ArchitectureSet wanted(planned.begin(), planned.end());
    std::vector<datasets::Measurement> rows;
    for (datasets::Measurement row : datasets::read_measurements(path("truth.csv"), space).rows) {
      row.latency_ms *= factor;
      if (wanted.count(row.architecture) != 0) rows.push_back(row);
    }
    datasets::write_measurements(path(out), rows, space);
  }
  /// Runs a kit's measure.sh as on a board, whose runtime takes what truth.csv says of an architecture.
  static void measure_kit(const std::string& kit) {
    nasbench::ArchitectureMap<double> truth;
    for (const datasets::Measurement& row : datasets::read_measurements(path("truth.csv"), space).rows) {
      truth.emplace(row.architecture, row.latency_ms);
    }
    std::string times;
    for (const datasets::KitModel& model : datasets::read_kit_manifest(path(kit)).models) {
      times += model.id + " " + std::to_string(model.is_architecture() ? truth.at(model.architecture) : 0.01) + "\n";
    }
    write(path(kit + "/board.txt"), times);
    const Outcome measured = run(q(kit + "/measure.sh") + " --runs 1 --no-quantities --no-perf --command " +
                                 "'sed -n \"s|^$(basename {stem}) ||p\" board.txt'");
    ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  }
  static void plan_three() {
    const Outcome planned =
        run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 3 --out " + q("three.csv"));
    ASSERT_EQ(planned.exit_code, 0) << planned.err;
    measure("three.csv", "first.csv");
  }
  static std::string adapt(const std::string& measurements) {
    return "tenshot adapt --checkpoint " + q("pool.tenshot") + measurements + " --out " + q("device.tenshot");
  }

  static Folder* folder_;
};

Folder* Until::folder_ = nullptr;

TEST_F(Until, ItIsGoodEnough) {
  plan_three();
  std::string measurements = " --measurements " + q("first.csv");
  const Outcome adapted = run(adapt(measurements) + " --json");
  ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  const double begun = nlohmann::json::parse(adapted.out).at("verdict").at("within_percent");
  const std::string wanted = std::to_string(0.7 * begun) + "%";
  const std::string plan = "tenshot plan --checkpoint " + q("pool.tenshot") + " --json --until " + wanted;
  bool reached = false;
  for (int round = 0; round < 8 && !reached; ++round) {
    const std::string kit = "more" + std::to_string(round), more = kit + ".csv";
    const Outcome planned = run(plan + " --out " + q(more) + " --resolution 8 --kit " + q(kit) + measurements);
    ASSERT_EQ(planned.exit_code, 0) << planned.err;
    const nlohmann::json said = nlohmann::json::parse(planned.out);
    reached = said.at("verdict").at("reached");
    EXPECT_EQ(std::filesystem::exists(path(more)), !reached) << "nothing is left to be planned";
    if (reached) break;
    const nlohmann::json& needed = said.at("verdict").at("further_measurements");
    const std::size_t further = needed.is_null() ? 3 : needed.get<std::size_t>();  // three, and ask again
    EXPECT_EQ(datasets::read_architectures(path(more), space).architectures.size(), further);
    EXPECT_NE(planned.out.find("copy results/ back, then tenshot adapt --checkpoint"), std::string::npos)
        << planned.out;
    measure_kit(kit);
    measurements += " --measurements " + q(kit);
  }
  ASSERT_TRUE(reached) << "±" << wanted;
  const Outcome last = run(adapt(measurements) + " --json");
  ASSERT_EQ(last.exit_code, 0) << last.err;
  const nlohmann::json outcome = nlohmann::json::parse(last.out);
  EXPECT_LE(outcome.at("verdict").at("within_percent").get<double>(), 0.7 * begun + 1e-9);
  EXPECT_EQ(outcome.at("written").at(0).at("file"), path("device.tenshot").string());
  EXPECT_NE(outcome.at("next").get<std::string>().find("tenshot predict --predictor"), std::string::npos);
  const Outcome people =
      run("tenshot plan --checkpoint " + q("pool.tenshot") + " --until 90% --out " + q("none.csv") + measurements);
  EXPECT_NE(people.err.find("that is within ±90 %: no further measurement is needed"), std::string::npos) << people.err;
}

TEST_F(Until, WhatWasMeasuredTwiceIsNamedAndItsMedianCounts) {
  plan_three();
  measure("three.csv", "again.csv", 1.05);
  measure("three.csv", "third.csv", 0.95);
  const std::string both =
      " --measurements " + q("first.csv") + " --measurements " + q("again.csv") + " --measurements " + q("third.csv");
  const Outcome adapted = run(adapt(both));
  ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  EXPECT_NE(
      adapted.err.find("3 networks were measured more than once, and the median of each counts: they agree within "
                       "11 % typically and 11 % at worst"),
      std::string::npos)
      << adapted.err;
  EXPECT_NE(adapted.err.find("again.csv is 5 % slower"), std::string::npos) << adapted.err;
  EXPECT_NE(adapted.err.find("third.csv is 5 % faster"), std::string::npos) << adapted.err;
  const std::string once = slurp(path("device.tenshot"));
  ASSERT_EQ(run(adapt(" --measurements " + q("first.csv"))).exit_code, 0);
  EXPECT_EQ(slurp(path("device.tenshot")), once) << "the first file holds the medians";
  const Outcome evaluated = run("tenshot evaluate --json --predictor " + q("device.tenshot") + " --measurements " +
                                q("first.csv") + " --measurements " + q("truth.csv"));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(nlohmann::json::parse(evaluated.out).at("architectures"), 147);
  const Outcome reported = run("tenshot report " + q("device.tenshot") + both + " --out " + q("page.html"));
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
}

TEST_F(Until, AFleetIsPredictedByItsTypicalBoardWithWiderIntervals) {
  const Outcome planned = run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 10 --out " + q("ten.csv"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  std::string boards;
  const auto within = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.out).at("verdict").at("within_percent").get<double>();
  };
  for (const double factor : {1.0, 1.06, 0.95, 1.02}) {
    const std::string file = "board" + std::to_string(factor) + ".csv";
    measure("ten.csv", file, factor);
    boards += " --measurements " + q(file);
  }
  const Outcome rounds = run(adapt(boards) + " --json");
  const Outcome fleet = run(adapt(boards) + " --fleet --json");
  ASSERT_EQ(fleet.exit_code, 0) << fleet.err;
  EXPECT_GT(within(fleet), within(rounds) + 4) << "boards that differ by 5 %";
  EXPECT_NE(fleet.err.find("measurements of 4 boards, which share 10 networks: they differ by 4.6 %"),
            std::string::npos)
      << fleet.err;
  EXPECT_NE(
      fleet.err.find("Measured on 4 boards that differ by 4.6 %: the typical one is predicted; another one of the "
                     "kind may differ from it by 13 %"),
      std::string::npos)
      << fleet.err;
  const nlohmann::json said = nlohmann::json::parse(fleet.out).at("fleet");
  EXPECT_EQ(said.at("networks"), 10);
  EXPECT_NEAR(said.at("boards").at(1).at("slower_percent"), 100 * (1.06 / 1.00995 - 1), 0.1);
  const Outcome page = run("tenshot report " + q("device.tenshot") + " --out " + q("page.html"));
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(slurp(path("page.html")).find("Measured on 4 boards"), std::string::npos);
  // A fifth board, 7 % slower: the intervals of one board miss it, those of the fleet hold.
  measure("truth.csv", "fifth.csv", 1.07);
  const std::string evaluate = "tenshot evaluate --json --measurements " + q("fifth.csv") + " --predictor ";
  const double held = nlohmann::json::parse(run(evaluate + q("device.tenshot")).out).at("coverage");
  ASSERT_EQ(run(adapt(" --measurements " + q("board1.000000.csv"))).exit_code, 0);
  const double of_one = nlohmann::json::parse(run(evaluate + q("device.tenshot")).out).at("coverage");
  EXPECT_GT(held, 0.9);
  EXPECT_LT(of_one, held - 0.3);
  EXPECT_EQ(run(adapt(" --measurements " + q("ten.csv")) + " --fleet").exit_code, 2) << "of one file";
}

TEST_F(Until, AnImportedDeviceIsAddedToAndNeverReplacedInSilence) {
  plan_three();
  measure("three.csv", "again.csv", 1.1);
  ASSERT_EQ(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 2 --measurements " + q("first.csv") +
                " --out " + q("two.csv"))
                .exit_code,
            0);
  measure("two.csv", "two_done.csv");
  const std::string import = "tenshot dataset import --id board --out " + q("boards");
  const Outcome first = run(import + " --measurements " + q("first.csv") + " --measurements " + q("two_done.csv"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto rows = [&] { return datasets::read_measurements(path("boards/board/latencies.csv"), space).rows.size(); };
  EXPECT_EQ(rows(), 5u);
  const Outcome second = run(import + " --measurements " + q("again.csv"));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(
      second.err.find("networks kept from there: 2, measured again: 3 (the new values count; they differ by 10 %"),
      std::string::npos)
      << second.err;
  EXPECT_EQ(rows(), 5u);
  EXPECT_EQ(run("tenshot dataset import --out " + q("boards") + " --measurements " + q("again.csv")).exit_code, 2)
      << "which device is it?";
}

TEST_F(Until, AnImportedDeviceKeepsWhatItSaysOfItself) {
  const std::filesystem::path from = std::filesystem::path(TENSHOT_SOURCE_DIR) / "datasets/data/libtorch-eager_t1_b1";
  const Outcome imported =
      run("tenshot dataset import --id copy --out " + q("copies") + " --measurements " + quoted(from));
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  nlohmann::json then = nlohmann::json::parse(slurp(from / "device.json"));
  then["id"] = "copy";
  EXPECT_EQ(nlohmann::json::parse(slurp(path("copies/copy/device.json"))), then);
  EXPECT_EQ(slurp(path("copies/copy/latencies.csv")), slurp(from / "latencies.csv")) << "with deviations and runs";
}

TEST_F(Until, ADoubtfulVerdictIsExitCode3WhenStrict) {
  plan_three();
  const Outcome planned = run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 10 --out " + q("ten.csv"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  std::vector<datasets::Measurement> rows;
  measure("ten.csv", "ten_done.csv");
  for (datasets::Measurement row : datasets::read_measurements(path("ten_done.csv"), space).rows) {
    if (rows.size() == 4) row.latency_ms *= 8;  // one of another unit, or of another board
    rows.push_back(row);
  }
  datasets::write_measurements(path("wrong.csv"), rows, space);
  const Outcome doubtful = run(adapt(" --measurements " + q("wrong.csv")) + " --strict --json");
  EXPECT_EQ(doubtful.exit_code, 3) << doubtful.out << doubtful.err;
  EXPECT_EQ(nlohmann::json::parse(doubtful.out).at("verdict").at("trust"), "doubtful");
  EXPECT_EQ(run(adapt(" --measurements " + q("wrong.csv"))).exit_code, 0) << "without --strict";
  EXPECT_EQ(run(adapt(" --measurements " + q("ten_done.csv")) + " --strict").exit_code, 0);
  const Outcome until = run("tenshot plan --checkpoint " + q("pool.tenshot") + " --measurements " + q("wrong.csv") +
                            " --until 1% --out " + q("further.csv") + " --strict");
  EXPECT_EQ(until.exit_code, 3) << until.err;
  EXPECT_NE(until.err.find("where the others suggest"), std::string::npos) << until.err;
}

TEST_F(Until, WhatWasMeasuredInAnotherUnitIsNoticedWhereItIsCompared) {
  plan_three();
  ASSERT_EQ(run(adapt(" --measurements " + q("first.csv"))).exit_code, 0);
  ASSERT_EQ(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 10 --out " + q("ten.csv")).exit_code, 0);
  measure("ten.csv", "in_us.csv", 1000);
  const Outcome compared =
      run("tenshot evaluate --predictor " + q("device.tenshot") + " --measurements " + q("in_us.csv"));
  EXPECT_NE(compared.err.find("what was measured has about a thousand times the latencies"), std::string::npos)
      << compared.err;
}

TEST_F(Until, EveryVerbSaysWhatItWroteAndWhatIsNext) {
  plan_three();
  const auto said = [](const std::string& command) {
    const Outcome outcome = run(command + " --json");
    EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json planned =
      said("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 2 --out " + q("plan.csv"));
  EXPECT_EQ(planned.at("format"), "tenshot.outcome/1");
  EXPECT_EQ(planned.at("written").at(0).at("what"), "plan of 2 architectures");
  const nlohmann::json further = said("tenshot plan --checkpoint " + q("pool.tenshot") + " --measurements " +
                                      q("first.csv") + " --samples 2 --out " + q("plan2.csv"));
  EXPECT_NE(further.at("next").get<std::string>().find("first.csv --measurements further.csv"), std::string::npos)
      << "not one file twice: " << further;
  ASSERT_EQ(run(adapt(" --measurements " + q("first.csv"))).exit_code, 0);
  const nlohmann::json predicted =
      said("tenshot predict --predictor " + q("device.tenshot") + " --archs " + q("plan.csv"));
  ASSERT_EQ(predicted.at("predictions").size(), 2u);
  EXPECT_LT(predicted.at("predictions").at(0).at("lower_ms"), predicted.at("predictions").at(0).at("latency_ms"));
  const nlohmann::json trained =
      said("tenshot train --predictor additive --pool " + q("pool") + " --out " + q("additive.tenshot"));
  EXPECT_EQ(trained.at("verb"), "train");
  EXPECT_EQ(trained.at("written").at(0).at("file"), path("additive.tenshot").string());
  const nlohmann::json valid = said("tenshot dataset validate " + q("pool"));
  EXPECT_EQ(valid.at("verdict"), "sound");
  EXPECT_EQ(run("tenshot plan --json --checkpoint " + q("pool.tenshot") + " --out -").exit_code, 2);
  EXPECT_EQ(run("tenshot plan --until 15% --checkpoint " + q("pool.tenshot") + " --out x.csv").exit_code, 2);
  EXPECT_EQ(run("tenshot plan --until all --measurements " + q("first.csv") + " --checkpoint " + q("pool.tenshot") +
                " --out x.csv")
                .exit_code,
            2);
}

}  // namespace
}  // namespace tenshot::test
