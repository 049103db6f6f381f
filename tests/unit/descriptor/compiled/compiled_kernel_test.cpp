#include "descriptor/compiled/compiled_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/descriptor/compiled/compiled_fixture.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Shape;

/// A convolution or a pool, number by number.
template <class Combine>
void each_tap(const Case& given, int channels_of_group, const Combine& combine) {
  const ColdLayer& layer = given.layer();
  const Shape &in = given.shape(layer.inputs[0]), &out = given.shape(layer.output);
  for (std::int64_t at = 0; at < nasbench::element_count(out); ++at) {  // channels last
    const std::int64_t filter = at % out[1], x = at / out[1] % out[3], y = at / out[1] / out[3] % out[2];
    const std::int64_t image = at / out[1] / out[3] / out[2];
    for (int i = 0; i < layer.kernel.height; ++i) {
      for (int j = 0; j < layer.kernel.width; ++j) {
        const std::int64_t row = y * layer.stride.height - layer.padding.top + i * layer.dilation.height;
        const std::int64_t column = x * layer.stride.width - layer.padding.left + j * layer.dilation.width;
        if (row < 0 || row >= in[2] || column < 0 || column >= in[3]) continue;
        const std::int64_t pixel = (image * in[2] + row) * in[3] + column;
        for (int channel = 0; channel < channels_of_group; ++channel) {
          combine(static_cast<std::size_t>(at), filter, channel, i * layer.kernel.width + j, pixel * in[1]);
        }
      }
    }
  }
}

std::vector<float> expected_convolution(const Case& given) {
  const ColdLayer& layer = given.layer();
  const Shape weights = weight_shape(given.network, layer);
  const Shape& out = given.shape(layer.output);
  std::vector<double> sums(static_cast<std::size_t>(nasbench::element_count(out)));
  for (std::size_t at = 0; at < sums.size(); ++at) sums[at] = given.bias[at % given.bias.size()];
  const auto channels = static_cast<int>(weights[1]);
  const std::int64_t taps = weights[2] * weights[3], filters = weights[0] / layer.groups;
  each_tap(given, channels, [&](std::size_t at, std::int64_t filter, int channel, int tap, std::int64_t pixel) {
    const std::int64_t input = pixel + filter / filters * channels + channel;
    const std::int64_t weight = (filter * channels + channel) * taps + tap;
    sums[at] += static_cast<double>(given.inputs[0][static_cast<std::size_t>(input)]) *
                static_cast<double>(given.weights[static_cast<std::size_t>(weight)]);
  });
  std::vector<float> result(sums.begin(), sums.end());
  if (layer.activation.name == "relu") {
    for (float& value : result) value = std::max(value, 0.0F);
  }
  return result;
}

struct Geometry {
  int images, channels, size, filters, kernel, stride, dilation, padding, groups;
};

Case convolution(const Geometry& g, const std::string& activation, std::uint64_t seed) {
  ColdLayer layer;
  layer.kind = ColdKind::convolution;
  layer.kernel = {g.kernel, g.kernel};
  layer.stride = {g.stride, g.stride};
  layer.dilation = {g.dilation, g.dilation};
  layer.padding = {g.padding, g.padding, g.padding, g.padding};
  layer.groups = g.groups;
  layer.activation.name = activation;
  layer.weights_of = "node";
  const std::int64_t out = (g.size + 2 * g.padding - g.dilation * (g.kernel - 1) - 1) / g.stride + 1;
  return case_of(layer, {{g.images, g.channels, g.size, g.size}}, {g.images, g.filters, out, out}, seed);
}

