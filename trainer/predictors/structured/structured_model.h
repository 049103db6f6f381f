#pragma once

#include <cstdint>
#include <memory>
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
/// as prior over both (trainer/structured/). Fits the library and calibrates its intervals; a second for a dozen
/// devices. Throws InputError.
std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, const StructuredSettings& settings);

/// From an archive whose card names "structured". Throw FormatError.
std::unique_ptr<PoolModel> load_structured(const Archive& archive);
std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive);

}  // namespace tenshot::trainer
