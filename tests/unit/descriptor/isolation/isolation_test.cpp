#include "descriptor/isolation/isolation.h"

#include <gtest/gtest.h>

#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

/// Work of networks added with their signs: what is left is the kernel's.
std::int64_t signed_multiply_adds(const std::vector<SignedNetwork>& networks) {
  std::int64_t sum = 0;
  for (const SignedNetwork& network : networks) sum += network.sign * multiply_adds(network.network);
  return sum;
}

TEST(Isolation, SurroundingsCancelInEveryMode) {
  const Network kernel = nasbench::made_kernel("convolution++relu", {14, 8, 24, 3, 2});
  for (const Isolation mode : {Isolation::standalone, Isolation::fed, Isolation::embedded}) {
    const auto networks = surroundings(kernel, mode);
    EXPECT_EQ(signed_multiply_adds(networks), multiply_adds(kernel)) << name(mode);
    EXPECT_EQ(networks.front().sign, 1);
    for (const SignedNetwork& network : networks) EXPECT_NO_THROW(require_sound(network.network));
  }
  // The kernel stands behind a convolution, and before another one.
  EXPECT_EQ(surroundings(kernel, Isolation::fed).front().network.nodes.size(), 3U);
  EXPECT_EQ(surroundings(kernel, Isolation::embedded).front().network.nodes.size(), 4U);
}

TEST(Isolation, OnlyOneImageStandsBetweenOthers) {
  const Network sum = nasbench::made_kernel("add", {14, 8, 8, 1, 1});
  EXPECT_EQ(surroundings(sum, Isolation::standalone).size(), 2U);
  EXPECT_THROW(surroundings(sum, Isolation::fed), InputError);
}

TEST(Isolation, MeasuresAKernelAndSaysWhatItTook) {
  const auto runtime = make_runtime("libtorch-eager");
  IsolationOptions options;
  options.most_rounds = 4;
  const Network kernel = nasbench::made_kernel("convolution", {28, 32, 64, 3, 1});
  const IsolatedTiming timing = time_isolated(*runtime, kernel, options);
  EXPECT_GT(timing.latency_ms, 0);
  EXPECT_GE(timing.rounds, options.least_rounds);
  EXPECT_LE(timing.rounds, options.most_rounds);
  EXPECT_GT(timing.seconds * 1000, timing.latency_ms);
  options.most_rounds = 1;
  EXPECT_THROW(time_isolated(*runtime, kernel, options), InputError);
}

}  // namespace
}  // namespace tenshot::descriptor
