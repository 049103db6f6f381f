#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// The content of one TorchScript file, as trainer/networks/torchscript.h describes it, with `intervals` also
///   predict_interval(architectures: List[str], confidence: float up to 0.999) -> (latency_ms, lower_ms, upper_ms)
/// The file holds what the posterior says of each architecture of the space. Where an encoding holds the probabilities
/// of options, forward() gives the expected latency of options that are chosen independently of each other.
std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card, bool intervals);

}  // namespace tenshot::trainer::structured
