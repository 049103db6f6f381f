#pragma once

#include <vector>

#include "descriptor/cold/cold_network.h"
#include "descriptor/cold/stages.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerTimes, create_ms, read_ms, transform_ms, execute_ms, prepared_ms, executed_ms)

// What the files of cold starts have in common. Both throw FormatError that names the file and the key.

/// A time, in milliseconds: 0 or more.
double milliseconds(const JsonReader& reader, const char* key);

/// The objects under `key`, of which there is one for each layer of the network, and at least one.
std::vector<JsonReader> entries_of_layers(const JsonReader& reader, const char* key, const ColdNetwork& network);

}  // namespace tenshot::descriptor
