#include "descriptor/cold/cold_files.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

using nlohmann::json;

namespace {

constexpr std::string_view stages_format = "tenshot.cold/1";
constexpr std::string_view plan_format = "tenshot.cold-plan/1";
constexpr const char *stages_kind = "file of cold stages", *plan_kind = "plan of a cold start";
constexpr int most_cores = 64;

constexpr std::pair<const char*, double KernelStages::*> kernel_times[] = {
    {"transform_ms", &KernelStages::transform_ms},       {"write_cached_ms", &KernelStages::write_cached_ms},
    {"read_cached_ms", &KernelStages::read_cached_ms},   {"create_ms", &KernelStages::create_ms},
    {"create_again_ms", &KernelStages::create_again_ms}, {"first_ms", &KernelStages::first_ms},
    {"execute_ms", &KernelStages::execute_ms},           {"once_ms", &KernelStages::once_ms}};

double milliseconds(const JsonReader& reader, const char* key) {
  return reader.non_negative_of(reader.require(key, "milliseconds"), reader.full(key));
}

/// The objects under `key`, of which there is one for each layer of the network, and at least one.
std::vector<JsonReader> entries_of_layers(const JsonReader& reader, const char* key, const ColdNetwork& network) {
  const json& entries = reader.array(key);
  if (entries.size() == network.layers.size() && !entries.empty()) return reader.objects(key);
  reader.fail(key, "one entry for each of the network's " + std::to_string(network.layers.size()) + " layers", entries);
}

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

constexpr std::pair<const char*, std::string ColdSubject::*> subject_texts[] = {
    {"model", &ColdSubject::model},
    {"model_sha256", &ColdSubject::model_sha256},
    {"network_hash", &ColdSubject::network_hash},
    {"machine", &ColdSubject::machine}};

void read_subject(const JsonReader& reader, ColdSubject& subject) {
  for (const auto& [key, text] : subject_texts) subject.*text = reader.text(key, "");
  subject.network = cold_network_from(reader.require("network", "a network"), reader.file());
}

/// The text of a file: the fields of `document`, its format, and what is started.
std::string document_text(json document, std::string_view format, const ColdSubject& subject, int indentation) {
  document["format"] = format;
  for (const auto& [key, text] : subject_texts) document[key] = subject.*text;
  document["network"] = to_json(subject.network);
  return document.dump(indentation) + "\n";
}

/// The file's content by `from`, which is called with a reader of its JSON.
template <class From>
auto read_document(const std::filesystem::path& path, std::string_view format, const char* kind, const From& from) {
  const std::string file = "'" + path.string() + "'", text = read_file(path);
  return guarded_json(file, kind, [&] {
    const json document = parse_json(text, file);
    const JsonReader reader(document, file, "");
    reader.require_format(format, kind);
    return from(reader);
  });
}

ColdStages stages_from(const JsonReader& reader) {
  ColdStages stages;
  read_subject(reader, stages);
  stages.page_cache_dropped = reader.require("page_cache_dropped", "true or false").get<bool>();
  stages.start_ms = milliseconds(reader, "start_ms");
  stages.interference = {factor_of(reader, "interference_preparing"), factor_of(reader, "interference_executing")};
  for (const JsonReader& layer : entries_of_layers(reader, "stages", stages.network)) {
    stages.layers.push_back(layer_from(layer));
  }
  return stages;
}

PlannedLayer layer_from(const JsonReader& reader, int preparing_cores) {
  PlannedLayer layer;
  layer.kernel = reader.text("kernel", "");
  layer.cached = reader.whole_number("cached", 0, 0) != 0;
  layer.core = reader.whole_number("core", 0, 0);
  if (layer.core > preparing_cores) {
    reader.fail("core", "at most " + std::to_string(preparing_cores), reader.require("core", "a number"));
  }
  return layer;
}

std::vector<PlannedSwitch> switches_from(const JsonReader& plan, std::size_t layers) {
  std::vector<PlannedSwitch> switches;
  std::set<int> switched;
  for (const JsonReader& reader : plan.objects("switches")) {
    PlannedSwitch change;
    change.layer = reader.whole_number("layer", 0, 0);
    change.kernel = reader.text("kernel", "");
    change.cached = reader.whole_number("cached", 0, 0) != 0;
    if (static_cast<std::size_t>(change.layer) >= layers || !switched.insert(change.layer).second) {
      reader.fail("layer", "a layer under " + std::to_string(layers) + " that no other entry names",
                  reader.require("layer", "a number"));
    }
    switches.push_back(std::move(change));
  }
  return switches;
}

ColdPlan plan_from(const JsonReader& reader) {
  ColdPlan plan;
  read_subject(reader, plan);
  plan.strategy = reader.text("strategy", "");
  plan.preparing_cores = reader.whole_number("preparing_cores", 0, 1);
  if (plan.preparing_cores > most_cores) {
    reader.fail("preparing_cores", "at most " + std::to_string(most_cores), reader.require("preparing_cores", ""));
  }
  plan.predicted_ms = milliseconds(reader, "predicted_ms");
  plan.lower_bound_ms = milliseconds(reader, "lower_bound_ms");
  plan.warm_ms = milliseconds(reader, "warm_ms");
  for (const JsonReader& layer : entries_of_layers(reader, "layers", plan.network)) {
    plan.layers.push_back(layer_from(layer, plan.preparing_cores));
  }
  plan.switches = switches_from(reader, plan.layers.size());
  if (!plan.switches.empty()) plan.switched_ms = milliseconds(reader, "switched_ms");
  return plan;
}

}  // namespace

std::string to_text(const ColdStages& stages) {
  json layers = json::array();
  for (const LayerStages& layer : stages.layers) {
    json object = {{"shape", layer.shape}, {"raw_bytes", layer.raw_bytes}, {"read_raw_ms", layer.read_raw_ms}};
    for (const KernelStages& kernel : layer.kernels) object["kernels"].push_back(to_json(kernel));
    layers.push_back(std::move(object));
  }
  return document_text({{"page_cache_dropped", stages.page_cache_dropped},
                        {"start_ms", stages.start_ms},
                        {"interference_preparing", stages.interference.preparing},
                        {"interference_executing", stages.interference.executing},
                        {"stages", layers}},
                       stages_format, stages, 1);
}

ColdStages read_stages(const std::filesystem::path& path) {
  return read_document(path, stages_format, stages_kind, stages_from);
}

std::string to_text(const ColdPlan& plan) {
  json layers = json::array();
  for (const PlannedLayer& layer : plan.layers) {
    json object = {{"kernel", layer.kernel}};
    if (layer.cached) object["cached"] = 1;
    if (layer.core != 0) object["core"] = layer.core;
    layers.push_back(std::move(object));
  }
  json document = {{"strategy", plan.strategy},         {"preparing_cores", plan.preparing_cores},
                   {"predicted_ms", plan.predicted_ms}, {"lower_bound_ms", plan.lower_bound_ms},
                   {"warm_ms", plan.warm_ms},           {"layers", layers}};
  if (!plan.switches.empty()) {
    json switches = json::array();
    for (const PlannedSwitch& change : plan.switches) {
      json object = {{"layer", change.layer}, {"kernel", change.kernel}};
      if (change.cached) object["cached"] = 1;
      switches.push_back(std::move(object));
    }
    document["switches"] = std::move(switches);
    document["switched_ms"] = plan.switched_ms;
  }
  return document_text(std::move(document), plan_format, plan, -1);
}

ColdPlan read_plan(const std::filesystem::path& path) { return read_document(path, plan_format, plan_kind, plan_from); }

}  // namespace tenshot::descriptor
