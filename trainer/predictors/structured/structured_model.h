#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer {

/// What training `structured` can be told. Each option is explained where it is declared (structured_model.cpp).
struct StructuredSettings {
  structured::StructuredPosteriorOptions posterior;
  std::string descriptor = "auto";
  std::uint64_t seed = 1;
};
const Declaration<StructuredSettings>& declared(const StructuredSettings&);

/// The predictor `structured`: latency as a sum of operator costs over what the runtime really executes, with the pool
/// as prior over both. Fits the library and calibrates its intervals; a second for a dozen devices. Throws InputError.
std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, const StructuredSettings& settings);

/// From an archive whose card names "structured". Throws FormatError.
std::unique_ptr<PoolModel> load_structured(const Archive& archive);

/// A device-runtime's posterior as a Predictor. Where the card names a "proxy" (make_transfer), the posterior is one
/// component that stands for something else than measurements' likelihood: then it has no intervals and knows no costs.
std::unique_ptr<Predictor> structured_predictor(structured::StructuredPosterior posterior, nlohmann::json card);
/// From an archive whose card names "structured" or "transfer". Throws FormatError.
std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive);

/// "transfer": the device-runtime of the pool that ranks the measured architectures most like the new one (Spearman's
/// ρ; on a tie the one a line fits better) stands for it, as the proxy device of Lu et al. (One Proxy Device Is Enough,
/// SIGMETRICS 2022) does. Its latencies, as the pool's library explains them, give the new device's by a line
/// a + b·latency with a, b ≥ 0, fitted to the relative error: the ranking is the proxy's own.
std::unique_ptr<PoolModel> make_transfer(const datasets::Pool& pool);

}  // namespace tenshot::trainer
