#include "datasets/kit/kit_manifest.h"

#include "datasets/pool/device_file.h"
#include "datasets/tables/space_files.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

bool is_model_id(std::string_view id) {
  constexpr std::size_t longest = 64;
  return is_filled(id) && id.size() <= longest &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// In models.tsv, and the key under which the manifest describes the model.
std::string kind_of(const KitModel& model) {
  if (model.is_operator()) return "operator";
  if (model.chain) return model.chain->is_surroundings() ? "surroundings" : "chain";
  return "architecture";
}

json description_of(const KitModel& model, const NetworkSpace& space) {
  if (model.is_architecture()) return space.format(model.architecture);
  if (model.is_operator()) {
    json described = json::object();
    put_operator(described, model.operator_name, model.key, space);
    return described;
  }
  const ChainNetwork& network = *model.chain;
  if (network.is_surroundings())
    return {{"channels", network.key.channels()}, {"resolution", network.key.resolution()}};
  json chain = {{"repeats", network.repeats}};
  put_operator(chain, network.operation, network.key, space);
  return chain;
}

json model_json(const KitModel& model, const NetworkSpace& space) {
  json inputs = json::array();
  for (const nasbench::NetworkInput& input : model.inputs) {
    inputs.push_back({{"name", input.name}, {"type", name(input.type.type)}, {"shape", input.type.shape}});
  }
  json object = {{"id", model.id},
                 {"file", model_file(model)},
                 {"sha256", model.sha256},
                 {"weight_seed", model.weight_seed},
                 {"runs", model.runs},
                 {"kind", kind_of(model)},
                 {"inputs", std::move(inputs)},
                 {"result", "results/" + model.id + "/"}};
  object[kind_of(model)] = description_of(model, space);
  return object;
}

/// What measure.sh and its runners call the type of an input's numbers: "float32", "uint16", "bool".
std::string fed_type(const nasbench::NetworkInput& input) {
  const bool boolean = input.type.type == nasbench::ElementType::boolean;
  return !input.file_type.empty() ? input.file_type : std::string(boolean ? "bool" : name(input.type.type));
}

/// "1x3x32x32" of an image, "int64:1x128,int64:1x128" of two inputs that are not of float32.
std::string shapes_text(const std::vector<nasbench::NetworkInput>& inputs) {
  std::vector<std::string> shapes;
  for (const nasbench::NetworkInput& input : inputs) {
    const std::string type = fed_type(input);
    shapes.push_back((type == "float32" ? "" : type + ":") + nasbench::format(input.type.shape));
  }
  return joined(shapes, ",");
}

ChainNetwork read_chain(const JsonReader& reader, const NetworkSpace& space) {
  ChainNetwork network;
  network.operation = reader.text_that("name", "the operator's name", is_filled);
  network.key = read_operator_key(reader, network.operation, space);
  const json& repeats = reader.require("repeats", "how often the operation stands in the chain");
  network.repeats = reader.whole_number_of(repeats, reader.full("repeats"), 1);
  return network;
}

std::string read_converted(const JsonReader& model) {
  const std::optional<JsonReader> converted = model.object("converted");
  if (!converted) return {};
  std::string hashes;
  for (const JsonReader& file : converted->objects("files")) {
    hashes += (hashes.empty() ? "" : "+") + file.text("sha256", "");
  }
  return hashes;
}

KitModel read_model(const JsonReader& reader, const NetworkSpace& space) {
  KitModel model;
  model.id = reader.text_that("id", "lower-case letters, digits and '_'", is_model_id);
  if (const std::string file = reader.text("file", ""); !file.empty()) {
    model.suffix = std::filesystem::path(file).extension().string();
  }
  model.sha256 = reader.text("sha256", "");
  model.converted_sha256 = read_converted(reader);
  model.runs = reader.whole_number("runs", 1, 1);
  if (const auto op = reader.object("operator")) {
    model.operator_name = op->text_that("name", "the operator's name", is_filled);
    model.key = read_operator_key(*op, model.operator_name, space);
    return model;
  }
  if (const auto chain = reader.object("chain")) {
    model.chain = read_chain(*chain, space);
    return model;
  }
  if (const auto surroundings = reader.object("surroundings")) {
    const int channels = surroundings->whole_number("channels", 0, 0);
    const int resolution = surroundings->whole_number("resolution", 0, 0);
    model.chain = ChainNetwork{"", {{1, channels, resolution, resolution}, {}}, 0};
    return model;
  }
  const json& text = reader.require("architecture", "an architecture, 'operator', 'chain' or 'surroundings'");
  if (!text.is_string()) reader.fail("architecture", "an architecture's text", text);
  try {
    const auto& name = text.get_ref<const std::string&>();  // the kit's own networks, which were made known before
    model.architecture = &space == &nasbench::networks() ? nasbench::network_of_files(name) : space.parse(name);
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": " + reader.full("architecture") + ": " + error.what());
  }
  return model;
}

