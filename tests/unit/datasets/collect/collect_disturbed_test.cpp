// What collect does on a machine that others disturb, and how repeatable that makes it.

#include <algorithm>

#include "datasets/collect/collect_record.h"
#include "tests/unit/datasets/collect/collect_fixture.h"

namespace tenshot::datasets {
namespace {

TEST_F(Collect, ABatchIsMeasuredAgainWhenTheSentinelMoved) {
  // Prepared: the sentinel 1, the first batch 2 to 4, the second 5 to 7, and once more as 8 to 10.
  const FakeRuntime runtime(5, 8);
  std::vector<std::string> notes;
  collect(options_, space_, runtime, [&](std::size_t, std::size_t total, const std::string& note) {
    EXPECT_EQ(total, 6u);
    notes.push_back(note);
    return true;
  });
  EXPECT_EQ(runtime.prepared(), 10);
  EXPECT_EQ(environment()["repeated_batches"], 1);
  EXPECT_EQ(environment()["unsettled_architectures"], 0);
  ASSERT_EQ(notes.size(), 9u);
  EXPECT_EQ(notes[5], "");
  EXPECT_NE(notes[6].find("sentinel moved by"), std::string::npos) << notes[6];
  for (const Measurement& row : stored().device.latencies) {  // nothing of the slow phase was kept
    EXPECT_LT(row.latency_ms, 0.4);
    EXPECT_LT(row.sentinel_ms, 0.4);
  }
}

TEST_F(Collect, ABatchThatNeverSettlesIsKeptAndCounted) {
  options_.attempts = 2;
  const FakeRuntime runtime(5, 1000);
  collect(options_, space_, runtime);
  EXPECT_EQ(runtime.prepared(), 10);
  EXPECT_EQ(environment()["unsettled_architectures"], 3);
  EXPECT_EQ(architectures_of(stored().device), options_.architectures);
}

/// A watch that says of the first `contended` intervals that the machine was busy with something else.
std::function<std::function<descriptor::Contention()>()> busy_at_first(int contended) {
  return [contended, watched = 0]() mutable {
    const bool busy = ++watched <= contended;
    return [busy] {
      descriptor::Contention contention;
      contention.elapsed_s = 2;
      contention.steal_s = busy ? 1.0 : 0.0;
      contention.involuntary_switches = 3;
      return contention;
    };
  };
}

TEST_F(Collect, AContendedBatchIsMeasuredAgain) {
  options_.sentinel_tolerance = 1e6;  // only contention can unsettle a batch
  options_.watch_contention = busy_at_first(1);
  const FakeRuntime runtime;
  collect(options_, space_, runtime);
  EXPECT_EQ(environment().at("repeated_batches"), 1);
  EXPECT_EQ(environment().at("unsettled_architectures"), 0);
  // Of the two batches and of the attempt that replaced one.
  EXPECT_EQ(environment().at("contention").at("steal_s"), 1);
  EXPECT_EQ(environment().at("contention").at("involuntary_switches"), 9);
}

TEST_F(Collect, ABatchThatIsAlwaysContendedIsKeptAndCounted) {
  options_.sentinel_tolerance = 1e6;
  options_.watch_contention = busy_at_first(100);
  const FakeRuntime runtime;
  EXPECT_EQ(collect(options_, space_, runtime).latencies.size(), options_.architectures.size());
  EXPECT_EQ(environment().at("unsettled_architectures"), 6);
  EXPECT_EQ(environment().at("contention").at("steal_s"), 6) << "two batches, three attempts each";
}

TEST_F(Collect, TheMachineIsWatchedUnlessSaid) {
  options_.watch_contention = watched_machine;
  const FakeRuntime runtime;
  collect(options_, space_, runtime);
  EXPECT_GT(environment().at("contention").at("elapsed_s").get<double>(), 0);
}

TEST_F(Collect, WhatWasMeasuredWhileTheMachineWasDisturbedIsMeasuredAgainByALaterCall) {
  message_of_failure<Interrupted>(FakeRuntime(5, 1000), stop_after(5));  // two of the second batch, slow
  const DeviceRuntime before = stored().device;
  ASSERT_EQ(before.latencies.size(), 5u);
  const FakeRuntime later;
  const DeviceRuntime after = collect(options_, space_, later);
  EXPECT_EQ(later.prepared(), 1 + 1 + 2);  // the sentinel, what was missing, what was disturbed
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(after.latencies[i].latency_ms, before.latencies[i].latency_ms);
  for (std::size_t i = 3; i < 5; ++i) EXPECT_LT(after.latencies[i].latency_ms, before.latencies[i].latency_ms);
}

TEST_F(Collect, WaitsForTheMachineToSettleBeforeMeasuringAgain) {
  options_.patience_s = 0.1;
  std::vector<std::string> notes;
  collect(options_, space_, FakeRuntime(5, 1000), [&](std::size_t, std::size_t, const std::string& note) {
    notes.push_back(note);
    return true;
  });
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "waiting for the machine to settle"), 1);
}

