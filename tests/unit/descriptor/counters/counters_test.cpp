#include "descriptor/counters/counters.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "nasbench/support/error.h"
#include "tests/unit/descriptor/burn.h"

namespace tenshot::descriptor {
namespace {

const std::vector<std::string> six_names = {"cycles",       "instructions",    "cache-references",
                                            "cache-misses", "L1-dcache-loads", "L1-dcache-load-misses"};

std::optional<CounterGroup> opened(const std::vector<std::string>& events, std::string& reason,
                                   const CounterOptions& options = {}) {
  try {
    CounterGroup group = CounterGroup::open(events, options);
    for (const std::string& why : group.unavailable()) {
      if (!why.empty()) reason = why;
    }
    return reason.empty() ? std::optional<CounterGroup>(std::move(group)) : std::nullopt;
  } catch (const Error& error) {
    reason = error.what();
    return std::nullopt;
  }
}

TEST(Interpret, ACountThatRanAllTheTimeIsExact) {
  const CountedValue value = interpret("cycles", {1000, 50, 50});
  EXPECT_EQ(value.count, 1000);
  EXPECT_FALSE(value.scaled);
  EXPECT_FALSE(value.missing());
}

TEST(Interpret, AMultiplexedCountIsScaledAndMarked) {
  const CountedValue value = interpret("cache-misses", {1000, 60, 15});
  EXPECT_DOUBLE_EQ(value.count, 4000);  // a quarter of the time
  EXPECT_TRUE(value.scaled);
}

TEST(Interpret, AnEventThatNeverRanIsMissing) {
  EXPECT_TRUE(interpret("cache-misses", {0, 60, 0}).missing());
  EXPECT_TRUE(interpret("task-clock", {0, 0, 0}).missing());
}

TEST(Interpret, AZeroThatCannotBeIsMissing) {
  for (const char* event : {"cycles", "instructions", "cache-references", "L1-dcache-loads"}) {
    EXPECT_TRUE(interpret(event, {0, 50, 50}).missing()) << event;
    EXPECT_FALSE(interpret(event, {1, 50, 50}).missing()) << event;
  }
}

TEST(Interpret, AZeroThatCanBeIsZero) {
  for (const char* event : {"cache-misses", "L1-dcache-load-misses", "page-faults", "skl::UOPS_ISSUED"}) {
    EXPECT_EQ(interpret(event, {0, 50, 50}).count, 0) << event;
    EXPECT_EQ(interpret(event, {0, 50, 10}).count, 0) << event;
  }
}

class CounterGroupTest : public ::testing::Test {
 protected:
  /// A started group; the test skips where it cannot be opened.
  void start(const std::vector<std::string>& events, const CounterOptions& options = {}) {
    group_ = opened(events, reason_, options);
    if (!group_) GTEST_SKIP() << reason_;
    group_->start();
  }