TEST(CompiledKernel, ConvolutionsAreSumsOfTheirTaps) {
  const std::vector<Geometry> geometries = {
      {1, 3, 13, 24, 3, 2, 1, 1, 1},   {2, 3, 9, 5, 7, 2, 1, 3, 1},    {1, 16, 7, 33, 1, 1, 1, 0, 1},
      {1, 70, 6, 64, 3, 1, 1, 1, 1},   {1, 8, 10, 16, 3, 1, 2, 2, 1},  {1, 12, 8, 20, 3, 1, 1, 1, 4},
      {1, 90, 5, 31, 5, 1, 1, 2, 1},   {1, 40, 1, 10, 1, 1, 1, 0, 1},  {1, 6, 6, 6, 1, 2, 1, 0, 1},
      {1, 58, 12, 58, 3, 1, 1, 1, 58}, {2, 5, 9, 5, 3, 2, 1, 1, 5},    {1, 20, 7, 20, 5, 1, 1, 2, 20},
      {1, 17, 4, 17, 1, 1, 1, 0, 17},  {1, 33, 3, 33, 7, 1, 1, 3, 33}, {1, 64, 40, 2, 3, 1, 1, 1, 1}};
  std::uint64_t seed = 1;
  for (const Geometry& geometry : geometries) {
    for (const char* activation : {"", "relu"}) {
      const Case given = convolution(geometry, activation, ++seed);
      SCOPED_TRACE(testing::Message() << "geometry " << (seed - 2) / 2);
      // Rounding grows with the numbers that are summed, of which each is about one.
      const double terms = static_cast<double>(geometry.channels / geometry.groups * geometry.kernel * geometry.kernel);
      expect_all(given, expected_convolution(given), 4e-6 * std::sqrt(terms));
    }
  }
}

TEST(CompiledKernel, LinearLayersTakeTheWeightsAsTheyAre) {
  ColdLayer layer;
  layer.kind = ColdKind::linear;
  layer.weights_of = "node";
  const Case given = case_of(layer, {{3, 37}}, {3, 10}, 5);
  std::vector<float> expected;
  for (std::size_t at = 0; at < 30; ++at) {
    double sum = given.bias[at % 10];
    for (std::size_t i = 0; i < 37; ++i) {
      sum +=
          static_cast<double>(given.inputs[0][at / 10 * 37 + i]) * static_cast<double>(given.weights[at % 10 * 37 + i]);
    }
    expected.push_back(static_cast<float>(sum));
  }
  expect_all(given, expected);
  const auto kernel =
      compiled_kernel(given.network, given.layer(), compiled_kernel_names(given.network, given.layer())[0]);
  EXPECT_FALSE(kernel->transform);
}

TEST(CompiledKernel, PoolsSeeOnlyTheImage) {
  for (const int channels : {3, 24, 40}) {
    for (const ColdKind kind : {ColdKind::max_pool, ColdKind::average_pool}) {
      ColdLayer layer;
      layer.kind = kind;
      layer.kernel = {3, 3};
      layer.stride = {2, 2};
      layer.dilation = {1, 1};
      layer.padding = {1, 1, 1, 1};
      const Case given = case_of(layer, {{1, channels, 9, 9}}, {1, channels, 5, 5}, 3);
      const bool greatest = kind == ColdKind::max_pool;
      const std::size_t count = static_cast<std::size_t>(channels) * 25;
      std::vector<float> expected(count, greatest ? -1e9F : 0), taps(count, 0);
      each_tap(given, 1, [&](std::size_t at, std::int64_t channel, int, int, std::int64_t pixel) {
        const float value = given.inputs[0][static_cast<std::size_t>(pixel + channel)];
        expected[at] = greatest ? std::max(expected[at], value) : expected[at] + value;
        taps[at] += 1;
      });
      for (std::size_t i = 0; i < count && !greatest; ++i) expected[i] /= taps[i];
      expect_all(given, expected);
    }
  }
}

