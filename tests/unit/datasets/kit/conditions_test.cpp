#include "datasets/kit/conditions.h"

#include <gtest/gtest.h>

namespace tenshot::datasets {
namespace {

TEST(MeasuringConditions, OfAKitAreWhatItNoted) {
  DeviceRuntime device;
  device.id = "trtexec_fp16_t1_b1";
  device.device = "NVIDIA Orin";
  device.runtime = "trtexec";
  device.precision = "fp16";
  device.environment = R"({"run": {"version": "8.5.2", "started": "2026-11-25T10:00:00Z", "command": ""},
    "before": {"power_mode": "MAXN", "cpu_governor": "schedutil", "gpu_hz": "1020000000", "gpu_max_hz": "1300500000",
               "cpu0_khz": "600000", "cpu0_max_khz": "600000", "cpu4_khz": "1510400", "cpu4_max_khz": "2201600"},
    "after": {"power_mode": "15W"}})";
  EXPECT_EQ(conditions_of(device),
            (MeasuringConditions{{"board", "NVIDIA Orin"},
                                 {"runtime", "trtexec, 8.5.2"},
                                 {"precision", "fp16, batch: 1"},
                                 {"power mode", "MAXN, later 15W"},
                                 {"clocks", "GPU at 1020 of 1300 MHz, CPU at 1510 of 2202 MHz, governor schedutil"},
                                 {"date", "2026-11-25 10:00 UTC"}}));
}

TEST(MeasuringConditions, WhatNobodyNotedIsLeftOut) {
  for (const char* environment :
       {"{}", "[1]", "null", R"({"before": [], "run": "x", "after": {"power_mode": null}})"}) {
    DeviceRuntime device;
    device.id = device.device = "mine";
    device.batch = 0;
    device.environment = environment;
    EXPECT_TRUE(conditions_of(device).empty()) << environment;
  }
}

TEST(MeasuringConditions, OfSeveralSourcesStandBesideEachOtherWhereTheyDiffer) {
  MeasuringConditions all = {{"board", "a"}, {"date", "1"}};
  add_conditions(all, {{"board", "a"}, {"date", "2"}, {"clocks", "c"}});
  add_conditions(all, {{"date", "1"}});
  EXPECT_EQ(all, (MeasuringConditions{{"board", "a"}, {"date", "1; 2"}, {"clocks", "c"}}));
}

}  // namespace
}  // namespace tenshot::datasets
