#include <benchmark/benchmark.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "nasbench/structures/structures.h"
#include "sampling/architectures/information.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

const nasbench::StructureModel& model() { return nasbench::structures_of(nasbench::nasbench201()); }

std::vector<nasbench::Architecture> connected(std::size_t at_most) {
  std::vector<nasbench::Architecture> architectures = nasbench::nasbench201().all();
  Rng(1).shuffle(architectures);
  std::vector<nasbench::Architecture> result;
  for (const auto& architecture : architectures) {
    if (result.size() < at_most && nasbench::nasbench201().connected(architecture)) result.push_back(architecture);
  }
  return result;
}

/// Made-up devices under structures in turn, 900 architectures each, 3 % noise.
struct BenchmarkPool {
  std::vector<std::string> devices;
  datasets::LatencyMatrix latencies;
};

BenchmarkPool make_pool(std::size_t devices) {
  BenchmarkPool pool;
  pool.latencies.architectures = connected(900);
  Rng rng(2);
  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t structure = d % model().structures().size();
    std::vector<double> rows(model().structures()[structure].alternatives * 9);
    std::vector<double> costs;
    for (const auto& feature : model().features()) costs.push_back(10 * feature.typical_cost * (0.5 + rng.uniform()));
    std::vector<double> latency;
    for (const auto& architecture : pool.latencies.architectures) {
      model().evaluate(structure, architecture, rows.data());
      latency.push_back(std::inner_product(costs.begin(), costs.end(), rows.begin(), 0.1) *
                        std::exp(0.03 * rng.normal()));
    }
    pool.devices.push_back("device" + std::to_string(d));
    pool.latencies.latency_ms.push_back(std::move(latency));
  }
  return pool;
}

StructuredLibrary make_library(std::size_t devices) {
  const BenchmarkPool pool = make_pool(devices);
  return fit_library(model(), pool.devices, pool.latencies);
}

AdaptationSet make_set(std::size_t samples) {
  const BenchmarkPool pool = make_pool(3);
  AdaptationSet set;
  for (std::size_t i = 0; i < samples; ++i) {
    set.architectures.push_back(pool.latencies.architectures[i * 7]);
    set.latency_ms.push_back(pool.latencies.latency_ms[2][i * 7]);
  }
  return set;
}

/// The first of all architectures in an order that is drawn, measured on a made-up device with 3 % noise.
AdaptationSet make_large_set(std::size_t samples, const std::string& structure) {
  AdaptationSet set;
  set.architectures = nasbench::nasbench201().all();
  Rng rng(3);
  rng.shuffle(set.architectures);
  set.architectures.resize(samples);
  const std::size_t index = model().structure_index(structure);
  const std::size_t alternatives = model().structures()[index].alternatives;
  std::vector<double> costs, rows(alternatives * model().features().size());
  for (const auto& feature : model().features()) costs.push_back(10 * feature.typical_cost * (0.5 + rng.uniform()));
  for (const auto& architecture : set.architectures) {
    model().evaluate(index, architecture, rows.data());
    double latency = 0.1;
    for (std::size_t a = 0; a < alternatives; ++a) {
      latency = std::max(latency, std::inner_product(costs.begin(), costs.end(), rows.begin() + a * costs.size(), 0.1));
    }
    set.latency_ms.push_back(latency * std::exp(0.03 * rng.normal()));
  }
  return set;
}

void FitLibrary(benchmark::State& state) {
  const BenchmarkPool pool = make_pool(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(fit_library(model(), pool.devices, pool.latencies));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(FitLibrary)->Arg(1)->Arg(13)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->Complexity();

void Calibrate(benchmark::State& state) {
  const BenchmarkPool pool = make_pool(13);
  const StructuredLibrary library = fit_library(model(), pool.devices, pool.latencies);
  for (auto _ : state) benchmark::DoNotOptimize(calibrate(library, pool.latencies));
}
BENCHMARK(Calibrate)->Unit(benchmark::kMillisecond);

void ChooseTen(benchmark::State& state) {
  const StructuredLibrary library = make_library(13);
  const auto architectures = connected(static_cast<std::size_t>(state.range(0)));
  std::vector<std::size_t> candidates(architectures.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  for (auto _ : state) {
    Rng rng(1);
    const auto covariance = prior_covariance(library, model().table(architectures));
    benchmark::DoNotOptimize(sampling::choose_informative(covariance, candidates, 10, rng));
  }
  state.SetComplexityN(static_cast<std::int64_t>(architectures.size()));
}
BENCHMARK(ChooseTen)->Arg(900)->Arg(4000)->Arg(15625)->Unit(benchmark::kMillisecond)->Complexity();

void AdaptToTen(benchmark::State& state) {
  const StructuredLibrary library = make_library(static_cast<std::size_t>(state.range(0)));
  const AdaptationSet set = make_set(10);
  for (auto _ : state) benchmark::DoNotOptimize(adapt(library, set));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(AdaptToTen)->Arg(1)->Arg(9)->Arg(13)->Arg(100)->Unit(benchmark::kMillisecond)->Complexity();

/// Few to all architectures of the space; under a structure of fixed rows, and under one whose rows depend on costs.
void AdaptToMany(benchmark::State& state, const std::string& structure) {
  const StructuredLibrary library = make_library(13);
  const AdaptationSet set = make_large_set(static_cast<std::size_t>(state.range(0)), structure);
  StructuredPosterior posterior;
  for (auto _ : state) posterior = adapt(library, set);
  Archive archive;
  put_posterior(archive, posterior);
  state.counters["posterior_bytes"] = static_cast<double>(archive.serialise().size());
  state.SetComplexityN(state.range(0));
}
BENCHMARK_CAPTURE(AdaptToMany, live, "live")
    ->Arg(20)
    ->Arg(40)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(15625)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(AdaptToMany, critical, "critical")->Arg(100)->Arg(1000)->Arg(15625)->Unit(benchmark::kMillisecond);

void PredictAllAfterMany(benchmark::State& state) {
  const StructuredPosterior posterior =
      adapt(make_library(13), make_large_set(static_cast<std::size_t>(state.range(0)), "critical"));
  const nasbench::StructureTable table = model().table(nasbench::nasbench201().all());
  for (auto _ : state) benchmark::DoNotOptimize(predictions_of(predict(posterior, table), posterior.calibration, 0.9));
}
BENCHMARK(PredictAllAfterMany)->Arg(10)->Arg(40)->Arg(100)->Arg(1000)->Arg(15625)->Unit(benchmark::kMillisecond);

void PredictAllFromStrings(benchmark::State& state) {
  const StructuredPosterior posterior = adapt(make_library(13), make_set(10));
  std::vector<std::string> texts;
  for (const auto& architecture : nasbench::nasbench201().all()) {
    texts.push_back(nasbench::nasbench201().format(architecture));
  }
  Rng(1).shuffle(texts);
  for (auto _ : state) {
    std::vector<nasbench::Architecture> architectures;
    architectures.reserve(texts.size());
    for (const std::string& text : texts) architectures.push_back(nasbench::nasbench201().parse(text));
    benchmark::DoNotOptimize(
        predictions_of(predict(posterior, model().table(architectures)), posterior.calibration, 0.9));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(PredictAllFromStrings)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenshot::trainer::structured
