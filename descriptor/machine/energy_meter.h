#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tenshot::descriptor {

/// A sensor of the machine that tells energy or power, as a file of sysfs.
struct EnergySensor {
  enum class Kind {
    counter,  ///< energy so far (RAPL: `energy_uj`), which begins again at `wraps_at`
    power,    ///< power now (INA of Jetson: `in_power0_input`)
    current   ///< voltage and current now, whose product is the power (INA3221 as hwmon: `in1_input`, `curr1_input`)
  };
  Kind kind = Kind::counter;
  std::string name;               ///< "package-0", "VDD_IN"
  std::filesystem::path file;     ///< energy in µJ, power in mW, or current in mA
  std::filesystem::path voltage;  ///< in mV; of `current` alone
  std::uint64_t wraps_at = 0;     ///< µJ; of counters alone; 0: unknown
};

/// The sensors that together tell what the machine takes, or why there is none.
struct EnergySensors {
  std::vector<EnergySensor> sensors;
  std::string source;  ///< "RAPL: package-0, dram", "INA3221: VDD_IN"; empty without sensors
  std::string reason;  ///< what was looked for and not found, or may not be read; empty with sensors
};

/// Looks below `sys` for, in this order:
/// - RAPL by the powercap framework (Linux, Documentation/power/powercap): every package and its memory;
/// - the INA3221 of a Jetson, as hwmon or as an IIO device of earlier kernels: the rail that feeds the module (VDD_IN,
///   POM_5V_IN) where there is one, and all rails together otherwise.
EnergySensors find_energy_sensors(const std::filesystem::path& sys = "/sys");

/// The energy while `use` runs, mJ, by one sensor at least. Sensors of power are read a hundred times a second
/// meanwhile, by a thread of its own. Throws FileError when a sensor can no longer be read.
double energy_mj(const std::vector<EnergySensor>& sensors, const std::function<void()>& use);

/// What a counter counted from `begin` to `end`, µJ, when it begins again after `wraps_at` at most once.
std::uint64_t counted_uj(std::uint64_t begin, std::uint64_t end, std::uint64_t wraps_at);

}  // namespace tenshot::descriptor
