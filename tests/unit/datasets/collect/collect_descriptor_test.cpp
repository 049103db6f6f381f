#include "datasets/collect/collect_descriptor.h"

#include <gtest/gtest.h>

#include "descriptor/callgrind/callgrind.h"
#include "descriptor/counters/counters.h"
#include "descriptor/machine/machine.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "tests/unit/datasets/collect/collect_fixture.h"

namespace tenshot::datasets {
namespace {

bool machine_counts() { return descriptor::perf_event_status().rfind("no ", 0) != 0; }

TEST(CounterChoice, TakesASourceThatIsNamed) {
  DescriptorOptions options;
  options.program = "/usr/bin/tenshot";
  for (const char* source : {"perf_event", "callgrind", "latency_only"}) {
    options.counters = source;
    const CounterChoice choice = choose_counters(options);
    EXPECT_EQ(choice.source, source);
    EXPECT_EQ(choice.reason, "");
  }
  options.counters = "guess";
  EXPECT_THROW(choose_counters(options), InputError);
}

TEST(CounterChoice, AutoSaysWhyItDoesNotTakeTheProcessorsOwn) {
  if (machine_counts()) GTEST_SKIP() << "this machine has hardware counters, which auto takes";
  DescriptorOptions options;
  options.program = "/usr/bin/tenshot";
  const CounterChoice choice = choose_counters(options);
  const std::string obstacle = descriptor::why_no_valgrind();
  EXPECT_EQ(choice.source, obstacle.empty() ? "callgrind" : "latency_only");
  EXPECT_NE(choice.reason.find(obstacle), std::string::npos) << choice.reason;
  EXPECT_NE(choice.reason.find("cannot count 'cycles'"), std::string::npos) << choice.reason;
  EXPECT_EQ(choice.reason.find("simulated") != std::string::npos, true) << choice.reason;
}

TEST(CounterChoice, AutoTakesThePerfEventsThatAMachineCanCount) {
  DescriptorOptions options;
  options.events = {"task-clock", "page-faults"};
  std::string why;
  try {
    descriptor::CounterGroup::open(options.events, {});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(choose_counters(options).source, "perf_event");
}

TEST(CounterChoice, RefusesToSimulateOtherEventsOrWithoutAProgram) {
  DescriptorOptions options;
  options.counters = "callgrind";
  EXPECT_THROW(choose_counters(options), InputError);
  options.program = "/usr/bin/tenshot";
  options.events = {"branches"};
  EXPECT_THROW(choose_counters(options), InputError);
}

TEST(CounterChoice, RefusesAnEventThatNobodyKnows) {
  DescriptorOptions options;
  options.events = {"no-such-event"};
  EXPECT_THROW(choose_counters(options), InputError);
}

TEST(DescriptorIncomplete, UntilItHasWhatTheSourceGives) {
  HardwareDescriptor descriptor;
  const auto incomplete = [&](const char* source) {
    return descriptor_incomplete(descriptor, source, nasbench::nasbench201(), {});
  };
  EXPECT_TRUE(incomplete("latency_only"));
  descriptor.source = "latency_only";
  descriptor.operators = {{"none", *nasbench::nasbench201().named_operation("none", 16, 32), 1, {}}};
  EXPECT_TRUE(incomplete("latency_only"));
  descriptor.in_network = {{"relu", *nasbench::nasbench201().named_operation("relu", 16, 32), 0}};
  EXPECT_FALSE(incomplete("latency_only"));
  EXPECT_TRUE(incomplete("callgrind"));
  descriptor.source = "callgrind";
  EXPECT_FALSE(incomplete("callgrind"));
  EXPECT_FALSE(incomplete("latency_only")) << "counters are more than latencies";
  EXPECT_TRUE(incomplete("perf_event"));
}

/// 15 operators, 18 chains and 3 surroundings of them, and the sentinel.
constexpr int networks_of_descriptor = 15 + 18 + 3 + 1;

TEST_F(Collect, OperatorsMakeALatencyOnlyDescriptor) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  collect(options_, space_, FakeRuntime());
  const HardwareDescriptor descriptor = stored().device.descriptor;
  EXPECT_EQ(descriptor.source, "latency_only");
  EXPECT_TRUE(descriptor.has_latencies());
  EXPECT_FALSE(descriptor.has_counters());
  ASSERT_EQ(descriptor.operators.size(), 15u);
  const std::vector<nasbench::Operator> operators = space_.operators(options_.shape, 1);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    EXPECT_EQ(descriptor.operators[i].name, operators[i].name);
    EXPECT_EQ(descriptor.operators[i].key, operators[i].key);
    EXPECT_GT(descriptor.operators[i].latency_ms, 0);
  }
}

TEST_F(Collect, OperatorsAreMeasuredAgainWhileTheSentinelIsSlow) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  options_.attempts = 4;
  collect(options_, space_, FakeRuntime());
  const std::map<std::string, std::string> quiet = stored().device.descriptor.conditions;
  EXPECT_EQ(quiet.at("operators_disturbed"), "0");
  EXPECT_EQ(quiet.at("operators_date").size(), utc_now().size());
  EXPECT_EQ(quiet.at("operators_processor").rfind(descriptor::cpu_model(), 0), 0U);
  EXPECT_GT(parse_number(quiet.at("operators_sentinel_ms")).value_or(0), 0);
  std::filesystem::remove_all(options_.folder);
  // Everything of the third and fourth operators is slow: no attempt at them is settled, and the device file says so.
  const int before = 1 + static_cast<int>(options_.architectures.size());
  const FakeRuntime slow(before + 3, before + 5);
  int attempts = 0;
  collect(options_, space_, slow, [&](std::size_t, std::size_t, const std::string& note) {
    attempts += note.find("operator ") == 0 ? 1 : 0;
    return true;
  });
  EXPECT_EQ(stored().device.descriptor.conditions.at("operators_disturbed"), "2");
  EXPECT_EQ(attempts, 15 + 2 * (options_.attempts - 1));
}

