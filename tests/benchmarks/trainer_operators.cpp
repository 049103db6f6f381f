// The predictor `operators` on FBNet's space (22 decisions of 9 options) and on the measured pool of networks by name
// (datasets/data/networks; run in the project's folder).

#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/random.h"
#include "sampling/architectures/information.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/operators_model.h"

namespace tenshot::trainer {
namespace {

const SearchSpace& fbnet() { return nasbench::search_space(nasbench::known_space("fbnet")); }

std::vector<Architecture> drawn(std::size_t count) {
  Rng rng(1);
  std::vector<Architecture> architectures;
  for (std::size_t i = 0; i < count; ++i) architectures.push_back(fbnet().random(rng));
  return architectures;
}

/// Nine made-up devices, 300 architectures each: a base and a speed for FLOPs, 3 % noise.
datasets::Pool made_up_pool() {
  datasets::Pool pool;
  pool.space = &fbnet();
  const std::vector<Architecture> architectures = drawn(300);
  Rng rng(2);
  for (int d = 0; d < 9; ++d) {
    datasets::DeviceRuntime device;
    device.id = device.device = "device" + std::to_string(d);
    const double base = std::exp(rng.normal()), speed = std::exp(rng.normal());
    for (const Architecture& architecture : architectures) {
      datasets::Measurement row;
      row.architecture = architecture;
      const auto flops = static_cast<double>(fbnet().flop_count(architecture, fbnet().default_shape()));
      row.latency_ms = (base + speed * 1e-8 * flops) * std::exp(0.03 * rng.normal());
      device.latencies.push_back(row);
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

const PoolModel& fbnet_model() {
  static const std::unique_ptr<PoolModel> model = train_operators(made_up_pool(), {});
  return *model;
}

/// The first ten measurements of a device of the model's pool.
AdaptationSet ten_of(const PoolModel& model) {
  AdaptationSet set;
  for (std::size_t i = 0; i < 10; ++i) {
    const datasets::Measurement& row = model.pool().devices.front().latencies.at(i);
    set.architectures.push_back(row.architecture);
    set.latency_ms.push_back(row.latency_ms);
  }
  return set;
}

void PredictFbnetStringsWithIntervals(benchmark::State& state) {
  const auto predictor = fbnet_model().adapt(ten_of(fbnet_model()), {});
  std::vector<std::string> texts;
  for (const Architecture& a : drawn(static_cast<std::size_t>(state.range(0)))) texts.push_back(fbnet().format(a));
  for (auto _ : state) {
    std::vector<Architecture> architectures;
    architectures.reserve(texts.size());
    for (const std::string& text : texts) architectures.push_back(fbnet().parse(text));
    benchmark::DoNotOptimize(predictor->predict(architectures, 0.9));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(PredictFbnetStringsWithIntervals)
    ->Arg(10000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void PlanTenOfFbnet(benchmark::State& state) {
  const std::vector<Architecture> candidates = drawn(static_cast<std::size_t>(state.range(0)));
  std::vector<std::size_t> indices(candidates.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  fbnet_model();
  for (auto _ : state) {
    Rng rng(1);
    const PlanningView view = fbnet_model().planning_prior()->view(candidates, {});
    benchmark::DoNotOptimize(sampling::choose_informative(view.covariance, indices, 10, rng));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(PlanTenOfFbnet)->Arg(1000)->Arg(5000)->Arg(25000)->Unit(benchmark::kMillisecond)->Complexity();

/// The measured pool; nothing, and the reason why the benchmark was skipped, elsewhere.
const datasets::Pool* networks_pool(benchmark::State& state) {
  const std::filesystem::path folder = "datasets/data/networks";
  if (!std::filesystem::exists(folder)) {
    state.SkipWithError("there is no datasets/data/networks here: run in the project's folder");
    return nullptr;
  }
  static const datasets::Pool pool = datasets::read_pool(folder);
  return &pool;
}

void TrainOnNetworks(benchmark::State& state) {
  const datasets::Pool* pool = networks_pool(state);
  if (pool == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(train_operators(*pool, {}));
  state.counters["devices"] = static_cast<double>(pool->devices.size());
}
BENCHMARK(TrainOnNetworks)->Unit(benchmark::kMillisecond)->Iterations(1);

void AdaptToTenNetworks(benchmark::State& state) {
  const datasets::Pool* pool = networks_pool(state);
  if (pool == nullptr) return;
  const auto model = train_operators(*pool, {});
  const AdaptationSet set = ten_of(*model);
  for (auto _ : state) benchmark::DoNotOptimize(model->adapt(set, {}));
}
BENCHMARK(AdaptToTenNetworks)->Unit(benchmark::kMillisecond);

/// Each of the pool's networks several times, 1,000 in all.
void PredictThousandNetworks(benchmark::State& state) {
  const datasets::Pool* pool = networks_pool(state);
  if (pool == nullptr) return;
  const auto model = train_operators(*pool, {});
  const auto predictor = model->adapt(ten_of(*model), {});
  const auto& known = pool->devices.front().latencies;
  std::vector<Architecture> thousand;
  for (std::size_t i = 0; i < 1000; ++i) thousand.push_back(known[i % known.size()].architecture);
  for (auto _ : state) benchmark::DoNotOptimize(predictor->predict(thousand, 0.9));
}
BENCHMARK(PredictThousandNetworks)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenshot::trainer
