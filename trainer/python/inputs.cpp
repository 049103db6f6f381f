#include "trainer/python/inputs.h"

#include "datasets/kit/joined_sources.h"
#include "datasets/kit/measured_source.h"
#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/support/median.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/shipped.h"

namespace tenshot::python {
namespace {

using nasbench::NetworkSpace;

void require_positive(const std::string& text, double latency_ms, datasets::Quantity quantity) {
  if (latency_ms > 0 && latency_ms <= 1e12) return;
  throw InputError("the " + std::string(title(quantity)) + " of '" + text + "' is " + std::to_string(latency_ms) +
                   ", expected a positive number of " +
                   (quantity == datasets::Quantity::latency ? "milliseconds" : std::string(unit(quantity))));
}

/// The files and folders that measurements lie in; none where they are numbers.
std::vector<std::filesystem::path> paths_of(const MeasurementSource& source) {
  if (const auto* path = std::get_if<std::filesystem::path>(&source)) return {*path};
  if (const auto* several = std::get_if<std::vector<std::filesystem::path>>(&source)) return *several;
  return {};
}

Numbers numbers_of(const MeasurementSource& source) {
  const auto* numbers = std::get_if<Numbers>(&source);
  return numbers == nullptr ? Numbers() : *numbers;
}

}  // namespace

void warn(const std::string& text, int level) {
  if (PyErr_WarnEx(PyExc_UserWarning, excerpt(text, 1000).c_str(), level) != 0) throw pybind11::error_already_set();
}

std::filesystem::path checkpoint_for(const Checkpoint& checkpoint, const Strings& candidates,
                                     const std::optional<MeasurementSource>& measurements, const std::string& like) {
  if (checkpoint) return trainer::checkpoint_named(checkpoint->string());
  Strings names = candidates;
  const MeasurementSource source = measurements.value_or(MeasurementSource());
  for (const auto& [name, latency_ms] : numbers_of(source)) names.push_back(name);
  const NetworkSpace& space =
      measurements || like.empty() ? datasets::space_given(names, paths_of(source)) : nasbench::networks();
  std::filesystem::path known;
  if (!like.empty()) known = trainer::shipped_knowledge_of(like, space);
  return known.empty() ? trainer::shipped_checkpoint(space) : known;
}

Strings strings_of(const pybind11::iterable& architectures) {
  namespace py = pybind11;
  py::object values = architectures;
  if (py::isinstance<py::str>(values)) return {values.cast<std::string>()};
  if (py::hasattr(values, "columns")) {
    const char* column = values.contains("architecture") ? "architecture" : "network";
    values = values.contains(column) ? py::object(values[column]) : py::object(values.attr("index"));
  } else if (py::getattr(values, "ndim", py::int_(1)).equal(py::int_(2))) {
    values = values.attr("ravel")();
  }
  const py::object as_text = py::module_::import("os").attr("fspath");
  Strings strings;
  for (const py::handle value : values) strings.push_back(as_text(value).cast<std::string>());
  return strings;
}

std::vector<nasbench::Architecture> parse_all(const NetworkSpace& space, const Strings& strings, const Shapes& shapes) {
  for (const auto& [input, shape] : shapes) {
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 1; }))
      throw InputError("shapes['" + input + "'] has an extent below 1");
  }
  return datasets::architectures_or_files(strings, space, {/*batch=*/1, shapes});
}

Strings format_all(const NetworkSpace& space, const std::vector<nasbench::Architecture>& architectures) {
  Strings strings;
  for (const nasbench::Architecture& architecture : architectures) strings.push_back(space.format(architecture));
  return strings;
}

trainer::AdaptationSet adaptation_set(const trainer::PoolModel& model, const MeasurementSource& source,
                                      const std::optional<std::string>& quantity, bool fleet) {
  std::optional<datasets::Quantity> wanted;
  if (quantity) wanted = datasets::quantity_named(*quantity);
  trainer::AdaptationSet set;
  set.quantity = trainer::adapted_quantity(model.pool(), wanted);
  const std::vector<std::filesystem::path> paths = paths_of(source);
  if (!paths.empty()) {
    datasets::JoinedSources joined = datasets::read_joined(paths, *model.pool().space, *set.quantity, fleet);
    for (const std::string& warning : joined.warnings()) warn(warning, 2);
    trainer::add_measured(set, std::move(joined.measured), model);
  } else if (fleet) {
    throw InputError("fleet is of several files or folders, one of each board");
  } else {
    nasbench::ArchitectureMap<std::vector<double>> values;
    std::vector<nasbench::Architecture> measured;
    for (const auto& [text, latency_ms] : numbers_of(source)) {
      require_positive(text, latency_ms, *set.quantity);
      measured.push_back(parse_all(*model.pool().space, {text}).front());
      values[measured.back()].push_back(latency_ms);
    }
    for (const nasbench::Architecture& architecture : measured) {
      const auto found = values.extract(architecture);
      if (!found.empty()) set.add(architecture, median(found.mapped()));
    }
    set.whole_milliseconds = datasets::are_whole_milliseconds(set.latency_ms);
  }
  return set;
}

}  // namespace tenshot::python
