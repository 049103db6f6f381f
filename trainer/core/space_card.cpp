#include "trainer/core/space_card.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"

namespace tenshot::trainer {

void put_space(nlohmann::json& card, const nasbench::NetworkSpace& space,
               const std::vector<nasbench::Architecture>& architectures) {
  card["space"] = space.name();
  const std::string definition = space.definition();
  if (!definition.empty()) card["space_definition"] = nlohmann::json::parse(definition);
  if (&space == &nasbench::networks()) card["networks"] = nasbench::networks_json(architectures);
}

std::vector<nasbench::Architecture> carried_networks(const nlohmann::json& card) {
  const auto carried = card.find("networks");
  if (carried == card.end()) return {};
  return nasbench::add_networks(*carried, "the card's networks", nasbench::NamedBy::card);
}

std::vector<std::uint8_t> packed(const std::vector<nasbench::Architecture>& architectures) {
  std::vector<std::uint8_t> bytes;
  for (const nasbench::Architecture& architecture : architectures) {
    bytes.insert(bytes.end(), architecture.begin(), architecture.end());
  }
  return bytes;
}

std::vector<nasbench::Architecture> unpacked(const std::vector<std::uint8_t>& bytes,
                                             const nasbench::NetworkSpace& space) {
  const std::size_t width = space.architecture_bytes();
  std::vector<nasbench::Architecture> architectures(bytes.size() / width, nasbench::Architecture(width));
  for (std::size_t r = 0; r < architectures.size(); ++r) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(r * width), width, architectures[r].begin());
  }
  return architectures;
}

const nasbench::NetworkSpace& get_space(const nlohmann::json& card) {
  carried_networks(card);
  const auto definition = card.find("space_definition");
  if (definition == card.end()) return nasbench::known_space(card.at("space").get<std::string>());
  const nasbench::NetworkSpace& space = nasbench::layered_space(*definition, "the card's space_definition");
  if (space.name() == card.at("space").get<std::string>()) return space;
  throw FormatError("the card's space_definition is of '" + std::string(space.name()) + "', its space is called '" +
                    card.at("space").get<std::string>() + "'");
}

}  // namespace tenshot::trainer
