#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// The content of one TorchScript file, as trainer/networks/torchscript.h describes it; with `intervals` also
///   predict_interval(architectures: List[str], confidence: float) -> (latency_ms, lower_ms, upper_ms)
///   forward_interval(encoding: Tensor, confidence: float) -> the same
/// In a space whose options combine, the encoding is one-hot, or holds the probabilities of options: latency is then
/// that of the expected features. Of networks by name it is network_encoding(): encode() knows those that the card
/// carries, and takes of the others what `tenshot network features` writes. The card is the extra file card.json.
/// All three numbers are NaN where the bounds are as far apart as why_unusable() refuses; of networks by name, so are
/// those of forward() and predict(), by their bounds of 90 %.
std::string torchscript(const nasbench::SearchSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                        const nlohmann::json& card, bool intervals);

}  // namespace tenshot::trainer::operators
