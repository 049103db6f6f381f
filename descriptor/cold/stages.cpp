#include "descriptor/cold/stages.h"

#include <nlohmann/json.hpp>

#include "descriptor/cold/cold_json.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

using nlohmann::json;

namespace {

constexpr std::string_view format = "tenshot.cold/1";
constexpr const char* kind = "file of cold stages";

json to_json(const KernelStages& k) {
  return {{"name", k.name},
          {"transforms", k.transforms},
          {"cached_bytes", k.cached_bytes},
          {"transform_ms", k.transform_ms},
          {"write_cached_ms", k.write_cached_ms},
          {"read_cached_ms", k.read_cached_ms},
          {"create_ms", k.create_ms},
          {"create_again_ms", k.create_again_ms},
          {"first_ms", k.first_ms},
          {"execute_ms", k.execute_ms},
          {"once_ms", k.once_ms}};
}

std::uint64_t byte_count(const JsonReader& reader, const char* key) {
  constexpr double most = 9007199254740992;  // 2^53; larger ones need not fit into the result's type
  const json& value = reader.require(key, "a number of bytes");
  const double bytes = reader.non_negative_of(value, reader.full(key));
  if (bytes > most) reader.fail(key, "a number of bytes that a file can have", value);
  return static_cast<std::uint64_t>(bytes);
}

KernelStages kernel_from(const json& value, const std::string& file, const std::string& place) {
  const JsonReader reader(value, file, place);
  KernelStages kernel;
  kernel.name = reader.text("name", "");
  const json& transforms = reader.require("transforms", "true or false");
  if (!transforms.is_boolean()) reader.fail("transforms", "true or false", transforms);
  kernel.transforms = transforms.get<bool>();
  kernel.cached_bytes = byte_count(reader, "cached_bytes");
  kernel.transform_ms = milliseconds(reader, "transform_ms");
  kernel.write_cached_ms = milliseconds(reader, "write_cached_ms");
  kernel.read_cached_ms = milliseconds(reader, "read_cached_ms");
  kernel.create_ms = milliseconds(reader, "create_ms");
  kernel.create_again_ms = milliseconds(reader, "create_again_ms");
  kernel.first_ms = milliseconds(reader, "first_ms");
  kernel.execute_ms = milliseconds(reader, "execute_ms");
  kernel.once_ms = milliseconds(reader, "once_ms");
  return kernel;
}

LayerStages layer_from(const json& value, const std::string& file, const std::string& place) {
  const JsonReader reader(value, file, place);
  LayerStages layer;
  layer.shape = reader.whole_number("shape", 0, 0);
  layer.raw_bytes = byte_count(reader, "raw_bytes");
  layer.read_raw_ms = milliseconds(reader, "read_raw_ms");
  const json& kernels = reader.array("kernels");
  if (kernels.empty()) reader.fail_at(place + ".kernels", "at least one kernel", kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    layer.kernels.push_back(kernel_from(kernels[i], file, place + ".kernels[" + std::to_string(i) + "]"));
  }
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
  const json& layers = entries_of_layers(reader, "stages", stages.network);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    stages.layers.push_back(layer_from(layers[i], file, "stages[" + std::to_string(i) + "]"));
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
