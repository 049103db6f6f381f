#include "datasets/collect_descriptor.h"

#include <gtest/gtest.h>

#include "descriptor/child_process.h"
#include "descriptor/counters.h"
#include "nasbench/support/error.h"

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

}  // namespace
}  // namespace tenshot::datasets
