#include "trainer/evaluation/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "tests/unit/trainer/evaluation/experiment_fixture.h"
#include "trainer/evaluation/experiment_cell.h"
#include "trainer/evaluation/results.h"
#include "trainer/evaluation/worker_processes.h"

namespace tenshot::trainer::evaluation {
namespace {

using Experiments = ExperimentTest;

TEST_F(Experiments, SplitsRowsAndLeavesTheTargetOutOfItsPool) {
  const Experiment all = load_experiment(spec());
  EXPECT_EQ(datasets::latency_matrix(all.data.train).architectures.size(), 80u);
  EXPECT_GT(datasets::latency_matrix(all.data.test).architectures.size(), 50u);
  EXPECT_EQ(all.cells.size(), 3u * 3u * 2u);
  for (const GridCell& cell : all.cells) {
    const auto& members = all.models[cell.model].members;
    EXPECT_EQ(members.size(), 2u);
    EXPECT_EQ(std::count(members.begin(), members.end(), cell.target), 0);
  }
}

TEST_F(Experiments, PoolMayKnowMoreThanTheSamplesAreDrawnFrom) {
  const ExperimentData usual = load_experiment(spec()).data;
  EXPECT_EQ(&usual.known(), &usual.train);
  const ExperimentData data = load_experiment(spec(R"({"split": {"pool": "0:140"}})")).data;
  EXPECT_EQ(datasets::latency_matrix(data.known()).architectures.size(), 140u);
  EXPECT_EQ(datasets::latency_matrix(data.train).architectures.size(), 80u);
  EXPECT_NE(data.sha256, usual.sha256);
}

TEST_F(Experiments, PoolsFollowTheirStrategy) {
  const auto members = [&](const std::string& pool, const std::string& target) {
    const ExperimentSpec s = spec(R"({"methods": ["flops"], "trials": 1, "pools": [)" + pool + "]}");
    std::vector<std::string> ids;
    const Experiment g = load_experiment(s);
    for (const GridCell& cell : g.cells) {
      if (cell.target != target) continue;
      for (const auto& id : g.models[cell.model].members) ids.push_back(id);
    }
    return ids;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(members(R"("same-runtime")", "slow"), Ids{"fast"});
  EXPECT_EQ(members(R"("same-runtime")", "wide"), Ids{});
  EXPECT_EQ(members(R"("other-runtimes")", "slow"), Ids{"wide"});
  EXPECT_EQ(members(R"({"name": "p", "devices": ["w*"]})", "slow"), Ids{"wide"});
  EXPECT_EQ(members(R"({"name": "p", "one_at_a_time": true})", "slow"), (Ids{"fast", "wide"}));
  const std::string families = R"({"name": "p", "of": "other-families", "families": [["s*", "wide"]]})";
  EXPECT_EQ(members(families, "slow"), Ids{"fast"});
  EXPECT_EQ(members(families, "fast"), (Ids{"slow", "wide"}));
  const std::string unknown = R"({"name": "p", "of": "other-families", "families": [["s*", "Wide"]]})";
  EXPECT_THROW(members(unknown, "slow"), InputError) << "which would leave the family in the pool";
  EXPECT_EQ(load_experiment(spec(R"({"pools": ["same-runtime"]})")).notes, Ids{"wide has no pool 'same-runtime'"});
}

TEST_F(Experiments, AxesThatAMethodDoesNotHaveAreNotRepeated) {
  const Experiment g = load_experiment(spec(R"({"clones": [1, 7], "samples": [5, 10], "trials": 1, "targets": ["slow"],
      "methods": ["flops", "maple", {"name": "all", "predictor": "forest", "samples": "all"}]})"));
  EXPECT_EQ(g.cells.size(), 2u + 4u + 1u);
  EXPECT_THROW(spec(R"({"samples": [5, 5]})"), FormatError) << "its trials would count twice";
}

TEST_F(Experiments, EveryMethodOfATrialHasTheSameSamples) {
  const ExperimentSpec s = spec();
  const Experiment g = load_experiment(s);
  PlanningPriors priors;
  std::map<std::pair<std::string, int>, std::set<std::vector<Architecture>>> samples;
  for (const GridCell& cell : g.cells) {
    samples[{cell.target, cell.trial}].insert(choose_samples(g, cell, priors));
  }
  for (const auto& [key, distinct] : samples) EXPECT_EQ(distinct.size(), 1u) << key.first;
  EXPECT_NE(samples[std::make_pair("slow", 0)], samples[std::make_pair("slow", 1)]);
}

TEST_F(Experiments, LaterRoundsOfPlanningKnowTheEarlier) {
  const ExperimentSpec s = spec(R"({"trials": 1, "targets": ["slow"], "samplers": ["information"], "methods": [
      {"name": "one", "predictor": "structured"}, {"name": "four", "predictor": "structured", "samples": 4},
      {"name": "two", "predictor": "structured", "sampler": "information", "rounds": [4, 6]}]})");
  const Experiment g = load_experiment(s);
  PlanningPriors priors;
  ASSERT_EQ(g.cells.size(), 3u);
  EXPECT_EQ(g.cells[2].samples, 10u);
  const auto chosen = [&](std::size_t c) { return choose_samples(g, g.cells[c], priors); };
  const std::vector<Architecture> one = chosen(0), four = chosen(1), two = chosen(2);
  EXPECT_EQ(two.size(), 10u);
  EXPECT_EQ(std::set<Architecture>(two.begin(), two.end()).size(), 10u);
  EXPECT_TRUE(std::equal(four.begin(), four.end(), two.begin()));
  EXPECT_NE(std::set<Architecture>(one.begin(), one.end()), std::set<Architecture>(two.begin(), two.end()));
}

TEST_F(Experiments, NoSampleIsForMethodsThatTheDescriptorAnswers) {
  datasets::Pool pool = datasets::read_pool(folder_.path() / "pool");
  for (datasets::DeviceRuntime& device : pool.devices) test::describe(device);
  pool.devices.push_back(test::synthetic_device("undescribed", 2, 1, 0.01, 140, 8));
  datasets::write_pool(folder_.path() / "described", pool);
  const ExperimentSpec s =
      spec(R"({"trials": 1, "samples": [0, 5], "targets": ["slow", "undescribed"], "data": {"pool": ")" +
           (folder_.path() / "described").string() + R"("}, "methods": [
      "structured", "transfer", {"name": "without", "predictor": "structured", "descriptor": false},
      {"name": "planned", "predictor": "structured", "sampler": "information", "planning_descriptor": true}]})");
  const Experiment g = load_experiment(s);
  PlanningPriors priors;
  std::vector<std::string> cells;
  std::map<std::string, std::vector<Architecture>> samples;
  for (const GridCell& cell : g.cells) {
    cells.push_back(cell.target + " " + s.methods[cell.method].name + " " + std::to_string(cell.samples));
    samples[cells.back()] = choose_samples(g, cell, priors);
    EXPECT_EQ(samples[cells.back()].size(), cell.samples) << cells.back();
  }
  const std::vector<std::string> expected = {
      "slow structured 0",      "slow structured 5",    "slow without 5", "slow transfer 5",
      "undescribed transfer 5", "slow planned 0",       "slow planned 5", "undescribed structured 5",
      "undescribed without 5",  "undescribed planned 5"};
  EXPECT_EQ(std::set<std::string>(cells.begin(), cells.end()), std::set<std::string>(expected.begin(), expected.end()));
  EXPECT_EQ(samples["slow structured 5"], samples["slow without 5"]);
  run_experiment(s, into("unmeasured"));
  const std::string table = file("unmeasured/README.md");
  EXPECT_NE(table.find("structured, 0 samples"), std::string::npos);
  EXPECT_EQ(table.find("without, 0 samples"), std::string::npos);
}

