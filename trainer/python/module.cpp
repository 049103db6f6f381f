// The Python module `tenshot.native`: the library's own calls, with numpy arrays; the package `tenshot` shows them.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>

#include "datasets/tables/network_sources.h"
#include "nasbench/spaces/networks.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/shipped.h"
#include "trainer/networks/exporting.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"
#include "trainer/python/inputs.h"

namespace py = pybind11;

namespace tenshot::python {
namespace {

py::object to_python(const nlohmann::json& json) { return py::module_::import("json").attr("loads")(json.dump()); }

py::array_t<double> to_array(const std::vector<double>& values) {
  return py::array_t<double>(values.size(), values.data());
}

class LoadedPredictor {
 public:
  explicit LoadedPredictor(std::shared_ptr<trainer::Predictor> predictor)
      : predictor_(std::move(predictor)), archive_(predictor_->to_archive()) {}
  LoadedPredictor(std::shared_ptr<trainer::Predictor> predictor, trainer::Archive archive)
      : predictor_(std::move(predictor)), archive_(std::move(archive)) {}

  const nasbench::NetworkSpace& space() const { return predictor_->space(); }

  /// What is refused, since nothing sure can be said of it, is NaN, and a note, unless it `raises` InputError.
  trainer::Predictions predictions(const Strings& strings, double confidence, const Shapes& shapes,
                                   bool raises = false) const {
    if (!(confidence > 0 && confidence < 1)) {
      throw InputError("the confidence is " + std::to_string(confidence) + ", expected a share between 0 and 1");
    }
    std::vector<std::string> notes;
    trainer::Predictions found;
    {
      const py::gil_scoped_release other_threads_may_run;
      const std::vector<nasbench::Architecture> architectures = parse_all(space(), strings, shapes);
      if (!shapes.empty() && &space() != &nasbench::networks()) throw InputError("shapes are of networks' files");
      found = predictor_->predict(architectures, confidence);
      notes = trainer::notes_on(*predictor_, architectures);
      Strings refused;
      for (std::size_t i = 0; i < architectures.size(); ++i) {
        std::string reason = why_unusable(found, i, architectures[i], space(), predictor_->quantity());
        if (reason.empty()) continue;
        if (raises) throw InputError(reason);
        refused.push_back(std::move(reason));
        for (auto* numbers : {&found.latency_ms, &found.lower_ms, &found.upper_ms})
          if (!numbers->empty()) (*numbers)[i] = std::nan("");
      }
      if (!refused.empty())
        notes.push_back(std::to_string(refused.size()) + " of " + std::to_string(architectures.size()) +
                        " predictions are NaN: " + refused.front());
    }
    for (const std::string& note : notes) warn(note);
    return found;
  }

  double predict_one(const std::filesystem::path& text, const Shapes& shapes) const {
    return predictions({text.string()}, 0.9, shapes, true).latency_ms.front();
  }
  py::array_t<double> predict(const py::iterable& architectures, const Shapes& shapes) const {
    return to_array(predictions(strings_of(architectures), 0.9, shapes).latency_ms);
  }

  py::tuple predict_interval(const py::iterable& architectures, double confidence, const Shapes& shapes) const {
    if (!predictor_->has_intervals()) {
      throw InputError("a predictor of kind '" + std::string(predictor_->kind()) + "' has no intervals");
    }
    const trainer::Predictions found = predictions(strings_of(architectures), confidence, shapes);
    return py::make_tuple(to_array(found.latency_ms), to_array(found.lower_ms), to_array(found.upper_ms));
  }

  void save(const std::filesystem::path& path) const { trainer::save(archive_, path); }
  void export_torchscript(const std::filesystem::path& path) const { trainer::export_torchscript(*predictor_, path); }
  void export_onnx(const std::filesystem::path& path, double confidence) const {
    trainer::export_onnx(*predictor_, path, confidence);
  }
  py::object document() const { return to_python(predictor_->to_document()); }
  py::object card() const { return to_python(archive_.card); }
  bool has_intervals() const { return predictor_->has_intervals(); }
  Strings remarks() const {
    Strings lines;
    for (const trainer::Remark& remark : predictor_->explanation()) lines.push_back(trainer::in_words(remark));
    return lines;
  }
  py::object verdict() const {
    const std::optional<trainer::Verdict> kept = trainer::kept_verdict(archive_);
    if (!kept) return py::none();
    nlohmann::json said = to_json(*kept);
    said["text"] = in_words(*kept);
    return to_python(said);
  }
  Strings architectures() const { return Space(space()).all(); }

  py::bytes state() const { return archive_.serialise(); }
  static LoadedPredictor of_state(const py::bytes& bytes) {
    return LoadedPredictor(trainer::parse_predictor(std::string(bytes), "the pickled predictor"));
  }

