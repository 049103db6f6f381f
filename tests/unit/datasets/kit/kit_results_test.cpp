#include "datasets/kit/kit_results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/pool/device_file.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

std::vector<KitProblem> problems_of(const KitResults& results) {
  std::vector<KitProblem> problems;
  for (const KitFinding& finding : results.findings) problems.push_back(finding.problem);
  return problems;
}

std::string kit_model_name(const MeasuredKit& kit, std::size_t architecture) {
  const KitModel& model = kit.manifest.models[architecture];
  return model.id + " (" + space().format(model.architecture) + ")";
}

TEST(KitResults, AreLatenciesAndADescriptor) {
  const MeasuredKit kit;
  const KitResults results = read_kit_results(kit.path());
  ASSERT_EQ(results.latencies.size(), 3u);
  EXPECT_EQ(results.planned, 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results.latencies[i].architecture, kit.manifest.models[i].architecture);
    EXPECT_DOUBLE_EQ(results.latencies[i].latency_ms, static_cast<double>(i + 1));
    EXPECT_EQ(results.latencies[i].runs, 5);
  }
  EXPECT_EQ(results.descriptor.source, "latency_only");
  ASSERT_EQ(results.descriptor.operators.size(), 15u);
  EXPECT_EQ(results.descriptor.operators[0].name, "none");
  EXPECT_DOUBLE_EQ(results.descriptor.operators[14].latency_ms, 18);
  ASSERT_EQ(results.descriptor.in_network.size(), 18u);
  EXPECT_EQ(problems_of(results), std::vector<KitProblem>{KitProblem::no_descriptor});
  EXPECT_NE(results.findings[0].message.find("perf not found"), std::string::npos);
}

TEST(KitResults, AChainMinusItsSurroundingsIsWhatAnOperationCostsInsideANetwork) {
  const MeasuredKit kit;
  const HardwareDescriptor descriptor = read_kit_results(kit.path()).descriptor;
  ASSERT_EQ(descriptor.in_network.size(), 18u);
  EXPECT_EQ(kit.manifest.models[24].id, "chain_nor_conv_3x3_16");
  const OperatorProfile& latency = descriptor.in_network[3];
  EXPECT_EQ(latency.name, "nor_conv_3x3");
  EXPECT_EQ(latency.key.channels(), 16);
  EXPECT_EQ(latency.key.resolution(), 8);
  EXPECT_DOUBLE_EQ(latency.latency_ms, (25.0 - 19.0) / 8) << "around_16 is model number 18";
  EXPECT_EQ(descriptor.conditions.at("in_network"), "chains of 8 between two convolution blocks, one after the other");
}

TEST(KitResults, WithoutAChainOrSurroundingsHaveTheOperatorsAlone) {
  for (const std::size_t missing : {18u, 30u}) {
    const MeasuredKit kit;
    std::filesystem::remove_all(kit.result(missing));
    const KitResults results = read_kit_results(kit.path());
    EXPECT_EQ(results.latencies.size(), 3u);
    EXPECT_EQ(results.planned, 3u);
    EXPECT_EQ(results.descriptor.source, "latency_only");
    EXPECT_FALSE(results.descriptor.has_in_network());
    ASSERT_EQ(results.findings.size(), 3u);
    EXPECT_EQ(results.findings[0].message, kit.manifest.models[missing].id + ": not measured; left out");
    EXPECT_EQ(results.findings[1].message,
              "no full hardware descriptor: 1 of 21 chains and surroundings of operations have no latency");
    EXPECT_NE(results.findings[2].message.find("perf not found"), std::string::npos);
  }
}

TEST(KitResults, OfBeforeThereWereChainsAreReadWithoutComplaint) {
  const MeasuredKit kit;
  nlohmann::json manifest = nlohmann::json::parse(read_file(kit.path() / "manifest.json"));
  manifest["models"].erase(manifest["models"].begin() + 18, manifest["models"].end());
  write_file_atomically(kit.path() / "manifest.json", manifest.dump());
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.descriptor.operators.size(), 15u);
  EXPECT_FALSE(results.descriptor.has_in_network());
  EXPECT_EQ(results.findings.size(), 1u) << "that of the counters";
}

