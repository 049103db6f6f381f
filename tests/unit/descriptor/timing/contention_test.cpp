#include "descriptor/timing/contention.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "nasbench/support/error.h"
#include "tests/unit/descriptor/burn.h"
#include "tests/unit/descriptor/fake_tree.h"

namespace tenshot::descriptor {
namespace {

// cpu  user nice system idle iowait irq softirq steal guest guest_nice
constexpr const char* two_processors =
    "cpu  100 0 50 1000 5 0 1 37 0 0\n"
    "cpu0 60 0 30 500 2 0 1 30 0 0\n"
    "cpu1 40 0 20 500 3 0 0 7 0 0\n"
    "intr 12345 0 1\n";

TEST(StealTicks, AreThoseOfTheAskedProcessors) {
  EXPECT_EQ(steal_ticks(two_processors, {0}), 30u);
  EXPECT_EQ(steal_ticks(two_processors, {1}), 7u);
  EXPECT_EQ(steal_ticks(two_processors, {0, 1}), 37u);
}

TEST(StealTicks, DoNotTakeOneProcessorForAnother) {
  EXPECT_EQ(steal_ticks("cpu11 1 1 1 1 1 1 1 9\ncpu1 1 1 1 1 1 1 1 4\n", {1}), 4u);
}

TEST(WaitNanoseconds, AreSummedOverTheThreads) {
  const FakeTree tasks;
  EXPECT_FALSE(wait_nanoseconds(tasks.root())) << "no thread";
  tasks.write("12/schedstat", "1000 20 3\n");
  tasks.write("13/schedstat", "500 7 1\n");
  EXPECT_EQ(wait_nanoseconds(tasks.root()), 27u);
  tasks.write("14/comm", "a kernel without schedstat");
  EXPECT_FALSE(wait_nanoseconds(tasks.root()));
  EXPECT_FALSE(wait_nanoseconds(tasks.root() / "absent"));
}

TEST(StealTicks, AreUnknownWithoutTheColumnOrTheProcessor) {
  EXPECT_FALSE(steal_ticks("cpu  100 0 50 1000 5 0 1\ncpu0 100 0 50 1000 5 0 1\n", {0}));
  EXPECT_FALSE(steal_ticks(two_processors, {0, 2}));
  EXPECT_FALSE(steal_ticks(two_processors, {}));
  EXPECT_FALSE(steal_ticks("", {0}));
}

Contention interference(double elapsed_s, std::optional<double> steal_s, long switches, int cpus = 1) {
  Contention contention;
  contention.elapsed_s = elapsed_s;
  contention.steal_s = steal_s;
  contention.involuntary_switches = switches;
  contention.cpus = cpus;
  return contention;
}

TEST(Contended, ByMoreThanATwentiethStolen) {
  EXPECT_TRUE(contended(interference(10, 0.6, 0)));
  EXPECT_FALSE(contended(interference(10, 0.4, 0)));
  EXPECT_FALSE(contended(interference(10, 0.6, 0, 2)));  // of twenty processor seconds
  EXPECT_TRUE(contended(interference(10, 1.1, 0, 2)));
}

TEST(Contended, ByMoreThanSixteenInvoluntarySwitchesASecond) {
  EXPECT_TRUE(contended(interference(10, 0.0, 161)));
  EXPECT_FALSE(contended(interference(10, 0.0, 160)));
  EXPECT_TRUE(contended(interference(10, std::nullopt, 161)));
}

TEST(Contended, ByWaitingForMoreThanATwentiethWhateverTheSwitches) {
  Contention many_short = interference(10, 0.0, 1000);
  many_short.wait_s = 0.4;
  EXPECT_FALSE(contended(many_short));
  Contention few_long = interference(10, 0.0, 3);
  few_long.wait_s = 0.6;
  EXPECT_TRUE(contended(few_long));
}

TEST(Contended, NotByOneSwitchNorByNothing) {
  EXPECT_FALSE(contended(interference(0.001, std::nullopt, 1)));
  EXPECT_TRUE(contended(interference(0.001, std::nullopt, 2)));
  EXPECT_FALSE(contended(interference(0, 0.0, 0)));
}

TEST(Contention, OfTwoIntervalsAddsUpAndKeepsWhatIsUnknown) {
  Contention first = interference(2, 0.5, 3);
  first.page_faults = 12;
  const Contention both = first + interference(1, 0.25, 4);
  EXPECT_EQ(both.elapsed_s, 3);
  EXPECT_EQ(both.involuntary_switches, 7);
  EXPECT_EQ(both.steal_s, 0.75);
  EXPECT_FALSE(both.wait_s);
  EXPECT_EQ(both.cpus, 1);
  EXPECT_FALSE(both.page_faults) << "the second interval does not know";
  EXPECT_FALSE((first + interference(1, std::nullopt, 0)).steal_s);
}

TEST(ContentionWatch, StolenTimeIsTheDifferenceInSeconds) {
  const FakeTree proc;
  proc.write("stat", two_processors);
  const ContentionWatch watch({{0, 1}, proc.root() / "stat", false});
  const std::string later = std::to_string(30 + 2 * sysconf(_SC_CLK_TCK));
  proc.write("stat", "cpu0 60 0 30 500 2 0 1 " + later + " 0 0\ncpu1 40 0 20 500 3 0 0 7 0 0\n");
  const Contention contention = watch.since();
  EXPECT_EQ(contention.steal_s, 2.0);
  EXPECT_EQ(contention.cpus, 2);
  EXPECT_FALSE(contention.task_clock_s);
}

TEST(ContentionWatch, TheWaitIsTheDifferenceInSeconds) {
  const FakeTree proc;
  proc.write("task/7/schedstat", "1 1000000000 1\n");
  const ContentionWatch watch({{0}, proc.root() / "absent", false, proc.root() / "task"});
  proc.write("task/7/schedstat", "1 3500000000 1\n");
  EXPECT_EQ(watch.since().wait_s, 2.5);
}

TEST(ContentionWatch, StolenTimeIsUnknownWithoutTheFile) {
  const FakeTree proc;
  const ContentionWatch watch({{0}, proc.root() / "absent", false});
  EXPECT_FALSE(watch.since().steal_s);
}

TEST(ContentionWatch, TimeAndSwitchesNeverRunBackwards) {
  const ContentionWatch watch;
  const Contention first = watch.since();
  burn_cpu_ms(5);
  const Contention second = watch.since();
  EXPECT_GE(first.elapsed_s, 0);
  EXPECT_GE(first.involuntary_switches, 0);
  EXPECT_GT(second.elapsed_s, first.elapsed_s);
  EXPECT_GE(second.involuntary_switches, first.involuntary_switches);
}

TEST(ContentionWatch, CountsProcessorTimeWhereItCan) {
  try {
    CounterGroup::open({"task-clock"});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const ContentionWatch watch;
  burn_cpu_ms(20);
  const Contention contention = watch.since();
  ASSERT_TRUE(contention.task_clock_s);
  EXPECT_GT(*contention.task_clock_s, 0.9 * 0.020);
  ASSERT_TRUE(contention.page_faults);
  EXPECT_GE(*contention.page_faults, 0);
}

}  // namespace
}  // namespace tenshot::descriptor
