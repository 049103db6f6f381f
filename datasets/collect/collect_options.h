#pragma once

#include "datasets/collect/collect.h"
#include "descriptor/runtimes/runtime.h"

namespace tenshot::datasets {

/// Throws InputError that names the option which is out of range, or which the runtime cannot follow.
void require_sensible(const CollectOptions& options, const descriptor::Runtime& runtime);

/// The device-runtime as its file is to describe it, before anything is measured: its id (where the options have none,
/// default_id(), and the quantity behind it unless that is latency), device, runtime, settings and image.
DeviceRuntime described_device(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, Quantity quantity);

}  // namespace tenshot::datasets
