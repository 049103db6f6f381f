#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/core/adaptation_set.h"
#include "trainer/core/remark.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// One sentence, without a full stop. `space` is the one of the measured architectures.
std::string in_words(const Suspicion& suspicion, const nasbench::SearchSpace& space);

/// What a person wants to know of the device (explanation.h) in words, one sentence each. `others` are architectures
/// that could be measured next. `milliseconds`: the measurements and the pool are both in them.
std::vector<Remark> explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                      const AdaptationSet& set, const std::vector<nasbench::Architecture>& others,
                                      bool milliseconds);

/// What the pool cannot do for a device: too few device-runtimes to check intervals on, operators
/// that were measured at another resolution. `descriptor` is what the adaptation used; nothing: none.
std::vector<Remark> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor);

}  // namespace tenshot::trainer::structured
