#include "descriptor/timing/contention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "descriptor/machine/machine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace tenshot::descriptor {
namespace {

/// The steal time of the processor that /proc/stat calls `name` ("cpu0").
std::optional<std::uint64_t> steal_of(std::string_view proc_stat, const std::string& name) {
  constexpr int columns_before_steal = 7;  // user nice system idle iowait irq softirq
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != name) continue;
    for (int column = 0; column < columns_before_steal; ++column) words >> word;
    std::uint64_t steal = 0;
    return words >> steal ? std::optional<std::uint64_t>(steal) : std::nullopt;
  }
  return std::nullopt;
}

template <class T>
std::optional<T> sum(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::optional<T>(*a + *b) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> steal_ticks(std::string_view proc_stat, const std::vector<int>& cpus) {
  std::uint64_t sum = 0;
  for (const int cpu : cpus) {
    const std::optional<std::uint64_t> steal = steal_of(proc_stat, "cpu" + std::to_string(cpu));
    if (!steal) return std::nullopt;
    sum += *steal;
  }
  return cpus.empty() ? std::nullopt : std::optional<std::uint64_t>(sum);
}

std::optional<std::uint64_t> wait_nanoseconds(const std::filesystem::path& tasks) {
  std::uint64_t sum = 0;
  std::error_code unreadable;
  const std::vector<std::filesystem::path> threads = entries_of(tasks, &unreadable);
  if (unreadable || threads.empty()) return std::nullopt;
  for (const std::filesystem::path& thread : threads) {
    std::ifstream numbers(thread / "schedstat");  // cannot be read once the thread has ended
    std::uint64_t run = 0, wait = 0;
    if (!(numbers >> run >> wait)) return std::nullopt;
    sum += wait;
  }
  return sum;
}

bool contended(const Contention& contention) {
  const double watched_s = contention.elapsed_s * contention.cpus;
  if (contention.steal_s && *contention.steal_s > tolerated_steal * watched_s) return true;
  if (contention.wait_s) return *contention.wait_s > tolerated_wait * contention.elapsed_s;
  return contention.involuntary_switches > 1 &&
         static_cast<double>(contention.involuntary_switches) > tolerated_switches_per_s * contention.elapsed_s;
}

Contention operator+(const Contention& a, const Contention& b) {
  return {a.elapsed_s + b.elapsed_s,         a.involuntary_switches + b.involuntary_switches,
          sum(a.steal_s, b.steal_s),         a.cpus,
          sum(a.wait_s, b.wait_s),           sum(a.task_clock_s, b.task_clock_s),
          sum(a.page_faults, b.page_faults), sum(a.context_switches, b.context_switches)};
}

ContentionWatch::ContentionWatch(ContentionOptions options) : options_(std::move(options)) {
  if (options_.cpus.empty()) options_.cpus = allowed_cpus();
  if (options_.software_counts) {
    CounterOptions all_threads;
    all_threads.running_threads = true;
    for (const char* event : {"task-clock", "page-faults", "context-switches"}) {
      try {
        counters_.emplace_back(event, CounterGroup::open({event}, all_threads));
        counters_.back().second.start();
      } catch (const Error&) {  // not permitted here: stays unknown
      }
    }
  }
  start_ = now();
}

ContentionWatch::Moment ContentionWatch::now() const {
  Moment moment;
  moment.clock_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  moment.involuntary_switches = usage.ru_nivcsw;
  std::ifstream stat(options_.proc_stat);
  moment.steal = steal_ticks(std::string{std::istreambuf_iterator<char>(stat), {}}, options_.cpus);
  moment.wait_ns = wait_nanoseconds(options_.tasks);
  return moment;
}

std::optional<double> ContentionWatch::counted(std::string_view event) const {
  for (const auto& [name, group] : counters_) {
    if (name != event) continue;
    const CountedValue value = group.read()[0];
    return value.missing() ? std::nullopt : std::optional<double>(value.count);
  }
  return std::nullopt;
}

Contention ContentionWatch::since() const {
  const Moment end = now();
  Contention contention;
  contention.elapsed_s = end.clock_s - start_.clock_s;
  contention.involuntary_switches = end.involuntary_switches - start_.involuntary_switches;
  contention.cpus = static_cast<int>(options_.cpus.size());
  if (start_.steal && end.steal && *end.steal >= *start_.steal) {
    contention.steal_s = static_cast<double>(*end.steal - *start_.steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  constexpr double nanoseconds = 1e9;
  if (start_.wait_ns && end.wait_ns && *end.wait_ns >= *start_.wait_ns) {
    contention.wait_s = static_cast<double>(*end.wait_ns - *start_.wait_ns) / nanoseconds;
  }
  if (const std::optional<double> clock = counted("task-clock")) contention.task_clock_s = *clock / nanoseconds;
  contention.page_faults = counted("page-faults");
  contention.context_switches = counted("context-switches");
  return contention;
}

}  // namespace tenshot::descriptor
