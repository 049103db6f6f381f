#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "nasbench/spaces/search_space.h"

namespace tenshot::trainer {

/// Writes into a card what get_space() needs: the space's name ("space"); its definition ("space_definition") where it
/// is not known by name; of networks, what `architectures` execute ("networks").
void put_space(nlohmann::json& card, const nasbench::SearchSpace& space,
               const std::vector<nasbench::Architecture>& architectures);

/// The space of a card; its networks are known from then on. Throws FormatError, InputError.
const nasbench::SearchSpace& get_space(const nlohmann::json& card);

}  // namespace tenshot::trainer
