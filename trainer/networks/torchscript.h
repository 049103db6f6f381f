#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/spaces/search_space.h"
#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

/// The content of one TorchScript file that needs nothing of tenshot: torch.jit.load in Python or C++ gives a module
/// with, whatever the predictor and the space,
///   predict(architectures: List[str]) -> latency_ms Tensor[N]
///   encode(architectures: List[str]) -> Tensor[N, width]
///   forward(encoding: Tensor[N, width]) -> latency_ms Tensor[N]
/// and predict_interval() from predictors that have intervals. Strings are read inside TorchScript, which raises on one
/// that is no architecture of the space. `forward` has gradients with respect to the encoding, which may hold the
/// probabilities of options. The card is the extra file "card.json".
///
///   predictor = torch.jit.load("device.pt")
///   predictor.predict(["|nor_conv_3x3~0|+|none~0|skip_connect~1|+|skip_connect~0|none~1|avg_pool_3x3~2|"])
std::string torchscript(const FeedForward& network, const nasbench::SearchSpace& space, const nlohmann::json& card);
using FeedForwardTorchScript = std::string(const FeedForward&, const nasbench::SearchSpace&, const nlohmann::json&);

}  // namespace tenshot::trainer
