#include "datasets/collect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/collect_record.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

/// A runtime whose networks only let time pass, four times as much while the number of the last prepared network is in
/// [slow_from, slow_until). The sentinel is the first that is prepared.
class FakeRuntime final : public descriptor::Runtime {
 public:
  FakeRuntime(int slow_from = 0, int slow_until = 0) : slow_from_(slow_from), slow_until_(slow_until) {}

  std::string_view name() const override { return "fake"; }
  std::string_view precision() const override { return "fp32"; }
  double tolerance() const override { return 0; }
  bool follows_instruction_set() const override { return false; }
  std::string version() const override { return "fake 1"; }
  std::unique_ptr<descriptor::PreparedNetwork> prepare(const nasbench::LayerGraph&,
                                                       const descriptor::RuntimeOptions&) const override {
    ++prepared_;
    return std::make_unique<Network>(*this);
  }
  int prepared() const { return prepared_; }

 private:
  class Network final : public descriptor::PreparedNetwork {
   public:
    explicit Network(const FakeRuntime& runtime) : runtime_(runtime) {}
    void run() override {
      const bool slow = runtime_.slow_from_ <= runtime_.prepared_ && runtime_.prepared_ < runtime_.slow_until_;
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(slow ? 400 : 100);
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    std::vector<float> infer(const std::vector<float>&) override { return {}; }

   private:
    const FakeRuntime& runtime_;
  };

  int slow_from_, slow_until_;
  mutable int prepared_ = 0;
};

class Collect : public testing::Test {
 protected:
  Collect() {
    const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
    options_.folder = fs::temp_directory_path() / (std::string("tenshot_collect_") + info.name());
    fs::remove_all(options_.folder);
    options_.timing.warmup_runs = 1;
    options_.timing.warmup_ms = 0;
    options_.timing.minimum_runs = 7;
    options_.timing.maximum_runs = 7;
    options_.shape.resolution = 8;
    options_.batch_size = 3;
    options_.sentinel_tolerance = 1;  // the fake's slow phase is three times as far
    options_.id = "device";
    options_.watch_contention = nullptr;  // other tests run beside this one
    for (const std::uint64_t ordinal : {15624, 3, 8000, 77, 1234, 42}) {
      options_.architectures.push_back(space_.at(ordinal));
    }
  }
  ~Collect() override { fs::remove_all(options_.folder); }

  DeviceOfSpace stored() const { return read_device(options_.folder / options_.id); }
  nlohmann::json environment() const { return nlohmann::json::parse(stored().device.environment); }

  static std::vector<Architecture> architectures_of(const DeviceRuntime& device) {
    std::vector<Architecture> result;
    for (const Measurement& row : device.latencies) result.push_back(row.architecture);
    return result;
  }

  /// Stops when `count` networks have been reported.
  static CollectProgress stop_after(int count) {
    return [count, reported = 0](std::size_t, std::size_t, const std::string&) mutable { return ++reported < count; };
  }

  template <class ErrorType>
  std::string message_of_failure(const FakeRuntime& runtime, const CollectProgress& progress = {}) {
    try {
      collect(options_, space_, runtime, progress);
    } catch (const ErrorType& error) {
      return error.what();
    }
    ADD_FAILURE() << "did not throw";
    return "";
  }

  const SearchSpace& space_ = nasbench::nasbench201();
  CollectOptions options_;
};

TEST_F(Collect, MeasuresRealNetworksIntoADeviceFile) {
  options_.id.clear();
  options_.device = "a device";
  options_.runtime_options.batch = 2;
  const DeviceRuntime device = collect(options_, space_);
  EXPECT_EQ(device.id, "libtorch-eager_t1_b2_r8");
  const DeviceOfSpace found = read_device(options_.folder / device.id);
  EXPECT_EQ(found.space, &space_);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.device.device, "a device");
  EXPECT_EQ(found.device.runtime, "libtorch-eager");
  EXPECT_EQ(found.device.precision, "fp32");
  EXPECT_EQ(found.device.batch, 2);
  EXPECT_EQ(found.device.threads, 1);
  EXPECT_EQ(found.device.input_shape, (std::vector<int>{3, 8, 8}));
  EXPECT_EQ(architectures_of(found.device), options_.architectures);
  for (const Measurement& row : found.device.latencies) {
    EXPECT_GT(row.latency_ms, 0);
    EXPECT_GE(row.stddev_ms, 0);
    EXPECT_EQ(row.runs, 7);
  }
}

