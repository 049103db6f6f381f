// The Python module `tenshot`: the library's own calls, with numpy arrays in and out.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "datasets/tables/space_files.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "trainer/core/archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"

namespace py = pybind11;

namespace tenshot::python {
namespace {

using nasbench::Architecture;
using nasbench::SearchSpace;
using Strings = std::vector<std::string>;
/// Latencies in milliseconds by architecture string, or a CSV file of them.
using MeasurementSource = std::variant<std::map<std::string, double>, std::filesystem::path>;

py::object to_python(const nlohmann::json& json) { return py::module_::import("json").attr("loads")(json.dump()); }

py::array_t<double> to_array(const std::vector<double>& values) {
  return py::array_t<double>(values.size(), values.data());
}

/// Extents by the name of an ONNX file's input.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// The architecture, the network's name or the file *.onnx that `text` is.
Architecture architecture_of(const SearchSpace& space, const std::string& text, const Shapes& shapes) {
  if (std::filesystem::path(text).extension() != ".onnx") return space.parse(text);
  if (&space != &nasbench::networks()) {
    throw InputError(text + ": is an ONNX file, and this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks");
  }
  nasbench::OnnxReadOptions options;
  for (const auto& [input, extents] : shapes) options.shapes.emplace(input, extents);
  return datasets::read_networks(text, options).front();
}

std::vector<Architecture> parse_all(const SearchSpace& space, const Strings& strings, const Shapes& shapes = {}) {
  std::vector<Architecture> architectures;
  architectures.reserve(strings.size());
  for (const std::string& text : strings) architectures.push_back(architecture_of(space, text, shapes));
  return architectures;
}

Strings format_all(const SearchSpace& space, const std::vector<Architecture>& architectures) {
  Strings strings;
  strings.reserve(architectures.size());
  for (const Architecture& architecture : architectures) strings.push_back(space.format(architecture));
  return strings;
}

std::optional<datasets::Quantity> quantity_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  return datasets::quantity_named(*name);
}

/// Of the quantity that is asked for, or that the checkpoint's pool holds.
trainer::AdaptationSet adaptation_set(const datasets::Pool& pool, const MeasurementSource& source,
                                      const std::optional<std::string>& quantity) {
  const SearchSpace& space = *pool.space;
  trainer::AdaptationSet set;
  set.quantity = trainer::adapted_quantity(pool, quantity_of(quantity));
  if (const auto* file = std::get_if<std::filesystem::path>(&source)) {
    const datasets::Measurements measured = datasets::read_measurements(*file, space, *set.quantity);
    if (measured.rows.empty()) throw InputError(file->string() + ": holds no usable measurement");
    set.architectures = measured.architectures();
    set.latency_ms = measured.latencies_ms();
    set.whole_milliseconds = measured.whole_milliseconds;
    return set;
  }
  for (const auto& [text, latency_ms] : std::get<std::map<std::string, double>>(source)) {
    if (!(latency_ms > 0) || latency_ms > 1e12) {
      throw InputError(
          "the " + std::string(title(*set.quantity)) + " of '" + text + "' is " + std::to_string(latency_ms) +
          ", expected a positive number of " +
          (*set.quantity == datasets::Quantity::latency ? "milliseconds" : std::string(unit(*set.quantity))));
    }
    set.architectures.push_back(space.parse(text));
    set.latency_ms.push_back(latency_ms);
  }
  set.whole_milliseconds = datasets::are_whole_milliseconds(set.latency_ms);
  return set;
}

/// A predictor of one device-runtime.
class LoadedPredictor {
 public:
  explicit LoadedPredictor(std::shared_ptr<trainer::Predictor> predictor)
      : predictor_(std::move(predictor)), card_(predictor_->to_archive().card) {}

  const SearchSpace& space() const { return predictor_->space(); }