TEST(CompiledKernel, ActivationsAreTheirFunctions) {
  const std::vector<std::pair<ColdActivation, double (*)(double)>> functions = {
      {{"relu"}, [](double x) { return std::max(x, 0.0); }},
      {{"relu6"}, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {{"leaky_relu", 0.1}, [](double x) { return x > 0 ? x : 0.1 * x; }},
      {{"hard_swish"}, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {{"hard_sigmoid", 0.2, 0.5}, [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {{"sigmoid"}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {{"silu"}, [](double x) { return x / (1 + std::exp(-x)); }},
      {{"tanh"}, [](double x) { return std::tanh(x); }},
      {{"elu", 0.5}, [](double x) { return x > 0 ? x : 0.5 * (std::exp(x) - 1); }},
      {{"linear", 2, -1}, [](double x) { return 2 * x - 1; }}};
  for (const auto& [activation, function] : functions) {
    SCOPED_TRACE(activation.name);
    ColdLayer layer;
    layer.kind = ColdKind::activation;
    layer.activation = activation;
    Case given = case_of(layer, {{1, 101}}, {1, 101}, 9);
    std::vector<float> expected;
    for (std::size_t i = 0; i < 101; ++i) {
      given.inputs[0][i] = (static_cast<float>(i) - 50) * (i % 2 == 0 ? 2.0F : 0.1F);  // from −100 to 100
      expected.push_back(static_cast<float>(function(static_cast<double>(given.inputs[0][i]))));
    }
    expect_all(given, expected, 1e-6);
  }
  ColdLayer unknown;
  unknown.kind = ColdKind::activation;
  unknown.activation.name = "gelu";
  const Case given = case_of(unknown, {{1, 8}}, {1, 8}, 1);
  EXPECT_TRUE(compiled_kernel_names(given.network, given.layer()).empty());
}

TEST(CompiledKernel, PairsRepeatTheSmallerTensor) {
  const Shape whole = {1, 19, 4, 3};
  for (const Shape& other : {whole, Shape{1, 19, 1, 1}, Shape{1, 1, 4, 3}, Shape{1, 1, 1, 1}, Shape{1, 19, 4, 1}}) {
    for (const bool first : {true, false}) {
      ColdLayer layer;
      layer.kind = first ? ColdKind::multiply : ColdKind::add;
      const Case given =
          case_of(layer, first ? std::vector<Shape>{whole, other} : std::vector<Shape>{other, whole}, whole, 4);
      const std::vector<float>&a = given.inputs[first ? 0 : 1], &b = given.inputs[first ? 1 : 0];
      std::vector<float> expected;
      for (std::size_t at = 0; at < a.size(); ++at) {
        const std::size_t channel = at % 19, x = at / 19 % 3, y = at / 57;
        const auto extent = [&](std::size_t i) { return static_cast<std::size_t>(other[i]); };
        const std::size_t place = (y % extent(2) * extent(3) + x % extent(3)) * extent(1) + channel % extent(1);
        expected.push_back(first ? a[at] * b[place] : a[at] + b[place]);
      }
      expect_all(given, expected);
    }
  }
}

TEST(CompiledKernel, CopiesPutChannelsWhereTheyBelong) {
  ColdLayer shuffle;
  shuffle.kind = ColdKind::shuffle;
  for (const int groups : {2, 3}) {
    shuffle.groups = groups;
    const Case given = case_of(shuffle, {{1, 12, 2, 2}}, {1, 12, 2, 2}, 2);
    std::vector<float> expected(given.inputs[0].size());
    const auto of_group = static_cast<std::size_t>(12 / groups);
    for (std::size_t at = 0; at < expected.size(); ++at) {
      const std::size_t channel = at % 12;
      const std::size_t target = channel % of_group * static_cast<std::size_t>(groups) + channel / of_group;
      expected[at - channel + target] = given.inputs[0][at];
    }
    expect_all(given, expected);
  }
  ColdLayer slice;
  slice.kind = ColdKind::slice;
  slice.start = 2;
  const Case sliced = case_of(slice, {{1, 5, 2, 2}}, {1, 3, 2, 2}, 2);
  std::vector<float> part, rows;
  for (std::size_t at = 0; at < 20; ++at) {
    if (at % 5 >= 2) part.push_back(sliced.inputs[0][at]);
  }
  expect_all(sliced, part, 0);
  ColdLayer flatten;
  flatten.kind = ColdKind::reshape;
  const Case flat = case_of(flatten, {{1, 5, 2, 2}}, {1, 20}, 2);
  for (std::size_t at = 0; at < 20; ++at) rows.push_back(flat.inputs[0][at % 4 * 5 + at / 4]);
  expect_all(flat, rows, 0);
  ColdLayer both;
  both.kind = ColdKind::concatenate;
  const Case joined = case_of(both, {{1, 2, 1, 2}, {1, 1, 1, 2}}, {1, 3, 1, 2}, 2);
  const auto &a = joined.inputs[0], &b = joined.inputs[1];
  expect_all(joined, {a[0], a[1], b[0], a[2], a[3], b[1]}, 0);
}

TEST(CompiledKernel, UnknownNamesHaveNoKernel) {
  const Case given = convolution({1, 4, 6, 4, 3, 1, 1, 1, 1}, "", 1);
  EXPECT_FALSE(compiled_kernel(given.network, given.layer(), "compiled:avx9 indirect"));
  EXPECT_FALSE(compiled_kernel(given.network, given.layer(), "compiled:any depthwise"));
}

}  // namespace
}  // namespace tenshot::descriptor
