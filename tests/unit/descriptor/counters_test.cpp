#include "descriptor/counters.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

std::uint64_t busy_loop(int rounds) {
  volatile std::uint64_t sum = 0;
  for (int i = 0; i < rounds; ++i) sum = sum + static_cast<std::uint64_t>(i);
  return sum;
}

std::optional<EventCounter> opened(const char* event, std::string& reason) {
  try {
    return EventCounter::open(event);
  } catch (const Error& error) {
    reason = error.what();
    return std::nullopt;
  }
}

TEST(EventCounter, TaskClockCountsWorkOfThisThread) {
  std::string reason;
  std::optional<EventCounter> clock = opened("perf::TASK-CLOCK", reason);
  if (!clock) GTEST_SKIP() << reason;
  clock->start();
  busy_loop(2'000'000);
  EXPECT_GT(clock->stop(), 0u);
}

TEST(EventCounter, StartCountsFromZero) {
  std::string reason;
  std::optional<EventCounter> clock = opened("perf::TASK-CLOCK", reason);
  if (!clock) GTEST_SKIP() << reason;
  clock->start();
  busy_loop(50'000'000);
  const std::uint64_t much = clock->stop();
  clock->start();
  const std::uint64_t little = clock->stop();
  EXPECT_LT(little, much);
}

TEST(EventCounter, SurvivesBeingMoved) {
  std::string reason;
  std::optional<EventCounter> clock = opened("perf::TASK-CLOCK", reason);
  if (!clock) GTEST_SKIP() << reason;
  EventCounter moved = std::move(*clock);
  moved.start();
  busy_loop(2'000'000);
  EXPECT_GT(moved.stop(), 0u);
}

TEST(EventCounter, CyclesCountWhereTheMachineHasThem) {
  std::string reason;
  std::optional<EventCounter> cycles = opened("perf::PERF_COUNT_HW_CPU_CYCLES", reason);
  if (!cycles) GTEST_SKIP() << reason;
  cycles->start();
  busy_loop(1'000'000);
  EXPECT_GT(cycles->stop(), 100'000u);
  EXPECT_EQ(perf_event_status(), "hardware counters available");
}

TEST(EventCounter, NamesAnEventThatDoesNotExist) {
  try {
    EventCounter::open("no-such-event");
    FAIL() << "opened an event that does not exist";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-event"), std::string::npos);
  }
}

TEST(PerfEventStatus, IsOneLineThatSaysSomething) {
  const std::string status = perf_event_status();
  EXPECT_NE(status.find("hardware counters"), std::string::npos);
  EXPECT_EQ(status.find('\n'), std::string::npos);
  EXPECT_EQ(libpfm_version().rfind("libpfm 4.", 0), 0u) << libpfm_version();
}

}  // namespace
}  // namespace tenshot::descriptor
