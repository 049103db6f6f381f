#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

using datasets::Quantity;

/// Writes into a card what it is of: "quantity" and "unit". A card of latencies has neither.
void put_quantity(nlohmann::json& card, Quantity quantity);

/// The inverse. Throws FormatError on a quantity that is not known here.
Quantity get_quantity(const nlohmann::json& card);

/// What measurements adapt a model to: `asked`, or what its pool holds. Throws InputError on a mixture: a pool of
/// latencies is a prior for every quantity, any other pool for its own alone.
Quantity adapted_quantity(const datasets::Pool& pool, std::optional<Quantity> asked);

/// A predictor's document with the quantity's name and unit: keys such as "costs_ms" become "costs_mj", "latency_ms"
/// becomes "energy_mj", and what it says it computes likewise. Unchanged for latencies.
nlohmann::json document_of(Quantity quantity, nlohmann::json document);

}  // namespace tenshot::trainer
