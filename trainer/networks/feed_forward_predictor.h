#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "trainer/core/predictor.h"
#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

/// A predictor without intervals whose whole knowledge of the device is one FeedForward. `card` names the predictor
/// ("predictor") and the space ("space") and says what it was made from.
std::unique_ptr<Predictor> feed_forward_predictor(FeedForward network, nlohmann::json card);
/// Throws FormatError.
std::unique_ptr<Predictor> load_feed_forward(const Archive& archive);

/// What every adapted predictor's card holds: content, predictor, space, versions, the adaptation set, pool and seed.
nlohmann::json predictor_card(const PoolModel& model, const AdaptationSet& set, std::uint64_t seed);
/// The same of a device-runtime of the pool that was never measured here. It tells how many networks the device was
/// learned from, of which source, and how well networks that were left out were predicted.
nlohmann::json known_device_card(const PoolModel& model, const OwnFits& fits, std::size_t device, std::uint64_t seed);

}  // namespace tenshot::trainer
