#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

/// A predictor without intervals whose whole knowledge of the device is one FeedForward.
class FeedForwardPredictor : public Predictor {
 public:
  /// `card` names the predictor ("predictor") and the space ("space") and says what it was made from.
  FeedForwardPredictor(FeedForward network, nlohmann::json card);
  /// Throws FormatError.
  explicit FeedForwardPredictor(const Archive& archive);

  std::string_view kind() const override { return kind_; }
  const SearchSpace& space() const override { return *space_; }
  datasets::Quantity quantity() const override { return get_quantity(card_); }
  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override;
  Archive to_archive() const override;
  ExportedFormula formula() const override;
  nlohmann::json to_document() const override;
  std::vector<Remark> explanation() const override;

 private:
  FeedForward network_;
  nlohmann::json card_;
  std::string kind_;
  const SearchSpace* space_;
};

/// What every adapted predictor's card holds: content, predictor, space, versions, the adaptation set, the pool's hash
/// and devices, the seed. `pool_sha256` is the pool's content_hash, where the caller keeps it.
nlohmann::json predictor_card(const PoolModel& model, const AdaptationSet& set, std::uint64_t seed,
                              const std::string& pool_sha256 = {});

}  // namespace tenshot::trainer
