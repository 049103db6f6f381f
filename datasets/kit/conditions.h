#pragma once

#include <string>
#include <utility>
#include <vector>

#include "datasets/pool/pool.h"

namespace tenshot::datasets {

/// How a device-runtime was measured, as names and values for people: "board", "runtime", "precision", "power mode",
/// "clocks", "date". What nobody noted is left out.
using MeasuringConditions = std::vector<std::pair<std::string, std::string>>;

/// Reads them from a device file, which a kit's results are too (device_of).
MeasuringConditions conditions_of(const DeviceRuntime& device);

/// Whether `one` is among those of a name that stand beside each other.
bool holds_condition(const std::string& several, const std::string& one);

/// Adds those of another source. Where both have a name, values that differ stand beside each other.
void add_conditions(MeasuringConditions& conditions, const MeasuringConditions& others);

}  // namespace tenshot::datasets
