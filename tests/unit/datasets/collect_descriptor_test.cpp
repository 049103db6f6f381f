#include "datasets/collect_descriptor.h"

#include <gtest/gtest.h>

#include "descriptor/child_process.h"
#include "descriptor/counters.h"
#include "nasbench/support/error.h"
#include "tests/unit/datasets/collect_fixture.h"

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
  const bool valgrind = !descriptor::find_program("valgrind").empty();
  EXPECT_EQ(choice.source, valgrind ? "callgrind" : "latency_only");
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
  EXPECT_TRUE(descriptor_incomplete(descriptor, "latency_only"));
  descriptor.source = "latency_only";
  descriptor.operators = {{"none", 16, 32, 1, {}}};
  EXPECT_FALSE(descriptor_incomplete(descriptor, "latency_only"));
  EXPECT_TRUE(descriptor_incomplete(descriptor, "callgrind"));
  descriptor.source = "callgrind";
  EXPECT_FALSE(descriptor_incomplete(descriptor, "callgrind"));
  EXPECT_FALSE(descriptor_incomplete(descriptor, "latency_only")) << "counters are more than latencies";
  EXPECT_TRUE(descriptor_incomplete(descriptor, "perf_event"));
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

}  // namespace
}  // namespace tenshot::datasets
