#include "experiments/kernels/kernel_sum.h"

#include <gtest/gtest.h>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/kernels/operation_features.h"

namespace tenshot::experiments {
namespace {

using nasbench::NetworkBuilder;
using nasbench::OperatorSpecification;
using trainer::kernels::operation_category;

/// One convolution of an image of `in` channels, 3×3.
OperatorSpecification convolution(int in, int out, int size) {
  NetworkBuilder b;
  b.convolution("conv", b.input("input", {1, in, size, size}), out, {nasbench::same_window(3), 1, false});
  return b.network().nodes[0].operation;
}

TEST(KernelSum, AddsTheOverheadToTheSumOfTheOperators) {
  std::vector<TimedNetwork> networks;
  Rng rng(5);
  for (int n = 0; n < 20; ++n) {
    TimedNetwork network;
    network.total_ms = 3;  // on top of its operators
    for (int i = 0; i < 6; ++i) {
      network.operators.push_back(
          convolution(static_cast<int>(8 + rng.below(57)), 16, static_cast<int>(7 + rng.below(22))));
      network.operator_ms.push_back(0.1 + 1e-6 * static_cast<double>(multiply_adds(network.operators.back())));
      network.total_ms += network.operator_ms.back();
    }
    networks.push_back(network);
  }
  const KernelSum sum(networks, LearnerKind::lasso, operation_category, 1);
  EXPECT_NEAR(sum.overhead_ms(), 3, 1e-9);
  const std::vector<OperatorSpecification> other = {convolution(33, 16, 15), convolution(20, 16, 9)};
  const double expected = 3 + 0.2 + 1e-6 * static_cast<double>(multiply_adds(other[0]) + multiply_adds(other[1]));
  EXPECT_NEAR(sum.network_ms(other), expected, 0.02 * expected);
  NetworkBuilder b;
  b.linear("head", b.input("input", {1, 8}), 10);
  EXPECT_GT(sum.operator_ms(b.network().nodes[0].operation), 0);  // of a kind that nobody timed
}

TEST(KernelSum, RefusesOperatorsWithoutTimes) {
  EXPECT_THROW(KernelSum({}, LearnerKind::lasso, operation_category, 1), InputError);
  EXPECT_THROW(KernelSum({{{convolution(4, 4, 8)}, {}, 1}}, LearnerKind::lasso, operation_category, 1), InputError);
}

}  // namespace
}  // namespace tenshot::experiments