KitManifest read_manifest(const json& object, const std::string& file, const NetworkSpace* kept) {
  const JsonReader reader(object, file, "");
  reader.require_format(kit_format, "kit's manifest");
  KitManifest manifest;
  manifest.id = reader.text("id", "");
  manifest.space = &space_of(reader, kept);
  manifest.shape.resolution = reader.whole_number("resolution", 1, manifest.shape.resolution);
  manifest.shape.classes = reader.whole_number("classes", 1, manifest.shape.classes);
  manifest.batch = reader.whole_number("batch", 1, 1);
  std::set<std::string> ids;
  for (const JsonReader& model : reader.objects("models")) {
    manifest.models.push_back(read_model(model, *manifest.space));
    if (!ids.insert(manifest.models.back().id).second) model.fail("id", "an id of its own", *model.find("id"));
    const std::optional<ChainNetwork>& chain = manifest.models.back().chain;
    const bool is_alone = std::none_of(manifest.models.begin(), manifest.models.end(), [&](const KitModel& other) {
      return !chain || chain->is_surroundings() || (other.chain && chain->is_surrounded_by(*other.chain));
    });
    if (is_alone) model.fail("chain", "a chain whose surroundings stand before it", *model.find("chain"));
  }
  return manifest;
}

}  // namespace

std::string model_file(const KitModel& model) { return "models/" + model.id + model.suffix; }

json manifest_json(const KitManifest& manifest) {
  json models = json::array();
  for (const KitModel& model : manifest.models) models.push_back(model_json(model, *manifest.space));
  return {{"format", kit_format},
          {"id", manifest.id},
          {"space", manifest.space->name()},
          {"resolution", manifest.shape.resolution},
          {"classes", manifest.shape.classes},
          {"batch", manifest.batch},
          {"weight_seed", manifest.weight_seed},
          {"opset", nasbench::onnx_opset},
          {"result",
           "in results/ID/: times.json (trtexec --exportTimes, or {\"format\":\"tenshot.times/1\",\"times_ms\":[…]}), "
           "times.txt (milliseconds, one a line) or perf_test.txt (onnxruntime_perf_test), and meta.txt (key=value)"},
          {"models", std::move(models)}};
}

std::string models_table(const KitManifest& manifest) {
  std::string table = "# kit " + manifest.id + "\n# batch " + std::to_string(manifest.batch) + "\n# resolution " +
                      std::to_string(manifest.shape.resolution) + "\n# input " + nasbench::onnx_input_name + "\n";
  if (!manifest.models.empty()) {
    table += "# empty " + nasbench::format(manifest.models.front().inputs.front().type.shape) + "\n";  // of empty.onnx
  }
  for (const KitModel& model : manifest.models) {
    table += model.id + "\t" + kind_of(model) + "\t" + model_file(model) + "\t" + model.sha256 + "\t" +
             std::to_string(model.runs) + "\t" + shapes_text(model.inputs) + "\n";
  }
  return table;
}

bool is_kit(const std::filesystem::path& folder) { return is_folder(folder) && is_there(folder / "manifest.json"); }

KitManifest read_kit_manifest(const std::filesystem::path& folder) {
  const std::string file = (folder / "manifest.json").string();
  const NetworkSpace* kept = read_space_files(folder);
  return guarded_json(file, "kit's manifest",
                      [&] { return read_manifest(parse_json(read_file(file), file), file, kept); });
}

}  // namespace tenshot::datasets
