#include "trainer/core/space_card.h"

#include <cmath>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t most_listed = 2000;
constexpr const char* rows_key = "adaptation_set";
constexpr const char* choices_name = "adaptation_set.architectures";
constexpr const char* latency_name = "adaptation_set.latency_ms";

const nasbench::NetworkSpace* space_of(const nlohmann::json& card) {
  if (!card.contains("space") || !card["space"].is_string()) return nullptr;
  try {
    return &get_space(card);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

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

Archive with_packed_adaptation_set(const Archive& archive) {
  if (!archive.card.contains(rows_key) || archive.card[rows_key].size() <= most_listed) return archive;
  const nasbench::NetworkSpace* space = space_of(archive.card);
  if (space == nullptr) return archive;
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> latency_ms;
  for (const nlohmann::json& row : archive.card[rows_key]) {
    architectures.push_back(space->parse(row.at("architecture").get<std::string>()));
    latency_ms.push_back(row.at("latency_ms"));
  }
  Archive packed = archive;
  const auto rows = static_cast<std::int64_t>(latency_ms.size());
  packed.card.erase(rows_key);
  packed.put(choices_name,
             to_array(trainer::packed(architectures), {rows, static_cast<std::int64_t>(space->architecture_bytes())}));
  packed.put(latency_name, to_array(latency_ms, {rows}));
  return packed;
}

void unpack_adaptation_set(Archive& archive) {
  if (!archive.has(latency_name)) return;
  const nasbench::NetworkSpace* space = space_of(archive.card);
  if (space == nullptr) throw FormatError("its measurements are of a search space that is not known");
  const std::vector<std::uint8_t> choices = archive.bytes(choices_name);
  const std::vector<double> latency_ms = archive.doubles(latency_name);
  if (choices.size() != latency_ms.size() * space->architecture_bytes()) {
    throw FormatError("its measured architectures and latencies do not fit each other");
  }
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<nasbench::Architecture> architectures = unpacked(choices, *space);
  for (std::size_t r = 0; r < latency_ms.size(); ++r) {
    if (!space->could_be(architectures[r])) throw FormatError("it measured an architecture that is not of its space");
    if (!(latency_ms[r] > 0) || std::isinf(latency_ms[r])) throw FormatError("it measured a latency that is none");
    rows.push_back({{"architecture", space->format(architectures[r])}, {"latency_ms", latency_ms[r]}});
  }
  archive.card[rows_key] = std::move(rows);
  archive.remove(choices_name);
  archive.remove(latency_name);
}

}  // namespace tenshot::trainer