  std::optional<CounterGroup> group_;
  std::string reason_;
};

#define START_OR_SKIP(...) \
  start(__VA_ARGS__);      \
  if (IsSkipped()) return

TEST_F(CounterGroupTest, OwnsItsDescriptorsAlone) {
  EXPECT_FALSE(std::is_copy_constructible_v<CounterGroup>);
  EXPECT_FALSE(std::is_copy_assignable_v<CounterGroup>);
  EXPECT_TRUE(std::is_nothrow_move_constructible_v<CounterGroup>);
}

TEST_F(CounterGroupTest, CountsWorkOfTheCallingThread) {
  START_OR_SKIP({"task-clock"});
  burn_cpu_ms(20);
  const CountedValue value = group_->stop()[0];
  EXPECT_GT(value.count, 0.9 * 20e6);
  EXPECT_FALSE(value.scaled);
}

TEST_F(CounterGroupTest, StartCountsFromZero) {
  START_OR_SKIP({"task-clock"});
  burn_cpu_ms(50);
  const double much = group_->stop()[0].count;
  group_->start();
  const double little = group_->stop()[0].count;
  EXPECT_LT(little, much);
}

TEST_F(CounterGroupTest, ReadsWithoutStoppingAndStopsForGood) {
  START_OR_SKIP({"task-clock"});
  burn_cpu_ms(5);
  const double first = group_->read()[0].count;
  burn_cpu_ms(5);
  const double second = group_->stop()[0].count;
  burn_cpu_ms(5);
  EXPECT_GT(first, 0);
  EXPECT_GT(second, first);
  EXPECT_EQ(group_->read()[0].count, second);
}

TEST_F(CounterGroupTest, SurvivesBeingMoved) {
  START_OR_SKIP({"task-clock"});
  CounterGroup moved = std::move(*group_);
  group_.reset();
  burn_cpu_ms(5);
  EXPECT_GT(moved.stop()[0].count, 0.9 * 5e6);
}

TEST_F(CounterGroupTest, CountsSeveralEventsInTheAskedOrder) {
  START_OR_SKIP({"page-faults", "task-clock"});
  constexpr std::size_t pages = 64;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  const std::vector<CountedValue> counted = group_->stop();
  munmap(memory, pages * page);
  EXPECT_GE(counted[0].count, pages);
  EXPECT_GT(counted[1].count, counted[0].count);  // a fault takes more than a nanosecond
}

TEST_F(CounterGroupTest, CountsContextSwitches) {
  START_OR_SKIP({"context-switches"});
  const timespec a_moment{0, 100'000};
  for (int i = 0; i < 5; ++i) nanosleep(&a_moment, nullptr);
  EXPECT_GE(group_->stop()[0].count, 5);
}

TEST_F(CounterGroupTest, CountsAThreadThatStartsAfterOpening) {
  START_OR_SKIP({"task-clock"});
  std::thread worker([] { burn_cpu_ms(30); });
  worker.join();
  EXPECT_GT(group_->stop()[0].count, 0.9 * 30e6);
}

TEST_F(CounterGroupTest, CountsAThreadThatStillRuns) {
  START_OR_SKIP({"task-clock"});
  std::promise<void> burnt, release;
  std::thread worker([&] {
    burn_cpu_ms(30);
    burnt.set_value();
    release.get_future().wait();
  });
  burnt.get_future().wait();
  const double counted = group_->stop()[0].count;
  release.set_value();
  worker.join();
  EXPECT_GT(counted, 0.9 * 30e6);
}

/// What task-clock says while a thread that ran before the group was opened burns 60 ms; the caller only waits.
double task_clock_of_an_older_thread(bool running_threads, std::string& reason) {
  std::promise<void> running, go;
  std::thread worker([&] {
    running.set_value();
    go.get_future().wait();
    burn_cpu_ms(60);
  });
  running.get_future().wait();
  CounterOptions options;
  options.running_threads = running_threads;
  std::optional<CounterGroup> group = opened({"task-clock"}, reason, options);
  if (group) group->start();
  go.set_value();
  worker.join();
  return group ? group->stop()[0].count : 0;
}

TEST_F(CounterGroupTest, CountsAThreadThatRanBefore_WhenAttachedToIt) {
  const double counted = task_clock_of_an_older_thread(true, reason_);
  if (!reason_.empty()) GTEST_SKIP() << reason_;
  EXPECT_GT(counted, 0.9 * 60e6);
}

TEST_F(CounterGroupTest, MissesAThreadThatRanBefore_WhenNotAttachedToIt) {
  const double counted = task_clock_of_an_older_thread(false, reason_);
  if (!reason_.empty()) GTEST_SKIP() << reason_;
  EXPECT_LT(counted, 0.5 * 60e6);
}

TEST_F(CounterGroupTest, AttachedToAllThreads_CountsTheCallingOneOnce) {
  CounterOptions options;
  options.running_threads = true;
  START_OR_SKIP({"task-clock"}, options);
  const double before = own_cpu_ns();
  burn_cpu_ms(30);
  const double counted = group_->stop()[0].count;
  const double burnt = own_cpu_ns() - before;
  EXPECT_GT(counted, 0.9 * 30e6);
  EXPECT_LT(counted, 1.5 * burnt);
}

TEST_F(CounterGroupTest, KnowsPerfsNames) {
  std::vector<std::string> names = six_names;
  names.insert(names.end(), {"task-clock", "page-faults", "context-switches"});
  for (const std::string& name : names) {
    try {
      const CounterGroup group = CounterGroup::open({name});
      EXPECT_EQ(group.unavailable().size(), 1u);
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {  // a reason of this machine: it names the event
      EXPECT_NE(std::string(error.what()).find("cannot count '" + name + "'"), std::string::npos) << error.what();
    }
  }
}

TEST_F(CounterGroupTest, KnowsLibpfmsNames) {
  START_OR_SKIP({"perf::TASK-CLOCK"});
  burn_cpu_ms(5);
  EXPECT_GT(group_->stop()[0].count, 0.9 * 5e6);
}

TEST_F(CounterGroupTest, CountsTheSixWhereTheMachineHasThem) {
  START_OR_SKIP({six_names[0], six_names[1]});
  burn_cpu_ms(10);
  const std::vector<CountedValue> counted = group_->stop();
  EXPECT_GT(counted[0].count, 1e6);
  EXPECT_GT(counted[1].count, 1e6);
  EXPECT_EQ(perf_event_status(), "hardware counters available");
}

TEST_F(CounterGroupTest, NamesAnEventThatDoesNotExist) {
  START_OR_SKIP({"task-clock"});
  try {
    CounterGroup::open({"task-clock", "no-such-event"});
    FAIL() << "opened an event that does not exist";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-event"), std::string::npos) << error.what();
  }
}

TEST_F(CounterGroupTest, SaysThatTheFileLimitIsReached) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks into memory through a pipe, which this limit forbids";
#endif
  START_OR_SKIP({"task-clock"});
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
  rlimit none = former;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string reason;
  const bool open = opened({"task-clock"}, reason).has_value();
  setrlimit(RLIMIT_NOFILE, &former);
  EXPECT_FALSE(open);
  EXPECT_NE(reason.find("too many open files"), std::string::npos) << reason;
}

TEST(PerfEventStatus, IsOneLineThatSaysSomething) {
  const std::string status = perf_event_status();
  EXPECT_NE(status.find("hardware counters"), std::string::npos);
  EXPECT_EQ(status.find('\n'), std::string::npos);
  EXPECT_EQ(libpfm_version().rfind("libpfm 4.", 0), 0u) << libpfm_version();
}

}  // namespace
}  // namespace tenshot::descriptor
