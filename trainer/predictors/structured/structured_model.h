#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/predictors/structured/descriptor_prior.h"
#include "trainer/predictors/structured/library.h"
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

/// What a descriptor says of its device: by the model's own network where it is of `structured`, else by one that is
/// trained on its pool. Nothing where there is none, or the descriptor has not enough.
std::optional<structured::DescribedDevice> described_device(const PoolModel& model,
                                                            const structured::StructuredLibrary& library,
                                                            const datasets::HardwareDescriptor& descriptor);

/// From an archive whose card names "structured". Throw FormatError.
std::unique_ptr<PoolModel> load_structured(const Archive& archive);
std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive);

/// The library of a pool, whatever predictor its checkpoint holds: what the `information` sampler plans with.
structured::StructuredLibrary library_of(const datasets::Pool& pool);

/// The same of a checkpoint, which has it where it is of `structured`.
structured::StructuredLibrary library_of(const PoolModel& model);

/// Latency [device][architecture], ms, that the library of `pool` expects on the pool's devices. Throws FormatError
/// when the library lacks one.
std::vector<std::vector<double>> latencies_of_pool(const structured::StructuredLibrary& library,
                                                   const datasets::Pool& pool,
                                                   const std::vector<Architecture>& architectures);

}  // namespace tenshot::trainer