TEST_F(Collect, EnvironmentSaysHowItWasMeasured) {
  options_.runtime_options.weight_seed = 99;
  collect(options_, space_, FakeRuntime());
  const nlohmann::json environment = this->environment();
  EXPECT_EQ(environment["complete"], true);
  EXPECT_EQ(environment["runtime_version"], "fake 1");
  EXPECT_EQ(environment["weight_seed"], 99);
  EXPECT_EQ(environment["timing"]["minimum_runs"], 7);
  EXPECT_EQ(environment["sentinel"]["architecture"], space_.format(sentinel_of(space_)));
  EXPECT_EQ(environment["sentinel"]["values_ms"].size(), 2u);  // one a batch
  EXPECT_EQ(environment["unsettled_architectures"], 0);
  EXPECT_EQ(environment["sessions"], 1);
  EXPECT_EQ(environment["started_utc"].get<std::string>().size(), std::string("2024-05-01T12:00:00Z").size());
  for (const char* key : {"cpu", "cores", "kernel", "before", "after", "preparation_s", "measuring_s", "pinned_cpus"}) {
    EXPECT_TRUE(environment.contains(key)) << key;
  }
  EXPECT_GE(environment["measuring_s"], environment["runs_s"]);
}

TEST_F(Collect, IsIncompleteUntilItEnds) {
  message_of_failure<Interrupted>(FakeRuntime(), [&](std::size_t done, std::size_t, const std::string&) {
    EXPECT_EQ(environment()["complete"], false);
    EXPECT_LE(stored().device.latencies.size(), done);
    return done < 5;
  });
  EXPECT_EQ(environment()["complete"], false);
}

TEST_F(Collect, StoppingKeepsWhatIsMeasuredAndTheSameCallResumes) {
  const FakeRuntime first;
  const std::string message = message_of_failure<Interrupted>(first, stop_after(4));  // one into the second batch
  EXPECT_NE(message.find("4 of 6"), std::string::npos) << message;
  const DeviceRuntime before = stored().device;
  EXPECT_EQ(before.latencies.size(), 4u);

  const FakeRuntime second;
  const DeviceRuntime after = collect(options_, space_, second);
  EXPECT_EQ(second.prepared(), 1 + 2);  // the sentinel and what was missing
  EXPECT_EQ(architectures_of(after), options_.architectures);
  for (std::size_t i = 0; i < before.latencies.size(); ++i) {
    EXPECT_EQ(after.latencies[i].latency_ms, before.latencies[i].latency_ms);
  }
  EXPECT_EQ(environment()["sessions"], 2);
  EXPECT_EQ(environment()["complete"], true);
}

TEST_F(Collect, AFinishedCollectionIsNotMeasuredAgain) {
  collect(options_, space_, FakeRuntime());
  const std::string before = read_file(options_.folder / "device" / "device.json");
  const FakeRuntime again;
  EXPECT_EQ(architectures_of(collect(options_, space_, again)), options_.architectures);
  EXPECT_EQ(again.prepared(), 0);
  EXPECT_EQ(read_file(options_.folder / "device" / "device.json"), before);
}

TEST_F(Collect, AddsArchitecturesAndKeepsOthers) {
  collect(options_, space_, FakeRuntime());
  const std::vector<Architecture> all = options_.architectures;
  options_.architectures = {space_.at(9000), all[2], all[0]};
  const FakeRuntime more;
  const DeviceRuntime device = collect(options_, space_, more);
  EXPECT_EQ(more.prepared(), 1 + 1);
  EXPECT_EQ(architectures_of(device),
            (std::vector<Architecture>{space_.at(9000), all[2], all[0], all[1], all[3], all[4], all[5]}));
  EXPECT_EQ(architectures_of(stored().device), architectures_of(device));
}

TEST_F(Collect, RefusesToMixMeasurementsOfOtherSettings) {
  collect(options_, space_, FakeRuntime());
  options_.runtime_options.threads = 2;
  options_.runtime_options.weight_seed = 7;
  options_.timing.maximum_runs = 50;
  const std::string message = message_of_failure<InputError>(FakeRuntime());
  EXPECT_NE(message.find("threads '1', asked for '2'"), std::string::npos) << message;
  EXPECT_NE(message.find("weight seed '1', asked for '7'"), std::string::npos) << message;
  EXPECT_NE(message.find("timing"), std::string::npos) << message;
  EXPECT_EQ(message.find("batch '"), std::string::npos) << message;
}

TEST_F(Collect, RefusesADeviceFileThatItDidNotWrite) {
  DeviceRuntime foreign;
  foreign.id = "device";
  foreign.latencies.push_back({options_.architectures[0], 1.0});
  write_device(options_.folder, foreign, space_);
  EXPECT_NE(message_of_failure<InputError>(FakeRuntime()).find("device.json"), std::string::npos);
  fs::remove(options_.folder / "device" / "device.json");
  EXPECT_NE(message_of_failure<InputError>(FakeRuntime()).find("latencies.csv"), std::string::npos);
  EXPECT_EQ(read_measurements(options_.folder / "device" / "latencies.csv", space_).rows.size(), 1u);
}

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

