#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// The library of a pool: every device under its best structure, then the generic entry. `devices` are the ids, one a
/// row of `latencies`. Throws InputError when a device has fewer measured architectures than costs.
StructuredLibrary fit_library(const nasbench::StructureModel& model, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies);

/// The library of a pool. Throws InputError where its space has no execution structures, or a device too few networks.
StructuredLibrary library_of(const datasets::Pool& pool);

/// Latency [device][architecture], ms, that the library of `pool` expects on the pool's devices. Throws FormatError
/// when the library lacks one.
std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<nasbench::Architecture>& architectures);

}  // namespace tenshot::trainer::structured
