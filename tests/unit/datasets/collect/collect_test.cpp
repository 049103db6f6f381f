#include "datasets/collect/collect_record.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/collect/collect_fixture.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

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

TEST_F(Collect, ResumedUnderAnotherPolicyOfTheHeapSaysSo) {
  message_of_failure<Interrupted>(FakeRuntime(), stop_after(4));
  EXPECT_EQ(environment()["heap"], "given back");
  const fs::path file = options_.folder / "device" / "device.json";
  nlohmann::json device = nlohmann::json::parse(read_file(file));
  device["environment"]["heap"] = "kept";
  write_file_atomically(file, device.dump());
  EXPECT_EQ(architectures_of(collect(options_, space_, FakeRuntime())), options_.architectures);
  EXPECT_EQ(environment()["heap"], "kept, then given back");
  collect(options_, space_, FakeRuntime());
  EXPECT_EQ(environment()["heap"], "kept, then given back");
}

/// What happens to a process that is killed: no step after this one is taken.
struct Killed {};

CollectProgress killed_after(int count) {
  return [count, reported = 0](std::size_t, std::size_t, const std::string&) mutable {
    if (++reported >= count) throw Killed{};
    return true;
  };
}

TEST_F(Collect, KilledInABatch_LosesNothingThatWasMeasured) {
  EXPECT_THROW(collect(options_, space_, FakeRuntime(), killed_after(5)), Killed);  // two into the second batch
  EXPECT_EQ(stored().device.latencies.size(), 3u);
  EXPECT_TRUE(std::filesystem::exists(options_.folder / "device" / "batch.json"));
  const FakeRuntime second;
  EXPECT_EQ(architectures_of(collect(options_, space_, second)), options_.architectures);
  EXPECT_EQ(second.prepared(), 1 + 1);
  EXPECT_FALSE(std::filesystem::exists(options_.folder / "device" / "batch.json"));
}

TEST_F(Collect, KilledWhileMeasuringInTurn_GoesOnWithTheRoundsThatAreLeft) {
  options_.timing.rounds = 2;
  options_.timing.minimum_runs = options_.timing.maximum_runs = 8;
  options_.batch_size = 6;
  // Prepared six, warmed up six, visited six, and into the second round.
  EXPECT_THROW(collect(options_, space_, FakeRuntime(), killed_after(20)), Killed);
  const std::filesystem::path file = options_.folder / "device" / "batch.json";
  nlohmann::json journal = nlohmann::json::parse(read_file(file));
  ASSERT_EQ(journal["turn"]["run_times_ms"].size(), 6u);
  for (nlohmann::json& times : journal["turn"]["run_times_ms"]) {
    EXPECT_EQ(times.size(), 4u);
    for (nlohmann::json& time : times) time = 77;
  }
  write_file_atomically(file, journal.dump());
  for (const Measurement& row : collect(options_, space_, FakeRuntime()).latencies) {
    EXPECT_EQ(row.runs, 8);
    EXPECT_GT(row.latency_ms, 30);  // half of them took 77 ms, says the journal
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Collect, ADamagedJournalIsAsGoodAsNone) {
  for (const int rounds : {1, 2}) {
    for (const std::string damage : {"{", "[]", R"({"batch": 1, "rows": 2, "turn": 3})"}) {
      options_.timing.rounds = rounds;
      std::filesystem::remove_all(options_.folder);
      EXPECT_THROW(collect(options_, space_, FakeRuntime(), killed_after(2)), Killed);
      write_file_atomically(options_.folder / "device" / "batch.json", damage);
      EXPECT_EQ(architectures_of(collect(options_, space_, FakeRuntime())), options_.architectures);
    }
    nlohmann::json wrong_sizes;
    for (const Architecture& a : {options_.architectures[0], options_.architectures[1], options_.architectures[2]}) {
      wrong_sizes["batch"].push_back(space_.format(a));
    }
    wrong_sizes["rows"] = {{1}, {2, 3}};
    wrong_sizes["turn"] = {{"run_times_ms", {{1, 2}}}, {"loop_ms", {1}}, {"sentinels_ms", {1}}, {"left", {{0, 9, 4}}}};
    std::filesystem::remove_all(options_.folder);
    EXPECT_THROW(collect(options_, space_, FakeRuntime(), killed_after(1)), Killed);
    write_file_atomically(options_.folder / "device" / "batch.json", wrong_sizes.dump());
    EXPECT_EQ(architectures_of(collect(options_, space_, FakeRuntime())), options_.architectures);
  }
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

TEST(RequireMeasuredAlike, NamesWhatDiffersAndWhatToDo) {
  DeviceRuntime found, wanted;
  found.environment = R"({"seed":1,"cores":4})";
  require_measured_alike(found, wanted, {{"seed", 1}}, "device.json");
  wanted.threads = found.threads + 1;
  try {
    require_measured_alike(found, wanted, {{"seed", 2}}, "device.json");
    FAIL() << "refused nothing";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "device.json: was measured with seed 1, asked for 2; another runtime, batch, number of threads or "
                 "resolution; choose another folder or id, or the same settings");
  }
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

TEST_F(Collect, RefusesInstructionsThatTheProcessDoesNotRunUnder) {
  options_.instruction_set = "sse4.1";
  EXPECT_NE(message_of_failure<InputError>(FakeRuntime()).find("started without"), std::string::npos);
}

TEST_F(Collect, AnArchitectureNamedTwiceIsMeasuredOnce) {
  options_.architectures.push_back(options_.architectures.front());
  const FakeRuntime runtime;
  EXPECT_EQ(collect(options_, space_, runtime).latencies.size(), 6u);
  EXPECT_EQ(runtime.prepared(), 1 + 6);
}

TEST_F(Collect, RefusesOptionsThatCannotBe) {
  const CollectOptions sensible = options_;
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

}  // namespace
}  // namespace tenshot::datasets
