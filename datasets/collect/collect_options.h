#pragma once

#include "datasets/collect/collect.h"
#include "descriptor/runtimes/runtime.h"

namespace tenshot::datasets {

/// Throws InputError that names the option which is out of range, or which the runtime cannot follow.
void require_sensible(const CollectOptions& options, const descriptor::Runtime& runtime);

}  // namespace tenshot::datasets
