#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// Costs of one device under one structure by robust ridge regression on the relative error: residuals are divided by
/// the fitted latency, and large ones count less (Huber 1964; k = 2 standard deviations, estimated by their median).
/// `relative_latency` is latency / median, one an architecture of `table`, NaN where it was not measured.
struct CostFit {
  Eigen::VectorXd costs;
  double log_rms = 0;
};
CostFit fit_costs(const nasbench::StructureModel& model, const nasbench::StructureTable& table, std::size_t structure,
                  const std::vector<double>& relative_latency);

/// The library of a pool: every device under its best structure, then the generic entry. `devices` are the ids, one a
/// row of `latencies`. Throws InputError when a device has fewer measured architectures than costs.
StructuredLibrary fit_library(const nasbench::StructureModel& model, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies);

}  // namespace tenshot::trainer::structured
