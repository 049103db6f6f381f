#include "descriptor/counters/perf_profile.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "descriptor/counters/counters.h"
#include "nasbench/support/error.h"
#include "tests/unit/descriptor/burn.h"

namespace tenshot::descriptor {
namespace {

using Operators = std::vector<std::function<void()>>;

Operators one_operator() {
  return {[] {}};
}

PerfCountOptions counting(std::vector<std::string> events, int passes = 0, int runs = 2) {
  PerfCountOptions options;
  options.events = std::move(events);
  options.passes = passes;
  options.runs = runs;
  return options;
}

/// Skips where not even software events can be opened.
class CountByPerfEvent : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      CounterGroup::open({"task-clock", "page-faults"});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(CountByPerfEvent, AnOperatorOfTenTimesTheWorkCountsClearlyMore) {
  const OperatorCounts counts =
      count_by_perf_event({[] { burn_cpu_ms(2); }, [] { burn_cpu_ms(20); }}, counting({"task-clock"}));
  ASSERT_EQ(counts.per_run.size(), 2u);
  EXPECT_GT(counts.per_run[1][0], 3 * counts.per_run[0][0]);
}

TEST_F(CountByPerfEvent, CountsAreOfOneRun) {
  for (const int runs : {1, 8}) {
    const OperatorCounts counts = count_by_perf_event({[] { burn_cpu_ms(10); }}, counting({"task-clock"}, 0, runs));
    EXPECT_GT(counts.per_run[0][0], 0.9 * 10e6) << runs;
    EXPECT_LT(counts.per_run[0][0], 4 * 10e6) << runs;
  }
}

TEST_F(CountByPerfEvent, TheWarmUpRunIsNotCounted) {
  int runs = 0;
  const OperatorCounts counts = count_by_perf_event({[&] {
                                                      ++runs;
                                                      burn_cpu_ms(runs <= 1 ? 100 : 1);
                                                    }},
                                                    counting({"task-clock"}, 1, 1));
  EXPECT_EQ(runs, 2);
  EXPECT_LT(counts.per_run[0][0], 100e6);
}

TEST_F(CountByPerfEvent, PassesShareTheEventsAndKeepTheirOrder) {
  const std::vector<std::string> events = {"page-faults", "task-clock", "perf::CPU-CLOCK"};
  for (const int passes : {1, 2, 3}) {
    int runs = 0;
    const PerfCountOptions options = counting(events, passes, 4);
    const OperatorCounts counts = count_by_perf_event({[&] {
                                                        ++runs;
                                                        burn_cpu_ms(1);
                                                      }},
                                                      options);
    EXPECT_EQ(runs, passes * 5);
    EXPECT_EQ(counts.events, events);
    ASSERT_EQ(counts.per_run.size(), 1u);
    ASSERT_EQ(counts.per_run[0].size(), 3u);
    EXPECT_LT(counts.per_run[0][0], 1e5);  // faults
    EXPECT_GT(counts.per_run[0][1], 0.9e6);
    EXPECT_GT(counts.per_run[0][2], 0.9e6);
    EXPECT_EQ(counts.conditions.at("passes"), std::to_string(passes));
  }
}

TEST_F(CountByPerfEvent, ChoosesPassesOfFourEventsAtMost) {
  std::vector<std::string> events(4, "task-clock");
  EXPECT_EQ(count_by_perf_event(one_operator(), counting(events)).conditions.at("passes"), "1");
  events.emplace_back("page-faults");
  EXPECT_EQ(count_by_perf_event(one_operator(), counting(events)).conditions.at("passes"), "2");
}

TEST_F(CountByPerfEvent, SaysHowItCounted) {
  const OperatorCounts counts = count_by_perf_event(one_operator(), counting({"task-clock", "page-faults"}));
  EXPECT_EQ(counts.source, "perf_event");
  EXPECT_EQ(counts.conditions.at("mode"), "user");
  EXPECT_EQ(counts.conditions.at("runs"), "2");
  EXPECT_EQ(counts.conditions.at("threads"), "process");
  EXPECT_EQ(counts.conditions.at("scaled_events"), "none");
  EXPECT_EQ(counts.conditions.at("missing_events"), "none");
  EXPECT_FALSE(counts.conditions.at("core_type").empty());
}

/// A pool of one thread, as runtimes have: runs what it is given and hands back when that is done.
class WorkerThread {
 public:
  ~WorkerThread() {
    hand_over(nullptr, true);
    thread_.join();
  }
  void run(const std::function<void()>& work) {
    hand_over(&work, false);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  void hand_over(const std::function<void()>* work, bool end) {
    const std::lock_guard lock(mutex_);
    work_ = work;
    end_ = end;
    changed_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return work_ != nullptr || end_; });
      if (end_) return;
      (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  bool end_ = false;
  std::thread thread_{[this] { serve(); }};
};

TEST_F(CountByPerfEvent, CountsAThreadPoolThatRunsAlready) {
  WorkerThread pool;
  const Operators operators = {[&] { pool.run([] { burn_cpu_ms(20); }); }};
  PerfCountOptions options = counting({"task-clock"});
  EXPECT_GT(count_by_perf_event(operators, options).per_run[0][0], 0.9 * 20e6);
  options.running_threads = false;
  EXPECT_LT(count_by_perf_event(operators, options).per_run[0][0], 0.5 * 20e6);
}

TEST_F(CountByPerfEvent, CountsAThreadPoolThatTheOperatorStarts) {
  const Operators operators = {[] { std::thread([] { burn_cpu_ms(20); }).join(); }};
  EXPECT_GT(count_by_perf_event(operators, counting({"task-clock"})).per_run[0][0], 0.9 * 20e6);
}

TEST_F(CountByPerfEvent, CountsTheDefaultSixWhereTheMachineHasThem) {
  const std::string status = perf_event_status();
  if (status != "hardware counters available") {
    EXPECT_THROW(count_by_perf_event(one_operator()), Error);
    GTEST_SKIP() << status;
  }
  const OperatorCounts counts = count_by_perf_event({[] { burn_cpu_ms(1); }, [] { burn_cpu_ms(10); }});
  EXPECT_EQ(counts.events.size(), 6u);
  EXPECT_EQ(counts.conditions.at("passes"), "2");
  for (const std::size_t event : {0u, 1u}) EXPECT_GT(counts.per_run[1][event], 3 * counts.per_run[0][event]);
}

TEST(CountByPerfEventOptions, ThatCannotBeAreRefused) {
  const PerfCountOptions good = counting({"task-clock", "page-faults"});
  EXPECT_THROW(count_by_perf_event({}, good), InputError);
  PerfCountOptions bad = good;
  bad.passes = 3;
  EXPECT_THROW(count_by_perf_event(one_operator(), bad), InputError);
  EXPECT_THROW(count_by_perf_event(one_operator(), counting({"no-such-event"})), InputError);
}

}  // namespace
}  // namespace tenshot::descriptor
