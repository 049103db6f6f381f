#pragma once

#include "datasets/collect/collect.h"
#include "descriptor/machine/energy_meter.h"

namespace tenshot::datasets {

/// How long networks run for their energy to be known.
struct EnergyOptions {
  /// How long each visit lasts. Larger makes the sensors' own step of a few milliseconds count less, and takes longer.
  double seconds = 1;
  /// How often each network is visited; the median counts. More outvote visits that something else disturbed, and take
  /// longer.
  int visits = 3;
};

/// What `tenshot collect --quantity energy` does: each network runs again and again while the machine's own sensors
/// count, and its energy is what they counted, divided by the runs. That is what the machine took meanwhile, its idle
/// power included. Writes DIR/<id>/energy.csv and the device file after every network, so that the same call resumes.
/// Throws InputError on a machine without sensors, saying what was looked for; Interrupted when progress said stop.
DeviceRuntime collect_energy(const CollectOptions& options, const NetworkSpace& space,
                             const CollectProgress& progress = {}, const EnergyOptions& energy = {},
                             const descriptor::EnergySensors& sensors = descriptor::find_energy_sensors());

}  // namespace tenshot::datasets
