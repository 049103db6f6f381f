// The paper's network against the matrix products it cannot do without, alternating in one run on one thread: what the
// ratios exceed 1 by is everything else.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/random.h"
#include "trainer/core/libtorch.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/networks/regression_network.h"

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

/// Times `ours` and `products` in turn, `repeats` calls each (as in training, where a step finds in the caches what the
/// step before left there), and reports both medians and the median of their ratios.
template <class Ours, class Products>
void compare(benchmark::State& state, int repeats, Ours ours, Products products) {
  const LibTorchThreads one_thread(1);
  const c10::InferenceMode no_autograd;
  std::vector<double> ours_s, products_s, ratio;
  for (int warm_up = 0; warm_up < 3; ++warm_up) {
    ours();
    products();
  }
  for (auto _ : state) {
    const double begin = seconds_now();
    for (int r = 0; r < repeats; ++r) products();
    const double middle = seconds_now();
    for (int r = 0; r < repeats; ++r) ours();
    const double end = seconds_now();
    state.SetIterationTime((end - middle) / repeats);
    products_s.push_back((middle - begin) / repeats);
    ours_s.push_back((end - middle) / repeats);
    ratio.push_back((end - middle) / (middle - begin));
  }
  state.counters["ours_us"] = 1e6 * median(ours_s);
  state.counters["products_us"] = 1e6 * median(products_s);
  state.counters["ratio"] = median(ratio);
}

void TrainingStep(benchmark::State& state) {
  const LibTorchTraining as_in_training(1);
  RegressionNetwork network(inputs, {first, second}, 1);
  // An epoch's worth of one-hot encodings, descriptors and noisy targets, as training sees them.
  constexpr std::size_t batches = 64;
  Rng rng(1);
  std::vector<float> x(batches * batch * inputs, 0), y(batches * batch);
  for (std::size_t row = 0; row < y.size(); ++row) {
    float* sample = x.data() + row * inputs;
    for (std::size_t edge = 0; edge < 6; ++edge) sample[5 * edge + rng.below(5)] = 1;
    for (std::size_t i = 30; i < inputs; ++i) sample[i] = static_cast<float>(0.1 * rng.normal());
    y[row] = static_cast<float>(0.5 + rng.uniform());
  }
  std::vector<TrainingSet> steps(batches);
  for (std::size_t b = 0; b < batches; ++b) {
    const auto rows = x.begin() + static_cast<std::ptrdiff_t>(b * batch * inputs);
    const auto targets = y.begin() + static_cast<std::ptrdiff_t>(b * batch);
    steps[b] = {inputs, {rows, rows + batch * inputs}, {targets, targets + batch}, {targets, targets + batch}};
  }
  std::size_t step = 0;
  const at::Tensor input = torch::rand({batch, inputs}), w1 = torch::rand({first, inputs}),
                   h1 = torch::rand({batch, first}), w2 = torch::rand({second, first}),
                   h2 = torch::rand({batch, second}), w3 = torch::rand({1, second}), d3 = torch::rand({batch, 1});
  at::Tensor a1 = torch::empty({batch, first}), a2 = torch::empty({batch, second}), a3 = torch::empty({batch, 1}),
             g1 = torch::empty({first, inputs}), g2 = torch::empty({second, first}), g3 = torch::empty({1, second});
  compare(
      state, 20, [&] { network.train_step(steps[step++ % batches], 1e-3); },
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
BENCHMARK(TrainingStep)->UseManualTime()->Iterations(200)->Unit(benchmark::kMicrosecond);

void PredictWholeSpace(benchmark::State& state) {
  const auto& space = nasbench::nasbench201();
  const auto architectures = space.all();
  const FeedForward network{RegressionNetwork(static_cast<int>(space.encoding_width()), {first, second}, 1).layers(), 1,
                            1e-3};
  const auto rows = static_cast<std::int64_t>(architectures.size()), block = std::int64_t{512};
  const at::Tensor x = torch::rand({rows, 30}), w1 = torch::rand({first, 30}), w2 = torch::rand({second, first}),
                   w3 = torch::rand({1, second});
  at::Tensor a1 = torch::empty({block, first}), a2 = torch::empty({block, second}), a3 = torch::empty({block, 1});
  compare(
      state, 1, [&] { benchmark::DoNotOptimize(evaluate(network, space, architectures)); },
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