  trainer::Predictions predictions(const Strings& strings, double confidence, const Shapes& shapes) const {
    if (!(confidence > 0 && confidence < 1)) {
      throw InputError("the confidence is " + std::to_string(confidence) + ", expected a share between 0 and 1");
    }
    const py::gil_scoped_release other_threads_may_run;
    return predictor_->predict(parse_all(space(), strings, shapes), confidence);
  }

  double predict_one(const std::string& text, const Shapes& shapes) const {
    return predictions({text}, 0.9, shapes).latency_ms.front();
  }
  py::array_t<double> predict(const Strings& strings, const Shapes& shapes) const {
    return to_array(predictions(strings, 0.9, shapes).latency_ms);
  }

  py::tuple predict_interval(const Strings& strings, double confidence, const Shapes& shapes) const {
    if (!predictor_->has_intervals()) {
      throw InputError("a predictor of kind '" + std::string(predictor_->kind()) + "' has no intervals");
    }
    const trainer::Predictions found = predictions(strings, confidence, shapes);
    return py::make_tuple(to_array(found.latency_ms), to_array(found.lower_ms), to_array(found.upper_ms));
  }

  void save(const std::filesystem::path& path) const { trainer::save(predictor_->to_archive(), path); }
  void export_torchscript(const std::filesystem::path& path) const { predictor_->export_torchscript(path); }
  py::object document() const { return to_python(predictor_->to_document()); }
  py::object card() const { return to_python(card_); }
  std::string quantity() const { return std::string(datasets::name(predictor_->quantity())); }
  std::string unit() const { return std::string(datasets::unit(predictor_->quantity())); }
  std::string kind() const { return std::string(predictor_->kind()); }
  bool has_intervals() const { return predictor_->has_intervals(); }
  std::string explanation() const { return joined(predictor_->explanation(), "\n"); }

 private:
  std::shared_ptr<trainer::Predictor> predictor_;
  nlohmann::json card_;
};

/// Called with the epoch that is done, the number of epochs, and the loss.
using OnProgress = std::function<void(int, int, double)>;

LoadedPredictor adapt(const std::filesystem::path& checkpoint, const MeasurementSource& measurements,
                      std::uint64_t seed, const std::optional<std::string>& quantity, const OnProgress& on_progress) {
  const auto model = trainer::load_pool_model(checkpoint);
  const trainer::AdaptationSet set = adaptation_set(model->pool(), measurements, quantity);
  trainer::AdaptOptions options;
  options.seed = seed;
  options.control.on_epoch = [&on_progress](const trainer::TrainingProgress& now) {
    const py::gil_scoped_acquire call_python;
    if (on_progress) on_progress(now.epoch, now.epochs, now.loss);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return true;
  };
  const py::gil_scoped_release other_threads_may_run;
  return LoadedPredictor(model->adapt(set, options));
}

Strings plan(const std::filesystem::path& checkpoint, std::size_t samples, const std::string& sampler,
             const std::optional<Strings>& candidates, const std::optional<MeasurementSource>& measured,
             std::uint64_t seed, const std::optional<std::string>& quantity) {
  const auto model = trainer::load_pool_model(checkpoint);
  const SearchSpace& space = *model->pool().space;
  trainer::PlanRequest request;
  request.samples = samples;
  request.sampler = sampler;
  request.seed = seed;
  if (candidates) request.candidates = parse_all(space, *candidates);
  if (measured) request.measured = adaptation_set(model->pool(), *measured, quantity);
  const py::gil_scoped_release other_threads_may_run;
  return format_all(space, trainer::plan(*model, request));
}

/// A search space, by name or file.
class Space {
 public:
  explicit Space(const std::string& name) : space_(&datasets::named_space(name)) {}

