// Importing the public NAS-Bench-201 table of HELP: 15,625 architectures on 27 device-runtimes, 4.4 MB.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "datasets/pool/describe.h"
#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"

namespace {

namespace fs = std::filesystem;
using namespace tenshot;

/// The table; nothing, and the reason why the benchmark was skipped, without it.
std::optional<fs::path> public_table(benchmark::State& state) {
  const char* folder = std::getenv("TENSHOT_TABLES");
  if (folder != nullptr) return fs::path(folder) / "help-nasbench201" / "latency_ms.csv";
  state.SkipWithError("TENSHOT_TABLES is not set; it names a folder with help-nasbench201/latency_ms.csv");
  return std::nullopt;
}

void BM_ReadWideTable(benchmark::State& state) {
  const auto table = public_table(state);
  if (!table) return;
  for (auto _ : state) benchmark::DoNotOptimize(datasets::read_wide_table(*table, nasbench::nasbench201(), {}));
  state.SetBytesProcessed(static_cast<std::int64_t>(fs::file_size(*table)) * state.iterations());
}
BENCHMARK(BM_ReadWideTable)->Unit(benchmark::kMillisecond);

/// A pool's folder for as long as the benchmark runs.
class PoolFolder {
 public:
  PoolFolder() : path_(fs::temp_directory_path() / ("tenshot-bench-" + std::to_string(::getpid()))) {}
  PoolFolder(const PoolFolder&) = delete;
  PoolFolder& operator=(const PoolFolder&) = delete;
  ~PoolFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void BM_WritePool(benchmark::State& state) {
  const auto table = public_table(state);
  if (!table) return;
  const datasets::Pool pool = datasets::read_wide_table(*table, nasbench::nasbench201(), {});
  const PoolFolder folder;
  for (auto _ : state) datasets::write_pool(folder.path(), pool);
}
BENCHMARK(BM_WritePool)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_ReadPool(benchmark::State& state) {
  const auto table = public_table(state);
  if (!table) return;
  const PoolFolder folder;
  datasets::write_pool(folder.path(), datasets::read_wide_table(*table, nasbench::nasbench201(), {}));
  for (auto _ : state) benchmark::DoNotOptimize(datasets::read_pool(folder.path()));
}
BENCHMARK(BM_ReadPool)->Unit(benchmark::kMillisecond);

void BM_Describe(benchmark::State& state) {
  const auto table = public_table(state);
  if (!table) return;
  const datasets::Pool pool = datasets::read_wide_table(*table, nasbench::nasbench201(), {});
  for (auto _ : state) benchmark::DoNotOptimize(datasets::describe(pool));
}
BENCHMARK(BM_Describe)->Unit(benchmark::kMillisecond);

}  // namespace