TEST_F(Collect, OperatorsMakeALatencyOnlyDescriptor) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  collect(options_, space_, FakeRuntime());
  const HardwareDescriptor descriptor = stored().device.descriptor;
  EXPECT_EQ(descriptor.source, "latency_only");
  EXPECT_TRUE(descriptor.has_latencies());
  EXPECT_FALSE(descriptor.has_counters());
  ASSERT_EQ(descriptor.operators.size(), 15u);
  const std::vector<nasbench::Operator> operators = space_.operators(options_.shape);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    EXPECT_EQ(descriptor.operators[i].name, operators[i].name);
    EXPECT_EQ(descriptor.operators[i].channels, operators[i].channels);
    EXPECT_EQ(descriptor.operators[i].resolution, operators[i].resolution);
    EXPECT_GT(descriptor.operators[i].latency_ms, 0);
  }
}

TEST_F(Collect, OperatorsCanBeMeasuredLater) {
  const DeviceRuntime before = collect(options_, space_, FakeRuntime());
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  const FakeRuntime later;
  const DeviceRuntime after = collect(options_, space_, later);
  EXPECT_EQ(later.prepared(), 15);
  EXPECT_TRUE(after.descriptor.has_latencies());
  EXPECT_EQ(architectures_of(after), architectures_of(before));
}

TEST_F(Collect, EventsOfOperatorsAreCountedAfterTheirLatencies) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "perf_event";
  options_.descriptor.events = {"task-clock", "page-faults"};
  try {
    collect(options_, space_, FakeRuntime());
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const HardwareDescriptor descriptor = stored().device.descriptor;
  EXPECT_EQ(descriptor.source, "perf_event");
  EXPECT_EQ(descriptor.counters, options_.descriptor.events);
  EXPECT_EQ(descriptor.conditions.at("passes"), "1");
  for (const OperatorProfile& profile : descriptor.operators) {
    ASSERT_EQ(profile.counts.size(), 2u);
    EXPECT_GT(profile.counts[0], 50'000) << "a run of the fake takes 100 microseconds, counted in nanoseconds";
  }
}

TEST_F(Collect, CountersCanBeAddedToLatencies) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  const DeviceRuntime before = collect(options_, space_, FakeRuntime());
  options_.descriptor.counters = "perf_event";
  options_.descriptor.events = {"task-clock"};
  try {
    const DeviceRuntime after = collect(options_, space_, FakeRuntime());
    EXPECT_TRUE(after.descriptor.has_counters());
    EXPECT_EQ(after.descriptor.operators[7].latency_ms, before.descriptor.operators[7].latency_ms);
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    EXPECT_EQ(stored().device.descriptor.source, "latency_only") << "what was measured is still there";
    GTEST_SKIP() << error.what();
  }
}

TEST_F(Collect, RefusesInstructionsThatTheProcessDoesNotRunUnder) {
  options_.instruction_set = "sse4.1";
  EXPECT_NE(message_of_failure<InputError>(FakeRuntime()).find("started without"), std::string::npos);
}

TEST_F(Collect, SaysWhatItCostAndHowRepeatableItWas) {
  options_.repeat_check = true;
  const std::string text = to_text(record_of(collect(options_, space_, FakeRuntime())));
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

TEST_F(Collect, AnArchitectureNamedTwiceIsMeasuredOnce) {
  options_.architectures.push_back(options_.architectures.front());
  const FakeRuntime runtime;
  EXPECT_EQ(collect(options_, space_, runtime).latencies.size(), 6u);
  EXPECT_EQ(runtime.prepared(), 1 + 6);
}

TEST_F(Collect, RefusesOptionsThatCannotBe) {
  const CollectOptions sensible = options_;
  options_.architectures.clear();
  message_of_failure<InputError>(FakeRuntime());
  options_ = sensible;
  options_.batch_size = 0;
  message_of_failure<InputError>(FakeRuntime());
  options_ = sensible;
  options_.attempts = 0;
  message_of_failure<InputError>(FakeRuntime());
  options_ = sensible;
  options_.sentinel_tolerance = -1;
  message_of_failure<InputError>(FakeRuntime());
  options_ = sensible;
  options_.id = "../elsewhere";
  const FakeRuntime runtime;
  message_of_failure<InputError>(runtime);
  EXPECT_EQ(runtime.prepared(), 0);
  options_ = sensible;
  options_.runtime = "no-such-runtime";
  EXPECT_THROW(collect(options_, space_), InputError);
}

TEST_F(Collect, DefaultIdNamesRuntimeAndSettings) {
  options_.runtime_options.threads = 4;
  options_.shape.resolution = 32;
  EXPECT_EQ(default_id("libtorch-frozen", options_), "libtorch-frozen_t4_b1");
  options_.shape.resolution = 64;
  EXPECT_EQ(default_id("libtorch-frozen", options_), "libtorch-frozen_t4_b1_r64");
}

TEST_F(Collect, SentinelIsTheCellOfSixSmallConvolutions) {
  EXPECT_EQ(space_.format(sentinel_of(space_)),
            "|nor_conv_1x1~0|+|nor_conv_1x1~0|nor_conv_1x1~1|+|nor_conv_1x1~0|nor_conv_1x1~1|nor_conv_1x1~2|");
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