  std::string name() const { return std::string(space_->name()); }
  /// None where the architectures cannot be counted in 64 bits, or are named one by one.
  std::optional<std::uint64_t> size() const { return space_->composed() ? space_->size() : std::nullopt; }
  std::vector<int> decisions() const { return space_->decisions(); }
  std::vector<int> parse(const std::string& text) const {
    const Architecture architecture = space_->parse(text);
    std::vector<int> choices;
    for (std::size_t i = 0; i < space_->decisions().size(); ++i) choices.push_back(architecture[i]);
    return choices;
  }
  std::string format(const std::vector<int>& choices) const {
    const std::vector<int>& decisions = space_->decisions();
    if (choices.size() != decisions.size()) {
      throw InputError("there are " + std::to_string(choices.size()) + " choices, expected " +
                       std::to_string(decisions.size()));
    }
    Architecture architecture(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] < 0 || choices[i] >= decisions[i]) {
        throw InputError("choice " + std::to_string(i) + " is " + std::to_string(choices[i]) + ", expected 0 to " +
                         std::to_string(decisions[i] - 1));
      }
      architecture[i] = static_cast<std::uint8_t>(choices[i]);
    }
    return space_->format(architecture);
  }
  bool contains(const std::string& text) const {
    try {
      space_->parse(text);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
  Strings random(std::size_t count, std::uint64_t seed) const {
    Rng rng(seed);
    Strings strings;
    for (std::size_t i = 0; i < count; ++i) strings.push_back(space_->format(space_->random(rng)));
    return strings;
  }
  Strings all() const {
    if (!space_->listable())
      throw InputError("the space " + name() + " is too large to list; draw from it with random");
    return format_all(*space_, space_->all());
  }

 private:
  const SearchSpace* space_;
};

Strings random_architectures(const std::string& space_name, std::size_t count, std::uint64_t seed) {
  return Space(space_name).random(count, seed);
}

void define_errors(py::module_& module) {
  static const py::exception<Error> error(module, "Error");
  static const py::exception<InputError> input(module, "InputError",
                                               py::make_tuple(error, py::handle(PyExc_ValueError)));
  static const py::exception<FileError> file(module, "FileError", py::make_tuple(error, py::handle(PyExc_OSError)));
  static const py::exception<FormatError> format(module, "FormatError", error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& e) {
      PyErr_SetString(input.ptr(), e.what());
    } catch (const FileError& e) {
      PyErr_SetString(file.ptr(), e.what());
    } catch (const FormatError& e) {
      PyErr_SetString(format.ptr(), e.what());
    } catch (const Error& e) {
      PyErr_SetString(error.ptr(), e.what());
    }
  });
}

void define_predictor(py::module_& module) {
  py::class_<LoadedPredictor>(module, "Predictor",
                              "A latency predictor of one device-runtime, as `tenshot adapt` writes it.")
      .def("predict", &LoadedPredictor::predict_one, py::arg("architecture"), py::arg("shapes") = Shapes{},
           "The latency of one architecture, in ms. In the space `networks` it may be a file such as 'model.onnx'; "
           "`shapes` gives the extents of inputs that the file leaves open: {'image': [1, 3, 224, 224]}.")
      .def("predict", &LoadedPredictor::predict, py::arg("architectures"), py::arg("shapes") = Shapes{},
           "The latencies of N architectures: an array of shape [N], in ms. Raises InputError on a string that is no "
           "architecture of the predictor's space, and what reading raises on a file *.onnx.")
      .def("predict_interval", &LoadedPredictor::predict_interval, py::arg("architectures"),
           py::arg("confidence") = 0.9, py::arg("shapes") = Shapes{},
           "Three arrays of shape [N], in ms: the latencies, and the bounds between which each lies with the given "
           "confidence. Raises InputError where the predictor has no intervals.")
      .def("save", &LoadedPredictor::save, py::arg("path"), "Writes the predictor as a *.tenshot file, atomically.")
      .def("export_torchscript", &LoadedPredictor::export_torchscript, py::arg("path"),
           "Writes a file for torch.jit.load.")
      .def("document", &LoadedPredictor::document, "The predictor's numbers as plain Python values.")
      .def_property_readonly("card", &LoadedPredictor::card, "What the predictor was made from, as a dict.")
      .def_property_readonly("kind", &LoadedPredictor::kind, "'structured', 'maple-edge' and so on.")
      .def_property_readonly("quantity", &LoadedPredictor::quantity, "'latency', 'cold', 'energy' or 'memory'.")
      .def_property_readonly("unit", &LoadedPredictor::unit, "Of what it predicts: 'ms', 'mJ' or 'MiB'.")
      .def_property_readonly("space", [](const LoadedPredictor& p) { return std::string(p.space().name()); })
      .def_property_readonly("has_intervals", &LoadedPredictor::has_intervals)
      .def_property_readonly("explanation", &LoadedPredictor::explanation,
                             "What adapting found out about the device, in sentences; may be empty.");
}

