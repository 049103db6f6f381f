#include "descriptor/cold/cold_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tenshot::descriptor {

double milliseconds(const JsonReader& reader, const char* key) {
  return reader.non_negative_of(reader.require(key, "milliseconds"), reader.full(key));
}

std::vector<JsonReader> entries_of_layers(const JsonReader& reader, const char* key, const ColdNetwork& network) {
  const nlohmann::json& entries = reader.array(key);
  if (entries.size() == network.layers.size() && !entries.empty()) return reader.objects(key);
  reader.fail(key, "one entry for each of the network's " + std::to_string(network.layers.size()) + " layers", entries);
}

}  // namespace tenshot::descriptor
