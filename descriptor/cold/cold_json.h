#pragma once

#include <nlohmann/json_fwd.hpp>

#include "descriptor/cold/cold_network.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::descriptor {

// What the files of cold starts have in common. Both throw FormatError that names the file and the key.

/// A time, in milliseconds: 0 or more.
double milliseconds(const JsonReader& reader, const char* key);

/// The list under `key`, which has one entry for each layer of the network, and at least one.
const nlohmann::json& entries_of_layers(const JsonReader& reader, const char* key, const ColdNetwork& network);

}  // namespace tenshot::descriptor
