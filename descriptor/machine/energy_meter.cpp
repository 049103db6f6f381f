#include "descriptor/machine/energy_meter.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>

#include "descriptor/machine/machine.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

namespace fs = std::filesystem;

double number_in(const fs::path& path) {
  const std::optional<std::string> line = first_line(path);
  const std::optional<double> number = line ? parse_number(*line) : std::nullopt;
  if (!number) throw FileError(path.string() + ": the energy sensor cannot be read");
  return *number;
}

/// The entries of a folder whose names begin so, in their order; none where there is no such folder.
std::vector<fs::path> entries(const fs::path& folder, const std::string& beginning = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder, &error)) {
    if (entry.filename().string().compare(0, beginning.size(), beginning) == 0) found.push_back(entry);
  }
  return found;
}

/// "RAPL: package-0, dram".
std::string described(const std::string& kind, const std::vector<EnergySensor>& sensors) {
  std::vector<std::string> names;
  for (const EnergySensor& sensor : sensors) names.push_back(sensor.name);
  return kind + ": " + joined(names);
}

EnergySensors rapl(const fs::path& sys) {
  EnergySensors found;
  const fs::path root = sys / "class" / "powercap";
  for (const fs::path& zone : entries(root, "intel-rapl:")) {
    const std::string id = zone.filename().string();
    const bool inner = std::count(id.begin(), id.end(), ':') > 1;
    const std::string name = first_line(zone / "name").value_or("");
    // The reading of a package includes its cores, which are a zone inside it, and leaves out its memory.
    if (inner ? name != "dram" : name.compare(0, 7, "package") != 0) continue;
    const fs::path energy = zone / "energy_uj";
    if (!first_line(energy)) {
      found.reason = energy.string() + " may not be read by this user (it needs root, or chmod a+r)";
      continue;
    }
    const double range = parse_number(first_line(zone / "max_energy_range_uj").value_or("0")).value_or(0);
    found.sensors.push_back({EnergySensor::Kind::counter, name, energy, {}, static_cast<std::uint64_t>(range)});
  }
  if (found.sensors.empty()) {
    if (found.reason.empty()) found.reason = root.string() + " has no intel-rapl package";
    return found;
  }
  found.source = described("RAPL", found.sensors);
  found.reason.clear();
  return found;
}

/// The rails of an INA3221 under its hwmon folder: channel n has in<n>_label, in<n>_input (mV), curr<n>_input (mA).
void add_hwmon_rails(const fs::path& folder, std::vector<EnergySensor>& rails) {
  for (int channel = 1; channel <= 3; ++channel) {
    const std::string n = std::to_string(channel);
    const std::optional<std::string> label = first_line(folder / ("in" + n + "_label"));
    if (!label || label->empty() || *label == "NC") continue;
    if (!first_line(folder / ("curr" + n + "_input")) || !first_line(folder / ("in" + n + "_input"))) continue;
    rails.push_back(
        {EnergySensor::Kind::current, *label, folder / ("curr" + n + "_input"), folder / ("in" + n + "_input"), 0});
  }
}

/// The same under the IIO folder of earlier kernels: rail_name_<n>, in_power<n>_input (mW).
void add_iio_rails(const fs::path& folder, std::vector<EnergySensor>& rails) {
  for (int channel = 0; channel <= 2; ++channel) {
    const std::string n = std::to_string(channel);
    const std::optional<std::string> label = first_line(folder / ("rail_name_" + n));
    const fs::path power = folder / ("in_power" + n + "_input");
    if (!label || label->empty() || !first_line(power)) continue;
    rails.push_back({EnergySensor::Kind::power, *label, power, {}, 0});
  }
}

EnergySensors ina(const fs::path& sys) {
  EnergySensors found;
  std::vector<EnergySensor> rails;
  for (const char* driver : {"ina3221", "ina3221x"}) {
    for (const fs::path& device : entries(sys / "bus" / "i2c" / "drivers" / driver)) {
      for (const fs::path& folder : entries(device / "hwmon", "hwmon")) add_hwmon_rails(folder, rails);
      for (const fs::path& folder : entries(device, "iio:device")) add_iio_rails(folder, rails);
    }
  }
  if (rails.empty()) {
    found.reason = (sys / "bus" / "i2c" / "drivers" / "ina3221").string() + " has no rail with a name";
    return found;
  }
  for (const EnergySensor& rail : rails) {
    if (rail.name == "VDD_IN" || rail.name == "POM_5V_IN") found.sensors = {rail};
  }
  if (found.sensors.empty()) found.sensors = rails;
  found.source = described("INA3221", found.sensors);
  return found;
}

double power_mw(const EnergySensor& sensor) {
  constexpr double micro_per_milli = 1000;
  const double value = number_in(sensor.file);
  return sensor.kind == EnergySensor::Kind::power ? value : value * number_in(sensor.voltage) / micro_per_milli;
}

/// The power of all sensors, added up over time (trapezoids) by a thread of its own.
struct Sampling {
  explicit Sampling(const std::vector<EnergySensor>& from) : sensors(from) {
    for (const EnergySensor& sensor : sensors) last_mw += power_mw(sensor);
    last = Clock::now();
    thread = std::thread([this] { sample(); });
  }

  ~Sampling() { end(); }

  void end() {
    stopped = true;
    if (thread.joinable()) thread.join();
  }

  void add() {
    double now_mw = 0;
    for (const EnergySensor& sensor : sensors) now_mw += power_mw(sensor);
    const Clock::time_point now = Clock::now();
    energy_mj += (last_mw + now_mw) / 2 * std::chrono::duration<double>(now - last).count();
    last_mw = now_mw;
    last = now;
  }

  void sample() {
    try {
      while (!stopped) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        add();
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }

  const std::vector<EnergySensor>& sensors;
  std::atomic<bool> stopped{false};
  Clock::time_point last;
  double last_mw = 0, energy_mj = 0;
  std::exception_ptr failure;
  std::thread thread;
};

}  // namespace

EnergySensors find_energy_sensors(const fs::path& sys) {
  EnergySensors found = rapl(sys);
  if (!found.sensors.empty()) return found;
  EnergySensors board = ina(sys);
  if (board.sensors.empty()) board.reason = found.reason + "; " + board.reason;
  return board;
}

std::uint64_t counted_uj(std::uint64_t begin, std::uint64_t end, std::uint64_t wraps_at) {
  if (end >= begin) return end - begin;
  return wraps_at > begin ? wraps_at - begin + end : 0;
}

double energy_mj(const std::vector<EnergySensor>& sensors, const std::function<void()>& use) {
  constexpr double uj_per_mj = 1000;
  if (sensors.front().kind != EnergySensor::Kind::counter) {
    Sampling sampling(sensors);
    use();
    sampling.end();
    if (!sampling.failure) sampling.add();  // up to this moment
    if (sampling.failure) std::rethrow_exception(sampling.failure);
    return sampling.energy_mj;
  }
  std::vector<double> begin_uj;
  for (const EnergySensor& sensor : sensors) begin_uj.push_back(number_in(sensor.file));
  use();
  double energy_uj = 0;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    energy_uj +=
        static_cast<double>(counted_uj(static_cast<std::uint64_t>(begin_uj[i]),
                                       static_cast<std::uint64_t>(number_in(sensors[i].file)), sensors[i].wraps_at));
  }
  return energy_uj / uj_per_mj;
}

}  // namespace tenshot::descriptor
