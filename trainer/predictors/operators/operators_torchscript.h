#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// The content of one TorchScript file whose module has
///   forward(features: Tensor[N, features]) -> latency_ms Tensor[N]
///   predict_interval(features, confidence: float) -> (latency_ms, lower_ms, upper_ms)
/// The features are those of the card's key "features": the sums over a network's operators, undivided, then a one for
/// the option taken at each decision. In a space whose operators follow from each decision alone, the module also has
///   predict(architectures: List[str]) -> latency_ms Tensor[N]
/// The card is the extra file card.json.
std::string torchscript(const nasbench::SearchSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                        const nlohmann::json& card);

}  // namespace tenshot::trainer::operators
