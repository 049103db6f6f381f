#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

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

/// Throws InputError, which begins with `file`, on a predictor of another quantity than is asked for.
void require_quantity(std::optional<Quantity> asked, const Predictor& predictor, const std::string& file);

/// A predictor's document with the quantity's name and unit: keys such as "costs_ms" become "costs_mj", "latency_ms"
/// becomes "energy_mj", and what it says it computes likewise. Unchanged for latencies.
nlohmann::json document_of(Quantity quantity, nlohmann::json document);

/// Appends to the key "explanation" of a predictor's card, in the words of its quantity (datasets::in_words_of).
void put_explanation(nlohmann::json& card, Quantity quantity, const std::vector<Remark>& remarks);

/// The inverse: a card keeps a sentence or a list of them; empty where there is none.
std::vector<Remark> explanation_of(const nlohmann::json& card);

}  // namespace tenshot::trainer
