#include "descriptor/machine/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "nasbench/support/numbers.h"
#include "nasbench/support/words.h"

namespace tenshot::descriptor {
namespace {

/// What /proc/cpuinfo says under `key` of the first processor. Read once: that takes a tenth of a millisecond.
std::optional<std::string> cpu_fact(std::string_view key) {
  static const std::map<std::string, std::string, std::less<>> facts = [] {
    std::map<std::string, std::string, std::less<>> read;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string_view text = line;
      read.emplace(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));  // the first of a key stays
    }
    return read;
  }();
  const auto found = facts.find(key);
  return found == facts.end() ? std::nullopt : std::optional<std::string>(found->second);
}

std::optional<double> number_in(const std::filesystem::path& path) {
  const std::optional<std::string> line = first_line(path);
  return line ? parse_number(*line) : std::nullopt;
}

bool allow_only(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::optional<std::string> first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  while (!line.empty() && line.back() == '\0') line.pop_back();  // device trees end in NUL
  return std::string(trimmed(line));
}

bool has_cpu_flag(const std::string& flag) { return words_of(cpu_fact("flags").value_or("")).count(flag) > 0; }

std::string cpu_model() {
  if (const std::optional<std::string> name = cpu_fact("model name")) return *name;
  return first_line("/proc/device-tree/model").value_or("unknown CPU");  // Arm boards
}

std::string cpu_revision() {
  const auto family = cpu_fact("cpu family"), model = cpu_fact("model"), stepping = cpu_fact("stepping");
  return family && model && stepping ? "family " + *family + " model " + *model + " stepping " + *stepping : "";
}

int usable_cpus() {
  const std::size_t allowed = allowed_cpus().size();
  return static_cast<int>(allowed > 0 ? allowed : std::max(1u, std::thread::hardware_concurrency()));
}

std::string kernel_release() {
  utsname names{};
  if (uname(&names) != 0) return "unknown kernel";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::vector<double> load_average() {
  std::array<double, 3> averages{};
  const int found = getloadavg(averages.data(), static_cast<int>(averages.size()));
  return {averages.begin(), averages.begin() + std::max(found, 0)};
}

std::optional<double> cpu_frequency_mhz(int cpu) {
  const std::optional<double> kilohertz =
      number_in("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq");
  return kilohertz ? std::optional<double>(*kilohertz / 1000) : std::nullopt;
}

std::optional<double> temperature_c() {
  std::optional<double> hottest;
  for (int zone = 0; zone < 32; ++zone) {
    const auto millidegrees = number_in("/sys/class/thermal/thermal_zone" + std::to_string(zone) + "/temp");
    if (millidegrees && (!hottest || *millidegrees / 1000 > *hottest)) hottest = *millidegrees / 1000;
  }
  return hottest;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

CpuPin::CpuPin(int cpus) : former_cpus_(allowed_cpus()) {
  const auto wanted = std::min(former_cpus_.size(), static_cast<std::size_t>(std::max(cpus, 0)));
  std::vector<int> last(former_cpus_.end() - static_cast<std::ptrdiff_t>(wanted), former_cpus_.end());
  if (!last.empty() && allow_only(last)) cpus_ = std::move(last);
}

CpuPin::CpuPin(std::vector<int> cpus) : former_cpus_(allowed_cpus()) {
  if (!cpus.empty() && allow_only(cpus)) cpus_ = std::move(cpus);
}

CpuPin::~CpuPin() {
  if (!cpus_.empty()) allow_only(former_cpus_);
}

}  // namespace tenshot::descriptor
