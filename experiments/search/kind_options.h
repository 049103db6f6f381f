#pragma once

#include "trainer/core/options.h"
#include "trainer/predictors/operators/device_kinds.h"

namespace tenshot::experiments {

using trainer::operators::KindOptions;

/// What a setting of the search may change of kinds of devices and groups of networks.
inline const trainer::Declaration<KindOptions> kind_options({
    {"variance", &KindOptions::variance, trainer::Allowed(0, 1e300),
     "Variance of a log cost of its own, before any device is known."},
    {"error_freedom", &KindOptions::error_freedom, trainer::Allowed(1e-3, 1e300),
     "ν of the Student distribution of networks about a device's costs."},
    {"noise", &KindOptions::noise, trainer::Allowed(1e-6, 1e3), "Deviation of log latency about a device's costs."},
    {"fewest", &KindOptions::fewest, trainer::Allowed(1, 1000), "Device-runtimes that are a kind of their own."},
    {"measure_variance", &KindOptions::measure_variance, trainer::Allowed(0, 1e300),
     "Variance of what costs of one measure share, before any device is known."},
    {"prior_devices", &KindOptions::prior_devices, trainer::Allowed(0, 1e300), "What these two count as, in devices."},
    {"kind_devices", &KindOptions::kind_devices, trainer::Allowed(0, 1e300),
     "What all device-runtimes count as, in devices, where a kind's are few."},
    {"cluster_devices", &KindOptions::cluster_devices, trainer::Allowed(0, 1e9),
     "Device-runtimes of a kind for each cluster of it; 0: none."},
    {"most_clusters", &KindOptions::most_clusters, trainer::Allowed(1, 1e9), "Clusters of a kind, at most."},
    {"measure_devices", &KindOptions::measure_devices, trainer::Allowed(0, 1e300),
     "What costs of one measure count as in the mean of a cost that few inform."},
    {"setting_power", &KindOptions::setting_power, trainer::Allowed(0, 1),
     "n settings of a board count as n^(1 − setting_power) boards."},
    {"rounds", &KindOptions::rounds, trainer::Allowed(1, 1000), "Rounds of expectation-maximisation."},
    {"device_freedom", &KindOptions::device_freedom, trainer::Allowed(0, 1e300),
     "ν of a Student distribution of devices about their kind; 0: all count alike. Smaller counts a device that is "
     "unlike the others less."},
    {"network_variance", &KindOptions::network_variance, trainer::Allowed(0, 1e300),
     "Variance of what a kind's costs miss of a network alike on all its devices; 0: each device errs for itself."},
});

}  // namespace tenshot::experiments
