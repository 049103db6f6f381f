#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::nasbench {
namespace {

/// The strings of the whole space in a shuffled order, so that no branch can learn the enumeration.
std::vector<std::string> all_strings() {
  std::vector<std::string> texts;
  for (const Architecture& architecture : nasbench201().all()) texts.push_back(nasbench201().format(architecture));
  Rng(1).shuffle(texts);
  return texts;
}

void EncodeAllStrings(benchmark::State& state) {
  const SearchSpace& space = nasbench201();
  const std::vector<std::string> texts = all_strings();
  const std::size_t width = space.encoding_width();
  std::vector<float> encodings(texts.size() * width);
  for (auto _ : state) {
    for (std::size_t i = 0; i < texts.size(); ++i) space.encode(space.parse(texts[i]), &encodings[i * width]);
    benchmark::DoNotOptimize(encodings.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(EncodeAllStrings)->Unit(benchmark::kMillisecond);

void ParseAllStrings(benchmark::State& state) {
  const SearchSpace& space = nasbench201();
  const std::vector<std::string> texts = all_strings();
  for (auto _ : state) {
    for (const std::string& text : texts) benchmark::DoNotOptimize(space.parse(text));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(texts.size()));
}
BENCHMARK(ParseAllStrings)->Unit(benchmark::kMillisecond);

void FormatAllArchitectures(benchmark::State& state) {
  const SearchSpace& space = nasbench201();
  const std::vector<Architecture> architectures = space.all();
  std::string text;
  for (auto _ : state) {
    text.clear();
    for (const Architecture& architecture : architectures) space.append_format(text, architecture);
    benchmark::DoNotOptimize(text.data());
  }
}
BENCHMARK(FormatAllArchitectures)->Unit(benchmark::kMillisecond);

void FlopCountOfAllArchitectures(benchmark::State& state) {
  const std::vector<Architecture> architectures = nasbench201().all();
  for (auto _ : state) {
    for (const Architecture& architecture : architectures) {
      benchmark::DoNotOptimize(nasbench201().flop_count(architecture, {}));
    }
  }
}
BENCHMARK(FlopCountOfAllArchitectures)->Unit(benchmark::kMillisecond);

void BuildNetwork(benchmark::State& state) {
  Rng rng(1);
  std::vector<Architecture> architectures;
  for (int i = 0; i < 256; ++i) architectures.push_back(nasbench201().random(rng));
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(nasbench201().computation(architectures[next++ % 256], {}, 1));
}
BENCHMARK(BuildNetwork)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenshot::nasbench
