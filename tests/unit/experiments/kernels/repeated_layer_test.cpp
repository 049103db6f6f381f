#include "experiments/kernels/repeated_layer.h"

#include <gtest/gtest.h>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::experiments {
namespace {

using nasbench::Network;

TEST(RepeatedLayer, AddsItsWorkOnceForEachCopy) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 32, 28, 28});
  const nasbench::Source first = builder.convolution("first", image, 32, {nasbench::same_window(3), 1, true});
  builder.output(builder.convolution("second", first, 16, {nasbench::same_window(1), 1, true}));
  const Network network = builder.take(), longer = with_repeated_layer(network, 0, 4);
  const std::int64_t of_layer = std::int64_t{9} * 32 * 32 * 28 * 28;
  EXPECT_EQ(multiply_adds(longer), multiply_adds(network) + 4 * of_layer);
  EXPECT_EQ(tensor_type(longer, longer.outputs[0]).shape, tensor_type(network, network.outputs[0]).shape);
  EXPECT_THROW(with_repeated_layer(network, 1, 4), InputError) << "32 channels to 16";
  EXPECT_THROW(with_repeated_layer(network, 0, 0), InputError);
}

}  // namespace
}  // namespace tenshot::experiments
