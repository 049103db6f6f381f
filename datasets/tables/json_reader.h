#pragma once

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {

using tenshot::guarded_json;
using tenshot::is_plain_file_name;
using tenshot::json_reason;
using tenshot::JsonReader;
using tenshot::parse_json;
using tenshot::shown;

/// The search space that the object's key "space" names. Throws FormatError.
const nasbench::SearchSpace& space_of(const JsonReader& reader);

}  // namespace tenshot::datasets