void define_space(py::module_& module) {
  py::class_<Space>(module, "Space",
                    "A search space: by name, or by its file FILE.json. tenshot.spaces() has the names.")
      .def(py::init<const std::string&>(), py::arg("name"), "Raises InputError, FileError, FormatError.")
      .def_property_readonly("name", &Space::name)
      .def_property_readonly("size", &Space::size, "The number of architectures; None where it does not fit 64 bits.")
      .def_property_readonly("decisions", &Space::decisions, "The number of options at each decision.")
      .def("parse", &Space::parse, py::arg("architecture"),
           "The option taken at each decision, from 0. Raises InputError on a string that is no architecture.")
      .def("format", &Space::format, py::arg("choices"), "The string of an architecture; undoes parse.")
      .def("__contains__", &Space::contains, py::arg("architecture"))
      .def("random", &Space::random, py::arg("count"), py::arg("seed") = 1,
           "Architectures drawn uniformly, as strings; the same for the same seed.")
      .def("list", &Space::all, "All architectures, in the space's order. Raises InputError where they are too many.");
}

}  // namespace

PYBIND11_MODULE(tenshot, module) {
  module.doc() =
      "Latency predictors of neural networks from ten measurements.\n\n"
      ">>> ten = tenshot.plan('pool.tenshot', samples=10)\n"
      ">>> predictor = tenshot.adapt('pool.tenshot', {architecture: measure(architecture) for architecture in ten})\n"
      ">>> latency_ms, lower_ms, upper_ms = predictor.predict_interval(candidates, confidence=0.9)";
  define_errors(module);
  define_predictor(module);
  define_space(module);
  module.def("spaces", &nasbench::space_names, "Names of the search spaces that are known without a file.");
  module.def(
      "load", [](const std::filesystem::path& path) { return LoadedPredictor(trainer::load_predictor(path)); },
      py::arg("path"), "The predictor in a *.tenshot file. Raises FileError, FormatError.");
  module.def(
      "adapt", &adapt, py::arg("checkpoint"), py::arg("measurements"), py::arg("seed") = 1,
      py::arg("quantity") = py::none(), py::arg("on_progress") = py::none(),
      "Adapts a checkpoint to a device. `measurements` is a dict of ms by architecture, or a CSV file. "
      "`quantity` ('latency', 'cold', 'energy', 'memory') says what was measured, in ms, ms, mJ or MiB: what the "
      "checkpoint is of unless told otherwise; one of latencies is a prior for every quantity. "
      "`on_progress(epoch, epochs, loss)` is called while a network trains; what it raises stops the training.");
  module.def("plan", &plan, py::arg("checkpoint"), py::arg("samples") = 10, py::arg("sampler") = "information",
             py::arg("candidates") = py::none(), py::arg("measured") = py::none(), py::arg("seed") = 1,
             py::arg("quantity") = py::none(),
             "The architectures to measure on a new device, the most informative first.");
  module.def("random_architectures", &random_architectures, py::arg("space"), py::arg("count"), py::arg("seed") = 1,
             "Architectures drawn uniformly from a search space, as strings.");
  module.def("predictors", &trainer::predictor_names, "Names of all predictors that `tenshot train` knows.");
  module.attr("__version__") = TENSHOT_VERSION;
}

}  // namespace tenshot::python
