#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/core/predictor.h"
#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

/// A predictor without intervals whose whole knowledge of the device is one FeedForward. `card` names the predictor
/// ("predictor") and the space ("space") and says what it was made from.
std::unique_ptr<Predictor> feed_forward_predictor(FeedForward network, nlohmann::json card);
/// Throws FormatError.
std::unique_ptr<Predictor> load_feed_forward(const Archive& archive);

/// What every adapted predictor's card holds: content, predictor, space, versions, the adaptation set, the pool's hash
/// and devices, the seed. `pool_sha256` is the pool's content_hash, where the caller keeps it.
nlohmann::json predictor_card(const PoolModel& model, const AdaptationSet& set, std::uint64_t seed,
                              const std::string& pool_sha256 = {});

}  // namespace tenshot::trainer
