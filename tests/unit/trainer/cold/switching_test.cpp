#include <gtest/gtest.h>

#include "trainer/cold/planner.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdLayer;
using descriptor::ColdPlan;
using descriptor::ColdStages;
using descriptor::KernelStages;

/// Three layers: "slow" needs no preparation and runs 10, "fast" takes 6 to transform (2 to read transformed) and runs
/// 4; creating either takes 1, again nothing. The last layer runs as fast by either. Layers 0 and 1 have one shape.
ColdStages stages() {
  ColdStages stages;
  stages.start_ms = 0.5;
  stages.network.tensors = {{1, 4}, {1, 4}, {1, 4}, {1, 4}};
  stages.network.output = 3;
  for (int i = 0; i < 3; ++i) {
    ColdLayer layer;
    layer.inputs = {i};
    layer.output = i + 1;
    stages.network.layers.push_back(layer);
    const KernelStages slow = {"slow", false, 0, 0, 0, 0, 1, 0, 10, 10, 0};
    KernelStages fast = {"fast", true, 500, 6, 1, 2, 1, 0, 5, 4, 0};
    if (i == 2) fast.execute_ms = 10;
    stages.layers.push_back({i == 2 ? 2 : 0, 400, 1, {slow, fast}});
  }
  return stages;
}

/// A start with the slow kernels, which need no preparation.
ColdPlan slow_plan(const ColdStages& stages, CachePolicy cache = CachePolicy::planned) {
  return plan_cold_start(stages, {KernelPolicy::untransformed, cache, 1, true}).plan;
}

TEST(Switching, LayersThatALaterRunWouldBeFasterWithoutChangeTheirKernels) {
  const ColdPlan plan = slow_plan(stages());
  for (const auto& layer : plan.layers) EXPECT_EQ(layer.kernel, "slow");
  const auto& switches = plan.switches;
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_EQ(switches[0].layer, 0);
  EXPECT_EQ(switches[1].layer, 1);
  for (const auto& change : switches) {
    EXPECT_EQ(change.kernel, "fast");
    EXPECT_TRUE(change.cached);
  }
  EXPECT_FALSE(slow_plan(stages(), CachePolicy::none).switches.at(0).cached);
}

TEST(Switching, WhatSavesMostForItsPreparationComesFirst) {
  ColdStages unlike = stages();
  unlike.layers[1].kernels[1].execute_ms = 1;  // saves 9, layer 0 saves 6
  EXPECT_EQ(slow_plan(unlike).switches.at(0).layer, 1);
  unlike.layers[1].kernels[1].read_cached_ms = 40;
  unlike.layers[1].kernels[1].transform_ms = 40;
  EXPECT_EQ(slow_plan(unlike).switches.at(0).layer, 0);
}

TEST(Switching, NothingIsSwitchedWhereThePlanHasTheWarmKernels) {
  const ColdPlanning warm = plan_cold_start(stages(), {KernelPolicy::warm, CachePolicy::planned, 1, true});
  EXPECT_TRUE(warm.plan.switches.empty());
  EXPECT_EQ(warm.plan.switched_ms, 0);
}

TEST(Switching, ThePlannerStoresTheWeightsOfSwitchesAndSaysWhatRunsTake) {
  const ColdPlanning with = plan_cold_start(stages(), {KernelPolicy::untransformed, CachePolicy::planned, 1, true});
  const ColdPlanning without = plan_cold_start(stages(), {KernelPolicy::untransformed, CachePolicy::planned, 1, false});
  EXPECT_EQ(with.plan.switches.size(), 2U);
  EXPECT_EQ(with.cached_bytes, without.cached_bytes + 1000);
  EXPECT_EQ(with.plan.predicted_ms, without.plan.predicted_ms);
  EXPECT_DOUBLE_EQ(with.plan.warm_ms, 10 + 10 + 10);
  EXPECT_DOUBLE_EQ(with.plan.switched_ms, 4 + 4 + 10);
}

}  // namespace
}  // namespace tenshot::trainer
