#pragma once

#include "nasbench/spaces/network_space.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {

using tenshot::guarded_json;
using tenshot::is_plain_file_name;
using tenshot::json_reason;
using tenshot::JsonReader;
using tenshot::parse_json;
using tenshot::shown;

/// The search space that the object's key "space" names: `kept`, which stands beside the file, where it has that name,
/// else one known by name. Throws FormatError.
const nasbench::NetworkSpace& space_of(const JsonReader& reader, const nasbench::NetworkSpace* kept = nullptr);

}  // namespace tenshot::datasets
