#include <gtest/gtest.h>

#include "nasbench/support/error.h"
#include "trainer/cold/planner.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdLayer;
using descriptor::ColdStages;
using descriptor::KernelStages;

/// Two layers of one shape, each with a kernel "a" that transforms and a kernel "b" that does not.
ColdStages stages() {
  ColdStages stages;
  stages.network.tensors = {{1, 4}, {1, 4}, {1, 4}};
  stages.network.output = 2;
  stages.interference = {1.5, 1.2};
  for (int i = 0; i < 2; ++i) {
    ColdLayer layer;
    layer.inputs = {i};
    layer.output = i + 1;
    stages.network.layers.push_back(layer);
    const KernelStages a = {"a", true, 4000, 10, 6, 4, 2, 0.5, 3, 3, 7}, b = {"b", false, 0, 0, 0, 0, 1, 0.5, 8, 8, 0};
    stages.layers.push_back({0, 1000, 1, {a, b}});
  }
  return stages;
}

descriptor::ColdPlan plan_of(const std::string& first, bool first_cached, const std::string& second) {
  descriptor::ColdPlan plan;
  plan.preparing_cores = 0;
  plan.network = stages().network;
  plan.layers = {{first, first_cached, 0}, {second, false, 0}};
  return plan;
}

MeasuredStart start(double times) {
  MeasuredStart start;
  start.start_ms = 0.25 * times;
  start.cold_ms = (0.25 + 4 + 8 + 6 + 2 + 3 + 16) * times;
  start.layers.resize(2);
  start.layers[0] = {4 * times, 8 * times, 0, 6 * times, 0, 0};
  start.layers[1] = {2 * times, 3 * times, 0, 16 * times, 0, 0};
  return start;
}

TEST(ColdCalibration, MediansOfTheStartsReplaceTheStagesOfThePlan) {
  const auto plan = plan_of("a", true, "b");
  const ColdStages found = calibrated(stages(), plan, {start(1), start(100), start(1)});
  EXPECT_DOUBLE_EQ(found.start_ms, 0.25);
  const KernelStages &a = found.layers[0].kernels[0], &b = found.layers[1].kernels[1];
  EXPECT_DOUBLE_EQ(a.create_ms, 4);
  EXPECT_DOUBLE_EQ(a.read_cached_ms, 4 * 11.0 / 5);  // 11 ms of reading, where 4 and 1 were expected
  EXPECT_DOUBLE_EQ(a.first_ms, 6);
  EXPECT_DOUBLE_EQ(b.create_ms, 2);
  EXPECT_DOUBLE_EQ(b.first_ms, 16);
  EXPECT_DOUBLE_EQ(found.layers[1].read_raw_ms, 1 * 11.0 / 5);
  EXPECT_DOUBLE_EQ(found.interference.preparing, 1);
  EXPECT_DOUBLE_EQ(found.interference.executing, 1);
}

TEST(ColdCalibration, WhatWasReadIsToldOfTheLayersThatWaitedWhereThatIsAskedFor) {
  const auto plan = plan_of("a", true, "b");
  const ColdStages found = calibrated(stages(), plan, {start(1)}, ReadTimes::as_started);
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[0].read_cached_ms, 8);
  EXPECT_DOUBLE_EQ(found.layers[1].read_raw_ms, 3);
}

TEST(ColdCalibration, ReadingIsNotLostWhereAnotherLayerWaitsInEachStart) {
  MeasuredStart first = start(1), second = start(1), third = start(1);
  first.layers[0].read_ms = 8, first.layers[1].read_ms = 1;
  second.layers[0].read_ms = 1, second.layers[1].read_ms = 8;
  third.layers[0].read_ms = 1, third.layers[1].read_ms = 8;
  const auto plan = plan_of("a", true, "b");
  const ColdStages found = calibrated(stages(), plan, {first, second, third});
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[0].read_cached_ms + found.layers[1].read_raw_ms, 9);
}

TEST(ColdCalibration, TheDiskDoesNotWorkForLongerThanTheStartWhereTwoCoresWaitForIt) {
  MeasuredStart both = start(1);
  both.cold_ms = 6.75;  // 6.5 after the plan was read, in which both waited: 8 and 3
  const ColdStages found = calibrated(stages(), plan_of("a", true, "b"), {both});
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[0].read_cached_ms + found.layers[1].read_raw_ms, 6.5);
}

TEST(ColdCalibration, OtherKernelsAreScaledByWhatTheStartsTookOfWhatWasExpected) {
  const ColdStages found = calibrated(stages(), plan_of("a", true, "b"), {start(1)});
  const KernelStages& other = found.layers[1].kernels[0];  // "a" of the second layer was not started
  EXPECT_DOUBLE_EQ(other.create_ms, 2 * (4.0 + 2) / (2 + 1));
  EXPECT_DOUBLE_EQ(other.read_cached_ms, 4 * (8.0 + 3) / (4 + 1));
  EXPECT_DOUBLE_EQ(other.first_ms, 3 * 16.0 / 8);  // of layers without what their kernels cost once
  EXPECT_DOUBLE_EQ(other.transform_ms, 10);        // nothing was transformed, so nothing is known of it
}

TEST(ColdCalibration, WhatAFamilyOfKernelsCostsOnceIsToldFromItsFirstExecution) {
  MeasuredStart slow = start(1);
  slow.layers[0].execute_ms = 11;  // executions take twice what was expected: 6 of these, so that 5 are paid once
  const auto plan = plan_of("a", true, "b");
  const ColdStages found = calibrated(stages(), plan, {slow});
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[0].first_ms, 6);
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[0].once_ms, 5);
  EXPECT_DOUBLE_EQ(found.layers[1].kernels[0].once_ms, 5);
  EXPECT_DOUBLE_EQ(found.layers[1].kernels[1].once_ms, 0);
  EXPECT_DOUBLE_EQ(predicted_cold_ms(found, plan), 0.25 + (4 + 8 + 11) + (2 + 3 + 16));
}

TEST(ColdCalibration, ALaterLayerOfAShapeTellsWhatCreatingAgainTakes) {
  const ColdStages found = calibrated(stages(), plan_of("b", false, "b"), {start(1)});
  EXPECT_DOUBLE_EQ(found.layers[0].kernels[1].create_ms, 4);
  EXPECT_DOUBLE_EQ(found.layers[1].kernels[1].create_again_ms, 2);
}

TEST(ColdCalibration, PredictsTheStartsThatItWasMadeOf) {
  const auto plan = plan_of("a", true, "b");
  EXPECT_DOUBLE_EQ(predicted_cold_ms(calibrated(stages(), plan, {start(1)}), plan), 0.25 + (4 + 8 + 6) + (2 + 3 + 16));
}

TEST(ColdCalibration, RefusesStartsOfAnotherNetworkAndNone) {
  MeasuredStart other = start(1);
  other.layers.resize(1);
  EXPECT_THROW(calibrated(stages(), plan_of("a", true, "b"), {other}), InputError);
  EXPECT_THROW(calibrated(stages(), plan_of("a", true, "b"), {}), InputError);
  EXPECT_THROW(calibrated(stages(), plan_of("none", true, "b"), {start(1)}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
