#include "datasets/kit/conditions.h"

#include <nlohmann/json.hpp>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

/// What measure.sh or collect noted, such as "/before/power_mode"; empty where nothing was.
std::string noted(const nlohmann::json& environment, const std::string& place) {
  const nlohmann::json::json_pointer pointer(place);
  if (!environment.contains(pointer)) return "";
  const nlohmann::json& found = environment.at(pointer);
  return found.is_string() ? excerpt(found.get<std::string>(), 120) : found.is_number() ? found.dump() : "";
}

/// "GPU at 1020 of 1020 MHz": a clock before measuring, and the highest allowed. `per_mhz` is the unit of both.
std::string clock(const nlohmann::json& environment, const std::string& name, const std::string& place,
                  const std::string& highest, double per_mhz) {
  const auto now = parse_number(noted(environment, place)), most = parse_number(noted(environment, highest));
  if (!now) return "";
  return name + " at " + decimals(*now / per_mhz, 0) + (most ? " of " + decimals(*most / per_mhz, 0) : "") + " MHz";
}

/// The GPU's, the memory's, and that of the processor that may be the fastest.
std::string clocks(const nlohmann::json& environment) {
  const auto most_khz = [&](int cpu) {
    return parse_number(noted(environment, "/before/cpu" + std::to_string(cpu) + "_max_khz")).value_or(0);
  };
  int fastest = 0;
  constexpr int most_processors = 256;
  for (int cpu = 1; cpu < most_processors; ++cpu) fastest = most_khz(cpu) > most_khz(fastest) ? cpu : fastest;
  const std::string cpu = "/before/cpu" + std::to_string(fastest),
                    governor = noted(environment, "/before/cpu_governor");
  std::vector<std::string> parts = {clock(environment, "GPU", "/before/gpu_hz", "/before/gpu_max_hz", 1e6),
                                    clock(environment, "memory", "/before/emc_hz", "", 1e6),
                                    clock(environment, "CPU", cpu + "_khz", cpu + "_max_khz", 1e3),
                                    clock(environment, "CPU", "/before/frequency_mhz", "", 1),
                                    governor.empty() ? governor : "governor " + governor};
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return joined(parts);
}

}  // namespace

MeasuringConditions conditions_of(const DeviceRuntime& device) {
  const nlohmann::json environment = nlohmann::json::parse(device.environment, nullptr, false);
  std::string runtime = device.runtime, precision = device.precision, mode = noted(environment, "/before/power_mode");
  for (const char* place : {"/run/version", "/runtime_version", "/run/command"}) {
    const std::string more = noted(environment, place);
    if (!more.empty()) runtime += (runtime.empty() ? "" : ", ") + more;
  }
  if (device.threads > 0) precision += ", threads: " + std::to_string(device.threads);
  if (device.batch > 0) precision += ", batch: " + std::to_string(device.batch);
  const std::string optimization = noted(environment, "/run/optimization");
  if (!optimization.empty()) precision += ", optimization: " + optimization;
  const std::string later = noted(environment, "/after/power_mode");
  if (!mode.empty() && !later.empty() && later != mode) mode += ", later " + later;
  std::string date = noted(environment, "/run/started") + noted(environment, "/started_utc");
  if (date.size() == std::string_view("2026-11-25T10:00:00Z").size())
    date = date.replace(10, 1, " ").substr(0, 16) + " UTC";
  MeasuringConditions all = {{"board", device.device == device.id ? std::string() : device.device},
                             {"runtime", runtime},
                             {"precision", precision},
                             {"power mode", mode},
                             {"clocks", clocks(environment)},
                             {"date", date}};
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& entry) { return entry.second.empty(); }), all.end());
  return all;
}

bool holds_condition(const std::string& several, const std::string& one) {
  return ("; " + several + "; ").find("; " + one + "; ") != std::string::npos;
}

void add_conditions(MeasuringConditions& conditions, const MeasuringConditions& others) {
  for (const auto& other : others) {
    const auto own = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const auto& entry) { return entry.first == other.first; });
    if (own == conditions.end()) {
      conditions.push_back(other);
    } else if (!holds_condition(own->second, other.second)) {
      own->second += "; " + other.second;
    }
  }
}

}  // namespace tenshot::datasets