TEST(KitResults, APartialKitSaysWhatIsMissing) {
  const MeasuredKit kit;
  std::filesystem::remove_all(kit.result(1));
  std::filesystem::remove_all(kit.result(9));
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(problems_of(results),
            (std::vector<KitProblem>{KitProblem::not_measured, KitProblem::not_measured, KitProblem::no_descriptor}));
  EXPECT_EQ(results.findings[0].message, "arch_02 (" + space().format(space().at(4711)) + "): not measured; left out");
  EXPECT_EQ(results.descriptor.source, "none");
  EXPECT_FALSE(results.descriptor.has_latencies());
}

TEST(KitResults, NamesWhatFailedAndWhy) {
  const MeasuredKit kit;
  kit.put("arch_01/failed.txt", "trtexec exited with 1: out of memory\nmore\n");
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(results.findings[0].problem, KitProblem::failed);
  EXPECT_EQ(results.findings[0].message,
            kit_model_name(kit, 0) + ": failed on the device: trtexec exited with 1: out of memory; left out");
}

TEST(KitResults, OfAnotherModelAreNotUsed) {
  const MeasuredKit kit;
  kit.put("arch_03/meta.txt", "id=arch_03\nsha256=" + std::string(64, '0') + "\n");
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(results.findings[0].problem, KitProblem::other_model);
  EXPECT_NE(results.findings[0].message.find("; left out"), std::string::npos);
}

TEST(KitResults, NotesMayHaveWindowsLineEnds) {
  const MeasuredKit kit;
  for (const char* file : {"arch_01/meta.txt", "arch_02/meta.txt", "arch_03/meta.txt"}) {
    std::string windows;
    const std::filesystem::path path = kit.path() / "results" / file;
    if (!std::filesystem::exists(path)) continue;
    for (const char c : read_file(path)) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    kit.put(file, windows);
  }
  EXPECT_EQ(read_kit_results(kit.path()).latencies.size(), 3u);
}

TEST(KitResults, DoubtfulOnesAreUsedAndNamed) {
  const MeasuredKit kit;
  kit.measure(0, 1, "clocks_moved=yes\nclocks_before=1300500000\nclocks_after=612000000\n");
  kit.put("arch_02/times.txt", "1\n1\n2\n3\n3\n");
  kit.measure(2, 3, "sentinel_ms=2.9\nsentinel_moved=yes\n");
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(results.latencies.size(), 3u);
  EXPECT_EQ(results.findings[0].problem, KitProblem::clocks_moved);
  EXPECT_EQ(results.findings[0].message,
            kit_model_name(kit, 0) + ": the clocks moved: 1300500000 before, 612000000 after");
  EXPECT_EQ(results.findings[1].problem, KitProblem::wide_spread);
  EXPECT_EQ(results.findings[1].message.find("; left out"), std::string::npos);
  EXPECT_EQ(results.findings[2].problem, KitProblem::clocks_moved);
  EXPECT_EQ(results.findings[2].message,
            kit_model_name(kit, 2) + ": the clocks moved: the sentinel took 2.9 ms, over 5 % more than at its fastest");
}

TEST(KitResults, BrokenTimesAreFindingsNotCrashes) {
  const MeasuredKit kit;
  kit.put("arch_01/times.txt", "quick\n");
  std::filesystem::remove(kit.result(1) / "times.txt");
  kit.put("arch_03/times.json", "[{\"computeMs\":");
  const std::string message = message_of([&] { read_kit_results(kit.path()); });
  EXPECT_NE(message.find("nothing was measured"), std::string::npos) << message;
  EXPECT_NE(message.find("quick"), std::string::npos) << message;
}

TEST(KitResults, WithoutAnyResultSayWhatToDo) {
  const MeasuredKit kit;
  std::filesystem::remove_all(kit.path() / "results");
  EXPECT_NE(message_of([&] { read_kit_results(kit.path()); }).find("run measure.sh"), std::string::npos);
}

