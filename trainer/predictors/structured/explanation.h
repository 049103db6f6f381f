#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a posterior found out, for people: the structures and costs that are believed.
DeviceCosts explain(const StructuredPosterior& posterior);

/// The relative noise of a measurement, median over components; noise_of is the root mean square.
double median_noise(const StructuredPosterior& posterior);

/// What is suspicious about measurements, one sentence each without a full stop; empty when nothing is. Looks at the
/// unit (the scale against the pool: seconds and microseconds are three orders away), at measurements that no structure
/// explains, at measured networks that compute nothing, at latencies that do not differ, and at too few of them.
/// Without `milliseconds`, where the measurements are not what the library's are or in another unit, not at the unit.
std::vector<std::string> suspicions(const StructuredLibrary& library, const AdaptationSet& set,
                                    const StructuredPosterior& posterior, bool milliseconds = true);

/// What a person wants to know of the device in words, one sentence each. `others` are architectures
/// that could be measured next. `milliseconds`: the measurements and the pool are both in them.
std::vector<Remark> explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                      const AdaptationSet& set, const std::vector<nasbench::Architecture>& others,
                                      bool milliseconds);

/// What the pool cannot do for a device: too few device-runtimes to check intervals on, operators
/// that were measured at another resolution. `descriptor` is what the adaptation used; nothing: none.
std::vector<Remark> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor);

}  // namespace tenshot::trainer::structured
