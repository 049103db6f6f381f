#pragma once

#include <cstddef>

#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// How adaptation spares itself the cube of the number of measurements.
struct ManyMeasurements {
  std::size_t judged = 32;   ///< measurements, chosen by information, on which every hypothesis is judged exactly
  std::size_t anchors = 64;  ///< measurements through which the residual process is seen
  std::size_t growth = 8;    ///< how many times more measurements each further selection of hypotheses sees
};

/// The posterior that adapt() gives from few measurements: every hypothesis sees them all, and each is an anchor of the
/// residual process. Its time grows with the cube of their number. `set` is what without_removed leaves. Throws
/// InputError where nothing explains them.
StructuredPosterior adapt_exactly(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options);

/// The posterior that adapt() gives from many measurements. All hypotheses are judged on a few, the better ones are
/// refined on more, until the best are fitted to all; the residual process has few anchors. `set` is what
/// without_removed leaves, of more than `judged` measurements. Throws InputError where nothing explains them.
StructuredPosterior adapt_to_many(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options, const ManyMeasurements& many = {});

}  // namespace tenshot::trainer::structured
