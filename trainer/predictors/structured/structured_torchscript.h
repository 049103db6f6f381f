#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/predictors/structured/posterior.h"

namespace torch::jit {
struct Module;
}

namespace tenshot::trainer::structured {

/// The content of one TorchScript file with
///   predict(architectures: List[str]) -> latency_ms Tensor[N] (float64)
///   predict_interval(architectures: List[str], confidence: float up to 0.999) -> (latency_ms, lower_ms, upper_ms),
///   each Tensor[N] forward(encoding: Tensor[N, width]) -> latency_ms Tensor[N]
/// The file holds the structure features of the space's architectures, each distinct row once, and the posterior's
/// costs; latencies are computed from them. The card is the extra file "card.json".
std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card);

/// Gives `module` the method quantile(probability: float) -> float of the standardised error: it interpolates between
/// error_quantile() at many probabilities.
void add_quantiles(torch::jit::Module& module, const IntervalCalibration& calibration);

}  // namespace tenshot::trainer::structured
