#include "trainer/core/adaptation_rows.h"

#include <cmath>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t most_listed = 2000;
constexpr const char* rows_key = "adaptation_set";
constexpr const char* choices_name = "adaptation_set.architectures";
constexpr const char* latency_name = "adaptation_set.latency_ms";

/// The space that a card names; nullptr where it has no name that is known here.
const nasbench::SearchSpace* space_of(const nlohmann::json& card) {
  if (!card.contains("space") || !card["space"].is_string()) return nullptr;
  try {
    return &nasbench::search_space(card["space"].get<std::string>());
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace

Archive with_packed_adaptation_set(const Archive& archive) {
  if (!archive.card.contains(rows_key) || archive.card[rows_key].size() <= most_listed) return archive;
  const nasbench::SearchSpace* space = space_of(archive.card);
  if (space == nullptr) return archive;
  std::vector<std::uint8_t> choices;
  std::vector<double> latency_ms;
  for (const nlohmann::json& row : archive.card[rows_key]) {
    const nasbench::Architecture architecture = space->parse(row.at("architecture").get<std::string>());
    for (std::size_t i = 0; i < architecture.size(); ++i) choices.push_back(architecture[i]);
    latency_ms.push_back(row.at("latency_ms"));
  }
  Archive packed = archive;
  const auto rows = static_cast<std::int64_t>(latency_ms.size());
  packed.card.erase(rows_key);
  packed.put(choices_name, to_array(choices, {rows, static_cast<std::int64_t>(space->decisions().size())}));
  packed.put(latency_name, to_array(latency_ms, {rows}));
  return packed;
}

void unpack_adaptation_set(Archive& archive) {
  if (!archive.has(latency_name)) return;
  const nasbench::SearchSpace* space = space_of(archive.card);
  if (space == nullptr) throw FormatError("its measurements are of a search space that is not known");
  const std::vector<int>& decisions = space->decisions();
  const std::vector<std::uint8_t> choices = archive.bytes(choices_name);
  const std::vector<double> latency_ms = archive.doubles(latency_name);
  if (choices.size() != latency_ms.size() * decisions.size()) {
    throw FormatError("its measured architectures and latencies do not fit each other");
  }
  nlohmann::json rows = nlohmann::json::array();
  nasbench::Architecture architecture(decisions.size());
  for (std::size_t r = 0; r < latency_ms.size(); ++r) {
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      architecture[i] = choices[r * decisions.size() + i];
      if (architecture[i] >= decisions[i]) throw FormatError("it measured an architecture that is not of its space");
    }
    if (!(latency_ms[r] > 0) || std::isinf(latency_ms[r])) throw FormatError("it measured a latency that is none");
    rows.push_back({{"architecture", space->format(architecture)}, {"latency_ms", latency_ms[r]}});
  }
  archive.card[rows_key] = std::move(rows);
  archive.remove(choices_name);
  archive.remove(latency_name);
}

}  // namespace tenshot::trainer
