#pragma once

#include <nlohmann/json_fwd.hpp>

#include "nasbench/spaces/network_space.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What is exported of a posterior: in a space whose options combine a formula of their one-hot encoding, where one
/// that holds probabilities gives the latency of the expected operators; of networks by name one of network_encoding(),
/// with the networks that the card carries.
ExportedFormula formula_of(const nasbench::NetworkSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                           const nlohmann::json& card);

}  // namespace tenshot::trainer::operators