TEST_F(Collect, OperatorsCanBeMeasuredLater) {
  const DeviceRuntime before = collect(options_, space_, FakeRuntime());
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  const FakeRuntime later;
  const DeviceRuntime after = collect(options_, space_, later);
  EXPECT_EQ(later.prepared(), networks_of_descriptor);
  EXPECT_TRUE(after.descriptor.has_latencies());
  EXPECT_EQ(architectures_of(after), architectures_of(before));
}

TEST_F(Collect, OperationsAreMeasuredInsideANetworkOnARealRuntime) {
  options_.runtime = "libtorch-eager";
  options_.architectures.resize(1);
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  collect(options_, space_);
  const HardwareDescriptor descriptor = stored().device.descriptor;
  const std::vector<nasbench::OperationChain> chains = space_.operation_chains(options_.shape, 1);
  ASSERT_EQ(descriptor.in_network.size(), chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    EXPECT_EQ(descriptor.in_network[i].name, chains[i].name);
    EXPECT_EQ(descriptor.in_network[i].key, chains[i].key);
  }
  const std::map<std::string, std::string>& conditions = descriptor.conditions;
  EXPECT_EQ(conditions.at("in_network"), "chains of 8 between two convolution blocks, 10 rounds");
  EXPECT_EQ(conditions.at("in_network_processor").rfind(descriptor::cpu_model(), 0), 0U);
  EXPECT_EQ(conditions.at("in_network_date").size(), utc_now().size());
  EXPECT_GT(parse_number(conditions.at("in_network_sentinel_ms")).value_or(0), 0);
}

TEST_F(Collect, ADescriptorOfBeforeIsCompletedWithoutMeasuringItAgain) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  DeviceRuntime before = collect(options_, space_, FakeRuntime());
  before.descriptor.source = "callgrind";
  before.descriptor.counters.assign(default_counters.begin(), default_counters.end());
  for (OperatorProfile& profile : before.descriptor.operators) profile.counts = {1, 2, 3, 4, 5, 6};
  before.descriptor.conditions = {{"runs", "5"}};
  before.descriptor.in_network.clear();
  write_device(options_.folder, before, space_);
  options_.descriptor.counters = "callgrind";
  options_.descriptor.program = "/nowhere/tenshot";  // counting again would fail
  const FakeRuntime later;
  const DeviceRuntime after = collect(options_, space_, later);
  EXPECT_EQ(later.prepared(), 18 + 3 + 1);
  EXPECT_EQ(after.descriptor.in_network.size(), 18U);
  EXPECT_EQ(after.descriptor.conditions.at("runs"), "5");
  EXPECT_TRUE(after.descriptor.conditions.count("in_network_date"));
  EXPECT_EQ(content_hash({&space_, {stored().device}, {}}), content_hash({&space_, {after}, {}}));
  DeviceRuntime without = after;
  without.descriptor.in_network.clear();
  EXPECT_EQ(content_hash({&space_, {without}, {}}), content_hash({&space_, {before}, {}}));
  const FakeRuntime again;
  collect(options_, space_, again);
  EXPECT_EQ(again.prepared(), 0);
}

TEST_F(Collect, StoppedInsideANetworkKeepsTheOperators) {
  options_.descriptor.wanted = true;
  options_.descriptor.counters = "latency_only";
  const CollectProgress progress = [](std::size_t, std::size_t, const std::string& note) {
    return note.find("inside a network") == std::string::npos;
  };
  message_of_failure<Interrupted>(FakeRuntime(), progress);
  EXPECT_TRUE(stored().device.descriptor.has_latencies());
  EXPECT_FALSE(stored().device.descriptor.has_in_network());
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
  EXPECT_TRUE(descriptor.conditions.count("in_network_date")) << "counting keeps how the rest was measured";
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

}  // namespace
}  // namespace tenshot::datasets