 private:
  std::shared_ptr<trainer::Predictor> predictor_;
  trainer::Archive archive_;  ///< its file's content, with the verdict
};

void require_measured_fleet(bool fleet, const std::optional<MeasurementSource>& measured) {
  if (fleet && !measured) throw InputError("fleet is of several files or folders of measurements, one of each board");
}

void set_runtime(const trainer::PoolModel& model, const std::string& runtime, trainer::AdaptationSet& set) {
  if (!runtime.empty() && !trainer::predictor_row(std::string(model.kind())).adapts_by("runtime")) {
    throw InputError("a checkpoint of '" + std::string(model.kind()) + "' makes nothing of a device's runtime");
  }
  set.runtime = runtime;
}

/// Called with the epoch that is done, the number of epochs, and the loss.
using OnProgress = std::function<void(int, int, double)>;

LoadedPredictor adapt(const Checkpoint& checkpoint, const std::optional<MeasurementSource>& measurements,
                      std::uint64_t seed, const std::optional<std::string>& quantity, const OnProgress& on_progress,
                      const std::string& like, const std::optional<std::filesystem::path>& operators, bool fleet,
                      const std::string& runtime) {
  if (!measurements && like.empty()) {
    throw InputError("adapting needs measurements, or `like`: a device-runtime that the checkpoint knows");
  }
  require_measured_fleet(fleet, measurements);
  const auto model = trainer::load_pool_model(checkpoint_for(checkpoint, {}, measurements, like));
  trainer::AdaptationSet set;
  if (measurements) set = adaptation_set(*model, *measurements, quantity, fleet);
  if (operators) trainer::add_operators(set, *operators, *model);
  trainer::AdaptOptions options;
  options.seed = seed;
  options.like = like;
  set_runtime(*model, runtime, set);
  if (!like.empty() && !trainer::predictor_row(std::string(model->kind())).keeps_knowledge) {
    throw InputError("a checkpoint of '" + std::string(model->kind()) + "' knows no device that another is like");
  }
  options.control.on_epoch = [&on_progress](const trainer::TrainingProgress& now) {
    const py::gil_scoped_acquire call_python;
    if (on_progress) on_progress(now.epoch, now.epochs, now.loss);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return true;
  };
  std::shared_ptr<trainer::Predictor> predictor;
  std::optional<trainer::Verdict> verdict;
  {
    const py::gil_scoped_release other_threads_may_run;
    predictor = model->adapt(set, options);
    verdict = trainer::judge(*model, *predictor, set, options);
  }
  if (quantity) trainer::require_quantity(datasets::quantity_named(*quantity), *predictor, "the checkpoint");
  for (const trainer::Remark& remark : predictor->explanation()) {
    if (remark.warns) warn(trainer::in_words(remark), 2);
  }
  return LoadedPredictor(predictor, judged_archive(*predictor, verdict));
}

LoadedPredictor device(const std::string& name, const Checkpoint& checkpoint) {
  std::filesystem::path file = checkpoint ? std::filesystem::path(trainer::checkpoint_named(checkpoint->string()))
                                          : trainer::shipped_knowledge_of(name, nasbench::networks());
  if (file.empty()) file = trainer::shipped_checkpoint(nasbench::networks());  // which says what is most like it
  return LoadedPredictor(trainer::load_pool_model(file)->known_device(name));
}

Strings plan(const Checkpoint& checkpoint, std::size_t samples, const std::string& sampler,
             const std::optional<py::iterable>& among, const std::optional<MeasurementSource>& measured,
             std::uint64_t seed, const std::optional<std::string>& quantity, bool fleet, bool profile,
             const std::string& runtime) {
  const Strings candidates = among ? strings_of(*among) : Strings{};
  if (among && candidates.empty()) throw InputError("candidates holds no architecture and no network");
  if (quantity) datasets::quantity_named(*quantity);
  if (samples == 0) throw InputError("samples is 0, expected at least 1");
  require_measured_fleet(fleet, measured);
  const auto model = trainer::load_pool_model(checkpoint_for(checkpoint, candidates, measured));
  const nasbench::NetworkSpace& space = *model->pool().space;
  trainer::PlanRequest request;
  request.samples = samples;
  request.sampler = sampler;
  request.seed = seed;
  request.profiled = profile;
  if (among) request.candidates = parse_all(space, candidates);
  if (measured) request.measured = adaptation_set(*model, *measured, quantity, fleet);
  set_runtime(*model, runtime, request.measured);
  const py::gil_scoped_release other_threads_may_run;
  return format_all(space, trainer::plan(*model, request));
}

/// Makes the networks of a folder or file known, and gives their names.
Strings networks(const std::filesystem::path& path, const Shapes& shapes) {
  std::vector<datasets::LeftOutFile> left_out;
  const std::vector<nasbench::Architecture> read = datasets::read_networks(path, {/*batch=*/1, shapes}, &left_out);
  for (const datasets::LeftOutFile& file : left_out) warn("left out: " + file.reason);
  return format_all(nasbench::networks(), read);
}

const char* doc(const std::string& name) {
  static std::map<std::string, std::string> texts;
  const std::string& all = module_docs("docs");
  const std::size_t at = all.find("\n" + name + ": ") + name.size() + 3;
  return texts.emplace(name, all.substr(at, all.find('\n', at) - at)).first->second.c_str();
}

void define_errors(py::module_& module) {
  const py::handle error = py::register_exception<Error>(module, "Error");
  py::register_exception<InputError>(module, "InputError", py::make_tuple(error, py::handle(PyExc_ValueError)));
  py::register_exception<FileError>(module, "FileError", py::make_tuple(error, py::handle(PyExc_OSError)));
  py::register_exception<FormatError>(module, "FormatError", error);
}

void define_predictor(py::module_& module) {
  py::class_<LoadedPredictor>(module, "Predictor", doc("Predictor"))
      .def("predict", &LoadedPredictor::predict_one, py::arg("architecture"), py::arg("shapes") = Shapes{},
           doc("predict"))
      .def("predict", &LoadedPredictor::predict, py::arg("architectures"), py::arg("shapes") = Shapes{},
           doc("predict_many"))
      .def("predict_interval", &LoadedPredictor::predict_interval, py::arg("architectures"),
           py::arg("confidence") = 0.9, py::arg("shapes") = Shapes{}, doc("predict_interval"))
      .def("save", &LoadedPredictor::save, py::arg("path"), doc("save"))
      .def("export_torchscript", &LoadedPredictor::export_torchscript, py::arg("path"), doc("export_torchscript"))
      .def("export_onnx", &LoadedPredictor::export_onnx, py::arg("path"), py::arg("confidence") = 0.9,
           doc("export_onnx"))
      .def("document", &LoadedPredictor::document, doc("document"))
      .def_property_readonly("card", &LoadedPredictor::card, doc("card"))
      .def_property_readonly(
          "space", [](const LoadedPredictor& p) { return std::string(p.space().name()); }, doc("its_space"))
      .def_property_readonly("has_intervals", &LoadedPredictor::has_intervals, doc("has_intervals"))
      .def_property_readonly("remarks", &LoadedPredictor::remarks, doc("remarks"))
      .def_property_readonly("_verdict", &LoadedPredictor::verdict)
      .def("architectures", &LoadedPredictor::architectures, doc("architectures"))
      .def(py::pickle([](const LoadedPredictor& predictor) { return predictor.state(); }, &LoadedPredictor::of_state));
}

void define_space(py::module_& module) {
  py::class_<Space>(module, "Space", doc("Space"))
      .def(py::init<const std::filesystem::path&>(), py::arg("name"), "Raises InputError, FileError, FormatError.")
      .def_property_readonly("name", &Space::name, "What files and `--space` call it.")
      .def_property_readonly("size", &Space::size, doc("size"))
      .def_property_readonly("decisions", &Space::decisions, "The number of options at each decision, a list.")
      .def("parse", &Space::parse, py::arg("architecture"), doc("parse"))
      .def("format", &Space::format, py::arg("choices"), doc("format_choices"))
      .def("__contains__", &Space::contains, py::arg("architecture"), "Whether a string is an architecture of it.")
      .def("__repr__", [](const Space& space) { return "<tenshot.Space '" + space.name() + "'>"; })
      .def("random", &Space::random, py::arg("count"), py::arg("seed") = 1, doc("random"))
      .def("list", &Space::all, doc("list_all"))
      .def("multiply_adds", &Space::multiply_adds, py::arg("architecture"), doc("multiply_adds"))
      .def("parameters", &Space::parameters, py::arg("architecture"), doc("parameters"))
      .def("operators", &Space::operators, py::arg("architecture"), doc("operators"));
}

}  // namespace

PYBIND11_MODULE(native, module) {
  module.doc() = doc("native");
  module.attr("__name__") = "tenshot";  // what classes and errors say that they are of
  define_errors(module);
  define_predictor(module);
  define_space(module);
  module.def("spaces", &nasbench::space_names, doc("spaces"));
  module.def(
      "load", [](const std::filesystem::path& path) { return LoadedPredictor(trainer::load_predictor(path)); },
      py::arg("path"), doc("load"));
  // The package's own adapt and plan say what these do.
  module.def("adapt", &adapt);
  module.def("plan", &plan);
  module.def("device", &device, py::arg("name"), py::arg("checkpoint") = py::none(), doc("device"));
  module.def("networks", &networks, py::arg("path"), py::arg("shapes") = Shapes{}, doc("networks"));
  module.def("predictors", &trainer::predictor_names, doc("predictors"));
  module.attr("__version__") = TENSHOT_VERSION;
  module.attr("__name__") = "tenshot.native";
}

}  // namespace tenshot::python
