#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/adaptation_set.h"
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

/// One thing that is suspicious about measurements.
struct Suspicion {
  enum class Of {
    seconds,        ///< the latencies are `times` below the fastest device of the pool
    microseconds,   ///< the latencies are `times` above the slowest device of the pool
    few,            ///< there are only `count` measurements
    unconnected,    ///< no measured network connects its input to its output
    equal,          ///< all `count` latencies are `measured_ms`
    removed,        ///< the runtime left next to nothing of `count` networks that connect no input to an output
    outlier,        ///< `architecture` took `measured_ms` where the others suggest `expected_ms`
    more_outliers,  ///< `count` further ones
  };
  Of of = Of::few;
  std::size_t count = 0;
  double times = 0;
  double measured_ms = 0;
  double expected_ms = 0;
  nasbench::Architecture architecture = {};
};

/// What is suspicious about measurements; empty when nothing is. Looks at the unit (the scale against the pool: seconds
/// and microseconds are three orders away), at measurements that no structure explains, at measured networks that
/// compute nothing, at latencies that do not differ, and at too few of them. Without `milliseconds`, where the
/// measurements are not what the library's are or in another unit, not at the unit.
std::vector<Suspicion> suspicions(const StructuredLibrary& library, const AdaptationSet& set,
                                  const StructuredPosterior& posterior, bool milliseconds = true);

}  // namespace tenshot::trainer::structured
