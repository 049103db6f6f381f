#include "descriptor/cold/cold_plan.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "descriptor/cold/cold_json.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

using nlohmann::json;

namespace {

constexpr std::string_view format = "tenshot.cold-plan/1";
constexpr const char* kind = "plan of a cold start";
constexpr int most_cores = 64;

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

ColdPlan plan_from(const json& value, const std::string& file) {
  const JsonReader reader(value, file, "");
  reader.require_format(format, kind);
  ColdPlan plan;
  plan.strategy = reader.text("strategy", "");
  plan.model = reader.text("model", "");
  plan.model_sha256 = reader.text("model_sha256", "");
  plan.network_hash = reader.text("network_hash", "");
  plan.machine = reader.text("machine", "");
  plan.preparing_cores = reader.whole_number("preparing_cores", 0, 1);
  if (plan.preparing_cores > most_cores) {
    reader.fail("preparing_cores", "at most " + std::to_string(most_cores), reader.require("preparing_cores", ""));
  }
  plan.predicted_ms = milliseconds(reader, "predicted_ms");
  plan.lower_bound_ms = milliseconds(reader, "lower_bound_ms");
  plan.warm_ms = milliseconds(reader, "warm_ms");
  plan.network = cold_network_from(reader.require("network", "a network"), file);
  for (const JsonReader& layer : entries_of_layers(reader, "layers", plan.network)) {
    plan.layers.push_back(layer_from(layer, plan.preparing_cores));
  }
  plan.switches = switches_from(reader, plan.layers.size());
  if (!plan.switches.empty()) plan.switched_ms = milliseconds(reader, "switched_ms");
  return plan;
}

}  // namespace

std::string to_text(const ColdPlan& plan) {
  json layers = json::array();
  for (const PlannedLayer& layer : plan.layers) {
    json object = {{"kernel", layer.kernel}};
    if (layer.cached) object["cached"] = 1;
    if (layer.core != 0) object["core"] = layer.core;
    layers.push_back(std::move(object));
  }
  json document = {{"format", format},
                   {"strategy", plan.strategy},
                   {"model", plan.model},
                   {"model_sha256", plan.model_sha256},
                   {"network_hash", plan.network_hash},
                   {"machine", plan.machine},
                   {"preparing_cores", plan.preparing_cores},
                   {"predicted_ms", plan.predicted_ms},
                   {"lower_bound_ms", plan.lower_bound_ms},
                   {"warm_ms", plan.warm_ms},
                   {"network", to_json(plan.network)},
                   {"layers", layers}};
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
  return document.dump() + "\n";
}

ColdPlan read_plan(const std::filesystem::path& path) {
  const std::string file = "'" + path.string() + "'";
  const std::string text = read_file(path);
  return guarded_json(file, kind, [&] { return plan_from(parse_json(text, file), file); });
}

}  // namespace tenshot::descriptor
