#include "trainer/python/inputs.h"

#include "datasets/kit/joined_sources.h"
#include "datasets/kit/measured_space.h"
#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/shipped.h"

namespace tenshot::python {
namespace {

using nasbench::Architecture;
using nasbench::SearchSpace;

void require_positive(const std::string& text, double latency_ms, datasets::Quantity quantity) {
  if (latency_ms > 0 && latency_ms <= 1e12) return;
  throw InputError("the " + std::string(title(quantity)) + " of '" + text + "' is " + std::to_string(latency_ms) +
                   ", expected a positive number of " +
                   (quantity == datasets::Quantity::latency ? "milliseconds" : std::string(unit(quantity))));
}

void add_numbers(const std::map<std::string, double>& numbers, const SearchSpace& space, trainer::AdaptationSet& set) {
  for (const auto& [text, latency_ms] : numbers) {
    require_positive(text, latency_ms, *set.quantity);
    set.architectures.push_back(space.parse(text));
    set.latency_ms.push_back(latency_ms);
  }
}

}  // namespace

std::filesystem::path checkpoint_for(const Checkpoint& checkpoint, const Strings& candidates,
                                     const std::optional<MeasurementSource>& measurements) {
  if (checkpoint) return *checkpoint;
  const auto space_named_by = [](const std::string& text) -> const SearchSpace& {
    return datasets::is_cell(text) ? nasbench::nasbench201() : nasbench::networks();
  };
  if (!candidates.empty()) return trainer::shipped_checkpoint(space_named_by(candidates.front()));
  if (!measurements) return trainer::shipped_checkpoint(nasbench::nasbench201());
  if (const auto* path = std::get_if<std::filesystem::path>(&*measurements)) {
    const SearchSpace* space = datasets::space_of(*path);
    return trainer::shipped_checkpoint(space != nullptr ? *space : nasbench::nasbench201());
  }
  const auto& numbers = std::get<std::map<std::string, double>>(*measurements);
  return trainer::shipped_checkpoint(numbers.empty() ? nasbench::nasbench201()
                                                     : space_named_by(numbers.begin()->first));
}

nasbench::NetworkReadOptions read_options(const Shapes& shapes) {
  nasbench::NetworkReadOptions options;
  for (const auto& [input, extents] : shapes) options.shapes.emplace(input, extents);
  return options;
}

std::vector<Architecture> parse_all(const SearchSpace& space, const Strings& strings, const Shapes& shapes) {
  return datasets::architectures_or_files(strings, space, read_options(shapes));
}

Strings format_all(const SearchSpace& space, const std::vector<Architecture>& architectures) {
  Strings strings;
  strings.reserve(architectures.size());
  for (const Architecture& architecture : architectures) strings.push_back(space.format(architecture));
  return strings;
}

trainer::AdaptationSet adaptation_set(const datasets::Pool& pool, const MeasurementSource& source,
                                      const std::optional<std::string>& quantity) {
  std::optional<datasets::Quantity> wanted;
  if (quantity) wanted = datasets::quantity_named(*quantity);
  trainer::AdaptationSet set;
  set.quantity = trainer::adapted_quantity(pool, wanted);
  std::vector<std::filesystem::path> paths;
  if (const auto* path = std::get_if<std::filesystem::path>(&source)) paths = {*path};
  if (const auto* several = std::get_if<std::vector<std::filesystem::path>>(&source)) paths = *several;
  if (!paths.empty()) {
    datasets::MeasuredSource read = datasets::read_joined(paths, *pool.space, *set.quantity).measured;
    set.architectures = std::move(read.architectures);
    set.latency_ms = std::move(read.latency_ms);
  } else if (const auto* numbers = std::get_if<std::map<std::string, double>>(&source)) {
    add_numbers(*numbers, *pool.space, set);
  }
  set.whole_milliseconds = datasets::are_whole_milliseconds(set.latency_ms);
  return set;
}

}  // namespace tenshot::python
