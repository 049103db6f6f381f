#include "trainer/core/space_card.h"

#include <nlohmann/json.hpp>
#include <string>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"

namespace tenshot::trainer {

void put_space(nlohmann::json& card, const nasbench::SearchSpace& space,
               const std::vector<nasbench::Architecture>& architectures) {
  card["space"] = space.name();
  const std::string definition = space.definition();
  if (!definition.empty()) card["space_definition"] = nlohmann::json::parse(definition);
  if (&space == &nasbench::networks()) card["networks"] = nasbench::networks_json(architectures);
}

const nasbench::SearchSpace& get_space(const nlohmann::json& card) {
  if (const auto known = card.find("networks"); known != card.end()) {
    nasbench::add_networks(*known, "the card's networks", nasbench::NamedBy::card);
  }
  const auto definition = card.find("space_definition");
  if (definition == card.end()) return nasbench::search_space(card.at("space").get<std::string>());
  const nasbench::SearchSpace& space = nasbench::layered_space(*definition, "the card's space_definition");
  if (space.name() == card.at("space").get<std::string>()) return space;
  throw FormatError("the card's space_definition is of '" + std::string(space.name()) + "', its space is called '" +
                    card.at("space").get<std::string>() + "'");
}

}  // namespace tenshot::trainer
