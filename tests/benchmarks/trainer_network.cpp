// The paper's network against the matrix products it cannot do without, alternating in one run on one thread: what the
// ratios exceed 1 by is everything else.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "nasbench/search_space.h"
#include "trainer/feed_forward.h"
#include "trainer/libtorch.h"
#include "trainer/regression_network.h"

namespace tenshot::trainer {
namespace {

constexpr int inputs = 35, first = 512, second = 128, batch = 128;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Times `ours` and `products` in turn and reports both medians and the median of their ratios.
template <class Ours, class Products>
void compare(benchmark::State& state, Ours ours, Products products) {
  const LibTorchThreads one_thread(1);
  const c10::InferenceMode no_autograd;
  std::vector<double> ours_s, products_s, ratio;
  for (int warm_up = 0; warm_up < 3; ++warm_up) {
    ours();
    products();
  }
  for (auto _ : state) {
    const double begin = seconds_now();
    products();
    const double middle = seconds_now();
    ours();
    const double end = seconds_now();
    state.SetIterationTime(end - middle);
    products_s.push_back(middle - begin);
    ours_s.push_back(end - middle);
    ratio.push_back((end - middle) / (middle - begin));
  }
  state.counters["ours_us"] = 1e6 * median(ours_s);
  state.counters["products_us"] = 1e6 * median(products_s);
  state.counters["ratio"] = median(ratio);
}

void TrainingStep(benchmark::State& state) {
  RegressionNetwork network(inputs, {first, second}, 1);
  std::vector<float> x(batch * inputs, 0.1F), y(batch, 1.0F);
  for (std::size_t i = 0; i < x.size(); i += 7) x[i] = 1;
  const at::Tensor input = torch::rand({batch, inputs}), w1 = torch::rand({first, inputs}), h1 = torch::rand({batch, first}),
                   w2 = torch::rand({second, first}), h2 = torch::rand({batch, second}), w3 = torch::rand({1, second}),
                   d3 = torch::rand({batch, 1});
  at::Tensor a1 = torch::empty({batch, first}), a2 = torch::empty({batch, second}), a3 = torch::empty({batch, 1}),
             g1 = torch::empty({first, inputs}), g2 = torch::empty({second, first}), g3 = torch::empty({1, second});
  compare(
      state, [&] { network.train_step({batch, x.data(), y.data(), y.data()}, 1e-3); },
      [&] {
        at::mm_out(a1, input, w1.t());
        at::mm_out(a2, h1, w2.t());
        at::mm_out(a3, h2, w3.t());
        at::mm_out(g3, d3.t(), h2);
        at::mm_out(a2, d3, w3);
        at::mm_out(g2, a2.t(), h1);
        at::mm_out(a1, a2, w2);
        at::mm_out(g1, a1.t(), input);
      });
}
BENCHMARK(TrainingStep)->UseManualTime()->Iterations(2000)->Unit(benchmark::kMicrosecond);

void PredictWholeSpace(benchmark::State& state) {
  const auto& space = nasbench::nasbench201();
  const auto architectures = space.all();
  const FeedForward network{RegressionNetwork(static_cast<int>(space.encoding_width()), {first, second}, 1).layers(), 1, 1e-3};
  const auto rows = static_cast<std::int64_t>(architectures.size()), block = std::int64_t{512};
  const at::Tensor x = torch::rand({rows, 30}), w1 = torch::rand({first, 30}), w2 = torch::rand({second, first}),
                   w3 = torch::rand({1, second});
  at::Tensor a1 = torch::empty({block, first}), a2 = torch::empty({block, second}), a3 = torch::empty({block, 1});
  compare(
      state, [&] { benchmark::DoNotOptimize(evaluate(network, space, architectures)); },
      [&] {
        for (std::int64_t begin = 0; begin < rows; begin += block) {
          const std::int64_t size = std::min(block, rows - begin);
          at::Tensor b1 = a1.narrow(0, 0, size), b2 = a2.narrow(0, 0, size), b3 = a3.narrow(0, 0, size);
          at::mm_out(b1, x.narrow(0, begin, size), w1.t());
          at::mm_out(b2, b1, w2.t());
          at::mm_out(b3, b2, w3.t());
        }
      });
}
BENCHMARK(PredictWholeSpace)->UseManualTime()->Iterations(30)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenshot::trainer
