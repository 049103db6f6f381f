#include "descriptor/cold/stages.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "descriptor/cold/cold_json.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

using nlohmann::json;

namespace {

constexpr std::string_view format = "tenshot.cold/1";
constexpr const char* kind = "file of cold stages";

constexpr std::pair<const char*, double KernelStages::*> kernel_times[] = {
    {"transform_ms", &KernelStages::transform_ms},       {"write_cached_ms", &KernelStages::write_cached_ms},
    {"read_cached_ms", &KernelStages::read_cached_ms},   {"create_ms", &KernelStages::create_ms},
    {"create_again_ms", &KernelStages::create_again_ms}, {"first_ms", &KernelStages::first_ms},
    {"execute_ms", &KernelStages::execute_ms},           {"once_ms", &KernelStages::once_ms}};

json to_json(const KernelStages& kernel) {
  json object = {{"name", kernel.name}, {"transforms", kernel.transforms}, {"cached_bytes", kernel.cached_bytes}};
  for (const auto& [key, time] : kernel_times) object[key] = kernel.*time;
  return object;
}

std::uint64_t byte_count(const JsonReader& reader, const char* key) {
  constexpr double most = 9007199254740992;  // 2^53; larger ones need not fit into the result's type
  const json& value = reader.require(key, "a number of bytes");
  const double bytes = reader.non_negative_of(value, reader.full(key));
  if (bytes > most) reader.fail(key, "a number of bytes that a file can have", value);
  return static_cast<std::uint64_t>(bytes);
}

KernelStages kernel_from(const JsonReader& reader) {
  KernelStages kernel;
  kernel.name = reader.text("name", "");
  const json& transforms = reader.require("transforms", "true or false");
  if (!transforms.is_boolean()) reader.fail("transforms", "true or false", transforms);
  kernel.transforms = transforms.get<bool>();
  kernel.cached_bytes = byte_count(reader, "cached_bytes");
  for (const auto& [key, time] : kernel_times) kernel.*time = milliseconds(reader, key);
  return kernel;
}

LayerStages layer_from(const JsonReader& reader) {
  LayerStages layer;
  layer.shape = reader.whole_number("shape", 0, 0);
  layer.raw_bytes = byte_count(reader, "raw_bytes");
  layer.read_raw_ms = milliseconds(reader, "read_raw_ms");
  for (const JsonReader& kernel : reader.objects("kernels")) layer.kernels.push_back(kernel_from(kernel));
  if (layer.kernels.empty()) reader.fail("kernels", "at least one kernel", reader.array("kernels"));
  return layer;
}

double factor_of(const JsonReader& reader, const char* key) {
  const json* value = reader.find(key);
  if (value == nullptr) return 1;
  const double factor = reader.non_negative_of(*value, reader.full(key));
  if (factor < 1) reader.fail(key, "a factor of at least 1", *value);
  return factor;
}

ColdStages stages_from(const json& value, const std::string& file) {
  const JsonReader reader(value, file, "");
  reader.require_format(format, kind);
  ColdStages stages;
  stages.model = reader.text("model", "");
  stages.model_sha256 = reader.text("model_sha256", "");
  stages.network_hash = reader.text("network_hash", "");
  stages.machine = reader.text("machine", "");
  stages.page_cache_dropped = reader.require("page_cache_dropped", "true or false").get<bool>();
  stages.start_ms = milliseconds(reader, "start_ms");
  stages.interference = {factor_of(reader, "interference_preparing"), factor_of(reader, "interference_executing")};
  stages.network = cold_network_from(reader.require("network", "a network"), file);
  for (const JsonReader& layer : entries_of_layers(reader, "stages", stages.network)) {
    stages.layers.push_back(layer_from(layer));
  }
  return stages;
}

}  // namespace

std::string to_text(const ColdStages& stages) {
  json layers = json::array();
  for (const LayerStages& layer : stages.layers) {
    json object = {{"shape", layer.shape}, {"raw_bytes", layer.raw_bytes}, {"read_raw_ms", layer.read_raw_ms}};
    for (const KernelStages& kernel : layer.kernels) object["kernels"].push_back(to_json(kernel));
    layers.push_back(std::move(object));
  }
  const json document = {{"format", format},
                         {"model", stages.model},
                         {"model_sha256", stages.model_sha256},
                         {"network_hash", stages.network_hash},
                         {"machine", stages.machine},
                         {"page_cache_dropped", stages.page_cache_dropped},
                         {"start_ms", stages.start_ms},
                         {"interference_preparing", stages.interference.preparing},
                         {"interference_executing", stages.interference.executing},
                         {"network", to_json(stages.network)},
                         {"stages", layers}};
  return document.dump(1) + "\n";
}

ColdStages read_stages(const std::filesystem::path& path) {
  const std::string file = "'" + path.string() + "'";
  const std::string text = read_file(path);
  return guarded_json(file, kind, [&] { return stages_from(parse_json(text, file), file); });
}

}  // namespace tenshot::descriptor
