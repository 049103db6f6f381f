#include "trainer/evaluation/results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/trainer/evaluation/experiment_fixture.h"
#include "trainer/evaluation/experiment_cell.h"

namespace tenshot::trainer::evaluation {
namespace {

namespace fs = std::filesystem;
using Results = ExperimentTest;

TEST_F(Results, APageThatRestsOnSimulatedCountersSaysSoFirst) {
  datasets::Pool pool = datasets::read_pool(folder_.path() / "pool");
  for (datasets::DeviceRuntime& device : pool.devices) {
    test::describe(device);
    device.descriptor.counters = {"cycles", "instructions"};
    for (auto& op : device.descriptor.operators) op.counts = {100, 50};
  }
  const auto page_of = [&](const std::vector<std::string>& sources) {
    for (std::size_t d = 0; d < pool.devices.size(); ++d) pool.devices[d].descriptor.source = sources[d];
    const fs::path path = folder_.path() / ("pool_" + sources[0] + sources[1]);
    datasets::write_pool(path, pool);
    run_experiment(spec(R"({"data": {"pool": ")" + path.string() + R"("}, "trials": 1, "methods": ["look-up",
        {"name": "network", "predictor": "maple-edge-plain", "epochs": 1, "hidden": [4]}]})"),
                   into(path.filename().string() + "_out"));
    return file(path.filename().string() + "_out/README.md");
  };
  const std::string first = "# made-up\n\n**The counters are simulated** by callgrind and not read from hardware, on ";
  EXPECT_EQ(page_of({"callgrind", "callgrind", "callgrind"})
                .rfind(first + "3 of the 3 device-runtimes that have any. 3 of 6 cells use them.\n", 0),
            0u);
  EXPECT_EQ(page_of({"perf_event", "perf_event", "perf_event"}).find("simulated"), std::string::npos);
  for (const auto& [sources, said] :
       {std::pair("pool_callgrindcallgrind", "simulated"), {"pool_perf_eventperf_event", "hardware"}}) {
    const std::string rows = file(std::string(sources) + "_out/results.csv");
    EXPECT_NE(rows.find(std::string(",counters,") + said + ','), std::string::npos) << rows;
    EXPECT_NE(rows.find(",latency,,"), std::string::npos) << rows;
  }
}

TEST_F(Results, AnEnsembleIsTheGeometricMeanOfAdaptationsWithSeedsOfTheirOwn) {
  const ExperimentSpec s = spec(R"({"targets": ["slow"], "trials": 1, "seed": 5, "methods": [
      {"name": "three", "predictor": "maple-edge-plain", "epochs": 1, "hidden": [4], "ensemble": 3}]})");
  const Experiment all = load_experiment(s);
  ASSERT_EQ(all.cells.size(), 1u);
  const auto model = train_model(all, all.model(all.cells[0]), {});
  PlanningPriors priors;
  AdaptationSet set;
  set.architectures = choose_samples(all, all.cells[0], priors, model.get());
  for (const Architecture& architecture : set.architectures) {
    for (const datasets::Measurement& row : all.data.train.find("slow")->latencies) {
      if (row.architecture == architecture) set.latency_ms.push_back(row.latency_ms);
    }
  }
  std::vector<Architecture> asked;
  for (const datasets::Measurement& row : all.data.test.find("slow")->latencies) asked.push_back(row.architecture);
  constexpr std::uint64_t ensemble_stream = 0x656e73;
  Rng seeds(5, ensemble_stream);
  AdaptOptions options;
  options.mode = s.methods[0].mode;
  options.clones = all.cells[0].clones;
  std::vector<std::vector<double>> of_member;
  for (int member = 0; member < 3; ++member) {
    options.seed = member == 0 ? 5 : seeds.bits();
    of_member.push_back(model->adapt(set, options)->predict(asked, 0.9).latency_ms);
  }
  EXPECT_NE(of_member[0], of_member[1]);
  EXPECT_NE(of_member[1], of_member[2]);
  const std::vector<double> found = run_cell(all, all.cells[0], *model, priors).predictions.latency_ms;
  ASSERT_EQ(found.size(), asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_NEAR(found[i] / std::cbrt(of_member[0][i] * of_member[1][i] * of_member[2][i]), 1, 1e-9);
  }
}

}  // namespace
}  // namespace tenshot::trainer::evaluation
