#pragma once

#include "datasets/collect/collect.h"

namespace tenshot::datasets {

/// What `tenshot collect --quantity energy` does: each network runs again and again while the machine's own sensors
/// count, and its energy is what they counted, divided by the runs. That is what the machine took meanwhile, its idle
/// power included. Writes DIR/<id>/energy.csv and the device file after every network, so that the same call resumes.
/// Throws InputError on a machine without sensors, saying what was looked for; Interrupted when progress said stop.
DeviceRuntime collect_energy(const CollectOptions& options, const NetworkSpace& space,
                             const CollectProgress& progress = {});

}  // namespace tenshot::datasets