TEST_F(Experiments, AShuffledDescriptorIsOfAnotherRuntime) {
  datasets::Pool pool = datasets::read_pool(folder_.path() / "pool");
  // What one more of each operation costs on the fixture's devices.
  const std::map<std::string, std::pair<double, double>> speed_and_conv = {
      {"slow", {10, 1.5}}, {"fast", {1, 0.8}}, {"wide", {3, 1.1}}};
  for (datasets::DeviceRuntime& device : pool.devices) {
    test::describe(device);
    const auto [speed, conv] = speed_and_conv.at(device.id);
    for (auto& chain : device.descriptor.in_network) {
      chain.latency_ms = speed * (chain.name == "nor_conv_3x3"   ? conv
                                  : chain.name == "nor_conv_1x1" ? 0.5
                                  : chain.name == "avg_pool_3x3" ? 0.4
                                                                 : 0.1);
    }
  }
  const std::string path = (folder_.path() / "described").string();
  datasets::write_pool(path, pool);
  const std::string patch = R"({"trials": 1, "samples": [1], "targets": ["slow"], "data": {"pool": ")" + path +
                            R"("}, "methods": ["structured",
      {"name": "shuffled", "predictor": "structured", "shuffled_descriptor": true},
      {"name": "none", "predictor": "structured", "descriptor": false}]})";
  run_experiment(spec(patch), into("shuffled"));
  std::map<std::string, std::string> rows;  // what stands after the method's name, predictor and mode
  std::istringstream lines(file("shuffled/results.csv"));
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {",structured,structured,,", ",shuffled,structured,,", ",none,structured,,"}) {
      const std::size_t place = line.find(name);
      if (place != std::string::npos) rows[name] = line.substr(place + std::string(name).size());
    }
  }
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[",structured,structured,,"].substr(0, 11), "in-network,");
  EXPECT_EQ(rows[",shuffled,structured,,"].substr(0, 11), "in-network,");
  EXPECT_EQ(rows[",none,structured,,"].substr(0, 5), "none,");
  EXPECT_NE(rows[",structured,structured,,"], rows[",shuffled,structured,,"]);
  EXPECT_NE(file("shuffled/README.md").find("structured: in-network (1)"), std::string::npos);
  for (datasets::DeviceRuntime& device : pool.devices) device.runtime = "one";
  datasets::write_pool(folder_.path() / "alike", pool);
  std::string alike = patch;
  alike.replace(alike.find(path), path.size(), (folder_.path() / "alike").string());
  EXPECT_THROW(run_experiment(spec(alike), into("alike-results")), Error);
}