TEST_F(Collect, SaysWhatItCostAndHowRepeatableItWas) {
  options_.repeat_check = true;
  const std::string text = to_text(record_of(collect(options_, space_, FakeRuntime()), "device.json"));
  for (const char* part : {"timed runs ", "their loops ", "warm-up ", "preparation ", "sentinel ", "within 10 %"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(Collect, RepeatCheckMeasuresOneInTwentyAgain) {
  options_.repeat_check = true;
  options_.architectures.clear();
  for (std::uint64_t i = 0; i < 47; ++i) options_.architectures.push_back(space_.at(i));
  const FakeRuntime runtime;
  options_.batch_size = 47;
  collect(options_, space_, runtime);
  EXPECT_EQ(runtime.prepared(), 1 + 47 + 2);
  const nlohmann::json repeatability = environment()["repeatability"];
  EXPECT_EQ(repeatability["undisturbed_architectures"], 2);
  EXPECT_GE(repeatability["median_relative_difference"], 0.0);
  EXPECT_GE(repeatability["within_10_percent"], 0.0);
  EXPECT_LE(repeatability["within_10_percent"], 1.0);
}

class CollectInTurn : public Collect {
 protected:
  CollectInTurn() {
    options_.timing.rounds = 3;
    options_.timing.maximum_runs = 8;
  }
};

TEST_F(CollectInTurn, MeasuresEveryArchitectureInTheGivenOrder) {
  options_.repeat_check = true;
  const FakeRuntime runtime;
  const DeviceRuntime device = collect(options_, space_, runtime);
  EXPECT_EQ(architectures_of(device), options_.architectures);
  for (const Measurement& row : device.latencies) {
    EXPECT_EQ(row.runs, 8);
    EXPECT_GE(row.latency_ms, 0.1);
  }
  EXPECT_TRUE(environment().at("complete").get<bool>());
  EXPECT_EQ(environment().at("timing").at("rounds"), 3);
  EXPECT_EQ(environment().at("repeatability").at("undisturbed_architectures"), 1);
  EXPECT_GT(environment().at("sentinel_s").get<double>(), 0);
}

TEST_F(CollectInTurn, KeepsFinishedBatchesWhenStoppedAndResumes) {
  const FakeRuntime runtime;
  // A batch of three asks 3 times when preparing, 3 when warming up, 9 in the rounds and once at its end.
  message_of_failure<Interrupted>(runtime, stop_after(25));
  const auto kept = stored().device.latencies;
  ASSERT_EQ(kept.size(), 3u);
  const DeviceRuntime device = collect(options_, space_, runtime);
  ASSERT_EQ(architectures_of(device), options_.architectures);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(device.latencies[i].latency_ms, kept[i].latency_ms);
}

TEST_F(CollectInTurn, MeasuresABatchAgainWhenTheSentinelMoved) {
  // The sentinel is prepared first, the networks of the first batch are 2 to 4: slow until its second attempt.
  const FakeRuntime runtime(4, 5);
  const DeviceRuntime device = collect(options_, space_, runtime);
  EXPECT_EQ(environment().at("repeated_batches"), 1);
  for (const Measurement& row : device.latencies) EXPECT_LT(row.latency_ms, 0.3);
}

TEST_F(CollectInTurn, DoesNotMixWithMeasurementsMadeOneByOne) {
  const FakeRuntime runtime;
  collect(options_, space_, runtime);
  options_.timing.rounds = 1;
  EXPECT_NE(message_of_failure<InputError>(runtime).find("timing"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
