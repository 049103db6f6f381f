#include "trainer/cold/planner.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdLayer;
using descriptor::ColdStages;
using descriptor::KernelStages;

/// Two layers after NNV12's Table 2: Winograd is fastest once warm and slow to transform, the plain kernel needs
/// nothing.
ColdStages stages() {
  ColdStages stages;
  stages.network.tensors = {{1, 4}, {1, 4}, {1, 4}};
  stages.network.output = 2;
  for (int i = 0; i < 2; ++i) {
    ColdLayer layer;
    layer.inputs = {i};
    layer.output = i + 1;
    stages.network.layers.push_back(layer);
    const KernelStages winograd = {"winograd", true, 4000, 38.23, 6, 5.23, 0, 0, 2.98, 2.98, 0};
    const KernelStages gemm = {"gemm", true, 1000, 2.21, 1, 0.70, 0, 0, 8.14, 8.14, 0};
    const KernelStages plain = {"plain", false, 0, 0, 0, 0, 0, 0, 8.01, 8.01, 0};
    stages.layers.push_back({i, 1000, 0.70, {gemm, winograd, plain}});
  }
  return stages;
}

descriptor::ColdPlan planned(const ColdPlanOptions& options) { return plan_cold_start(stages(), options).plan; }

TEST(ColdPlanner, WarmKernelsInSequenceTransformEverything) {
  const auto plan = planned({KernelPolicy::warm, CachePolicy::none, 0});
  EXPECT_EQ(plan.layers[0].kernel, "winograd");
  EXPECT_FALSE(plan.layers[0].cached);
  EXPECT_NEAR(plan.predicted_ms, 2 * (0.70 + 38.23 + 2.98), 1e-9);
}

TEST(ColdPlanner, PreferredAndUntransformedKernelsAreWhatTheirNamesSay) {
  EXPECT_EQ(planned({KernelPolicy::preferred, CachePolicy::none, 0}).layers[1].kernel, "gemm");
  EXPECT_EQ(planned({KernelPolicy::untransformed, CachePolicy::none, 0}).layers[1].kernel, "plain");
}

TEST(ColdPlanner, CompiledKernelsAreTakenWhereALayerHasThem) {
  ColdStages with_compiled = stages();
  with_compiled.layers[1].kernels.push_back({"compiled:avx2 indirect", true, 1000, 1, 1, 0.7, 0, 0, 9, 9, 0});
  const auto plan = plan_cold_start(with_compiled, {KernelPolicy::compiled, CachePolicy::none, 0}).plan;
  EXPECT_EQ(plan.layers[0].kernel, "winograd");  // the fastest of a layer that has none
  EXPECT_EQ(plan.layers[1].kernel, "compiled:avx2 indirect");
}

TEST(ColdPlanner, CachingMakesTheFastKernelWorthwhile) {
  const auto alone = planned({KernelPolicy::planned, CachePolicy::none, 0});
  EXPECT_EQ(alone.layers[0].kernel, "plain");
  const ColdPlanning cached = plan_cold_start(stages(), {KernelPolicy::planned, CachePolicy::planned, 0});
  EXPECT_EQ(cached.plan.layers[0].kernel, "winograd");
  EXPECT_TRUE(cached.plan.layers[0].cached);
  EXPECT_NEAR(cached.plan.predicted_ms, 2 * (5.23 + 2.98), 1e-9);
  EXPECT_EQ(cached.cached_bytes, 8000U);
}

TEST(ColdPlanner, PipelinedPlanReachesItsLowerBound) {
  // Each core reads the cached Winograd weights of one layer in 5.23; then both layers are executed.
  const ColdPlanning planning = plan_cold_start(stages(), {});
  EXPECT_NEAR(planning.plan.predicted_ms, planning.plan.lower_bound_ms, 1e-9);
  EXPECT_NEAR(planning.plan.predicted_ms, 5.23 + 2.98 + 2.98, 1e-9);
  EXPECT_GE(planning.algorithm_1_ms, planning.plan.predicted_ms - 1e-9);
}

TEST(ColdPlanner, AvoidsAFamilyOfKernelsWhoseFirstUseCostsMoreThanItSaves) {
  ColdStages with_once = stages();
  for (auto& layer : with_once.layers) layer.kernels[2].once_ms = 40;
  const auto plan = plan_cold_start(with_once, {KernelPolicy::planned, CachePolicy::none, 0}).plan;
  EXPECT_EQ(plan.layers[0].kernel, "gemm");
  EXPECT_NEAR(plan.predicted_ms, 2 * (0.70 + 2.21 + 8.14), 1e-9);
  const auto forced = plan_cold_start(with_once, {KernelPolicy::untransformed, CachePolicy::none, 0}).plan;
  EXPECT_NEAR(forced.predicted_ms, 40 + 2 * (0.70 + 8.01), 1e-9);
}

TEST(ColdPlanner, UnknownPoliciesAreRefusedWithTheNames) {
  try {
    kernel_policy("fast");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "'fast' is no choice of kernels; expected one of planned, warm, preferred, untransformed, "
                 "compiled");
  }
  EXPECT_THROW(cache_policy("some"), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
