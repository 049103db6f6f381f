#pragma once

#include <memory>

#include "trainer/predictor.h"

namespace tenshot::trainer {

/// The predictor everyone starts from: latency = a + b·FLOPs, fitted to the adaptation set by least squares on the
/// relative error with a, b ≥ 0 (and at 32² input, where only ratios of FLOPs matter). The pool only plans for it.
std::unique_ptr<PoolModel> make_flops_line(const datasets::Pool& pool);
std::unique_ptr<PoolModel> load_flops_line(const Archive& archive);

}  // namespace tenshot::trainer
