#include <gtest/gtest.h>

#include <algorithm>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

/// The layers with a ReLU after each, also after the last.
std::vector<float> evaluate_with_relu(const std::vector<DenseLayer>& layers, std::vector<float> values) {
  for (const DenseLayer& layer : layers) {
    std::vector<float> next = layer.bias;
    for (std::size_t o = 0; o < next.size(); ++o) {
      for (std::size_t i = 0; i < values.size(); ++i) next[o] += layer.weight[o * values.size() + i] * values[i];
      next[o] = std::max(next[o], 0.0F);
    }
    values = next;
  }
  return values;
}

std::vector<float> live_encoding(const nasbench::Architecture& cell) {
  static const SimulatedSpace simulated(nasbench::structures_of(space));
  const float* encoding = simulated.encodings.data() + space.ordinal(cell) * live_encoding_width;
  return {encoding, encoding + live_encoding_width};
}

TEST(LiveEncoding, IsTheArchitecturesAndItsCanonicalForms) {
  const auto cell = space.parse("|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|");
  const std::vector<float> encoding = live_encoding(cell);
  std::vector<float> canonical(30);
  ASSERT_EQ(encoding.size(), 60u);
  // The convolution leads nowhere: only the skip lives.
  space.encode(space.parse("|none~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|"), canonical.data());
  EXPECT_TRUE(std::equal(canonical.begin(), canonical.end(), encoding.begin() + 30));
  EXPECT_EQ(encoding[3], 1);
}

TEST(LiveEncoding, IsWhatItsLayersComputeExactlyOnTheWholeSpace) {
  const std::vector<DenseLayer> layers = live_encoding_layers();
  std::vector<float> one_hot(30);
  for (const nasbench::Architecture& architecture : space.all()) {
    space.encode(architecture, one_hot.data());
    ASSERT_EQ(evaluate_with_relu(layers, one_hot), live_encoding(architecture)) << space.format(architecture);
  }
}

}  // namespace
}  // namespace tenshot::trainer