TEST_F(Experiments, WhatStructuredAssumesIsTheMethods) {
  const ExperimentSpec s = spec(R"({"trials": 1, "targets": ["slow"], "methods": ["structured", {"name": "no live",
      "predictor": "structured", "posterior": {"left_out": ["live"], "student_freedom": 0}}]})");
  const Experiment g = load_experiment(s);
  ASSERT_EQ(g.models.size(), 2u);
  const auto card = [&](std::size_t m) { return train_model(g, g.models[m], {})->to_archive().card; };
  EXPECT_EQ(card(0).at("settings").at("student_freedom"), 4);
  EXPECT_EQ(card(1).at("settings").at("student_freedom"), 0);
  EXPECT_EQ(card(1).at("settings").at("left_out"), nlohmann::json{"live"});
}

TEST_F(Experiments, NamesWhatTheDataDoesNotHave) {
  EXPECT_THROW(load_experiment(spec(R"({"targets": ["nobody"]})")), InputError);
  EXPECT_THROW(load_experiment(spec(R"({"pools": [{"name": "p", "devices": ["nobody"]}]})")), InputError);
  EXPECT_THROW(load_experiment(spec(R"({"split": {"test": "900:1000"}})")), InputError);
  try {
    run_experiment(spec(R"({"samples": [81]})"), into("many"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("flops on fast"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("80 architectures"), std::string::npos) << error.what();
  }
}

TEST_F(Experiments, WritesOneRowPerTrialTargetAndMethodAndTheSameBytesTwice) {
  run_experiment(spec(), into("a"));
  ExperimentOptions parallel = into("b");
  parallel.jobs = 3;
  run_experiment(spec(), parallel);
  for (const char* name : {"results.csv", "results.json", "README.md", "predictions.csv"}) {
    EXPECT_EQ(file(std::string("a/") + name), file(std::string("b/") + name)) << name;
  }
  const std::string csv = file("a/results.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 18);
  const auto json = nlohmann::json::parse(file("a/results.json"));
  EXPECT_EQ(json.at("variants").size(), 3u);
  EXPECT_EQ(json.at("similarity").at("devices").size(), 3u);
  EXPECT_GT(json.at("variants").at(1).at("mean_acc10").at("mean").get<double>(), 0.8);  // look-up: the data is linear
}

TEST_F(Experiments, ShardsJoinToTheBytesOfOneRun) {
  run_experiment(spec(), into("whole"));
  for (int i = 1; i <= 3; ++i) {
    ExperimentOptions options = into("parts");
    options.shard = {i, 3};
    if (i == 3) {
      EXPECT_THROW(merge_experiment(spec(), options.out), InputError);
    }
    run_experiment(spec(), options);
  }
  merge_experiment(spec(), into("parts").out);
  for (const char* name : {"results.csv", "results.json", "README.md", "predictions.csv"}) {
    EXPECT_EQ(file(std::string("whole/") + name), file(std::string("parts/") + name)) << name;
  }
}

TEST_F(Experiments, GoesOnWhereItWasStopped) {
  run_experiment(spec(), into("whole"));
  ExperimentOptions stopped = into("stopped");
  std::size_t done = 0;
  stopped.on_progress = [&](const ExperimentProgress& now) { done = now.done; };
  stopped.go_on = [&] { return done < 5; };
  EXPECT_THROW(run_experiment(spec(), stopped), Interrupted);
  EXPECT_THROW(run_experiment(spec(), into("stopped")), InputError);  // begun already: only with resume
  ExperimentOptions resumed = into("stopped");
  resumed.resume = true;
  std::size_t left = 0;
  resumed.on_progress = [&](const ExperimentProgress& now) { left = now.total; };
  EXPECT_THROW(run_experiment(spec(R"({"seed": 9})"), resumed), InputError);  // another experiment's folder
  run_experiment(spec(), resumed);
  EXPECT_LT(left, 18u + 9u);
  EXPECT_EQ(file("stopped/results.csv"), file("whole/results.csv"));
}

TEST_F(Experiments, RefusesADamagedCell) {
  run_experiment(spec(), into("a"));
  test::write(folder_.path() / "a/cells/00003.json", "{\"metrics\": 3}");
  EXPECT_THROW(merge_experiment(spec(), into("a").out), FormatError);
  EXPECT_THROW(merge_experiment(spec(), into("nowhere").out), InputError);
}

TEST(Spread, OfNumbersThatAreThere) {
  const nlohmann::json expected = {{"mean", 2.0}, {"deviation", 1.0}, {"count", 3}};
  EXPECT_EQ(spread_of({1, 2, std::nan(""), 3}), expected);
  EXPECT_EQ(spread_of({5}).at("deviation"), 0);
  EXPECT_TRUE(spread_of({std::nan("")}).is_null());
  EXPECT_TRUE(std::isnan(mean_of(spread_of({}))));
}

TEST(ResultTables, PrintTheBestInBoldAndCeilingsNot) {
  const ExperimentSpec s = parse_spec(R"({"format": "tenshot.experiment/1", "name": "t", "data": {"pool": "p"},
      "split": {"train": "0:1", "test": "1:2"}, "targets": ["*"], "pools": ["others"], "samplers": ["random"],
      "samples": [1], "trials": 2, "methods": ["flops", "look-up", {"name": "own", "predictor": "forest",
      "samples": "all"}]})",
                                      "s", false);
  const Experiment experiment{s, {test::synthetic_pool(3), test::synthetic_pool(3), "0123456789abcdef", std::nullopt}};
  std::vector<CellResult> results;
  const double acc10[] = {0.50, 0.60, 0.70, 0.90, 0.95, 0.95};  // method by method, two trials each
  for (std::size_t m = 0; m < 3; ++m) {
    for (int trial = 0; trial < 2; ++trial) {
      GridCell cell;
      cell.target = "fast";
      cell.sampler = m == 2 ? "all" : "random";
      cell.samples = m == 2 ? 0 : 1;
      cell.method = m;
      cell.trial = trial;
      CellResult result{cell};
      result.metrics.acc10 = acc10[2 * m + static_cast<std::size_t>(trial)];
      result.metrics.acc5 = 0.1 * static_cast<double>(m + 1);
      result.metrics.spearman = std::nan("");
      result.metrics.coverage = m == 1 ? 0.7 + 0.1 * trial : std::nan("");
      results.push_back(result);
    }
  }
  const std::string text = results_markdown(experiment, results);
  EXPECT_NE(text.find("| flops | 55.0 ± 7.1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| look-up | **80.0** ± 14.1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| own | 95.0 ± 0.0 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| look-up | **20.0** ± 0.0 |"), std::string::npos) << text;  // within ±5 %
  EXPECT_NE(text.find("| flops |  |"), std::string::npos) << text;                  // no ρ
  const std::string coverage = text.substr(text.find("## Latencies in their 90 % interval"));
  EXPECT_NE(coverage.find("| look-up | 75.0 ± 7.1 |"), std::string::npos) << coverage;
  EXPECT_EQ(coverage.find("flops"), std::string::npos) << "has no intervals: " << coverage;
}

TEST(WorkerProcesses, ReportTheFailureOfATaskByName) {
  const auto run_all = [](const std::function<void()>& second) {
    const std::vector<ProcessTask> tasks = {{"task 0", {}, [] {}}, {"task 1", {}, second}, {"task 2", {}, [] {}}};
    run_in_processes(
        tasks, 2, [](const ProcessTask&) {}, [] { return true; });
  };
  try {
    run_all([] { throw InputError("no luck"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task 1: no luck");
  }
  EXPECT_THROW(run_all([] { std::raise(SIGKILL); }), Error);
}

}  // namespace
}  // namespace tenshot::trainer::evaluation
