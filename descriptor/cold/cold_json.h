#pragma once

#include <nlohmann/json.hpp>

#include "descriptor/cold/cold_files.h"

namespace tenshot::descriptor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerTimes, create_ms, read_ms, transform_ms, execute_ms, prepared_ms, executed_ms)

}  // namespace tenshot::descriptor
