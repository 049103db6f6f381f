#include "trainer/python/inputs.h"

#include "datasets/kit/joined_sources.h"
#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/support/error.h"
#include "trainer/core/quantity_card.h"

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

nasbench::OnnxReadOptions read_options(const Shapes& shapes) {
  nasbench::OnnxReadOptions options;
  for (const auto& [input, extents] : shapes) options.shapes.emplace(input, extents);
  return options;
}

std::vector<Architecture> parse_all(const SearchSpace& space, const Strings& strings, const Shapes& shapes) {
  std::vector<Architecture> architectures;
  architectures.reserve(strings.size());
  for (const std::string& text : strings) {
    architectures.push_back(datasets::architecture_or_file(text, space, read_options(shapes)));
  }
  return architectures;
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
