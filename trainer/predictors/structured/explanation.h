#pragma once

#include <string>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a posterior found out, for people.
struct Explanation : DeviceCosts {
  double noise = 0;            ///< relative noise of a measurement, median over components
  std::string nearest_device;  ///< of the library: the entry with the most weight; empty: what the descriptor says
};

Explanation explain(const StructuredPosterior& posterior, const StructuredLibrary& library);
/// Without the nearest device, which only a library knows.
Explanation explain(const StructuredPosterior& posterior);

/// What is suspicious about measurements, one sentence each; empty when nothing is. Looks at the unit (the scale
/// against the pool: seconds and microseconds are three orders away), at measurements that no structure explains, at
/// measured networks that compute nothing, at latencies that do not differ, and at too few of them. Without
/// `milliseconds`, where the measurements are not what the library's are or in another unit, not at the unit.
std::vector<std::string> evidence_warnings(const StructuredLibrary& library, const Evidence& evidence,
                                           const StructuredPosterior& posterior, bool milliseconds = true);

/// Architectures once each, with the geometric mean of their latencies; says for each repeated one what was averaged.
struct MergedEvidence {
  Evidence evidence;
  std::vector<std::string> notes;
};
MergedEvidence merge_duplicates(const Evidence& evidence, const nasbench::SearchSpace& space);

}  // namespace tenshot::trainer::structured
