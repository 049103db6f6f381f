#pragma once

#include "nasbench/structures/structures.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/posterior/intervals.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a posterior says of the architectures of `table`, one after the other.
LogLatency predict(const StructuredPosterior& posterior, const nasbench::StructureTable& table);
Predictions predict_intervals(const StructuredPosterior& posterior, const nasbench::StructureTable& table,
                              double confidence);

/// What is exported: what the posterior says of each architecture of its space. Where an encoding holds the
/// probabilities of options, the latency is the expected one of options that are chosen independently of each other.
ExportedFormula formula_of(const StructuredPosterior& posterior);

}  // namespace tenshot::trainer::structured
