#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer {

/// The predictor `structured`: latency as a sum of operator costs over what the runtime really executes, with the pool
/// as prior over both (trainer/structured/). Fits the library and calibrates its intervals; a second for a dozen
/// devices. `options` are those of every adaptation. `descriptor` is the kind of descriptor that adaptation may start
/// from: "auto" (the richest that two runtimes of the pool have), "in-network", "latency" or "inferred" (none). Throws
/// InputError.
std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, std::uint64_t seed,
                                            const structured::PosteriorOptions& options = {},
                                            const std::string& descriptor = "auto");

/// From an archive whose card names "structured". Throw FormatError.
std::unique_ptr<PoolModel> load_structured(const Archive& archive);
std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive);

}  // namespace tenshot::trainer
