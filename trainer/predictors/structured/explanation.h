#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// The structures that are more probable than one in a thousand, by their numbers, and how probable: the most first.
std::vector<std::pair<std::size_t, double>> believed_structures(const StructuredPosterior& posterior);
/// The cost, ms, of one occurrence in the cell of each operation that a believed structure counts.
std::vector<PartCost> believed_costs(const StructuredPosterior& posterior);

/// What a person wants to know of the device in words, one sentence each. `others` are architectures that could be
/// measured next. Warns of measurements that no structure explains, of measured networks that compute nothing, of
/// latencies that do not differ, of too few of them and, where both the measurements and the pool are in
/// `milliseconds`, of another unit (seconds and microseconds are three orders away from the pool).
std::vector<Remark> explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                      const AdaptationSet& set, const std::vector<nasbench::Architecture>& others,
                                      bool milliseconds);

/// What the pool cannot do for a device: too few device-runtimes to check intervals on, operators
/// that were measured at another resolution. `descriptor` is what the adaptation used; nothing: none.
std::vector<Remark> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor);

}  // namespace tenshot::trainer::structured