/// perf's counts of two lengths, 10 and 110 runs: starting up costs 5,000 events, a run 70 of each event.
void count(const MeasuredKit& kit, std::size_t model, const std::string& more_long = "") {
  const std::string id = kit.manifest.models[model].id;
  kit.measure(model, 1, "short_runs=10\nlong_runs=110\n");
  kit.put(id + "/perf.1.short.csv",
          "5700,,cycles,1,100.00,,\n5700,,instructions,1,100.00,,\n5700,,cache-references,1,100.00,,\n");
  kit.put(id + "/perf.1.long.csv",
          "12700,,cycles,1,60.00,,\n12700,,instructions,1,100.00,,\n12700,,cache-references,1,100.00,,\n");
  kit.put(id + "/perf.2.short.csv",
          "<not supported>,,cache-misses,0,100.00,,\n5700,,L1-dcache-loads,1,100.00,,\n"
          "5700,,L1-dcache-load-misses,1,100.00,,\n");
  kit.put(id + "/perf.2.long.csv",
          "<not supported>,,cache-misses,0,100.00,,\n12700,,L1-dcache-loads,1,100.00,,\n"
          "5600,,L1-dcache-load-misses,1,100.00,,\n" +
              more_long);
}

TEST(KitResults, CountersAreTheLongProcessMinusTheShortOne) {
  const MeasuredKit kit;
  kit.put("perf.txt", "passes=2\n");
  for (std::size_t model = 3; model < 18; ++model) count(kit, model);
  const KitResults results = read_kit_results(kit.path());
  EXPECT_TRUE(results.findings.empty());
  ASSERT_EQ(results.descriptor.source, "perf_stat");
  const std::vector<double>& counts = results.descriptor.operators[7].counts;
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_DOUBLE_EQ(counts[0], 70);
  EXPECT_DOUBLE_EQ(counts[2], 70);
  EXPECT_TRUE(std::isnan(counts[3])) << "the core does not support it";
  EXPECT_DOUBLE_EQ(counts[4], 70);
  EXPECT_TRUE(std::isnan(counts[5])) << "fewer in the longer run cannot be";
  EXPECT_EQ(results.descriptor.conditions.at("scaled_events"), "cycles");
}

TEST(KitResults, BecomeADeviceFile) {
  const MeasuredKit kit;
  const KitResults results = read_kit_results(kit.path());
  EXPECT_EQ(default_device_id(results), "custom_fp32_t1_b2");
  const DeviceRuntime device = device_of(results, "my-board");
  EXPECT_EQ(device.runtime, "custom");
  EXPECT_EQ(device.device, "aarch64");
  EXPECT_EQ(device.batch, 2);
  EXPECT_EQ(device.threads, 1);
  const TemporaryFolder pool;
  write_device(pool.path(), device, space());
  const DeviceOfSpace read = read_device(pool.path() / "my-board");
  EXPECT_EQ(read.device.latencies.size(), 3u);
  EXPECT_EQ(read.device.descriptor.in_network.size(), 18u);
  EXPECT_EQ(nlohmann::json::parse(read.device.environment).at("before").at("power_mode"), "MAXN");
  EXPECT_THROW(device_of(results, "../elsewhere"), InputError);
  EXPECT_THROW(device_of(results, ""), InputError);
}

TEST(KitResults, NotesOfStrangersMakeNoIdThatLeavesItsFolder) {
  const MeasuredKit kit;
  kit.put("kit.txt", "backend=../../etc\nprecision=fp 16\nthreads=/1\n");
  const std::string id = default_device_id(read_kit_results(kit.path()));
  EXPECT_TRUE(is_device_id(id)) << id;
  EXPECT_EQ(id.find('/'), std::string::npos) << id;
}

TEST(KitResults, DamagedFilesNeverCrash) {
  Rng rng(3);
  const MeasuredKit kit;
  kit.put("perf.txt", "passes=2\n");
  for (std::size_t model = 3; model < 18; ++model) count(kit, model);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kit.path() / "results")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  files.push_back(kit.path() / "manifest.json");
  for (int trial = 0; trial < 300; ++trial) {
    const std::filesystem::path& file = files[rng.below(files.size())];
    const std::string good = read_file(file);
    std::string bad = good.substr(0, rng.below(good.size() + 1));
    for (int flips = 0; flips < 3 && !bad.empty(); ++flips)
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    write_file_quickly(file, bad);
    try {
      const KitResults results = read_kit_results(kit.path());
      for (const Measurement& row : results.latencies) EXPECT_GT(row.latency_ms, 0);
    } catch (const Error&) {
    }
    write_file_quickly(file, good);
  }
}

}  // namespace
}  // namespace tenshot::datasets
