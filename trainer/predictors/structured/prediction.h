#pragma once

#include "nasbench/structures/structures.h"
#include "trainer/predictors/posterior/intervals.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a posterior says of the architectures of `table`, one after the other.
LogLatency predict(const StructuredPosterior& posterior, const nasbench::StructureTable& table);
Predictions predict_intervals(const StructuredPosterior& posterior, const nasbench::StructureTable& table,
                              double confidence);

}  // namespace tenshot::trainer::structured
